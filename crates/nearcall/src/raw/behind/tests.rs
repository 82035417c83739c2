//! Clients that post before they have copied, and then do not behave.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use nearcall_abi::head::flag;
use nearcall_abi::{
    AStackClass, InterfaceDescriptor, ProcedureDescriptor, RequestLine, Status, VARIABLE_BYTES,
};
use nearcall_core::turn::{self, Poll};
use nearcall_core::{Mode, Sequence, progress};

use super::{Behind, NAP_NS_MAX, NAP_NS_MIN};
use crate::client::binding::Held;
use crate::client::deadline::{Deadline, NEVER_NS};
use crate::raw::{Arguments, Client, Entries, Outcome, Room, UNBOUNDED};
use crate::region::origin_word;
use crate::testing::TestServer;
use crate::{Binding, DomainOptions, ExportOptions};

static INTERFACE: InterfaceDescriptor = InterfaceDescriptor {
    name: "Behind",
    hash: [1; 16],
    procedures: &[procedure("sum"), procedure("null")],
    classes: &[AStackClass::for_block(VARIABLE_BYTES)],
    appendables: &[],
};

const fn procedure(name: &'static str) -> ProcedureDescriptor {
    ProcedureDescriptor {
        name,
        hash: [2; 16],
        class: 0,
        is_oneway: false,
        is_idempotent: false,
        is_leaf: false,
    }
}

/// Bytes of arguments, of which half are there at the post.
const BYTES: u32 = 4096;
const HALF: u32 = BYTES / 2;

/// Sums bytes, and counts how often.
#[derive(Default)]
struct Summer {
    runs: Arc<AtomicU32>,
}

impl Entries for Summer {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &INTERFACE
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        if procedure == 1 {
            return arguments.results().reply(0);
        }
        let length = arguments.get_u32::<0>();
        let mut room = Room::new();
        let bytes = arguments.variable::<8>()?.bytes(length, UNBOUNDED, &mut room)?;
        // SeqCst: the tests compare what two threads counted.
        self.runs.fetch_add(1, SeqCst);
        let mut results = arguments.results();
        results.put_u32::<0>(bytes.iter().map(|byte| u32::from(*byte)).sum());
        results.reply(4)
    }
}

/// A server, and what it counts.
struct Twin {
    server: TestServer,
    runs: Arc<AtomicU32>,
}

impl Twin {
    fn new(name: &str) -> Twin {
        Twin::with(name, DomainOptions::default(), ExportOptions::default())
    }

    fn with(name: &str, domain: DomainOptions, export: ExportOptions) -> Twin {
        let summer = Summer::default();
        let runs = Arc::clone(&summer.runs);
        let server = TestServer::with(&format!("behind-{name}"), summer, domain, export);
        Twin { server, runs }
    }

    fn import(&self) -> Binding {
        self.server.import()
    }

    fn runs(&self) -> u32 {
        // SeqCst: as in `enter`.
        self.runs.load(SeqCst)
    }
}

/// A call that was posted when half of its arguments were there.
struct Half<'b> {
    held: Held<'b>,
    sequence: Sequence,
}

impl<'b> Half<'b> {
    fn post(binding: &'b Binding) -> Half<'b> {
        let (held, _) = binding.inner().claim(0, 0, Deadline::default()).unwrap();
        let segment = held.request_segment(BYTES as usize, 0, NEVER_NS).unwrap();
        segment.segment.span_mut().unwrap().copy_in(0, &[1; BYTES as usize]);
        let line: &RequestLine = held.astack.own_line();
        line.generation.store(segment.generation, Relaxed);
        progress::advance(&line.progress, HALF);
        held.astack.inline().store_u32(0, BYTES);
        let head = held.astack.head();
        head.selector.store(0, Relaxed);
        head.message_bytes.store(8 + BYTES, Relaxed);
        head.origin.store(origin_word(flag::OUT_OF_LINE | flag::PARTIAL), Relaxed);
        let sequence = held.linkage().count();
        if turn::post(&head.turn, sequence).unwrap() == Mode::Bell {
            binding.inner().ring();
        }
        Half { held, sequence }
    }

    fn advance(&self, bytes: u32) {
        progress::advance(&self.held.astack.own_line::<RequestLine>().progress, bytes);
    }

    fn poll(&self) -> Poll {
        turn::poll(&self.held.astack.head().turn, self.sequence)
    }

    /// The status and the sum.
    fn wait(self) -> (Option<Status>, u32) {
        while self.poll() == Poll::Pending {
            std::thread::yield_now();
        }
        assert!(matches!(self.poll(), Poll::Replied { .. }), "{:?}", self.poll());
        let status = self.held.astack.head().selector.load(Relaxed);
        (Status::from_word(status), self.held.astack.inline().load_u32(0))
    }
}

fn null(binding: &Binding) {
    let client = Client::new(binding.clone(), &INTERFACE);
    client.claim::<0>(1).unwrap().post(0).unwrap();
}

#[test]
fn arguments_that_come_after_the_post_are_waited_for() {
    let twin = Twin::new("late");
    let (binding, other) = (twin.import(), twin.import());
    let half = Half::post(&binding);
    null(&other);
    half.advance(HALF + 8);
    null(&other);
    assert_eq!(twin.runs(), 0);
    half.advance(BYTES);
    assert_eq!(half.wait(), (Some(Status::Returned), BYTES));
    assert_eq!(twin.runs(), 1);
}

#[test]
fn a_client_that_stops_is_refused_while_others_are_served() {
    let twin = Twin::new("stops");
    let (binding, other) = (twin.import(), twin.import());
    let half = Half::post(&binding);
    for _ in 0..100 {
        null(&other);
    }
    assert_eq!(half.wait().0, Some(Status::Malformed));
    assert_eq!(twin.runs(), 0);
    // It did nothing wrong.
    null(&binding);
    let half = Half::post(&binding);
    half.advance(BYTES);
    assert_eq!(half.wait(), (Some(Status::Returned), BYTES));
}

/// On an E-stack who waits keeps no processor: there is one.
#[cfg(feature = "threads")]
#[test]
fn arguments_that_an_estack_waits_for_keep_no_processor() {
    let domain = DomainOptions { processors_max: 1, ..DomainOptions::default() };
    let export = ExportOptions { runs_on_estacks: true, ..ExportOptions::default() };
    let twin = Twin::with("estack", domain, export);
    let (binding, other) = (twin.import(), twin.import());
    let half = Half::post(&binding);
    for _ in 0..100 {
        null(&other);
    }
    assert_eq!(half.poll(), Poll::Pending, "it is waited for beside the others");
    half.advance(BYTES);
    assert_eq!(half.wait(), (Some(Status::Returned), BYTES));
    assert_eq!(twin.runs(), 1);
}

#[test]
fn a_client_that_hangs_up_is_not_waited_for() {
    let twin = Twin::new("leaves");
    let binding = twin.import();
    let half = Half::post(&binding);
    binding.inner().control.hang_up();
    while half.poll() == Poll::Pending {
        std::thread::yield_now();
    }
    assert_eq!(twin.runs(), 0);
    null(&twin.import());
}

/// Tells of progress that cannot be until the binding is revoked.
fn forge(name: &str, claims: [u32; 2]) {
    let twin = Twin::new(name);
    let (binding, other) = (twin.import(), twin.import());
    let half = Half::post(&binding);
    while !binding.is_revoked() {
        for claim in claims {
            half.advance(claim);
            std::thread::yield_now();
        }
    }
    assert_eq!(twin.runs(), 0);
    null(&other);
}

#[test]
fn progress_past_the_end_is_a_fault() {
    forge("past", [BYTES + 1, u32::MAX]);
}

#[test]
fn progress_that_goes_back_is_a_fault() {
    forge("back", [HALF, HALF - 8]);
}

#[test]
fn who_has_waited_for_long_looks_seldom() {
    let behind = Behind::default();
    behind.set_end(1 << 20);
    let (mut looks, mut naps) = (0, Vec::new());
    while behind.spend(behind.nap_ns()).is_ok() {
        looks += 1;
        naps.push(behind.nap_ns());
    }
    assert_eq!((naps[0], naps[looks - 1]), (NAP_NS_MIN, NAP_NS_MAX));
    assert!(naps.is_sorted() && looks < 100, "{looks} looks");
}
