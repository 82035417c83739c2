//! A plan as text, one step a line.

use std::fmt::Write as _;

use crate::hash::hex;
use crate::layout::{Form, Place, Root, Scalar, members, root_type};
use crate::model::{DeclarationId, Kind, Model, Operation, Type, Value};
use crate::plan::{
    Check, Copy, Count, FeedWay, Hop, InterfacePlan, Limit, LimitCheck, Passed, Passing, Plan,
    ProcedurePlan, Step, Stub, TypePlan,
};

/// Writes a plan down.
pub fn dump(model: &Model, plan: &Plan) -> String {
    let mut text = String::new();
    for declared in &plan.types {
        dump_type(model, declared, &mut text);
    }
    for interface in &plan.interfaces {
        dump_interface(model, interface, &mut text);
    }
    text
}

/// Adds a line; writing to a string does not fail.
macro_rules! line {
    ($text:expr, $($arguments:tt)*) => {{
        let _ = writeln!($text, $($arguments)*);
    }};
}

fn dump_type(model: &Model, declared: &TypePlan, text: &mut String) {
    let name = &model.declaration(declared.id).name;
    let recursive = if declared.is_recursive { ", recursive" } else { "" };
    let appendable = if declared.is_appendable { ", appendable" } else { "" };
    let time = declared.time.map(|time| format!(", a time: {time:?}")).unwrap_or_default();
    let least = declared.bytes_min;
    line!(text, "type {name}: at least {least} bytes{recursive}{appendable}{time}");
    for (member, index) in declared.members.iter().zip(0..) {
        let boxed = if member.is_boxed { ": boxed" } else { "" };
        let name = type_member_name(model, declared.id, index);
        if member.is_boxed {
            line!(text, "  {name}{boxed}");
        }
        if !member.missing.is_empty() {
            line!(text, "  {name}: missing {:02x?}", member.missing);
        }
        for check in &member.checks {
            line!(text, "  {name}{}", limit(model, check));
        }
    }
}

fn type_member_name(model: &Model, id: DeclarationId, index: usize) -> String {
    match &model.declaration(id).kind {
        Kind::Union(union) => union.cases[index].member.name.clone(),
        _ => members(model, id)[index].name.clone(),
    }
}

fn dump_interface(model: &Model, interface: &InterfacePlan, text: &mut String) {
    let name = &model.declaration(interface.id).name;
    line!(text, "interface {name}: hash {}", hex(&interface.hash));
    for (class, index) in interface.classes.iter().zip(0..) {
        line!(text, "  class {index}: {} A-stacks, {} bytes", class.count, class.block_bytes);
    }
    let Kind::Interface(declared) = &model.declaration(interface.id).kind else {
        return;
    };
    for feed in &interface.feeds {
        let name = |index: u32| &declared.operations[index as usize].name;
        let carriers = match feed.way {
            FeedWay::Back { next } => format!("comes with {}", name(next)),
            FeedWay::There { put, end } => format!("goes with {}, {}", name(put), name(end)),
            FeedWay::Both { next, put, end } => {
                format!("comes with {}, goes with {}, {}", name(next), name(put), name(end))
            }
        };
        let count = feed.batch_count;
        let sent = feed.sent.as_ref().map(|sent| format!(", {} there", sent.batch_count));
        let sent = sent.unwrap_or_default();
        line!(text, "  feed {}: {carriers}, {count} items at a time{sent}", name(feed.open));
    }
    for appendable in &interface.appendables {
        let name = &model.declaration(appendable.id).name;
        let hashes: Vec<String> = appendable.hashes.iter().map(hex).collect();
        line!(text, "  appendable {name}: from {}, {}", appendable.procedure, hashes.join(" "));
    }
    for (procedure, operation) in interface.procedures.iter().zip(&declared.operations) {
        dump_procedure(&Names { model, operation }, procedure, text);
    }
}

fn dump_procedure(names: &Names<'_>, procedure: &ProcedurePlan, text: &mut String) {
    let (index, class) = (procedure.index, procedure.class);
    let name = &names.operation.name;
    let retried = if procedure.is_retried { ", made twice if need be" } else { "" };
    let hash = hex(&procedure.hash);
    line!(text, "  procedure {index} {name}: class {class}, hash {hash}{retried}");
    for argument in &procedure.arguments {
        let parameter = names.root(Root::Parameter(argument.parameter), None);
        line!(text, "    argument {parameter} {}", passing(argument.passing));
    }
    dump_stub(names, "client", &procedure.client, text);
    dump_stub(names, "server", &procedure.server, text);
}

fn passing(passing: Passing) -> &'static str {
    match passing {
        Passing::Value => "by value",
        Passing::Shared => "by reference",
        Passing::Exclusive => "by reference, changed",
        Passing::Lent => "lent",
        Passing::LentResult => "written in place",
        Passing::LentBoth => "lent, written in place",
        Passing::Descriptor => "a descriptor",
    }
}

fn dump_stub(names: &Names<'_>, title: &str, stub: &Stub, text: &mut String) {
    let mut section = |part: String, steps: &[Step], exception| {
        line!(text, "    {title} {part}");
        for step in steps {
            line!(text, "      {}", names.step(step, exception));
        }
    };
    section(String::from("request"), &stub.request, None);
    if !stub.reply.is_empty() {
        section(String::from("reply"), &stub.reply, None);
    }
    for (steps, id) in stub.raised.iter().zip(&names.operation.raises) {
        let name = &names.model.declaration(*id).name;
        section(format!("raised {name}"), steps, Some(*id));
    }
}

/// Names for places.
struct Names<'m> {
    model: &'m Model,
    operation: &'m Operation,
}

impl Names<'_> {
    fn root(&self, root: Root, exception: Option<DeclarationId>) -> String {
        match root {
            Root::Returned => String::from("returned"),
            Root::Parameter(index) => self.operation.parameters[index as usize].name.clone(),
            Root::Member(index) => {
                let all = exception.map(|id| members(self.model, id)).unwrap_or_default();
                all[index as usize].name.clone()
            }
        }
    }

    fn place(&self, place: &Place, exception: Option<DeclarationId>) -> String {
        let mut name = self.root(place.root, exception);
        let mut declared = root_type(self.model, self.operation, exception, place.root);
        for index in &place.path {
            let resolved = declared.map(|declared| self.model.resolved(declared));
            let Some(Type::Named(id)) = resolved else {
                break;
            };
            let member = members(self.model, *id)[*index as usize];
            name.push('.');
            name.push_str(&member.name);
            declared = Some(&member.declared);
        }
        name
    }

    fn step(&self, step: &Step, exception: Option<DeclarationId>) -> String {
        let name = |place: &Place| self.place(place, exception);
        let root = |root: &Root| self.root(*root, exception);
        match step {
            Step::CheckBound { place, count, limit } => {
                format!("check {} has at most {limit} {}", name(place), unit(*count))
            }
            Step::CheckRange { place, checks } => {
                format!("check {}{}", name(place), limits(self.model, checks))
            }
            Step::Marshal { place, checks } => {
                format!("marshal {}{}", name(place), limits(self.model, checks))
            }
            Step::Claim { class } => format!("claim class {class}"),
            Step::Results { exception: true } => String::from("results of an exception"),
            Step::Results { exception: false } => String::from("results"),
            Step::PutScalar { place, at, scalar } => {
                format!("put {} at {at}: {}", name(place), self.scalar(*scalar))
            }
            Step::PutBlock { place, at, bytes } => {
                format!("put {} at {at}: block of {bytes}", name(place))
            }
            Step::PutImage { place, at, bytes } => {
                format!("put {} at {at}: image of {bytes}", name(place))
            }
            Step::PutLength { place, at, form } => {
                format!("put length of {} at {at}: {}", name(place), length_unit(*form))
            }
            Step::PutLentLength { place, at } => {
                format!("put length of {} at {at}: what was written in place", name(place))
            }
            Step::Variable { at, payloads } => {
                let all: Vec<String> = payloads.iter().map(|(place, _)| name(place)).collect();
                format!("variable part at {at}: {}", all.join(", "))
            }
            Step::PutPayload { place, form } => {
                format!("put payload {}: {}", name(place), form_name(*form))
            }
            Step::PutPresence { root: passed, at } => {
                format!("put whether {} is there at {at}", root(passed))
            }
            Step::ExpectDescriptors => String::from("expect descriptors"),
            Step::PutDescriptors { descriptors } => {
                format!("put descriptors {}", self.descriptors(descriptors))
            }
            Step::TakeDescriptors { descriptors } => {
                format!("take descriptors {}", self.descriptors(descriptors))
            }
            Step::Post { fixed_bytes } => format!("post {fixed_bytes} bytes and wait"),
            Step::PostOneway { fixed_bytes } => format!("post {fixed_bytes} bytes"),
            Step::NothingRaised => String::from("check nothing was raised"),
            Step::Dispatch { exceptions } => format!("dispatch on {exceptions} exceptions"),
            Step::Run => String::from("run"),
            Step::Store { root: stored } => format!("store {}", root(stored)),
            Step::Return { results } => {
                let all: Vec<String> = results.iter().map(root).collect();
                format!("return {}", all.join(", ")).trim_end().to_owned()
            }
            Step::ReturnRaised { number } => format!("return exception {number}"),
            Step::Reply { fixed_bytes } => format!("reply {fixed_bytes} bytes"),
            Step::Raise { number, fixed_bytes } => {
                format!("raise exception {number}, {fixed_bytes} bytes")
            }
            step => self.reading_step(step, exception),
        }
    }

    fn reading_step(&self, step: &Step, exception: Option<DeclarationId>) -> String {
        let name = |place: &Place| self.place(place, exception);
        match step {
            Step::GetScalar { place, at, scalar, check } => {
                format!("get {} at {at}: {}{}", name(place), self.scalar(*scalar), checked(*check))
            }
            Step::GetBlock { place, at, bytes } => {
                format!("get {} at {at}: block of {bytes}", name(place))
            }
            Step::GetImage { place, at, bytes } => {
                format!("get {} at {at}: image of {bytes}", name(place))
            }
            Step::GetLength { place, at } => format!("get length of {} at {at}", name(place)),
            Step::Incoming { at } => format!("variable part at {at}"),
            Step::Take { place, form, copy, limit } => {
                let (form, copy) = (form_name(*form), copy_name(*copy));
                format!("take {}: {form}, {copy}{}", name(place), limited(*limit))
            }
            Step::CheckInside { place, checks } => {
                format!("check {}{}", name(place), limits(self.model, checks))
            }
            Step::Assemble { root } => format!("assemble {}", self.root(*root, exception)),
            Step::Lend { root, at, limit } => {
                let name = self.root(*root, exception);
                format!("lend room for {name} at {at}{}", limited(*limit))
            }
            // Every other step is written by the caller.
            _ => String::new(),
        }
    }

    fn descriptors(&self, descriptors: &[Passed]) -> String {
        let one = |passed: &Passed| {
            let absent = passed.presence_at.map(|at| format!(" if {at} says so"));
            let (name, kind) = (self.root(passed.root, None), passed.kind.word());
            format!("{name}: {kind}{}", absent.unwrap_or_default())
        };
        descriptors.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    fn scalar(&self, scalar: Scalar) -> String {
        match scalar {
            Scalar::Primitive(primitive) => format!("{primitive:?}").to_lowercase(),
            Scalar::Enum { id, width } => {
                format!("enum {} in {width}", self.model.declaration(id).name)
            }
            Scalar::Bits { id, width } => {
                format!("bits {} in {width}", self.model.declaration(id).name)
            }
        }
    }
}

fn unit(count: Count) -> &'static str {
    match count {
        Count::Bytes => "bytes",
        Count::Characters => "characters",
        Count::Items => "items",
    }
}

fn length_unit(form: Form) -> &'static str {
    match form {
        Form::Elements { .. } => "elements",
        _ => "bytes",
    }
}

fn form_name(form: Form) -> String {
    match form {
        Form::Text => String::from("text"),
        Form::WideText => String::from("wide text"),
        Form::Octets => String::from("octets"),
        Form::Lent => String::from("opaque"),
        Form::Elements { width } => format!("elements of {width}"),
        Form::Marshalled => String::from("marshalled"),
    }
}

fn copy_name(copy: Copy) -> &'static str {
    match copy {
        Copy::Private => "private copy",
        Copy::Owned => "owned",
        Copy::Into => "into the caller's",
        Copy::None => "lent in place",
    }
}

fn checked(check: Check) -> &'static str {
    match check {
        Check::Any => "",
        Check::Boolean => ", 0 or 1",
        Check::Character => ", a scalar value",
        Check::Enumerator => ", an enumerator",
        Check::Bits => ", declared bits",
    }
}

fn limited(limit: Option<u32>) -> String {
    limit.map(|limit| format!(", at most {limit}")).unwrap_or_default()
}

fn limits(model: &Model, checks: &[LimitCheck]) -> String {
    checks.iter().map(|check| limit(model, check)).collect::<Vec<_>>().join(",")
}

fn limit(model: &Model, check: &LimitCheck) -> String {
    let mut text = String::new();
    for hop in &check.hops {
        text.push_str(match hop {
            Hop::Present => "?",
            Hop::Each => "[]",
            Hop::Keys => "[keys]",
            Hop::Values => "[values]",
        });
    }
    match &check.limit {
        Limit::AtMost { count, limit } => text + &format!(": at most {limit} {}", unit(*count)),
        Limit::Within(range) => {
            let end = |end: &Option<Value>| match end {
                Some(value) => value_text(model, value),
                None => String::from("any"),
            };
            text + &format!(": from {} to {}", end(&range.least), end(&range.greatest))
        }
    }
}

fn value_text(model: &Model, value: &Value) -> String {
    match value {
        Value::Boolean(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::Char(value) => format!("{value:?}"),
        Value::String(value) => format!("{value:?}"),
        Value::Enumerator(id, index) => match &model.declaration(*id).kind {
            Kind::Enum(shape) => shape.enumerators[*index as usize].name.clone(),
            _ => index.to_string(),
        },
    }
}
