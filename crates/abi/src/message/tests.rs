//! Messages there and back, and those that are refused.

use super::*;
use crate::{AppendableDescriptor, InterfaceDescriptor, ProcedureDescriptor};

fn import(classes: Classes, is_introduced: bool) -> Message<'static> {
    let (abi_version, interface_hash, processor) = (1, [7; 16], 2);
    let interface_name = "A::B";
    Message::Import {
        abi_version,
        interface_hash,
        processor,
        interface_name,
        classes,
        is_introduced,
    }
}

fn all() -> [Message<'static>; 23] {
    let classes = [AStackClass { block_bytes: 2048, count: 5 }];
    [
        import(Classes::new(&classes).unwrap(), false),
        import(Classes::new(&classes).unwrap(), true),
        Message::Bound { incarnation: 9, lane: 3, processor: 1 },
        Message::Refused { code: RefusalCode::Hash, detail: b"why" },
        Message::OutOfLine { astack: 1, generation: 2, bytes: 1 << 30 },
        Message::Mapped { astack: 1, generation: 2 },
        Message::Grow { class: 1 },
        Message::Grown { class: 1, count: 5 },
        Message::GrownSegments { class: 1 },
        Message::GrownBound { class: 1 },
        Message::Revoked,
        Message::Lend { number: 3, bytes: 1 << 30 },
        Message::Lent { number: 3 },
        Message::LendOver { number: 3 },
        Message::Look,
        Message::NotMapped { astack: 1, generation: 2 },
        Message::NotLent { number: 3 },
        Message::Descriptors { astack: 1, sequence: 2, count: 8 },
        Message::FeedOver { feed: 7 },
        Message::Introduce { number: 3 },
        Message::Introduced { number: 3 },
        Message::NotIntroduced { number: 3 },
        Message::Present,
    ]
}

#[test]
fn every_message_survives_its_packet() {
    for message in all() {
        let mut packet = [0; 256];
        let packet = message.encode(&mut packet).unwrap();
        assert_eq!(Message::decode(packet), Ok(message));
    }
}

#[test]
fn a_packet_cut_anywhere_is_garbled() {
    for message in all().into_iter().filter(|m| !matches!(m, Message::Refused { .. })) {
        let mut packet = [0; 256];
        let packet = message.encode(&mut packet).unwrap();
        for length in 0..packet.len() {
            assert!(Message::decode(&packet[..length]).is_err(), "{message:?} at {length}");
        }
    }
}

#[test]
fn a_call_carries_one_to_eight_descriptors() {
    for (count, is_good) in [(0, false), (1, true), (8, true), (9, false), (u32::MAX, false)] {
        let message = Message::Descriptors { astack: 0, sequence: 1, count };
        let mut packet = [0; 32];
        let packet = message.encode(&mut packet).unwrap();
        assert_eq!(Message::decode(packet).is_ok(), is_good, "{count}");
    }
}

#[test]
fn a_packet_with_a_tail_is_garbled() {
    let mut packet = [0; 256];
    let length = Message::Look.encode(&mut packet).unwrap().len();
    let garbled = Message::decode(&packet[..length + 1]);
    assert_eq!(garbled, Err(Garbled { kind: 14, packet_bytes: 5 }));
}

#[test]
fn more_classes_than_the_limit_are_refused() {
    let class = AStackClass { block_bytes: 0, count: 1 };
    assert!(Classes::new(&[class; CLASSES_MAX + 1]).is_none());
    let mut packet = [0u8; 256];
    let full = import(Classes::new(&[class; CLASSES_MAX]).unwrap(), false);
    let bytes = full.encode(&mut packet).unwrap().len();
    assert_eq!(Message::decode(&packet[..bytes]), Ok(full));
    // The count stands before the list.
    let count = bytes - CLASSES_MAX * 8 - 4;
    packet[count] += 1;
    assert!(Message::decode(&packet[..bytes + 8]).is_err());
}

#[test]
fn a_version_survives_and_its_list_stops_where_it_is_cut() {
    const fn procedure(name: &'static str, hash: u8, class: u8) -> ProcedureDescriptor {
        let (is_oneway, is_idempotent, is_leaf) = (false, false, false);
        ProcedureDescriptor { name, hash: [hash; 16], class, is_oneway, is_idempotent, is_leaf }
    }
    const PROCEDURES: &[ProcedureDescriptor] = &[procedure("null", 1, 0), procedure("add", 2, 1)];
    const CLASSES: &[AStackClass] = &[AStackClass::for_block(0), AStackClass::for_block(64)];
    let (name, hash) = ("A::B", [7; 16]);
    const APPENDABLES: &[AppendableDescriptor] = &[
        AppendableDescriptor { name: "One", procedure: 0, hashes: &[[3; 16], [4; 16]] },
        AppendableDescriptor { name: "Two", procedure: 1, hashes: &[[5; 16]] },
    ];
    let (procedures, classes, appendables) = (PROCEDURES, CLASSES, APPENDABLES);
    let interface = InterfaceDescriptor { name, hash, procedures, classes, appendables };
    let mut detail = [0; 256];
    let used = Version::encode(&interface, &mut detail).unwrap();
    let version = Version::decode(&detail[..used]).unwrap();
    assert_eq!((version.interface_hash, version.procedure_count), ([7; 16], 2));
    assert_eq!(version.classes.as_slice(), interface.classes);
    let listed = |each: &ProcedureDescriptor| {
        let &ProcedureDescriptor { name, hash, class, .. } = each;
        ListedProcedure { name, hash, class }
    };
    assert!(version.procedures.eq(interface.procedures.iter().map(listed)));
    let hashes = appendables.iter().map(|each| each.hashes);
    assert!(version.appendables().eq(hashes));
    for length in 0..used {
        let Some(cut) = Version::decode(&detail[..length]) else { continue };
        let mut listed = cut.appendables();
        assert!(listed.by_ref().count() < 2 && !listed.is_over(), "{length}");
        assert!(cut.procedures.count() == 2 || cut.appendables().count() == 0, "{length}");
    }
    let mut listed = version.appendables();
    assert!(listed.by_ref().count() == 2 && listed.is_over());
    let last = 4 + 16;
    assert_eq!(Version::encode(&interface, &mut detail[..used - 1]), Some(used - last));
    let both = last + 4 + 2 * 16;
    let all = both + 4;
    assert_eq!(Version::encode(&interface, &mut detail[..used - both - 1]), Some(used - all));
    assert_eq!(Version::encode(&interface, &mut detail[..used - all - 1]), Some(used - all - 25));
    assert_eq!(Version::encode(&interface, &mut detail[..20]), None);
}
