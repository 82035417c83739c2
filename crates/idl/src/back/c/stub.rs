//! The steps that both stubs have in common: writing a message, reading one.

use std::collections::BTreeMap;

use crate::back::c::C;
use crate::back::c::checks::{Beyond, counted};
use crate::back::c::interface::Procedure;
use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::layout::{Form, Place, Root, Scalar, members, root_type};
use crate::model::{DeclarationId, Direction, Type};
use crate::plan::{LimitCheck, Step};

/// Whose stub it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

/// Prints the steps of one stub.
pub struct Printer<'c, 'm> {
    pub c: &'c C<'m>,
    pub procedure: Procedure<'c>,
    pub side: Side,
    pub names: Vec<String>,
    /// What is written or read now is an exception's: which, and its number.
    pub exception: Option<(DeclarationId, u32)>,
    /// A reply is read, or written.
    pub is_reply: bool,
    /// Writers of values that are marshalled.
    writers: BTreeMap<String, String>,
    pub writer_count: usize,
    /// Where the lengths of payloads are.
    lengths: BTreeMap<Place, u32>,
    payloads: usize,
    takes: usize,
    /// How many descriptors the stub sends, and how many it takes.
    pub sent_count: usize,
    pub came_count: usize,
    /// What was written before the stub is entered.
    written_batch: Option<Root>,
    pub text: Text,
}

impl<'c, 'm> Printer<'c, 'm> {
    pub fn new(c: &'c C<'m>, procedure: Procedure<'c>, side: Side) -> Printer<'c, 'm> {
        Printer {
            c,
            procedure,
            side,
            names: c.parameter_names(procedure.operation),
            exception: None,
            is_reply: false,
            writers: BTreeMap::new(),
            writer_count: 0,
            lengths: BTreeMap::new(),
            payloads: 0,
            takes: 0,
            sent_count: 0,
            came_count: 0,
            written_batch: c.written_batch(procedure, side),
            text: Text::default(),
        }
    }

    /// A new message: the results, or an exception.
    pub fn enter(&mut self, exception: Option<(DeclarationId, u32)>) {
        self.exception = exception;
        self.is_reply = true;
        self.lengths.clear();
        (self.payloads, self.takes) = (0, 0);
    }

    /// A value, as what can be read and assigned to.
    pub fn value(&self, place: &Place) -> String {
        let mut text = self.root(place.root);
        let mut declared = self.root_type(place.root);
        for index in &place.path {
            let Some(Type::Named(id)) = declared.map(|declared| self.c.resolved(declared)) else {
                break;
            };
            text += &format!(".{}", self.c.member_names(*id)[*index as usize]);
            declared = Some(&members(self.c.model, *id)[*index as usize].declared);
        }
        text
    }

    pub fn root(&self, root: Root) -> String {
        match (root, self.side) {
            (root, _) if self.is_prealloc(root) => self.filled(root),
            (Root::Returned, _) => String::from("nc_returned"),
            (Root::Member(index), side) => {
                let Some((id, number)) = self.exception else { return String::new() };
                let name = &self.c.member_names(id)[index as usize];
                let access = if side == Side::Client { "." } else { "->" };
                format!("nc_raised{number}{access}{name}")
            }
            (Root::Parameter(index), Side::Server) => self.names[index as usize].clone(),
            (Root::Parameter(index), Side::Client) => {
                let parameter = &self.procedure.operation.parameters[index as usize];
                let name = &self.names[index as usize];
                let is_plain = self.c.scalar(&parameter.declared).is_some()
                    || self.c.is_text(&parameter.declared);
                match parameter.direction {
                    Direction::In if is_plain => name.clone(),
                    Direction::Inout if self.is_reply => format!("nc_new_{name}"),
                    _ => format!("(*{name})"),
                }
            }
        }
    }

    pub fn root_type(&self, root: Root) -> Option<&Type> {
        let exception = self.exception.map(|(id, _)| id);
        root_type(self.c.model, self.procedure.operation, exception, root)
    }

    /// The type of a value.
    pub fn declared(&self, place: &Place) -> Type {
        let mut declared = self.root_type(place.root);
        for index in &place.path {
            if let Some(Type::Named(id)) = declared.map(|declared| self.c.resolved(declared)) {
                declared = Some(&members(self.c.model, *id)[*index as usize].declared);
            }
        }
        declared.cloned().unwrap_or(Type::String { bound: None })
    }

    /// What a value is called in messages to people.
    pub fn spoken(&self, place: &Place) -> String {
        match place.root {
            Root::Returned => String::from("returned"),
            Root::Parameter(index) => {
                self.procedure.operation.parameters[index as usize].name.clone()
            }
            Root::Member(index) => {
                let all = self.exception.map(|(id, _)| members(self.c.model, id));
                all.map(|all| all[index as usize].name.clone()).unwrap_or_default()
            }
        }
    }

    /// Refuses a value of our own.
    fn refuse_own(&self, breach: &str) -> Vec<String> {
        let refuse = match self.side {
            Side::Client => format!("nearcall_refuse_argument(nc_env, {breach});"),
            Side::Server => format!("nearcall_refuse_result(nc_call, {breach});"),
        };
        vec![refuse, String::from("goto nc_done;")]
    }

    /// Refuses what a peer sent.
    fn refuse_peer(&self, malformed: &str) -> Vec<String> {
        let refuse = match self.side {
            Side::Client => {
                format!("nearcall_reply_malformed(&nc_reply, {malformed}, nc_env);")
            }
            Side::Server => format!("nearcall_refuse_arguments(nc_call, {malformed});"),
        };
        vec![refuse, String::from("goto nc_done;")]
    }

    /// Refuses a value of our own that could not be written.
    fn refuse_unwritten(&self, writer: &str, name: &str) -> Vec<String> {
        let name = quoted(name);
        let refuse = match self.side {
            Side::Client => format!("nearcall_argument_unwritten(nc_env, &{writer}, {name});"),
            Side::Server => format!("nearcall_result_unwritten(nc_call, &{writer}, {name});"),
        };
        vec![refuse, String::from("goto nc_done;")]
    }

    /// Refuses what a peer sent and could not be read.
    pub fn refuse_unread(&self) -> Vec<String> {
        let refuse = match self.side {
            Side::Client => "nearcall_result_unread(&nc_reply, &nc_reader, nc_env);",
            Side::Server => "nearcall_argument_unread(nc_call, &nc_reader);",
        };
        vec![String::from(refuse), String::from("goto nc_done;")]
    }

    /// A step that writes.
    pub fn write(&mut self, step: &Step) {
        match step {
            Step::CheckBound { place, count, limit } => {
                let counted = counted(*count, &self.value(place));
                let beyond = Beyond::Bound { count: format!("(uint64_t){counted}"), limit: *limit };
                let breach = beyond.breach(&self.spoken(place));
                self.when(&format!("{counted} > {limit}u"), self.refuse_own(&breach));
            }
            Step::CheckRange { place, checks } => self.print_own_checks(place, checks),
            Step::Marshal { place, .. } if self.written_batch == Some(place.root) => {
                let writer = self.batch_writer(place);
                self.writers.insert(self.value(place), writer);
            }
            Step::Marshal { place, checks } => {
                self.print_own_checks(place, checks);
                self.marshal(place, &self.value(place));
            }
            Step::PutScalar { place, at, scalar } => self.put_scalar(place, *at, *scalar),
            // It is copied from where it lies.
            Step::PutBlock { .. } if !self.gathers() => {}
            Step::PutBlock { place, at, bytes } => {
                let (target, value) = (self.target(), self.value(place));
                self.text.line(format!("memcpy({target} + {at}, &{value}, {bytes});"));
            }
            Step::PutImage { place, at, bytes } => {
                let (target, value) = (self.target(), self.value(place));
                if self.c.is_plain(&self.declared(place)) {
                    self.text.line(format!("memcpy({target} + {at}, &{value}, {bytes});"));
                    return;
                }
                let writer = self.marshal(place, &value);
                self.text.line(format!("memcpy({target} + {at}, {writer}.bytes, {bytes});"));
            }
            Step::PutLength { place, at, form } => {
                let (target, count) = (self.target(), self.length(place, *form));
                self.text.line(format!("nearcall_put_u32({target}, {at}, (uint32_t){count});"));
                self.lengths.insert(place.clone(), *at);
            }
            Step::PutLentLength { at, .. } => {
                let bytes = "nearcall_room_bytes(nc_call)";
                self.text.line(format!("nearcall_put_u32(nc_results, {at}, {bytes});"));
            }
            Step::PutPayload { place, form } => self.put_payload(place, *form),
            Step::PutPresence { root, at } => self.put_presence(*root, *at),
            Step::PutDescriptors { descriptors } => self.put_descriptors(descriptors),
            // The offset of the variable part is in the message, and so are the descriptors.
            _ => {}
        }
    }

    fn print_own_checks(&mut self, place: &Place, checks: &[LimitCheck]) {
        let (value, declared) = (self.value(place), self.declared(place));
        let (name, checks) = (self.spoken(place), self.own_checks(place, checks));
        let mut text = std::mem::take(&mut self.text);
        let leave = |beyond: &Beyond| self.refuse_own(&beyond.breach(&name));
        self.c.print_checks(&checks, &declared, &value, &leave, &mut text);
        self.text = text;
    }

    pub fn when(&mut self, condition: &str, lines: Vec<String>) {
        self.text.open(format!("if ({condition}) {{"));
        self.text.lines(lines);
        self.text.close("}");
    }

    fn put_scalar(&mut self, place: &Place, at: u32, scalar: Scalar) {
        let (target, value) = (self.target(), self.value(place));
        if let Some(condition) = self.c.is_own_value(scalar, &value) {
            let declared = self.declared(place);
            let breach = self.c.not_of_type(scalar, &declared, &value).breach(&self.spoken(place));
            self.when(&format!("!({condition})"), self.refuse_own(&breach));
        }
        self.text.line(self.c.put_word(scalar, target, at, &value));
    }

    /// Marshals a value; the writer.
    fn marshal(&mut self, place: &Place, value: &str) -> String {
        let writer = self.new_writer();
        self.writers.insert(self.value(place), writer.clone());
        let encode = self.coder("encode", place);
        self.text.line(format!("{encode}(&{writer}, &{value});"));
        self.print_unwritten(&writer, &self.spoken(place));
        writer
    }

    pub fn new_writer(&mut self) -> String {
        self.writer_count += 1;
        format!("nc_writers[{}]", self.writer_count - 1)
    }

    /// Refuses what could not be written, by its name.
    pub fn print_unwritten(&mut self, writer: &str, name: &str) {
        let refuse = self.refuse_unwritten(writer, name);
        self.when(&format!("nearcall_is_unwritten(&{writer})"), refuse);
    }

    fn writer(&self, place: &Place) -> String {
        self.writers.get(&self.value(place)).cloned().unwrap_or_default()
    }

    /// What the length word counts.
    fn length(&self, place: &Place, form: Form) -> String {
        let value = self.value(place);
        match form {
            Form::Text | Form::WideText => format!("nearcall_text_bytes({value})"),
            Form::Octets | Form::Lent | Form::Elements { .. } => format!("{value}._length"),
            Form::Marshalled => format!("{}.count", self.writer(place)),
        }
    }

    fn put_payload(&mut self, place: &Place, form: Form) {
        let value = self.value(place);
        let bytes = match form {
            Form::Text | Form::WideText => value.clone(),
            Form::Octets | Form::Lent | Form::Elements { .. } => format!("{value}._buffer"),
            Form::Marshalled => format!("{}.bytes", self.writer(place)),
        };
        let width = match form {
            Form::Elements { width } => format!(" * {width}u"),
            _ => String::new(),
        };
        let (count, is_text) =
            (self.length(place, form), matches!(form, Form::Text | Form::WideText));
        let (name, at) = (quoted(&self.spoken(place)), self.payloads);
        self.payloads += 1;
        let length_at = self.lendable_at(place, form);
        let (is_opaque, length_at) = (length_at.is_some(), length_at.unwrap_or_default());
        self.text.line(format!(
            "nc_puts[{at}] = (nearcall_put){{{bytes}, (uint64_t){count}{width}, {name}, \
             {is_text}, {is_opaque}, {length_at}}};"
        ));
    }

    /// Where the length of a payload stands that a client may have lent to its server.
    fn lendable_at(&self, place: &Place, form: Form) -> Option<u32> {
        let Root::Parameter(index) = place.root else { return None };
        let direction = self.procedure.operation.parameters[index as usize].direction;
        let is_argument = self.side == Side::Client && direction == Direction::In;
        self.lengths.get(place).copied().filter(|_| is_argument && form == Form::Lent)
    }

    /// A step that reads; `all` are the steps it is one of.
    pub fn read(&mut self, step: &Step, all: &[Step]) {
        match step {
            Step::GetScalar { place, at, scalar, .. } => self.get_scalar(place, *at, *scalar),
            // It was copied to where it belongs.
            Step::GetBlock { .. } if self.whole_got().is_some() => {}
            Step::GetBlock { place, at, bytes } => {
                let (source, value) = (self.source(), self.value(place));
                self.text.line(format!("memcpy(&{value}, {source} + {at}, {bytes});"));
            }
            Step::GetImage { place, at, bytes } => {
                let source = format!("{} + {at}", self.source());
                if self.c.is_plain(&self.declared(place)) {
                    let value = self.value(place);
                    self.text.line(format!("memcpy(&{value}, {source}, {bytes});"));
                    return;
                }
                self.unmarshal(place, &source, &bytes.to_string(), None);
            }
            Step::GetLength { place, at } => {
                self.lengths.insert(place.clone(), *at);
            }
            Step::Incoming { at } => self.take_all(*at, all),
            Step::Take { place, form, .. } => self.taken(place, *form),
            Step::TakeDescriptors { descriptors } => self.take_descriptors(descriptors),
            Step::CheckInside { place, checks } => {
                let (value, declared) = (self.value(place), self.declared(place));
                let checks = self.unjudged(place, checks);
                let mut text = std::mem::take(&mut self.text);
                let leave = |beyond: &Beyond| {
                    self.refuse_peer(&format!("nearcall_bad({})", beyond.malformed()))
                };
                self.c.print_checks(&checks, &declared, &value, &leave, &mut text);
                self.text = text;
            }
            // Members are read to where they belong.
            _ => {}
        }
    }

    fn get_scalar(&mut self, place: &Place, at: u32, scalar: Scalar) {
        let (got, value) = (self.c.got_word(scalar, self.source(), at), self.value(place));
        let Some(condition) = self.c.is_value(scalar, "nc_word") else {
            self.text.line(format!("{value} = {};", self.c.of_word(scalar, &got)));
            return;
        };
        self.text.open("{");
        self.text.line(format!("const {} nc_word = {got};", self.c.raw_type(scalar)));
        let bad = "nearcall_bad(NEARCALL_MALFORMED_RANGE, (uint64_t)nc_word, 0)";
        self.when(&format!("!({condition})"), self.refuse_peer(bad));
        self.text.line(format!("{value} = {};", self.c.of_word(scalar, "nc_word")));
        self.text.close("}");
    }

    /// Takes every payload of the message at once.
    fn take_all(&mut self, at: u32, all: &[Step]) {
        let mut count = 0;
        for step in all {
            let Step::Take { place, form, limit, .. } = step else { continue };
            let length = self.lengths.get(place).copied().unwrap_or_default();
            let length = format!("nearcall_get_u32({}, {length})", self.source());
            let items = self.filled_items(place, *form);
            let limit = items.map_or(*limit, |items| items.bound);
            let limit =
                limit.map_or(String::from("NEARCALL_UNBOUNDED"), |limit| format!("{limit}u"));
            let (width, kind) = match (form, items) {
                (_, Some(items)) => (items.width, "ITEMS"),
                (Form::Text | Form::WideText, _) => (1, "TEXT"),
                (Form::Lent, _) if self.side == Side::Server => (1, "LENT"),
                (Form::Elements { width }, _) => (*width, "BYTES"),
                _ => (1, "BYTES"),
            };
            let target = match kind {
                "LENT" => format!("&{}", self.value(place)),
                _ => self.filling(place).unwrap_or(String::from("NULL")),
            };
            let memory = self.memory_form(place, *form);
            self.text.line(format!(
                "nc_takes[{count}] = (nearcall_take){{{target}, {length}, {width}u, {limit}, \
                 NEARCALL_FORM_{kind}{memory}}};"
            ));
            count += 1;
        }
        let take = match self.side {
            Side::Client => {
                format!("!nearcall_reply_take(&nc_reply, {at}, nc_takes, {count}, nc_env)")
            }
            Side::Server => format!("!nearcall_arguments_take(nc_call, {at}, nc_takes, {count})"),
        };
        self.when(&take, vec![String::from("goto nc_done;")]);
    }

    fn taken(&mut self, place: &Place, form: Form) {
        let (value, at) = (self.value(place), self.takes);
        self.takes += 1;
        match form {
            Form::Lent if self.side == Side::Server => {}
            _ if self.is_prealloc(place.root) => self.print_spread(place, form),
            Form::Text | Form::WideText => {
                self.text.line(format!("{value} = nearcall_taken(&nc_takes[{at}]);"));
            }
            Form::Octets | Form::Lent | Form::Elements { .. } => {
                self.text.line(format!("{value}._length = nc_takes[{at}].count;"));
                self.text.line(format!("{value}._buffer = nearcall_taken(&nc_takes[{at}]);"));
            }
            Form::Marshalled => {
                let (bytes, count) =
                    (format!("nc_takes[{at}].bytes"), format!("nc_takes[{at}].count"));
                self.unmarshal(place, &bytes, &count, Some(at));
            }
        }
    }

    fn unmarshal(&mut self, place: &Place, bytes: &str, count: &str, take: Option<usize>) {
        let (value, decode) = (self.value(place), self.coder("decode", place));
        self.text.open("{");
        self.text.line("nearcall_reader nc_reader;");
        let lender = if self.is_only_read(place.root) { "nc_call" } else { "NULL" };
        self.text.line(format!("nearcall_read_begin(&nc_reader, {lender}, {bytes}, {count});"));
        self.text.line(format!("if (!{decode}(&nc_reader, &{value}) ||"));
        self.text.open("    !nearcall_read_end(&nc_reader)) {");
        self.text.lines(self.refuse_unread());
        self.text.close("}");
        if let Some(at) = take.filter(|_| self.side == Side::Client) {
            self.text.line(format!("nearcall_free_takes(&nc_takes[{at}], 1);"));
        }
        self.text.close("}");
    }

    /// A local variable for what a root stands for, holding nothing.
    pub fn local_root(&self, root: Root, name: &str) -> Option<String> {
        if self.written_batch == Some(root) || self.is_prealloc(root) {
            return None;
        }
        if self.procedure.operation.descriptor(root).is_some() {
            return Some(format!("int {name} = -1;"));
        }
        self.root_type(root).map(|declared| self.local(declared, name))
    }

    /// The statements that give back what the value of a root holds.
    pub fn free_root(&self, root: Root, value: &str) -> Option<String> {
        if self.procedure.operation.descriptor(root).is_some() {
            return Some(format!("nearcall_close({value});"));
        }
        let is_others =
            self.is_only_read(root) || self.is_prealloc(root) || self.written_batch == Some(root);
        let declared = self.root_type(root).filter(|_| !is_others);
        declared.and_then(|declared| self.c.free(declared, value))
    }

    /// The statement that makes a result hold nothing.
    pub fn cleared(&self, root: Root, (pointer, value): (&str, &str)) -> String {
        match self.procedure.operation.descriptor(root) {
            Some(_) => format!("{value} = -1;"),
            None if self.is_prealloc(root) => format!("{pointer}->_length = 0;"),
            None => format!("memset({pointer}, 0, sizeof {value});"),
        }
    }

    /// A local variable, holding nothing.
    pub fn local(&self, declared: &Type, name: &str) -> String {
        let is_word = self.c.scalar(declared).is_some();
        let zero = match self.c.is_text(declared) {
            true => "NULL",
            false if is_word => "0",
            false => "{0}",
        };
        format!("{} = {zero};", self.c.declarator(declared, name))
    }

    /// Local variables of both stubs.
    pub fn print_locals(&self, text: &mut Text, puts: usize, takes: usize) {
        if puts > 0 {
            text.line(format!("nearcall_put nc_puts[{puts}];"));
        }
        if takes > 0 {
            let none = "{NULL, 0, 0, 0, 0}";
            let all = vec![none; takes].join(", ");
            text.line(format!("nearcall_take nc_takes[{takes}] = {{{all}}};"));
        }
        for (name, count) in [("nc_sent", self.sent_count), ("nc_came", self.came_count)] {
            if count > 0 {
                text.line(format!("nearcall_descriptor {name}[{count}];"));
            }
        }
        if self.writer_count > 0 {
            let count = self.writer_count;
            let all = match self.side {
                Side::Client => String::from("{0}"),
                Side::Server => vec!["{.lender = nc_call}"; count].join(", "),
            };
            text.line(format!("nearcall_writer nc_writers[{count}] = {{{all}}};"));
        }
    }

    /// Gives back what both stubs have used.
    pub fn print_frees(&self, text: &mut Text, takes: usize) {
        if takes > 0 {
            text.line(format!("nearcall_free_takes(nc_takes, {takes});"));
        }
        if self.writer_count > 0 && self.side == Side::Client {
            text.line(format!("nearcall_free_writers(nc_writers, {});", self.writer_count));
        }
    }
}

/// A message that goes out, as a value of the record.
pub fn message(steps: &[Step], fixed: &str, fixed_bytes: u32) -> String {
    let (puts, at) = (payload_counts(steps).0, variable_at(steps));
    let sent = steps.iter().find_map(|step| match step {
        Step::PutDescriptors { descriptors } => Some(descriptors.len()),
        _ => None,
    });
    let sent = sent.unwrap_or_default();
    let name = |count, name| if count > 0 { name } else { "NULL" };
    let fixed = name(fixed_bytes as usize, fixed);
    let (payloads, descriptors) = (name(puts, "nc_puts"), name(sent, "nc_sent"));
    format!(
        "(nearcall_message){{{fixed}, {payloads}, {fixed_bytes}, {at}, {puts}, {sent}, \
         {descriptors}}}"
    )
}

/// How many payloads steps put, and how many they take.
pub fn payload_counts(steps: &[Step]) -> (usize, usize) {
    let puts = steps.iter().filter(|step| matches!(step, Step::PutPayload { .. }));
    let takes = steps.iter().filter(|step| matches!(step, Step::Take { .. }));
    (puts.count(), takes.count())
}

/// Where the variable part of what steps write begins.
fn variable_at(steps: &[Step]) -> u32 {
    let at = steps.iter().find_map(|step| match step {
        Step::Variable { at, .. } => Some(*at),
        _ => None,
    });
    at.unwrap_or_default()
}
