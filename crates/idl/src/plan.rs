//! The steps of every stub, as data.
//!
//! Decides which values are copied where, in what order, and what is checked: a back end prints
//! one step after the other. Knows layouts and types, no target language. [`dump`] writes a step a
//! line, for the goldens in `tests/idl/plan`.
//!
//! ```text
//! client   request ... Post     reply ...            or raised[n] ...
//! server   request ... Run      reply ... Reply      or raised[n] ... Raise
//! ```
//!
//! Copies are those of LRPC's Table III: one in (`Put*`), one on the server of what it interprets
//! with the check folded in (`Get*`, `Take`), results straight to where they belong.

mod brief;
mod dump;
mod feeds;
mod limits;
mod message;
mod plain;
mod posted;
mod showing;
mod times;
mod types;

pub use brief::{Brief, BriefItem, BriefKind, BriefPayload};
pub use dump::dump;
pub use feeds::{FeedPlan, FeedWay, Sent, item_checks};
pub use limits::{Count, Hop, Limit, LimitCheck, limit_checks};
pub use plain::Footprint;
pub use showing::{SHOWN_CHARACTERS_MAX, Showing, showing};
pub use times::Time;
pub use types::{MemberPlan, TypePlan};

use std::collections::BTreeSet;

use nearcall_abi::AStackClass;

use crate::hash;
use crate::layout::{self, Form, Place, Root, Scalar, Shape};
use crate::model::{DeclarationId, DescriptorKind, Direction, Interface, Kind, Model, Operation};

/// Every stub of a compilation, and every type that can be marshalled.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// In the order of the text.
    pub types: Vec<TypePlan>,
    /// In the order of the text.
    pub interfaces: Vec<InterfacePlan>,
}

/// The stubs of one interface.
#[derive(Clone, Debug, PartialEq)]
pub struct InterfacePlan {
    /// Which interface.
    pub id: DeclarationId,
    /// What import and export compare.
    pub hash: [u8; 16],
    /// A-stack classes, in order of size.
    pub classes: Vec<AStackClass>,
    /// In the order of the procedure indices.
    pub procedures: Vec<ProcedurePlan>,
    /// In the order of the procedures that open them.
    pub feeds: Vec<FeedPlan>,
    /// The appendable structs and enums in its messages, in the order of the procedures that have
    /// them first.
    pub appendables: Vec<AppendablePlan>,
}

/// An appendable struct or enum, as a bind compares it.
#[derive(Clone, Debug, PartialEq)]
pub struct AppendablePlan {
    /// Which.
    pub id: DeclarationId,
    /// The first procedure in whose messages it is.
    pub procedure: u32,
    /// Of its name, then one a member, of all members up to that one.
    pub hashes: Vec<[u8; 16]>,
}

/// Both stubs of one procedure.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcedurePlan {
    /// Its place in the interface.
    pub index: u32,
    /// Hash over everything that decides the layout of its messages.
    pub hash: [u8; 16],
    /// Index into [`InterfacePlan::classes`].
    pub class: u8,
    /// A call that has failed is made once more: `@idempotent`, and it returns.
    pub is_retried: bool,
    /// What the client passes, in the order of the parameters.
    pub arguments: Vec<Argument>,
    /// What the call evaluates to: the returned value, then the out parameters. The procedure
    /// evaluates to the same, less a lent result.
    pub results: Vec<Root>,
    /// The result that the server writes in place.
    pub lent_result: Option<Root>,
    /// Call stub: request, reply, exceptions.
    pub client: Stub,
    /// Entry stub: request, reply, exceptions.
    pub server: Stub,
}

/// One of the two stubs.
#[derive(Clone, Debug, PartialEq)]
pub struct Stub {
    /// Up to the post, or up to the run.
    pub request: Vec<Step>,
    /// When it returned.
    pub reply: Vec<Step>,
    /// When it raised, in the order of `raises`.
    pub raised: Vec<Vec<Step>>,
}

/// How a parameter stands in the signature of a stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Which parameter.
    pub parameter: u32,
    /// How it is passed.
    pub passing: Passing,
}

/// How a parameter is passed. Out parameters are results, but for a lent one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// By value: words.
    Value,
    /// By reference; the procedure does not change it.
    Shared,
    /// By reference; the procedure changes it.
    Exclusive,
    /// Octets lent to the server (L43).
    Lent,
    /// Octets that the server writes in place.
    LentResult,
    /// Octets lent to the server, and replaced by what it writes in place.
    LentBoth,
    /// A descriptor: lent by the caller, the procedure's own.
    Descriptor,
}

/// A descriptor that goes beside a message. Those that may be absent go behind the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Which value it is.
    pub root: Root,
    /// What it has to be.
    pub kind: DescriptorKind,
    /// It may be absent: byte of the message that says whether it is there.
    pub presence_at: Option<u32>,
}

/// One step of a stub.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Refuse a value with more than `limit`, before anything is posted or replied.
    CheckBound { place: Place, count: Count, limit: u32 },
    /// Refuse a value out of its range, before anything is posted or replied.
    CheckRange { place: Place, checks: Vec<LimitCheck> },
    /// Marshal a value into private memory, checking the limits inside of it.
    Marshal { place: Place, checks: Vec<LimitCheck> },
    /// Take an A-stack. May wait.
    Claim { class: u8 },
    /// Say where results go; `exception` forgets what the procedure wrote in place.
    Results { exception: bool },
    /// Store a word.
    PutScalar { place: Place, at: u32, scalar: Scalar },
    /// Store an array of elements.
    PutBlock { place: Place, at: u32, bytes: u32 },
    /// Store a fixed value, marshalled.
    PutImage { place: Place, at: u32, bytes: u32 },
    /// Store how long a payload is.
    PutLength { place: Place, at: u32, form: Form },
    /// Store how much the procedure wrote in place.
    PutLentLength { place: Place, at: u32 },
    /// Make room for the payloads named; a lent result lies before them already.
    Variable { at: u32, payloads: Vec<(Place, Form)> },
    /// Copy a payload.
    PutPayload { place: Place, form: Form },
    /// Store whether a descriptor is there: 1, or 0.
    PutPresence { root: Root, at: u32 },
    /// Say that descriptors come back.
    ExpectDescriptors,
    /// Send descriptors ahead of the A-stack, refusing one of another kind, and in the place of one
    /// that is absent what stands for it.
    PutDescriptors { descriptors: Vec<Passed> },
    /// Post the A-stack and wait for the reply.
    Post { fixed_bytes: u32 },
    /// Post the A-stack and return.
    PostOneway { fixed_bytes: u32 },
    /// Refuse a reply that raises: the procedure cannot.
    NothingRaised,
    /// Branch: 0 goes on with `reply`, n with `raised[n - 1]`, anything else is refused.
    Dispatch { exceptions: u32 },
    /// Take the descriptors that came: exactly these, of these kinds, unless they are absent.
    TakeDescriptors { descriptors: Vec<Passed> },
    /// Load a word, judge the copy.
    GetScalar { place: Place, at: u32, scalar: Scalar, check: Check },
    /// Load an array of elements.
    GetBlock { place: Place, at: u32, bytes: u32 },
    /// Load a fixed value, unmarshalling a private copy.
    GetImage { place: Place, at: u32, bytes: u32 },
    /// Load how long a payload is.
    GetLength { place: Place, at: u32 },
    /// Begin to read the payloads, in order.
    Incoming { at: u32 },
    /// Read the next payload, which must not be longer than `limit`.
    Take { place: Place, form: Form, copy: Copy, limit: Option<u32> },
    /// Refuse a value that a peer sent beyond a limit inside of it.
    CheckInside { place: Place, checks: Vec<LimitCheck> },
    /// Make a struct from the members loaded.
    Assemble { root: Root },
    /// Room for the result that the procedure writes in place.
    Lend { root: Root, at: u32, limit: Option<u32> },
    /// Run the procedure.
    Run,
    /// Put a result where the client wants it.
    Store { root: Root },
    /// Return the results.
    Return { results: Vec<Root> },
    /// Return the exception made from the members loaded.
    ReturnRaised { number: u32 },
    /// Give the A-stack back with the results.
    Reply { fixed_bytes: u32 },
    /// Give the A-stack back with an exception.
    Raise { number: u32, fixed_bytes: u32 },
}

/// What is checked while a word is copied (L44).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Every word is a value.
    Any,
    /// 0 or 1.
    Boolean,
    /// A Unicode scalar value.
    Character,
    /// One of the enumerators.
    Enumerator,
    /// No bit but the declared ones.
    Bits,
}

/// Where a payload is copied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// Private memory for as long as the procedure runs; the stack if it is small.
    Private,
    /// A value of its own.
    Owned,
    /// The memory that the caller gave.
    Into,
    /// Not at all: lent in place.
    None,
}

impl Step {
    /// Does it write into the A-stack?
    pub fn is_write(&self) -> bool {
        matches!(
            self,
            Step::PutScalar { .. }
                | Step::PutBlock { .. }
                | Step::PutImage { .. }
                | Step::PutLength { .. }
                | Step::PutLentLength { .. }
                | Step::Variable { .. }
                | Step::PutPresence { .. }
                | Step::ExpectDescriptors
                | Step::PutDescriptors { .. }
        )
    }
}

/// Plans every stub of a compilation.
pub fn plan(model: &Model) -> Plan {
    let interfaces =
        model.interfaces().map(|(id, _, interface)| interface_plan(model, id, interface));
    Plan { types: types::types(model), interfaces: interfaces.collect() }
}

fn interface_plan(model: &Model, id: DeclarationId, interface: &Interface) -> InterfacePlan {
    let layout = layout::interface(model, interface);
    let pairs = interface.operations.iter().zip(&layout.operations).zip(0u32..);
    let procedures: Vec<ProcedurePlan> = pairs
        .map(|((operation, layout), index)| {
            let planner = message::Planner { model, operation, layout };
            ProcedurePlan {
                index,
                hash: hash::procedure(model, operation, layout),
                class: layout.class,
                is_retried: operation.is_idempotent && !operation.is_oneway,
                arguments: arguments(model, operation, layout.lent_result),
                results: message::results(operation, layout.lent_result),
                lent_result: layout.lent_result,
                client: planner.client(),
                server: planner.server(),
            }
        })
        .collect();
    let appendables = appendables(model, interface);
    let hashes = interface.operations.iter().zip(&procedures);
    let hash = hash::interface(
        hashes.map(|(operation, plan)| (&*operation.name, &plan.hash)),
        appendables.iter().flat_map(|plan| plan.hashes.last()),
    );
    let feeds = feeds::feeds(interface);
    InterfacePlan { id, hash, classes: layout.classes, procedures, feeds, appendables }
}

fn appendables(model: &Model, interface: &Interface) -> Vec<AppendablePlan> {
    let (mut plans, mut seen) = (Vec::new(), BTreeSet::new());
    for (operation, procedure) in interface.operations.iter().zip(0u32..) {
        for id in layout::reached(model, operation) {
            if seen.insert(id) && is_compared(model, id) {
                plans.push(AppendablePlan { id, procedure, hashes: hash::appendable(model, id) });
            }
        }
    }
    plans
}

/// Whether a type may grow, and a bind has something to compare of it: an enum of a .proto file may
/// have any values, and what is in a oneof of one is compared with its message.
fn is_compared(model: &Model, id: DeclarationId) -> bool {
    let is_numbered = match &model.declaration(id).kind {
        Kind::Enum(shape) => shape.is_numbered(),
        Kind::Union(union) => union.is_numbered(),
        _ => false,
    };
    !is_numbered && model.may_grow(id)
}

fn arguments(model: &Model, operation: &Operation, lent: Option<Root>) -> Vec<Argument> {
    let mut arguments = Vec::new();
    for (parameter, index) in operation.parameters.iter().zip(0u32..) {
        let is_lent_result = lent == Some(Root::Parameter(index));
        let passing = match parameter.direction {
            Direction::In if parameter.descriptor.is_some() => Passing::Descriptor,
            Direction::In if parameter.is_opaque => Passing::Lent,
            Direction::In => match layout::shape(model, &parameter.declared) {
                Shape::Scalar(_) => Passing::Value,
                _ => Passing::Shared,
            },
            Direction::Inout if is_lent_result => Passing::LentBoth,
            Direction::Inout => Passing::Exclusive,
            Direction::Out if is_lent_result => Passing::LentResult,
            Direction::Out => continue,
        };
        arguments.push(Argument { parameter: index, passing });
    }
    arguments
}

#[cfg(test)]
mod tests;
