//! What clients leave behind, looked at from both sides: what a hostile one writes is written into
//! the heads of the server's own mapping.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nearcall_abi::{AStackClass, InterfaceDescriptor, ProcedureDescriptor};
use nearcall_core::turn::{self, Phase};
use nearcall_core::{PeerFault, Sequence, TurnWord};

use super::LeftBehind;
use crate::raw::{Arguments, Client, Entries, Outcome};
use crate::server::binding::ServerBinding;
use crate::testing::{TestServer, null_interface};
use crate::{
    Admission, BindError, Binding, Domain, DomainOptions, ExportOptions, Policy, current_call,
};

const ASTACKS: u32 = 5;
const CLASSES: [AStackClass; 1] = [AStackClass { block_bytes: 0, count: ASTACKS }];

static INTERFACE: InterfaceDescriptor = InterfaceDescriptor {
    procedures: &[
        procedure("note", true),
        procedure("keep", true),
        procedure("ask", false),
        procedure("long", true),
    ],
    ..null_interface(&CLASSES)
};
const NOTE: u32 = 0;
const KEEP: u32 = 1;
const ASK: u32 = 2;
const LONG: u32 = 3;

/// Longer than any of this takes.
const FOR_EVER: Duration = Duration::from_secs(20);

const fn procedure(name: &'static str, is_oneway: bool) -> ProcedureDescriptor {
    let (is_idempotent, is_leaf) = (false, false);
    ProcedureDescriptor { name, hash: [2; 16], class: 0, is_oneway, is_idempotent, is_leaf }
}

/// Counts notes and answers, and calls that take long; what keeps its processor says that it does,
/// and goes on when it may.
struct Notes {
    notes: Arc<AtomicU32>,
    longs: AtomicU32,
    /// How many of those had been begun at the last note.
    longs_before: Arc<AtomicU32>,
    was_cancelled: Arc<AtomicBool>,
    kept: Mutex<Sender<()>>,
    go: Mutex<Receiver<()>>,
}

impl Entries for Notes {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &INTERFACE
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        match procedure as u32 {
            KEEP => {
                self.kept.lock().unwrap().send(()).expect("a test that goes on");
                self.go.lock().unwrap().recv().expect("a test that goes on");
            }
            LONG => {
                self.longs.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(5));
            }
            _ => {
                self.longs_before.store(self.longs.load(Ordering::SeqCst), Ordering::SeqCst);
                self.notes.fetch_add(1, Ordering::SeqCst);
            }
        }
        let call = current_call().expect("this is a procedure");
        self.was_cancelled.fetch_or(call.is_cancelled(), Ordering::SeqCst);
        arguments.results().reply(0)
    }
}

/// A server of one processor, to which a user alone may have two bindings.
struct Scene {
    /// First: a test that fails lets its processor go, for which the server's end waits.
    go: Sender<()>,
    server: TestServer,
    notes: Arc<AtomicU32>,
    longs_before: Arc<AtomicU32>,
    was_cancelled: Arc<AtomicBool>,
    kept: Receiver<()>,
}

impl Scene {
    fn new(name: &str) -> Scene {
        let (keeps, kept) = mpsc::channel();
        let (go, goes) = mpsc::channel();
        let (notes, longs_before) = (Arc::default(), Arc::default());
        let was_cancelled = Arc::default();
        let entries = Notes {
            notes: Arc::clone(&notes),
            longs: AtomicU32::new(0),
            longs_before: Arc::clone(&longs_before),
            was_cancelled: Arc::clone(&was_cancelled),
            kept: Mutex::new(keeps),
            go: Mutex::new(goes),
        };
        let options =
            DomainOptions { processors_max: 1, bindings_max: 4, ..DomainOptions::default() };
        let server = TestServer::with(name, entries, options, ExportOptions::default());
        Scene { go, server, notes, longs_before, was_cancelled, kept }
    }

    fn try_import(&self) -> Result<Binding, BindError> {
        self.server.importer().import()
    }

    fn client(&self) -> Client {
        Client::new(self.try_import().unwrap(), &INTERFACE)
    }

    /// Posts a call that keeps the processor from here on.
    fn keep(&self, client: &Client) {
        post(client, KEEP);
        self.kept.recv_timeout(FOR_EVER).unwrap();
    }

    /// Somebody keeps the processor, and somebody else has posted as many notes as it can, and goes
    /// after `before`. Who keeps it, and the server's half of what was left.
    fn left(&self, before: impl FnOnce(&Binding)) -> (Client, Arc<ServerBinding>) {
        self.left_of(NOTE, before)
    }

    /// The same of other calls.
    fn left_of(
        &self,
        procedure: u32,
        before: impl FnOnce(&Binding),
    ) -> (Client, Arc<ServerBinding>) {
        let keeper = self.client();
        self.keep(&keeper);
        let binding = self.try_import().unwrap();
        before(&binding);
        let leaver = Client::new(binding, &INTERFACE);
        (0..ASTACKS).for_each(|_| post(&leaver, procedure));
        drop(leaver);
        wait_until(|| self.left_behind().unbegun().len() == 1 && self.table_count() == 1);
        let mut unbegun = self.left_behind().unbegun();
        (keeper, unbegun.pop().unwrap())
    }

    fn left_behind(&self) -> &LeftBehind {
        &self.server.domain().core().processors.left
    }

    fn table_count(&self) -> usize {
        self.server.domain().core().table.load().bindings().count()
    }

    /// The server's half of the one binding that is there.
    fn served(&self) -> Arc<ServerBinding> {
        let table = self.server.domain().core().table.load();
        Arc::clone(table.bindings().next().unwrap())
    }

    fn notes(&self) -> u32 {
        self.notes.load(Ordering::SeqCst)
    }

    /// Lets the processor go, and waits until it has come to a call behind all that was posted.
    fn go_on(&self, keeper: &Client) {
        self.go.send(()).unwrap();
        for _ in 0..3 {
            let before = self.notes();
            ask(keeper);
            assert!(self.notes() > before);
        }
    }

    /// Waits until the user may bind once more.
    fn wait_for_room(&self) {
        wait_until(|| match self.try_import() {
            Ok(_) => true,
            Err(BindError::Overloaded { .. }) => false,
            Err(other) => panic!("{other}"),
        });
    }

    fn has_room(&self) -> bool {
        self.try_import().is_ok()
    }
}

fn post(client: &Client, procedure: u32) {
    client.claim::<0>(procedure).unwrap().post_oneway(0).unwrap();
}

fn ask(client: &Client) {
    client.claim::<0>(ASK).unwrap().post(0).unwrap();
}

fn wait_until(is_so: impl Fn() -> bool) {
    let begin = std::time::Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < FOR_EVER);
        std::thread::yield_now();
    }
}

#[test]
fn what_is_left_behind_is_begun_and_charged_until_the_last_has_ended() {
    let scene = Scene::new("left-begun");
    let (keeper, binding) = scene.left(|_| {});
    assert!(!binding.state.is_open() && !scene.has_room());
    scene.go_on(&keeper);
    wait_until(|| scene.notes() == 3 + ASTACKS);
    scene.wait_for_room();
    assert!(scene.left_behind().unbegun().is_empty() && !binding.leaving.has_some());
    assert!(!scene.was_cancelled.load(Ordering::SeqCst));
}

/// It owes what it takes too much, as it did while its client was there.
#[test]
fn what_is_left_behind_has_the_share_of_its_binding() {
    let scene = Scene::new("left-shares");
    let (keeper, binding) = scene.left_of(LONG, |_| {});
    (1..ASTACKS).for_each(|_| post(&keeper, NOTE));
    scene.go.send(()).unwrap();
    wait_until(|| scene.notes() == ASTACKS - 1);
    let longs = scene.longs_before.load(Ordering::SeqCst);
    assert!(longs <= 2, "{longs} of {ASTACKS} came before the last of the others");
    wait_until(|| !binding.leaving.has_some());
}

#[test]
fn the_end_of_the_last_gives_back_what_is_charged_there_and_then() {
    let scene = Scene::new("left-ended");
    let (_keeper, binding) = scene.left(|_| {});
    for index in 0..ASTACKS {
        assert!(!scene.has_room());
        let (_, (sequence, _)) = scene.left_behind().take(binding.key, index).unwrap();
        assert_eq!(scene.left_behind().take(binding.key, index).map(|call| call.0), None);
        binding.end_left(index, sequence);
    }
    assert!(scene.has_room());
    scene.go.send(()).unwrap();
}

#[test]
fn what_runs_when_its_client_goes_is_charged_until_it_has_ended_and_is_not_cancelled() {
    let scene = Scene::new("left-running");
    let (leaver, _other) = (scene.client(), scene.client());
    scene.keep(&leaver);
    let table = scene.server.domain().core().table.load();
    // It is told of the end, and does not wait for the last who knows it.
    let _halves: Vec<_> = table.bindings().cloned().collect();
    drop(leaver);
    wait_until(|| scene.table_count() == 1);
    assert!(!scene.has_room() && scene.left_behind().unbegun().is_empty());
    scene.go.send(()).unwrap();
    scene.wait_for_room();
    assert!(!scene.was_cancelled.load(Ordering::SeqCst));
}

#[test]
fn what_a_client_writes_after_it_has_gone_is_nothing() {
    let scene = Scene::new("left-written");
    let (keeper, binding) = scene.left(|_| {});
    for index in 0..ASTACKS {
        let head = binding.astack(index).head();
        head.selector.store(ASK, Ordering::SeqCst);
        let idle = TurnWord::new(Sequence::from_u32(1), Phase::IdleBell);
        head.turn.store(idle.0, Ordering::SeqCst);
        // It has its memory, and posts on.
        head.selector.store(NOTE, Ordering::SeqCst);
        turn::post(&head.turn, Sequence::from_u32(2)).unwrap();
    }
    scene.server.domain().core().processors.ask_to_look(&binding);
    scene.go_on(&keeper);
    wait_until(|| !binding.leaving.has_some());
    scene.wait_for_room();
    scene.server.domain().core().processors.ask_to_look(&binding);
    (0..100).for_each(|_| ask(&keeper));
    // What was left behind, once, as long as its client was not found to lie; nothing after that.
    assert!(scene.notes() <= 103 + ASTACKS && scene.notes() > 103, "{}", scene.notes());
}

#[test]
fn a_turn_word_that_is_put_back_keeps_nothing() {
    let scene = Scene::new("left-forged");
    let leaver = scene.client();
    post(&leaver, NOTE);
    wait_until(|| scene.notes() == 1);
    let binding = scene.served();
    let call = Sequence::from_u32(1);
    let all = || (0..ASTACKS).map(|index| binding.astack(index).head());
    // None but the one that was used has a first call.
    let used = |word: u32| word != 0 && TurnWord(word).phase() != Some(Phase::Posted);
    wait_until(|| all().any(|head| used(head.turn.load(Ordering::SeqCst))));
    for head in all().filter(|head| used(head.turn.load(Ordering::SeqCst))) {
        head.selector.store(NOTE, Ordering::SeqCst);
        head.turn.store(TurnWord::new(call, Phase::Posted).0, Ordering::SeqCst);
    }
    let _other = scene.client();
    drop(leaver);
    wait_until(|| scene.table_count() == 1);
    // It is believed for as long as somebody knows the binding: this test does.
    assert!(binding.leaving.has_some() && !scene.has_room());
    drop(binding);
    scene.wait_for_room();
    assert_eq!(scene.notes(), 1);
}

#[test]
fn a_clerk_that_ends_begins_nothing_of_it() {
    let scene = Scene::new("left-clerk");
    let (_keeper, binding) = scene.left(|_| {});
    let Scene { server, notes, go, .. } = scene;
    let domain = server.domain().clone();
    drop(server);
    assert!(domain.core().processors.left.unbegun().is_empty() && !binding.leaving.has_some());
    go.send(()).unwrap();
    domain.shut_down();
    assert_eq!(notes.load(Ordering::SeqCst), 0);
}

#[test]
fn another_policy_takes_it_back() {
    let scene = Scene::new("left-policy");
    let (keeper, binding) = scene.left(|_| {});
    scene.server.clerk().set_policy(Policy::OwnerOnly).unwrap();
    assert_eq!(scene.left_behind().unbegun().len(), 1);
    let nobody = Policy::Ask(Box::new(|_| Admission::Refuse("on purpose".to_owned())));
    assert_eq!(scene.server.clerk().set_policy(nobody).unwrap(), 1);
    assert!(scene.left_behind().unbegun().is_empty() && !binding.leaving.has_some());
    assert!(!keeper.binding().is_revoked() || scene.notes() == 0);
    scene.server.clerk().set_policy(Policy::OwnerOnly).unwrap();
    scene.go.send(()).unwrap();
    scene.wait_for_room();
    assert_eq!(scene.notes(), 0);
}

#[test]
fn of_a_client_that_is_found_to_lie_nothing_more_is_begun() {
    let scene = Scene::new("left-lying");
    let (keeper, binding) = scene.left(|_| {});
    binding.fault(PeerFault::ProcedureIndex { claimed: 7, count: 3 });
    scene.go_on(&keeper);
    scene.wait_for_room();
    assert_eq!(scene.notes(), 3);
}

#[test]
fn a_domain_that_ends_begins_nothing_of_it() {
    let scene = Scene::new("left-domain");
    let (_keeper, binding) = scene.left(|_| {});
    let domain: Domain = scene.server.domain().clone();
    let ending = std::thread::spawn(move || domain.shut_down());
    wait_until(|| !binding.leaving.has_some());
    scene.go.send(()).unwrap();
    ending.join().unwrap();
    assert_eq!(scene.notes(), 0);
}

/// As often as anybody is let go, and not as often as a look comes by.
#[test]
fn what_is_of_users_who_are_held_back_is_put_aside_until_they_are_let_go() {
    let scene = Scene::new("left-held");
    let (keeper, _) = scene.left(|_| {});
    let left = scene.left_behind();
    assert!(left.turns(|_| true).is_empty());
    assert!(left.turns(|_| false).is_empty());
    assert!(!left.let_go(|_| true) && left.turns(|_| false).is_empty());
    assert!(left.let_go(|_| false));
    let turns = left.turns(|_| false);
    assert_eq!(turns.iter().map(|turn| turn.1.len() as u32).collect::<Vec<_>>(), [ASTACKS]);
    scene.go_on(&keeper);
    wait_until(|| scene.notes() == 3 + ASTACKS);
}

#[test]
fn introductions_of_a_client_that_has_gone_are_over() {
    let scene = Scene::new("left-introductions");
    let mut introduction = None;
    let (_keeper, _) = scene.left(|binding| introduction = Some(binding.introduce().unwrap()));
    let receiver = Domain::new().unwrap();
    let refused = Binding::import_introduced(&receiver, introduction.unwrap(), &INTERFACE);
    assert!(matches!(refused, Err(BindError::IntroductionOver { .. })), "{refused:?}");
    assert_eq!(scene.left_behind().unbegun().len(), 1);
    scene.go.send(()).unwrap();
}
