//! The messages of an interface: what is sent, and what has to come of it.

use std::collections::BTreeMap;

use nearcall::raw::DescriptorKind;
use nearcall_idl::layout::{self, MessageLayout, Place, Root, members, root_type};
use nearcall_idl::model::{Annotation, DeclarationId, Model, Operation, Type};
use nearcall_idl::selftest::{Answer, Round, Selftest, Value};

use crate::Kind;
use crate::mutations::{Random, mutated};
use crate::opened;
use crate::tally::Side;
use crate::writer::{Known, Lie, Writer};

/// Seeds whose values lies are told in: each has other cases of unions and other optional members.
const SEEDS: [u64; 4] = [1, 2, 3, 4];

/// What one mutation more is worth shrinks.
const MUTATIONS: usize = 16;

/// What a peer writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Which procedure's.
    pub procedure: u32,
    /// Of a reply: which exception, from 1 on; 0 if it returned.
    pub raised: u16,
    /// The fixed part.
    pub fixed: Vec<u8>,
    /// Where the variable part begins, if the message has one.
    pub variable_at: Option<usize>,
    /// All payloads, each padded to 8.
    pub variable: Vec<u8>,
    /// What goes beside it.
    pub descriptors: Vec<DescriptorKind>,
}

/// Why a message is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It has to be accepted.
    Valid,
    /// It has to do no harm.
    Mutation,
    /// It has to be refused.
    Lie(Lie),
}

/// What calls a message is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// Such as wait for a reply.
    Call,
    /// Such as nobody waits for.
    Oneway,
    /// Such as pass open files.
    Descriptors,
}

impl Form {
    pub const ALL: [Form; 3] = [Form::Call, Form::Oneway, Form::Descriptors];

    /// As reports call them.
    pub fn name(self) -> &'static str {
        match self {
            Form::Call => "calls",
            Form::Oneway => "oneways",
            Form::Descriptors => "calls with descriptors",
        }
    }

    fn of(operation: &Operation) -> Form {
        match operation {
            _ if operation.is_oneway => Form::Oneway,
            _ if operation.passes_descriptors() => Form::Descriptors,
            _ => Form::Call,
        }
    }
}

/// A message and what has to come of it.
#[derive(Clone, Debug)]
pub struct Case {
    pub message: Message,
    pub purpose: Purpose,
    pub form: Form,
    /// Which operation of the whole file, as its self-test counts.
    pub number: usize,
}

/// Everything that is sent about one interface.
#[derive(Clone, Debug)]
pub struct InterfaceCases {
    pub id: DeclarationId,
    /// To servers.
    pub requests: Vec<Case>,
    /// To clients.
    pub replies: Vec<Case>,
}

impl InterfaceCases {
    /// What a side reads.
    pub fn of(&self, side: Side) -> &[Case] {
        match side {
            Side::Server => &self.requests,
            Side::Client => &self.replies,
        }
    }
}

/// The self-test of a file with one call of each operation: what its programs are made of.
pub fn trimmed(model: &Model) -> Option<Selftest> {
    let mut test = Selftest::new(model, SEEDS[0]).ok()?;
    let operations = test.interfaces.iter_mut().flat_map(|one| &mut one.operations);
    operations.for_each(|operation| operation.rounds.truncate(1));
    Some(test)
}

/// Every case of a file, by interface, in the order of its self-test. Operations that carry feeds
/// are not called: those have tests of their own.
pub fn cases(model: &Model) -> Vec<InterfaceCases> {
    let tests: Vec<Selftest> =
        SEEDS.iter().filter_map(|seed| Selftest::new(model, *seed).ok()).collect();
    let Some(first) = tests.first() else { return Vec::new() };
    let mut random = Random::new(7);
    let mut all = Vec::new();
    for (interface, index) in first.interfaces.iter().zip(0..) {
        let (id, _, declared) =
            model.interfaces().find(|(id, ..)| *id == interface.id).expect("it is there");
        let layout = layout::interface(model, declared);
        let mut own = InterfaceCases { id, requests: Vec::new(), replies: Vec::new() };
        for (test, place) in interface.operations.iter().zip(0..) {
            let operation = &declared.operations[test.procedure];
            if operation.feed.is_some() {
                continue;
            }
            let layout = &layout.operations[test.procedure];
            let rounds: Vec<&Round> = tests
                .iter()
                .flat_map(|test| &test.interfaces[index].operations[place].rounds)
                .collect();
            let maker =
                Maker { model, operation, number: test.number, procedure: test.procedure as u32 };
            let descriptors = opened::of_arguments(operation);
            if !layout.request.items.is_empty() || !descriptors.is_empty() {
                let told = rounds.iter().map(|round| Told {
                    descriptors: &descriptors,
                    ..Told::new(&layout.request, Values::Given(&round.given))
                });
                own.requests.extend(maker.cases(&told.collect::<Vec<_>>(), &mut random));
            }
            if !operation.is_oneway {
                own.replies.extend(maker.replies(layout, &rounds, &mut random));
            }
        }
        all.push(own);
    }
    all
}

/// A message that can be written: where its values are.
#[derive(Clone, Copy)]
struct Told<'t> {
    layout: &'t MessageLayout,
    raised: u16,
    exception: Option<DeclarationId>,
    values: Values<'t>,
    descriptors: &'t [DescriptorKind],
}

#[derive(Clone, Copy)]
enum Values<'t> {
    Given(&'t [Option<Value>]),
    Results(&'t Option<Value>, &'t [Option<Value>]),
    Members(&'t Value),
}

impl<'t> Told<'t> {
    /// Of a request, or of a reply that returned.
    fn new(layout: &'t MessageLayout, values: Values<'t>) -> Told<'t> {
        Told { layout, raised: 0, exception: None, values, descriptors: &[] }
    }
}

impl<'t> Values<'t> {
    fn of(self, root: Root) -> &'t Value {
        let value = match (self, root) {
            (Values::Given(all) | Values::Results(_, all), Root::Parameter(index)) => {
                all[index as usize].as_ref()
            }
            (Values::Results(returned, _), Root::Returned) => returned.as_ref(),
            (Values::Members(Value::Fields(all)), Root::Member(index)) => {
                Some(&all[index as usize])
            }
            _ => None,
        };
        value.unwrap_or_else(|| panic!("{root:?} has no value"))
    }
}

/// Makes the cases of one operation.
struct Maker<'m> {
    model: &'m Model,
    operation: &'m Operation,
    number: usize,
    procedure: u32,
}

impl Maker<'_> {
    /// Results and exceptions, and one exception that is none.
    fn replies(
        &self,
        layout: &layout::OperationLayout,
        rounds: &[&Round],
        random: &mut Random,
    ) -> Vec<Case> {
        let descriptors = opened::of_results(self.operation);
        let mut kinds: BTreeMap<usize, Vec<Told<'_>>> = BTreeMap::new();
        for round in rounds {
            let (kind, told) = match &round.answer {
                Answer::Returned { returned, changed } => {
                    let values = Values::Results(returned, changed);
                    (0, Told { descriptors: &descriptors, ..Told::new(&layout.reply, values) })
                }
                Answer::Raised { index, members } => {
                    let exception = Some(self.operation.raises[*index]);
                    let (layout, values) = (&layout.raised[*index], Values::Members(members));
                    let raised = *index as u16 + 1;
                    (index + 1, Told { raised, exception, ..Told::new(layout, values) })
                }
            };
            kinds.entry(kind).or_default().push(told);
        }
        let mut all: Vec<Case> = kinds.values().flat_map(|told| self.cases(told, random)).collect();
        let raised = self.operation.raises.len() as u16 + 1;
        let lie = Lie { kind: Kind::Exception, place: String::new(), variant: 0 };
        all.push(self.case(Message { raised, ..Message::default() }, Purpose::Lie(lie)));
        all
    }

    /// Of messages of one layout: each, mutations of each, and each lie that there is.
    fn cases(&self, told: &[Told<'_>], random: &mut Random) -> Vec<Case> {
        let mut all = Vec::new();
        let mut lies: BTreeMap<Lie, &Told<'_>> = BTreeMap::new();
        for one in told {
            let (message, found) = self.write(one, None);
            for lie in found {
                lies.entry(lie).or_insert(one);
            }
            all.push(self.case(message, Purpose::Valid));
        }
        for count in 0..MUTATIONS {
            let message = mutated(&all[count % told.len()].message, random);
            all.push(self.case(message, Purpose::Mutation));
        }
        for (lie, told) in lies {
            let (message, _) = self.write(told, Some(&lie));
            all.push(self.case(message, Purpose::Lie(lie)));
        }
        for (place, descriptors) in opened::wrong(told[0].descriptors) {
            let message = Message { descriptors, ..self.write(&told[0], None).0 };
            let lie = Lie { kind: Kind::Descriptor, place, variant: 0 };
            all.push(self.case(message, Purpose::Lie(lie)));
        }
        all
    }

    fn case(&self, message: Message, purpose: Purpose) -> Case {
        let message = Message { procedure: self.procedure, ..message };
        Case { message, purpose, form: Form::of(self.operation), number: self.number }
    }

    fn write(&self, told: &Told<'_>, lie: Option<&Lie>) -> (Message, Vec<Lie>) {
        let mut writer = Writer::new(self.model, lie);
        let message = writer.message(told.layout, |place| self.known(told, place));
        assert!(lie.is_none() || writer.is_told, "{lie:?} has no place any more");
        let descriptors = told.descriptors.to_vec();
        let message = Message { raised: told.raised, descriptors, ..message };
        (message, writer.found.into_iter().collect())
    }

    /// What stands at a place: its path and its value.
    fn known<'v>(&'v self, told: &Told<'v>, place: &Place) -> (String, Known<'v>)
    where
        Self: 'v,
    {
        let declared = root_type(self.model, self.operation, told.exception, place.root);
        let declared = declared.expect("a root has a type");
        let no_annotations: &[Annotation] = &[];
        let (mut name, annotations) = match (place.root, told.exception) {
            (Root::Returned, _) => (String::from("returned"), &*self.operation.annotations),
            (Root::Parameter(index), _) => {
                let own = &self.operation.parameters[index as usize];
                (own.name.clone(), &*own.annotations)
            }
            (Root::Member(index), Some(id)) => {
                let member = members(self.model, id)[index as usize];
                (member.name.clone(), &*member.annotations)
            }
            (Root::Member(_), None) => (String::new(), no_annotations),
        };
        let value = told.values.of(place.root);
        let mut known = Known { declared, annotations, value };
        for index in &place.path {
            let Type::Named(id) = self.model.resolved(known.declared) else {
                panic!("{place:?} leads through what is no struct");
            };
            let member = members(self.model, *id)[*index as usize];
            let Value::Fields(fields) = known.value else { panic!("{:?}", known.value) };
            name = format!("{name}.{}", member.name);
            known = Known {
                declared: &member.declared,
                annotations: &member.annotations,
                value: &fields[*index as usize],
            };
        }
        (name, known)
    }
}
