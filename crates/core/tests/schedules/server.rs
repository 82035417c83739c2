//! A server: a watcher that polls, falls asleep and is rung for, a resident, and a clerk that
//! withdraws. As `crates/nearcall/src/server` does.

use std::sync::atomic::Ordering::Relaxed;

use crate::bell::{ASLEEP, fall_asleep, is_rung, open_gate, ring_gate, take_lanes};
use crate::claim::{Taken, claim, claimed, take};
use crate::client::{REFUSED, arguments, results};
use crate::sync::AtomicU64;
use crate::turn::{Look, Mode, Reply, Sequence, demote, look, may_run, reply};
use crate::world::{AStack, Binding, Gate, World};

/// The watcher's life.
pub fn watch(world: &World) {
    let mut hot: Vec<(&Binding, &AStack)> = Vec::new();
    loop {
        // Before the looks: what was posted before the end is found by them.
        let is_over = world.is_over.load(Relaxed) == 1;
        for (binding, astack) in &hot {
            act(binding, astack, Mode::Hot);
        }
        if is_rung(&world.watcher.word, &world.lanes) {
            answer(world, &mut hot);
            continue;
        }
        if !cool_down(&mut hot) {
            continue;
        }
        if is_over {
            return;
        }
        sleep(&world.watcher, &world.lanes);
    }
}

/// Opens the gate, and looks at what rang.
fn answer<'w>(world: &'w World, hot: &mut Vec<(&'w Binding, &'w AStack)>) {
    let opened = open_gate(&world.watcher.word);
    let lanes = take_lanes(&world.lanes[0]);
    let is_lost = opened.wants_lane() && lanes == 0;
    for binding in world.bindings.iter().filter(|each| is_lost || lanes & 1 << each.lane != 0) {
        for astack in &binding.astacks {
            if act(binding, astack, Mode::Hot)
                && !hot.iter().any(|(_, known)| is_same(known, astack))
            {
                hot.push((binding, astack));
            }
        }
    }
}

fn is_same(one: &AStack, other: &AStack) -> bool {
    std::ptr::eq(one, other)
}

/// Has everything that is hot ring from now on. False if a call has just come.
fn cool_down(hot: &mut Vec<(&Binding, &AStack)>) -> bool {
    while let Some((binding, astack)) = hot.pop() {
        if !demote(&astack.turn, claimed(&astack.claim), Mode::Hot)
            && act(binding, astack, Mode::Bell)
        {
            return false;
        }
    }
    true
}

/// The resident's life: it opens its own gate, and takes the lanes of the watcher's.
pub fn reside(world: &World) {
    loop {
        open_gate(&world.resident.word);
        let lanes = take_lanes(&world.lanes[0]);
        for binding in world.bindings.iter().filter(|each| lanes & 1 << each.lane != 0) {
            for astack in &binding.astacks {
                act(binding, astack, Mode::Bell);
            }
        }
        if world.is_over.load(Relaxed) == 1 {
            return;
        }
        sleep(&world.resident, &[]);
    }
}

fn sleep(gate: &Gate, lanes: &[AtomicU64]) {
    if fall_asleep(&gate.word, lanes) {
        gate.parked.wait(&gate.word, ASLEEP);
    }
}

/// No call will come any more.
pub fn end(world: &World) {
    world.is_over.store(1, Relaxed);
    for gate in [&world.watcher, &world.resident] {
        ring_gate(&gate.word);
        gate.parked.wake_all();
    }
}

/// Acts on what there is on an A-stack. True if a call was run.
fn act(binding: &Binding, astack: &AStack, mode: Mode) -> bool {
    match look(&astack.turn, &astack.claim) {
        Look::Nothing => false,
        Look::Posted(call) => {
            let is_open = || binding.is_open_at_server.load(Relaxed) == 1;
            match take(&astack.claim, call, is_open) {
                Taken::Run => run(binding, astack, call, mode),
                Taken::Refuse => refuse(binding, astack, call),
                Taken::Not => return false,
            }
            true
        }
        Look::Aborted(call) => {
            if claim(&astack.claim, call) {
                give_back(binding, astack, call, Mode::Bell);
            }
            false
        }
        Look::Wrong(seen) => panic!("a look at {seen}"),
    }
}

fn run(binding: &Binding, astack: &AStack, call: Sequence, mode: Mode) {
    assert_eq!(astack.message.load(Relaxed), arguments(call));
    astack.runs[call.as_u32() as usize].fetch_add(1, Relaxed);
    astack.message.store(results(call), Relaxed);
    give_back(binding, astack, call, mode);
}

fn refuse(binding: &Binding, astack: &AStack, call: Sequence) {
    astack.message.store(REFUSED, Relaxed);
    give_back(binding, astack, call, Mode::Bell);
}

fn give_back(binding: &Binding, astack: &AStack, call: Sequence, mode: Mode) {
    match reply(&astack.turn, call, mode) {
        Reply::WakeClient => astack.futex.wake_all(),
        Reply::Wrong(seen) => panic!("a reply to {seen}"),
        Reply::ClientAwake | Reply::Aborted | Reply::Dead => {}
    }
    if binding.is_open_at_server.load(Relaxed) == 0 {
        hang_up_when_idle(binding);
    }
}

/// A clerk withdraws: its binding is revoked in an orderly way.
pub fn withdraw(world: &World, number: usize) {
    let binding = &world.bindings[number];
    binding.is_open_at_server.store(0, Relaxed);
    for astack in &binding.astacks {
        if let Look::Posted(call) | Look::Aborted(call) = look(&astack.turn, &astack.claim)
            && claim(&astack.claim, call)
        {
            refuse(binding, astack, call);
        }
    }
    hang_up_when_idle(binding);
}

/// Says that no call runs and none will, if so, and hangs up.
fn hang_up_when_idle(binding: &Binding) {
    if binding.astacks.iter().any(|astack| may_run(&astack.turn, &astack.claim)) {
        return;
    }
    let mut socket = binding.socket.lock().unwrap();
    // What is sent to somebody who has hung up does not arrive.
    socket.is_told |= !socket.has_client_hung_up && !socket.has_server_hung_up;
    socket.has_server_hung_up = true;
    binding.hung_up.notify_all();
}
