//! The messages of an interface: what is sent, and what has to come of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use nearcall::raw::DescriptorKind;
use nearcall_idl::layout::{self, MessageLayout, OperationLayout, Place, Root, members, root_type};
use nearcall_idl::model::{Annotation, DeclarationId, FeedPart, Model, Operation, Type};
use nearcall_idl::selftest::{Answer, Round, Selftest, Value};

use crate::Kind;
use crate::feeds::{Carried, Feeding, Numbers};
use crate::mutations::{Random, mutated};
use crate::opened::{self, Passed};
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
    /// Such as open a feed.
    Opening,
    /// Batches of a feed.
    Batch,
    /// Batches of an exchange.
    Exchange,
    /// Such as end a feed, or a side of an exchange.
    Ending,
}

impl Form {
    pub const ALL: [Form; 7] = [
        Form::Call,
        Form::Oneway,
        Form::Descriptors,
        Form::Opening,
        Form::Batch,
        Form::Exchange,
        Form::Ending,
    ];

    /// As reports call them.
    pub fn name(self) -> &'static str {
        match self {
            Form::Call => "calls",
            Form::Oneway => "oneways",
            Form::Descriptors => "calls with descriptors",
            Form::Opening => "openings of feeds",
            Form::Batch => "batches of feeds",
            Form::Exchange => "batches of exchanges",
            Form::Ending => "ends of feeds",
        }
    }

    fn of(operation: &Operation) -> Form {
        match &operation.feed {
            None if operation.is_oneway => Form::Oneway,
            None if operation.passes_descriptors() => Form::Descriptors,
            None => Form::Call,
            Some(feed) => match feed.part {
                FeedPart::Open => Form::Opening,
                FeedPart::Next | FeedPart::Put if feed.is_exchange => Form::Exchange,
                FeedPart::Next | FeedPart::Put => Form::Batch,
                FeedPart::End => Form::Ending,
            },
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
    pub around: Around,
}

/// What has to be said around a message.
#[derive(Clone, Debug, Default)]
pub enum Around {
    /// Nothing.
    #[default]
    Nothing,
    /// The request opens a feed, which nobody wants.
    Opened(Numbers),
    /// The request is of a feed that is open.
    Carried(Arc<Carried>),
    /// The client asks for more than this reply: what it is told of each procedure else.
    Answers(Arc<Vec<Message>>),
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

/// Every case of a file, by interface, in the order of its self-test.
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
            let number = test.number;
            let rounds: Vec<&Round> = tests
                .iter()
                .flat_map(|test| &test.interfaces[index].operations[place].rounds)
                .collect();
            if let Some(feed) = &test.feed {
                let (interface, layout, rounds) = (declared, &layout, &*rounds);
                let feeding = Feeding { model, interface, layout, feed, number, rounds };
                feeding.cases(&mut random, &mut own);
                continue;
            }
            let operation = &declared.operations[test.procedure];
            let maker = Maker { model, operation, number, procedure: test.procedure as u32 };
            maker.calls(&layout.operations[test.procedure], &rounds, &mut random, &mut own);
        }
        all.push(own);
    }
    all
}

/// A message that can be written: where its values are.
#[derive(Clone, Copy)]
pub struct Told<'t> {
    layout: &'t MessageLayout,
    raised: u16,
    exception: Option<DeclarationId>,
    values: Values<'t>,
    descriptors: &'t [Passed],
}

/// What stands in a message.
#[derive(Clone, Copy)]
pub enum Values<'t> {
    /// Arguments, by parameter.
    Given(&'t [Option<Value>]),
    /// What is returned, and the parameters that come back.
    Results(&'t Option<Value>, &'t [Option<Value>]),
    /// An exception's.
    Members(&'t Value),
    /// By what they are.
    Roots(&'t [(Root, Value)]),
}

impl<'t> Told<'t> {
    /// Of a request, or of a reply that returned.
    pub fn new(layout: &'t MessageLayout, values: Values<'t>) -> Told<'t> {
        Told { layout, raised: 0, exception: None, values, descriptors: &[] }
    }

    /// The same, and these go with it.
    pub fn passing(self, descriptors: &'t [Passed]) -> Told<'t> {
        Told { descriptors, ..self }
    }

    /// Whether a descriptor is there, and not absent.
    fn is_opened(&self, passed: &Passed) -> bool {
        *self.values.of(passed.root) != Value::Unopened
    }

    /// Of what kinds those are that are there.
    fn opened(&self) -> Vec<DescriptorKind> {
        let there = self.descriptors.iter().filter(|passed| self.is_opened(passed));
        there.map(|passed| passed.kind).collect()
    }
}

impl<'t> Values<'t> {
    fn of(self, root: Root) -> &'t Value {
        let value = match (self, root) {
            (Values::Given(all) | Values::Results(_, all), Root::Parameter(index)) => {
                all[index as usize].as_ref()
            }
            (Values::Results(returned, _), Root::Returned) => returned.as_ref(),
            (Values::Roots(all), root) => {
                all.iter().find(|(own, _)| *own == root).map(|(_, value)| value)
            }
            (Values::Members(Value::Fields(all)), Root::Member(index)) => {
                Some(&all[index as usize])
            }
            _ => None,
        };
        value.unwrap_or_else(|| panic!("{root:?} has no value"))
    }
}

/// Makes the cases of one procedure.
pub struct Maker<'m> {
    pub model: &'m Model,
    pub operation: &'m Operation,
    /// Which operation of the whole file.
    pub number: usize,
    pub procedure: u32,
}

impl Maker<'_> {
    /// Of what is no feed: requests, if it has any, and replies, if it has.
    fn calls(
        &self,
        layout: &OperationLayout,
        rounds: &[&Round],
        random: &mut Random,
        own: &mut InterfaceCases,
    ) {
        let descriptors = opened::of_arguments(self.operation);
        if !layout.request.items.is_empty() || !descriptors.is_empty() {
            let given = rounds.iter().map(|round| Values::Given(&round.given));
            let told = given.map(|values| Told::new(&layout.request, values).passing(&descriptors));
            own.requests.extend(self.cases(&told.collect::<Vec<_>>(), random));
        }
        if self.operation.is_oneway {
            return;
        }
        let descriptors = opened::of_results(self.operation);
        let returned = rounds.iter().filter_map(|round| match &round.answer {
            Answer::Returned { returned, changed } => Some(Values::Results(returned, changed)),
            Answer::Raised { .. } => None,
        });
        let returned =
            returned.map(|values| Told::new(&layout.reply, values).passing(&descriptors));
        own.replies.extend(self.replies(layout, &returned.collect::<Vec<_>>(), rounds, random));
    }

    /// Results and exceptions, and one exception that is none.
    pub fn replies(
        &self,
        layout: &OperationLayout,
        returned: &[Told<'_>],
        rounds: &[&Round],
        random: &mut Random,
    ) -> Vec<Case> {
        let mut all = self.cases(returned, random);
        for ((exception, layout), index) in
            self.operation.raises.iter().zip(&layout.raised).zip(0..)
        {
            let raised = rounds.iter().filter_map(|round| match &round.answer {
                Answer::Raised { index: own, members } if *own == index => Some(Told {
                    raised: index as u16 + 1,
                    exception: Some(*exception),
                    ..Told::new(layout, Values::Members(members))
                }),
                _ => None,
            });
            all.extend(self.cases(&raised.collect::<Vec<_>>(), random));
        }
        let raised = self.operation.raises.len() as u16 + 1;
        let lie = Lie { kind: Kind::Exception, place: String::new(), variant: 0 };
        all.push(self.case(Message { raised, ..Message::default() }, Purpose::Lie(lie)));
        all
    }

    /// Of messages of one layout: each, mutations of each, and each lie that there is.
    pub fn cases(&self, told: &[Told<'_>], random: &mut Random) -> Vec<Case> {
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
        all.extend(self.wrong_descriptors(told));
        all
    }

    /// Of messages of one layout: one with each that may not go with it.
    fn wrong_descriptors(&self, told: &[Told<'_>]) -> Vec<Case> {
        // Where most are there: of what is absent any kind is right.
        let fullest = told.iter().max_by_key(|told| told.opened().len()).expect("it is told");
        let (right, _) = self.write(fullest, None);
        let lie = |kind, place| Purpose::Lie(Lie { kind, place, variant: 0 });
        let mut wrong: Vec<_> = opened::wrong(&right.descriptors)
            .into_iter()
            .map(|(place, descriptors)| (Message { descriptors, ..right.clone() }, place))
            .map(|(message, place)| self.case(message, lie(Kind::Descriptor, place)))
            .collect();
        let emptiest = told.iter().min_by_key(|told| told.opened().len()).expect("it is told");
        let (right, descriptors) = (self.write(emptiest, None).0, emptiest.opened());
        if emptiest.descriptors.iter().any(|passed| passed.is_optional) {
            let is_any_absent = descriptors.len() < right.descriptors.len();
            assert!(is_any_absent, "no value of {} has one that is absent", self.operation.name);
            // Something has to go in the place of what is absent, too: here nothing does.
            let message = Message { descriptors, ..right };
            wrong.push(self.case(message, lie(Kind::Absence, String::new())));
        }
        wrong
    }

    /// A message that is sent for a purpose.
    pub fn case(&self, message: Message, purpose: Purpose) -> Case {
        let message = Message { procedure: self.procedure, ..message };
        let (form, number) = (Form::of(self.operation), self.number);
        Case { message, purpose, form, number, around: Around::Nothing }
    }

    /// A valid one.
    pub fn message(&self, told: &Told<'_>) -> Message {
        Message { procedure: self.procedure, ..self.write(told, None).0 }
    }

    fn write(&self, told: &Told<'_>, lie: Option<&Lie>) -> (Message, Vec<Lie>) {
        let mut writer = Writer::new(self.model, lie);
        let message = writer.message(told.layout, |place| self.known(told, place));
        assert!(lie.is_none() || writer.is_told, "{lie:?} has no place any more");
        let descriptors = told.descriptors.iter().map(|passed| match told.is_opened(passed) {
            true => passed.kind,
            // Whatever comes in its place.
            false => DescriptorKind::Any,
        });
        let descriptors = descriptors.collect();
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
        let optional = match (place.root, told.exception) {
            (Root::Member(index), Some(id)) => Some(members(self.model, id)[index as usize]),
            _ => None,
        };
        let optional = optional.filter(|member| member.is_optional);
        let mut known = Known { declared, annotations, value, optional };
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
                optional: None,
            };
        }
        (name, known)
    }
}
