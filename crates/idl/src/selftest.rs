//! What a client and a server of any interface say to each other to find out whether they are
//! understood: for every operation, what is passed and what is answered, from a seed.
//!
//! ```text
//! model, seed ─▶ values ─▶ back: a client and a server a language, which know them both
//!                  └─────▶ shown: the text that a value has in every language
//! ```
//!
//! Decides which values cross, and when an exception is raised; knows no target language. The
//! programs compare what arrives by its text, which they make and this module has made before
//! them: what differs is shown on both sides. After IDL4's `-dtest` (PAPERS I16);
//! docs/design/0021 has the forms.

mod random;
mod shown;
mod values;

use crate::back::Unsupported;
use crate::model::{
    Bitfield, DeclarationId, Direction, Interface, Model, Operation, Primitive, Type,
};
use crate::plan::{FeedPlan, FeedWay, plan};

use random::Random;
use values::{Maker, Size};

pub use shown::{SHOWN_BYTES_MAX, label, shortened, shown, shown_members};
pub use values::{OPENED_BYTES_MAX, Value, items_max};

/// Everything that is called, and what it answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Selftest {
    /// Which values: the same for the same seed, in every language.
    pub seed: u64,
    /// How the programs call and serve, where their language has a choice.
    pub manner: Manner,
    /// Interfaces of the file itself that have operations, in the order of the text.
    pub interfaces: Vec<InterfaceTest>,
}

/// How calls are made, and procedures run. A language that has no other way does what blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// A call waits for its reply, a procedure keeps its processor.
    #[default]
    Blocking,
    /// Calls are posted, and collected later.
    Posted,
    /// Calls are awaited, and procedures wait.
    Awaited,
}

/// The calls of one interface.
#[derive(Clone, Debug, PartialEq)]
pub struct InterfaceTest {
    /// Which.
    pub id: DeclarationId,
    /// In the order of the procedure indices.
    pub operations: Vec<OperationTest>,
}

/// The calls of one operation, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationTest {
    /// What reports call it: `files::Files::open`.
    pub place: String,
    /// Which operation of the whole file it is.
    pub number: usize,
    /// Its procedure; that which opens the feed, if it is one.
    pub procedure: usize,
    /// The feed, if it is one.
    pub feed: Option<FeedPlan>,
    /// Never empty.
    pub rounds: Vec<Round>,
}

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// What the client passes, by parameter; `None` for out parameters.
    pub given: Vec<Option<Value>>,
    /// The items of a feed as a sequence, whoever sends them, and of an exchange those that come;
    /// `None` if it is refused at once.
    pub items: Option<Value>,
    /// Of an exchange: the items that go.
    pub sent: Option<Value>,
    /// What the server answers; if there are items, behind them.
    pub answer: Answer,
}

/// What a procedure does after it has looked at its arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It returns.
    Returned {
        /// The returned value, if the operation has one.
        returned: Option<Value>,
        /// By parameter; `None` for in parameters.
        changed: Vec<Option<Value>>,
    },
    /// It raises.
    Raised {
        /// Which of the operation's exceptions.
        index: usize,
        /// The exception's members.
        members: Value,
    },
}

/// Why a file has no self-test, which is the only reason.
pub const NOTHING_TO_CALL: &str = "the file has no interface of its own with an operation";

/// What is called in turn: the sizes of values on both sides of where their form changes.
const SIZES: [Size; 5] = [Size::Few, Size::Nothing, Size::PastInline, Size::OutOfLine, Size::Most];

impl Selftest {
    /// Chooses every value, or says that there is nothing to call.
    pub fn new(model: &Model, seed: u64) -> Result<Selftest, Vec<Unsupported>> {
        let plans = plan(model).interfaces;
        let mut number = 0;
        let mut interfaces = Vec::new();
        for (id, declaration, interface) in model.interfaces() {
            if declaration.is_included || interface.operations.is_empty() {
                continue;
            }
            let feeds = plans.iter().find(|plan| plan.id == id).map(|plan| &*plan.feeds);
            let feeds = feeds.unwrap_or_default();
            let called = interface.operations.iter().enumerate();
            let called = called.filter(|(_, operation)| !operation.carries_feed());
            let operations = called.map(|(procedure, operation)| {
                let feed = feeds.iter().find(|feed| feed.open as usize == procedure).cloned();
                let mut random = Random::new(seed, number as u64);
                let mut rounds = Rounds { model, operation, random: &mut random };
                let rounds = match &feed {
                    None => rounds.calls(),
                    Some(feed) => rounds.feed(feed, interface),
                };
                number += 1;
                let place = format!("{}::{}", declaration.name, operation.name);
                OperationTest { place, number: number - 1, procedure, feed, rounds }
            });
            let operations = operations.collect();
            interfaces.push(InterfaceTest { id, operations });
        }
        if interfaces.is_empty() {
            let (place, reason) = (String::from("self-test"), NOTHING_TO_CALL.to_owned());
            return Err(vec![Unsupported { place, reason }]);
        }
        Ok(Selftest { seed, manner: Manner::default(), interfaces })
    }

    /// How many operations are called.
    pub fn operation_count(&self) -> usize {
        self.interfaces.iter().map(|one| one.operations.len()).sum()
    }

    /// Whether an operation streams both ways.
    pub fn has_exchange(&self) -> bool {
        let mut operations = self.interfaces.iter().flat_map(|one| &one.operations);
        operations.any(OperationTest::is_exchange)
    }

    /// Whether open files are passed.
    pub fn has_descriptors(&self, model: &Model) -> bool {
        let interfaces = model.interfaces();
        let mut tested =
            interfaces.filter(|(id, ..)| self.interfaces.iter().any(|one| one.id == *id));
        tested.any(|(.., interface)| interface.operations.iter().any(Operation::passes_descriptors))
    }

    /// How many calls there are.
    pub fn call_count(&self) -> usize {
        let operations = self.interfaces.iter().flat_map(|one| &one.operations);
        operations.map(|operation| operation.rounds.len()).sum()
    }
}

/// What the calls of an operation are chosen from.
struct Rounds<'r, 'm> {
    model: &'m Model,
    operation: &'m Operation,
    random: &'r mut Random,
}

impl<'m> Rounds<'_, 'm> {
    /// Every size once, then every exception once. A oneway is called once: several may overtake
    /// one another, and the server could not tell which is which.
    fn calls(&mut self) -> Vec<Round> {
        let returning = if self.operation.is_oneway { 1 } else { SIZES.len() };
        let raised = (0..self.operation.raises.len()).map(Some);
        let outcomes = std::iter::repeat_n(None, returning).chain(raised);
        let rounds = outcomes.zip(SIZES.into_iter().cycle()).map(|(raised, size)| {
            let (operation, mut maker) = (self.operation, self.maker(size));
            let given = by_parameter(operation, Direction::Out, &mut maker);
            let answer = match raised {
                Some(index) => raising(operation, index, &mut maker),
                None => {
                    let returned = returned(operation, &mut maker);
                    let changed = by_parameter(operation, Direction::In, &mut maker);
                    Answer::Returned { returned, changed }
                }
            };
            Round { given, items: None, sent: None, answer }
        });
        rounds.collect()
    }

    /// Every size once, then every exception at once and behind items.
    fn feed(&mut self, feed: &FeedPlan, interface: &'m Interface) -> Vec<Round> {
        let raised = (0..self.operation.raises.len()).flat_map(|index| {
            [(Some((index, true)), Size::Few), (Some((index, false)), Size::Most)]
        });
        let outcomes = SIZES.into_iter().map(|size| (None, size)).chain(raised);
        let rounds = outcomes.map(|(raised, size)| {
            let (operation, mut maker) = (self.operation, self.maker(size));
            let given = by_parameter(operation, Direction::Out, &mut maker);
            let is_refused = matches!(raised, Some((_, true)));
            let items = (!is_refused).then(|| maker.feed(&feed.item, feed.batch_count));
            let sent = feed.sent.as_ref().filter(|_| !is_refused);
            let sent = sent.map(|sent| maker.feed(&sent.item, sent.batch_count));
            let answer = match (raised, feed.way) {
                (Some((index, _)), _) => raising(operation, index, &mut maker),
                (None, FeedWay::Back { .. } | FeedWay::Both { .. }) => {
                    Answer::Returned { returned: None, changed: Vec::new() }
                }
                (None, FeedWay::There { end, .. }) => {
                    let returned = returned(&interface.operations[end as usize], &mut maker);
                    Answer::Returned { returned, changed: Vec::new() }
                }
            };
            Round { given, items, sent, answer }
        });
        rounds.collect()
    }

    fn maker(&mut self, size: Size) -> Maker<'m, '_> {
        Maker::new(self.model, self.random, size)
    }
}

fn raising(operation: &Operation, index: usize, maker: &mut Maker<'_, '_>) -> Answer {
    Answer::Raised { index, members: maker.members(operation.raises[index]) }
}

fn returned(operation: &Operation, maker: &mut Maker<'_, '_>) -> Option<Value> {
    let declared = operation.returns.as_ref()?;
    Some(match operation.returns_descriptor {
        Some(descriptor) => maker.descriptor(descriptor),
        None => maker.value(declared, &operation.annotations),
    })
}

/// A value for each parameter but those that go this way alone.
fn by_parameter(
    operation: &Operation,
    but: Direction,
    maker: &mut Maker<'_, '_>,
) -> Vec<Option<Value>> {
    let values = operation.parameters.iter().map(|parameter| {
        let is_there = parameter.direction != but;
        is_there.then(|| match parameter.descriptor {
            Some(descriptor) => maker.descriptor(descriptor),
            None => maker.value(&parameter.declared, &parameter.annotations),
        })
    });
    values.collect()
}

/// The elements of a sequence, or of the outermost dimension of an array.
pub fn element(declared: &Type) -> Option<Type> {
    match declared {
        Type::Sequence { element, .. } => Some((**element).clone()),
        Type::Array { element, dimensions } => match dimensions.as_slice() {
            [] | [_] => Some((**element).clone()),
            [_, inner @ ..] => {
                Some(Type::Array { element: element.clone(), dimensions: inner.to_vec() })
            }
        },
        _ => None,
    }
}

/// The value of a field in the word of a bitset.
pub fn field(field: &Bitfield, bits: u64) -> i128 {
    let width = u32::from(field.width.clamp(1, 64));
    let value = i128::from(bits >> field.position & u64::MAX >> (64 - width));
    let is_signed = matches!(
        field.declared,
        Primitive::Int8 | Primitive::Int16 | Primitive::Int32 | Primitive::Int64
    );
    if is_signed && value >> (width - 1) == 1 { value - (1 << width) } else { value }
}

impl OperationTest {
    /// Whether it streams both ways.
    pub fn is_exchange(&self) -> bool {
        self.feed.as_ref().is_some_and(|feed| feed.sent.is_some())
    }
}

impl InterfaceTest {
    /// Its operations with their calls.
    pub fn calls<'t>(
        &'t self,
        interface: &'t Interface,
    ) -> impl Iterator<Item = (&'t Operation, &'t OperationTest)> {
        self.operations.iter().map(|test| (&interface.operations[test.procedure], test))
    }
}
