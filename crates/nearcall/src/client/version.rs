//! What a client asks a server for: its own version of an interface, or the server's, if one of the
//! two only adds procedures at the end of the other (0018), and members at the end of each
//! appendable type (0030).

use nearcall_abi::message::{ListedProcedure, Version};
use nearcall_abi::{
    AStackClass, AppendableDescriptor, InterfaceDescriptor, ProcedureName, counted,
};
use nearcall_core::admission::{
    Agreement, Classing, extension_count, first_difference, member_difference,
};

use crate::region::RegionBytes;

/// Most memory that a client makes and maps for a binding because a server of another version says
/// so, bytes: what the client's own file asks for has no such limit.
pub(crate) const FOREIGN_BYTES_MAX: usize = 64 << 20;

/// The version that a server is asked for.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub interface_hash: [u8; 16],
    pub classes: Vec<AStackClass>,
    /// `None` for the client's own version.
    pub agreement: Option<Agreement>,
}

/// Why the server's version cannot be asked for.
#[derive(Debug, PartialEq)]
pub(crate) enum Unfit {
    /// What it says is no version.
    Peer(String),
    /// The first operation that differs, in words.
    Difference(String),
}

impl Wanted {
    /// The version that the client was made from.
    pub fn exactly(interface: &InterfaceDescriptor) -> Wanted {
        let (interface_hash, classes) = (interface.hash, interface.classes.to_vec());
        Wanted { interface_hash, classes, agreement: None }
    }
}

/// Judges the version that a server of `ours` claims to have.
pub(crate) fn judge(ours: &InterfaceDescriptor, detail: &[u8]) -> Result<Wanted, Unfit> {
    let no_version = || Unfit::Peer("its version of the interface is none".to_owned());
    let theirs = Version::decode(detail).ok_or_else(no_version)?;
    let listed: Vec<ListedProcedure<'_>> = theirs.procedures.collect();
    let our_procedures: Vec<_> =
        ours.procedures.iter().map(|procedure| (procedure.name, procedure.hash)).collect();
    let their_procedures: Vec<_> =
        listed.iter().map(|procedure| (procedure.name, procedure.hash)).collect();
    let Some(common_count) = extension_count(&our_procedures, &their_procedures) else {
        let difference = first_difference(&our_procedures, &their_procedures);
        return Err(Unfit::Difference(difference.ok_or_else(no_version)?.to_string()));
    };
    // A list that was cut may hide a difference.
    if listed.len() < ours.procedures.len() && listed.len() as u64 != theirs.procedure_count.into()
    {
        let (count, of) = (listed.len(), theirs.procedure_count);
        let of = counted(of, "procedure");
        let said = format!("it has {of}, of which only {count} could be compared");
        return Err(Unfit::Difference(said));
    }
    compare_appendables(ours, &theirs)?;
    let of_ours: Vec<u8> = ours.procedures.iter().map(|procedure| procedure.class).collect();
    let of_theirs: Vec<u8> = listed.iter().map(|procedure| procedure.class).collect();
    let classes = theirs.classes.as_slice();
    let ours = Classing { classes: ours.classes, class_of_procedure: &of_ours };
    let classing = Classing { classes, class_of_procedure: &of_theirs };
    let agreement = match Agreement::new(common_count, ours, classing) {
        Ok(Ok(agreement)) => agreement,
        Ok(Err(smaller)) => {
            let (name, _) = our_procedures[smaller.index as usize];
            let name = ProcedureName::new(name);
            return Err(Unfit::Difference(format!("{smaller}: `{name}`")));
        }
        Err(fault) => return Err(Unfit::Peer(fault.to_string())),
    };
    let bytes = RegionBytes::of(classes).map_err(|fault| Unfit::Peer(fault.to_string()))?;
    let claimed = bytes.mapped();
    if claimed > FOREIGN_BYTES_MAX {
        let said = format!("its A-stacks take {claimed} bytes, the limit is {FOREIGN_BYTES_MAX}");
        return Err(Unfit::Difference(said));
    }
    let (interface_hash, classes) = (theirs.interface_hash, classes.to_vec());
    Ok(Wanted { interface_hash, classes, agreement: Some(agreement) })
}

/// Refuses an appendable type that both have and neither only adds to.
fn compare_appendables(ours: &InterfaceDescriptor, theirs: &Version<'_>) -> Result<(), Unfit> {
    for appendable in ours.appendables {
        let AppendableDescriptor { name, procedure, hashes } = appendable;
        let of_procedure = ours.procedures.get(*procedure as usize);
        let of_procedure = of_procedure.map_or(ProcedureName::new(""), |one| one.told());
        let mut listed = theirs.appendables();
        let difference = match listed.find(|listed| listed.first() == hashes.first()) {
            Some(listed) => match member_difference(hashes, listed) {
                Some(member) => format!("whose member {member} differs there"),
                None => continue,
            },
            None if listed.is_over() => continue,
            // A list that was cut may hide a difference.
            None => "which could not be compared".to_owned(),
        };
        let said = format!("procedure {procedure}, `{of_procedure}`, has `{name}`, {difference}");
        return Err(Unfit::Difference(said));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use nearcall_abi::ProcedureDescriptor;
    use nearcall_abi::message::PACKET_BYTES_MAX;

    use super::*;

    const fn procedure(name: &'static str, class: u8) -> ProcedureDescriptor {
        let (is_oneway, is_idempotent, is_leaf) = (false, false, false);
        ProcedureDescriptor { name, hash: [9; 16], class, is_oneway, is_idempotent, is_leaf }
    }

    const SMALL: AStackClass = AStackClass::for_block(0);
    const LARGE: AStackClass = AStackClass::for_block(2048);
    const CLASSES: &[AStackClass] = &[SMALL, LARGE];
    const PROCEDURES: &[ProcedureDescriptor] = &[procedure("null", 0), procedure("add", 1)];

    fn interface(
        procedures: &'static [ProcedureDescriptor],
        classes: &'static [AStackClass],
    ) -> InterfaceDescriptor {
        let hash = [procedures.len() as u8; 16];
        InterfaceDescriptor { name: "A", hash, procedures, classes, appendables: &[] }
    }

    /// The same with a struct that has so many members.
    fn with_members(hashes: &'static [[u8; 16]], name: &'static str) -> InterfaceDescriptor {
        let appendable = AppendableDescriptor { name, procedure: 1, hashes };
        let appendables = Box::leak(Box::new([appendable]));
        InterfaceDescriptor { appendables, ..interface(PROCEDURES, CLASSES) }
    }

    /// What a client of the one hears of a server of the other; at most `bytes` of it.
    fn judged(
        ours: InterfaceDescriptor,
        theirs: InterfaceDescriptor,
        bytes: usize,
    ) -> Result<Wanted, Unfit> {
        let mut detail = vec![0; bytes];
        let used = Version::encode(&theirs, &mut detail).unwrap();
        judge(&ours, &detail[..used])
    }

    #[test]
    fn one_that_adds_at_the_end_is_asked_for_in_both_directions() {
        let (old, new) = (interface(&PROCEDURES[..1], &[SMALL]), interface(PROCEDURES, CLASSES));
        let wanted = judged(old, new, PACKET_BYTES_MAX).unwrap();
        assert_eq!((wanted.interface_hash, &*wanted.classes), ([2; 16], CLASSES));
        let wanted = judged(new, old, PACKET_BYTES_MAX).unwrap();
        assert_eq!((wanted.interface_hash, &*wanted.classes), ([1; 16], &[SMALL][..]));
        let agreement = wanted.agreement.unwrap();
        assert_eq!((agreement.class(0), agreement.class(1)), (Some(0), None));
    }

    #[test]
    fn the_first_operation_that_differs_is_named() {
        const OTHER: &[ProcedureDescriptor] = &[procedure("null", 0), procedure("sub", 1)];
        let said = |theirs| match judged(interface(PROCEDURES, CLASSES), theirs, 1_000) {
            Err(Unfit::Difference(said)) => said,
            other => panic!("{other:?}"),
        };
        let want = "procedure 1 is `add` here and `sub` there";
        assert_eq!(said(interface(OTHER, CLASSES)), want);
        const NARROW: &[ProcedureDescriptor] = &[procedure("null", 0), procedure("add", 0)];
        let want = "A-stacks of procedure 1 have 0 bytes there, 2048 here: `add`";
        assert_eq!(said(interface(NARROW, CLASSES)), want);
        const HUGE: &[AStackClass] = &[SMALL, AStackClass { block_bytes: 1 << 20, count: 100 }];
        assert!(said(interface(PROCEDURES, HUGE)).contains("the limit is 67108864"));
    }

    #[test]
    fn a_struct_is_added_to_at_its_end_or_named() {
        const NEW: &[[u8; 16]] = &[[0; 16], [1; 16], [2; 16]];
        let (new, old) = (with_members(NEW, "S"), with_members(&NEW[..2], "S"));
        assert!(judged(old, new, 1_000).is_ok() && judged(new, old, 1_000).is_ok());
        let other = with_members(&[[0; 16], [1; 16], [3; 16], [4; 16]], "S");
        let want = "procedure 1, `add`, has `S`, whose member 2 differs there";
        let refused = judged(new, other, 1_000).unwrap_err();
        assert_eq!(refused, Unfit::Difference(want.to_owned()));
        let elsewhere = with_members(&[[9; 16], [3; 16]], "T");
        assert!(judged(new, elsewhere, 1_000).is_ok());
        assert!(judged(new, interface(PROCEDURES, CLASSES), 1_000).is_ok());
        let want = "procedure 1, `add`, has `S`, which could not be compared";
        // Of the 131 bytes of the whole version, 91 are procedures and what stands before them.
        for bytes in 91..131 {
            let cut = judged(new, old, bytes).unwrap_err();
            assert_eq!(cut, Unfit::Difference(want.to_owned()), "{bytes}");
        }
        assert!(judged(new, old, 131).is_ok());
    }

    #[test]
    fn a_list_that_was_cut_hides_nothing() {
        let whole = interface(PROCEDURES, CLASSES);
        let cut = judged(whole, whole, 70).unwrap_err();
        let want = "it has 2 procedures, of which only 1 could be compared";
        assert_eq!(cut, Unfit::Difference(want.to_owned()));
        let old = interface(&PROCEDURES[..1], CLASSES);
        assert!(judged(old, whole, 70).is_ok());
        let cut = judged(old, old, 40).unwrap_err();
        let want = "it has 1 procedure, of which only 0 could be compared";
        assert_eq!(cut, Unfit::Difference(want.to_owned()));
    }

    #[test]
    fn what_is_no_version_is_the_servers_fault() {
        let ours = interface(PROCEDURES, CLASSES);
        assert!(matches!(judge(&ours, b"nonsense"), Err(Unfit::Peer(_))));
        let theirs = interface(PROCEDURES, &[SMALL]);
        assert!(matches!(judged(ours, theirs, 1_000), Err(Unfit::Peer(_))));
        let classless = interface(PROCEDURES, &[]);
        assert!(matches!(judged(ours, classless, 1_000), Err(Unfit::Peer(_))));
    }
}
