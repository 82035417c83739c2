//! A client and a server over the heap twin of the segments, and the lists of free A-stacks, by
//! hand and without the kernel: what an interpreter can run (Miri, row T16 of the campaign). There
//! every seed is another schedule, and a store may be seen late.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use nearcall_abi::{AStackClass, ReplyLine, SegmentLayout};
use nearcall_core::astack_list::Waiting;
use nearcall_core::claim::{Taken, take};
use nearcall_core::turn::{self, Look, Poll, Reply};
use nearcall_core::{AStackLists, Mode, Sequence, TurnWord};
use nearcall_os::HeadWords;
use nearcall_os::astack::{AStack, AStackTable};
use nearcall_os::segment::{Sealing, Segment};

const CLASS: AStackClass = AStackClass { block_bytes: 64, count: 2 };

/// Bytes of arguments and of results: no whole number of words.
const MESSAGE_BYTES: u32 = 61;

const CALLS: u32 = 4;

/// A-stacks and threads of the lists.
const ASTACKS: u32 = 3;
const THREADS: usize = 3;

/// Both sides' view of one binding's A-stacks.
fn twin() -> (AStackTable<()>, AStackTable<()>) {
    let classes = [CLASS];
    let layout = SegmentLayout::new(&classes).unwrap();
    let blocks_bytes = layout.blocks_bytes() as usize;
    let (client_heads, server_heads) =
        Segment::heap(layout.heads_bytes() as usize, Sealing::BothWrite);
    let (client_own, server_peer) = Segment::heap(blocks_bytes, Sealing::SingleWriter);
    let (server_own, client_peer) = Segment::heap(blocks_bytes, Sealing::SingleWriter);
    let table = |heads, own, peer| {
        let extents = (0..CLASS.count).map(|index| (layout.extent(index).unwrap(), ()));
        AStackTable::new(heads, own, peer, extents).unwrap()
    };
    (table(client_heads, client_own, client_peer), table(server_heads, server_own, server_peer))
}

/// The arguments of a call: no byte is like the one before.
fn arguments(call: u32) -> Vec<u8> {
    (0..MESSAGE_BYTES).map(|at| (call * 16 + at) as u8).collect()
}

fn call(astack: AStack<'_, ()>, number: u32) {
    let sequence = Sequence::from_u32(number);
    let sent = arguments(number);
    astack.own().copy_in(0, &sent);
    let head = astack.head();
    // Relaxed: made visible by the post (row O1).
    head.message_bytes.store(MESSAGE_BYTES, Relaxed);
    turn::post(&head.turn, sequence).expect("the A-stack is idle");
    while turn::poll_word(TurnWord(HeadWords::load(head).turn()), sequence) == Poll::Pending {
        std::thread::yield_now();
    }
    let mut results = vec![0; sent.len()];
    astack.peer().copy_out(0, &mut results);
    assert!(results.iter().rev().eq(&sent), "call {number} has other results");
}

/// Serves one call: its results are its arguments in reverse.
fn serve(astack: AStack<'_, ()>) {
    let head = astack.head();
    let line = astack.own_line::<ReplyLine>();
    let (sequence, words) = loop {
        let words = HeadWords::load(head);
        match turn::look_word(TurnWord(words.turn()), || &line.claim) {
            Look::Posted(sequence) => break (sequence, words),
            _ => std::thread::yield_now(),
        }
    };
    assert_eq!(take(&line.claim, sequence, || true), Taken::Run);
    assert_eq!(words.message_bytes(), MESSAGE_BYTES);
    let mut bytes = vec![0; MESSAGE_BYTES as usize];
    astack.peer().copy_out(0, &mut bytes);
    bytes.reverse();
    astack.own().copy_in(0, &bytes);
    assert_eq!(turn::reply(&head.turn, sequence, Mode::Hot), Reply::ClientAwake);
}

#[test]
fn results_are_those_of_the_call() {
    let (client, server) = twin();
    std::thread::scope(|threads| {
        for index in 0..CLASS.count {
            let (client, server) = (client.astack(index).unwrap(), server.astack(index).unwrap());
            threads.spawn(move || (1..=CALLS).for_each(|number| call(client, number)));
            threads.spawn(move || (0..CALLS).for_each(|_| serve(server)));
        }
    });
}

#[test]
fn an_astack_is_claimed_by_one_thread_at_a_time() {
    let lists = AStackLists::new(1, ASTACKS);
    for index in 0..ASTACKS {
        assert_eq!(lists.push(0, index), Waiting::NOBODY);
    }
    let claimed = Mutex::new(BTreeSet::new());
    let claim_and_release = || {
        for _ in 0..CALLS {
            let Some(index) = lists.pop(0) else {
                std::thread::yield_now();
                continue;
            };
            assert!(claimed.lock().unwrap().insert(index), "A-stack {index} is claimed twice");
            std::thread::yield_now();
            assert!(claimed.lock().unwrap().remove(&index));
            assert_eq!(lists.push(0, index), Waiting::NOBODY);
        }
    };
    std::thread::scope(|threads| {
        for _ in 0..THREADS {
            threads.spawn(claim_and_release);
        }
    });
    let free: BTreeSet<_> = std::iter::from_fn(|| lists.pop(0)).collect();
    assert_eq!(free, (0..ASTACKS).collect());
}
