//! The steps that write and read the messages of one procedure.

use crate::layout::{
    Form, Item, ItemKind, MessageLayout, OperationLayout, Payload, Place, Root, Scalar,
    is_optional, members, root_type,
};
use crate::model::{Annotation, DeclarationId, Direction, Model, Operation, Primitive, Type};
use crate::plan::{Check, Copy, Count, Limit, LimitCheck, Passed, Step, Stub, limit_checks};

/// Plans the stubs of one procedure.
pub struct Planner<'m> {
    pub model: &'m Model,
    pub operation: &'m Operation,
    pub layout: &'m OperationLayout,
}

/// Who reads a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Client,
    Server,
}

/// Which way a message goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    There,
    Back,
}

/// What a call evaluates to: the returned value, then the out parameters but a lent one.
pub fn results(operation: &Operation, lent_result: Option<Root>) -> Vec<Root> {
    let returned = operation.returns.iter().map(|_| Root::Returned);
    let parameters = operation.parameters.iter().zip(0u32..);
    let out = parameters.filter(|(parameter, _)| parameter.direction == Direction::Out);
    let out = out.map(|(_, index)| Root::Parameter(index));
    let is_result = |root: &Root| *root == Root::Returned || lent_result != Some(*root);
    returned.chain(out).filter(is_result).collect()
}

impl Planner<'_> {
    /// The call stub.
    pub fn client(&self) -> Stub {
        let mut request = self.prepared(&self.layout.request, None, None);
        request.push(Step::Claim { class: self.layout.class });
        request.extend(written(&self.layout.request, None));
        if !self.descriptors(Way::Back).is_empty() {
            request.push(Step::ExpectDescriptors);
        }
        request.extend(self.put_descriptors(Way::There));
        let fixed_bytes = self.layout.request.fixed_bytes;
        if self.operation.is_oneway {
            request.push(Step::PostOneway { fixed_bytes });
            request.push(Step::Return { results: Vec::new() });
            return Stub { request, reply: Vec::new(), raised: Vec::new() };
        }
        request.push(Step::Post { fixed_bytes });
        request.push(match self.operation.raises.len() {
            0 => Step::NothingRaised,
            exceptions => Step::Dispatch { exceptions: exceptions as u32 },
        });
        let mut reply = self.take_descriptors(Way::Back);
        reply.extend(self.read(&self.layout.reply, None, Reader::Client));
        let inout = (0u32..).zip(&self.operation.parameters);
        let inout = inout.filter(|(_, parameter)| parameter.direction == Direction::Inout);
        let inout = inout.map(|(index, _)| Root::Parameter(index));
        let stored = inout.filter(|root| self.layout.lent_result != Some(*root));
        reply.extend(stored.map(|root| Step::Store { root }));
        let results = results(self.operation, self.layout.lent_result);
        reply.push(Step::Return { results });
        let raised = self.exceptions(|id, message, number| {
            let mut steps = self.read(message, Some(id), Reader::Client);
            steps.push(Step::ReturnRaised { number });
            steps
        });
        Stub { request, reply, raised }
    }

    /// The entry stub.
    pub fn server(&self) -> Stub {
        // First: whatever is refused after that, they are closed.
        let mut request = self.take_descriptors(Way::There);
        request.extend(self.read(&self.layout.request, None, Reader::Server));
        if let Some(root) = self.layout.lent_result {
            let at = self.layout.reply.variable_at;
            let payloads = &self.layout.reply.payloads;
            let lent = payloads.iter().find(|payload| payload.form == Form::Lent);
            request.push(Step::Lend { root, at, limit: lent.and_then(|lent| lent.bound) });
        }
        request.push(Step::Run);
        let mut reply = self.prepared(&self.layout.reply, None, self.layout.lent_result);
        reply.push(Step::Results { exception: false });
        reply.extend(written(&self.layout.reply, self.layout.lent_result));
        reply.extend(self.put_descriptors(Way::Back));
        reply.push(Step::Reply { fixed_bytes: self.layout.reply.fixed_bytes });
        let raised = self.exceptions(|id, message, number| {
            let mut steps = self.prepared(message, Some(id), None);
            steps.push(Step::Results { exception: true });
            steps.extend(written(message, None));
            steps.push(Step::Raise { number, fixed_bytes: message.fixed_bytes });
            steps
        });
        Stub { request, reply, raised }
    }

    /// The descriptors that go one way: those that may be absent behind the others, so that a stub
    /// has two lists of known length.
    fn descriptors(&self, way: Way) -> Vec<Passed> {
        let is_back = way == Way::Back;
        let message = if is_back { &self.layout.reply } else { &self.layout.request };
        let returned = self.operation.returns_descriptor.filter(|_| is_back);
        let returned = returned.map(|one| (Root::Returned, one));
        let parameters = (0u32..).zip(&self.operation.parameters);
        let passed = parameters.filter(|(_, one)| (one.direction == Direction::Out) == is_back);
        let passed =
            passed.filter_map(|(index, one)| Some((Root::Parameter(index), one.descriptor?)));
        let passed = returned.into_iter().chain(passed).map(|(root, descriptor)| {
            let is_its = |item: &&Item| is_presence(item) && item.place.root == root;
            let presence_at = message.items.iter().find(is_its).map(|item| item.at);
            Passed { root, kind: descriptor.kind, presence_at }
        });
        let mut passed: Vec<Passed> = passed.collect();
        passed.sort_by_key(|one| one.presence_at.is_some());
        passed
    }

    fn put_descriptors(&self, way: Way) -> Vec<Step> {
        let descriptors = self.descriptors(way);
        let is_any = !descriptors.is_empty();
        is_any.then_some(Step::PutDescriptors { descriptors }).into_iter().collect()
    }

    fn take_descriptors(&self, way: Way) -> Vec<Step> {
        let descriptors = self.descriptors(way);
        let is_any = !descriptors.is_empty();
        is_any.then_some(Step::TakeDescriptors { descriptors }).into_iter().collect()
    }

    fn exceptions(
        &self,
        steps: impl Fn(DeclarationId, &MessageLayout, u32) -> Vec<Step>,
    ) -> Vec<Vec<Step>> {
        let raised = self.operation.raises.iter().zip(&self.layout.raised).zip(1u32..);
        raised.map(|((id, message), number)| steps(*id, message, number)).collect()
    }

    /// What comes before an A-stack is touched: limits, and marshalling to private memory. `lent`
    /// is in place already.
    fn prepared(
        &self,
        message: &MessageLayout,
        exception: Option<DeclarationId>,
        lent: Option<Root>,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        for item in message.items.iter().filter(|item| is_value(item)) {
            let checks = self.ranges(&item.place, exception);
            if !checks.is_empty() {
                steps.push(Step::CheckRange { place: item.place.clone(), checks });
            }
        }
        let copied = message.payloads.iter().filter(|payload| lent != Some(payload.place.root));
        for payload in copied {
            self.prepare(payload, exception, &mut steps);
        }
        steps
    }

    fn prepare(&self, payload: &Payload, exception: Option<DeclarationId>, steps: &mut Vec<Step>) {
        let place = payload.place.clone();
        let count = match payload.form {
            Form::Marshalled => {
                let checks = self.limits(&place, exception);
                return steps.push(Step::Marshal { place, checks });
            }
            Form::Text => Count::Bytes,
            Form::WideText => Count::Characters,
            Form::Octets | Form::Lent | Form::Elements { .. } => Count::Items,
        };
        if let Some(limit) = payload.bound {
            steps.push(Step::CheckBound { place: place.clone(), count, limit });
        }
        let checks = self.ranges(&place, exception);
        if !checks.is_empty() {
            steps.push(Step::CheckRange { place, checks });
        }
    }

    /// Every limit inside of a place, and its own range.
    fn limits(&self, place: &Place, exception: Option<DeclarationId>) -> Vec<LimitCheck> {
        let Some((declared, annotations)) = self.place_type(place, exception) else {
            return Vec::new();
        };
        let is_optional = place.path.is_empty() && is_optional(self.model, exception, place.root);
        limit_checks(self.model, declared, annotations, is_optional)
    }

    /// The ranges alone: bounds of what is one payload are judged by its length.
    fn ranges(&self, place: &Place, exception: Option<DeclarationId>) -> Vec<LimitCheck> {
        let mut checks = self.limits(place, exception);
        checks.retain(|check| matches!(check.limit, Limit::Within(_)));
        checks
    }

    /// The type of a place, and what is annotated where it is declared.
    fn place_type(
        &self,
        place: &Place,
        exception: Option<DeclarationId>,
    ) -> Option<(&Type, &[Annotation])> {
        let mut declared = root_type(self.model, self.operation, exception, place.root)?;
        let mut annotations: &[Annotation] = match place.root {
            Root::Returned => &[],
            Root::Parameter(index) => &self.operation.parameters[index as usize].annotations,
            Root::Member(index) => {
                &members(self.model, exception?).get(index as usize)?.annotations
            }
        };
        for index in &place.path {
            let Type::Named(id) = self.model.resolved(declared) else { return None };
            let member = *members(self.model, *id).get(*index as usize)?;
            (declared, annotations) = (&member.declared, &member.annotations);
        }
        Some((declared, annotations))
    }

    /// Reads a message: words, blocks, payloads, structs.
    fn read(
        &self,
        message: &MessageLayout,
        exception: Option<DeclarationId>,
        reader: Reader,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        for item in &message.items {
            steps.extend(load(item));
            if is_value(item) {
                self.check_inside(&item.place, self.ranges(&item.place, exception), &mut steps);
            }
        }
        if !message.payloads.is_empty() {
            steps.push(Step::Incoming { at: message.variable_at });
        }
        for payload in &message.payloads {
            self.take(payload, exception, reader, &mut steps);
        }
        let mut roots: Vec<Root> = Vec::new();
        for item in message.items.iter().filter(|item| !item.place.path.is_empty()) {
            if !roots.contains(&item.place.root) {
                roots.push(item.place.root);
            }
        }
        roots.sort();
        steps.extend(roots.into_iter().map(|root| Step::Assemble { root }));
        steps
    }

    fn take(
        &self,
        payload: &Payload,
        exception: Option<DeclarationId>,
        reader: Reader,
        steps: &mut Vec<Step>,
    ) {
        let (place, form) = (payload.place.clone(), payload.form);
        let copy = self.copy(payload, reader);
        // Every character takes up to four bytes, and the characters are counted afterwards.
        let limit = match form {
            Form::WideText => payload.bound.map(|limit| limit.saturating_mul(4)),
            Form::Marshalled => None,
            _ => payload.bound,
        };
        let checks = match form {
            Form::WideText | Form::Marshalled => self.limits(&place, exception),
            Form::Octets | Form::Elements { .. } => self.ranges(&place, exception),
            Form::Text | Form::Lent => Vec::new(),
        };
        steps.push(Step::Take { place: place.clone(), form, copy, limit });
        self.check_inside(&place, checks, steps);
    }

    fn check_inside(&self, place: &Place, checks: Vec<LimitCheck>, steps: &mut Vec<Step>) {
        if !checks.is_empty() {
            steps.push(Step::CheckInside { place: place.clone(), checks });
        }
    }

    /// Table III: what the server only looks at is copied for the time of the procedure, what it
    /// does not look at not at all; results go straight to where they belong, and so do items of a
    /// feed, which whoever takes them keeps.
    fn copy(&self, payload: &Payload, reader: Reader) -> Copy {
        let is_in = match payload.place.root {
            Root::Parameter(index) => {
                self.operation.parameters[index as usize].direction == Direction::In
            }
            _ => false,
        };
        match (reader, payload.form) {
            (Reader::Server, Form::Lent) => Copy::None,
            (
                Reader::Server,
                Form::Text | Form::WideText | Form::Octets | Form::Elements { .. },
            ) if is_in && !self.operation.takes_items() => Copy::Private,
            // What is a part of a value becomes that value's.
            (Reader::Server, Form::Marshalled)
                if is_in && !self.operation.takes_items() && payload.place.path.is_empty() =>
            {
                Copy::Private
            }
            (Reader::Client, Form::Lent) if payload.place.root != Root::Returned => Copy::Into,
            _ => Copy::Owned,
        }
    }
}

/// Writes a message: words and blocks by offset, then the payloads. `lent` is in place already.
fn written(message: &MessageLayout, lent: Option<Root>) -> Vec<Step> {
    let form = |place: &Place| {
        let payload = message.payloads.iter().find(|payload| payload.place == *place);
        payload.map_or(Form::Marshalled, |payload| payload.form)
    };
    let mut steps: Vec<Step> = message
        .items
        .iter()
        .map(|item| {
            let (place, at) = (item.place.clone(), item.at);
            match item.kind {
                ItemKind::Scalar(scalar) => Step::PutScalar { place, at, scalar },
                ItemKind::Block { bytes } => Step::PutBlock { place, at, bytes },
                ItemKind::Image { bytes } => Step::PutImage { place, at, bytes },
                ItemKind::Length if lent == Some(place.root) => Step::PutLentLength { place, at },
                ItemKind::Length => Step::PutLength { form: form(&place), place, at },
                ItemKind::Presence => Step::PutPresence { root: place.root, at },
            }
        })
        .collect();
    let copied = message.payloads.iter().filter(|payload| lent != Some(payload.place.root));
    let copied: Vec<_> = copied.map(|payload| (payload.place.clone(), payload.form)).collect();
    if !copied.is_empty() {
        steps.push(Step::Variable { at: message.variable_at, payloads: copied.clone() });
    }
    let payloads = copied.into_iter();
    steps.extend(payloads.map(|(place, form)| Step::PutPayload { place, form }));
    steps
}

fn check(scalar: Scalar) -> Check {
    match scalar {
        Scalar::Primitive(Primitive::Boolean) => Check::Boolean,
        Scalar::Primitive(Primitive::WideChar) => Check::Character,
        Scalar::Primitive(_) => Check::Any,
        Scalar::Enum { .. } => Check::Enumerator,
        Scalar::Bits { .. } => Check::Bits,
    }
}

/// Whether something in the fixed part is a value, and not what is said of one.
fn is_value(item: &Item) -> bool {
    !matches!(item.kind, ItemKind::Length | ItemKind::Presence)
}

fn is_presence(item: &Item) -> bool {
    item.kind == ItemKind::Presence
}

/// What loads something of the fixed part. Whether a descriptor is there is judged where it is
/// taken, which is before anything is refused.
fn load(item: &Item) -> Option<Step> {
    let (place, at) = (item.place.clone(), item.at);
    Some(match item.kind {
        ItemKind::Scalar(scalar) => Step::GetScalar { place, at, scalar, check: check(scalar) },
        ItemKind::Block { bytes } => Step::GetBlock { place, at, bytes },
        ItemKind::Image { bytes } => Step::GetImage { place, at, bytes },
        ItemKind::Length => Step::GetLength { place, at },
        ItemKind::Presence => return None,
    })
}
