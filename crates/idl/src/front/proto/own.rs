//! Nearcall's own options of procedures and fields, as the annotations that they are in OMG IDL.
//!
//! ```text
//! option (nearcall.leaf) = true;                          @leaf                  of the operation
//! option (nearcall.astack).count = 8;   and .bytes         @astack(count, bytes)  of the operation
//! option (nearcall.request).typical = 200;   and .opaque   @typical, @opaque      of the parameter
//! option (nearcall.response).typical = 200;  and .opaque   the same of what is returned
//! [(nearcall.range).min = 0, (nearcall.range).max = 9]     @range, @min, @max     of the member
//! ```
//!
//! They are extensions that `nearcall/options.proto` declares, which comes with the compiler.
//! protox reads them and judges their types; what they may say, and of what, is judged here, in the
//! words of .proto files.

use protox::file::File;
use protox::prost_reflect::prost_types::field_descriptor_proto::{Label as Count, Type};
use protox::prost_reflect::prost_types::{FieldDescriptorProto, MethodDescriptorProto};
use protox::prost_reflect::{
    DynamicMessage, ExtensionDescriptor, MethodDescriptor, ReflectMessage, Value,
};

use super::fields::integer;
use super::load::Loaded;
use super::lower::{Lowering, annotation};
use super::names::{passed, wrapped};
use super::places::Places;
use crate::diagnostic::Diagnostic;
use crate::front::ast::{Annotation, Arguments, Expression, ExpressionKind, Name};
use crate::front::resolve::{ASTACK_BYTES_MAX, ASTACKS_MAX};
use crate::front::rules::proto as rules;
use crate::source::Span;

/// What files import, and the text that it has.
const FILE: &str = "nearcall/options.proto";
const TEXT: &str = include_str!("../../../proto/nearcall/options.proto");

/// What is lent as a whole: nothing but octets.
const OCTETS: &str = ".google.protobuf.BytesValue";

/// From here on not every whole number is a `double`.
const WHOLE_MAX: f64 = 9_007_199_254_740_991.0;

/// What somebody would write who knows the annotations of OMG IDL, or has forgotten the import, and
/// what says it.
const ADVICE: &[(&str, &str)] = &[
    ("leaf", "`option (nearcall.leaf) = true;` in the braces of an rpc"),
    ("astack", "`option (nearcall.astack).count = 8;` in the braces of an rpc, or `.bytes`"),
    (
        "request",
        "`option (nearcall.request).typical = 400;` in the braces of an rpc, or `.opaque = true`",
    ),
    (
        "response",
        "`option (nearcall.response).typical = 400;` in the braces of an rpc, or `.opaque = true`",
    ),
    ("range", "`[(nearcall.range).min = 0, (nearcall.range).max = 9]` behind a field"),
    (
        "opaque",
        "`option (nearcall.request).opaque = true;`, or `response`, of an rpc whose message is \
         `google.protobuf.BytesValue`: the fields of any other are copied one by one",
    ),
    ("typical", "`option (nearcall.request).typical = 400;`, or `response`, of an rpc"),
    ("idempotent", "`option idempotency_level = IDEMPOTENT;`, which is the language's own"),
    ("feed", "`stream` before the message"),
    (
        "fd",
        "an interface in OMG IDL, where `@fd` stands before a parameter: over gRPC no open file \
         can go along",
    ),
];

/// The file that declares the options, if that is what is imported.
pub(super) fn file(name: &str) -> Option<File> {
    let parsed = || File::from_source(FILE, TEXT).expect("a file of ours that is not proto3");
    (name == FILE).then(parsed)
}

/// Whether a file declares what that one does, whatever its comments say.
pub(super) fn is_file(text: &str) -> bool {
    let declared = |text| {
        let mut file = File::from_source(FILE, text).ok()?.file_descriptor_proto().clone();
        file.source_code_info = None;
        Some(file)
    };
    declared(text) == declared(TEXT)
}

/// What to do about an option of ours that there is not, or not there: protox names it.
pub(super) fn advice(said: &str) -> Option<String> {
    let known = |name| ADVICE.iter().find(|(own, _)| *own == name);
    let (_, way_out) = named(said).filter_map(known).next()?;
    Some(format!("write {way_out}; options of `nearcall` are in `import \"{FILE}\";`"))
}

/// What may stand in the braces of an option of ours, in which something is wrong.
pub(super) fn advice_within(said: &str) -> Option<String> {
    let allowed = |name: &str| match name {
        "astack" => {
            Some(format!("`count`, 1 to {ASTACKS_MAX}, and `bytes`, 1 to {ASTACK_BYTES_MAX}"))
        }
        "request" | "response" => {
            Some(format!("`typical`, 1 to {ASTACK_BYTES_MAX}, and `opaque`, `true` or `false`"))
        }
        "range" => Some("`min` and `max`, values that the field can have".to_owned()),
        _ => None,
    };
    let (name, allowed) = named(said).find_map(|name| Some((name, allowed(name)?)))?;
    Some(format!("in the braces of `(nearcall.{name})` may stand {allowed}"))
}

/// What protox names that is of our package.
fn named(said: &str) -> impl Iterator<Item = &str> {
    let parts =
        said.match_indices("nearcall.").filter(|(at, _)| said[..*at].ends_with(['\'', '(']));
    parts.map(|(at, before)| {
        let name = &said[at + before.len()..];
        let end = name.find(|one: char| !one.is_ascii_alphanumeric() && one != '_');
        &name[..end.unwrap_or(name.len())]
    })
}

/// Options of something, or a message that is one of them.
struct Said<'s> {
    loaded: &'s Loaded,
    places: &'s Places,
    message: DynamicMessage,
    path: Vec<i32>,
}

impl<'s> Said<'s> {
    /// One of ours that is a message.
    fn own(&self, name: &str) -> Option<Said<'s>> {
        let (value, path) = self.extension(name)?;
        let message = value.as_message()?.clone();
        Some(Said { message, path, ..*self })
    }

    /// Where one of ours is `true`.
    fn is_set(&self, name: &str) -> Option<Span> {
        let (value, path) = self.extension(name)?;
        (value.as_bool() == Some(true)).then(|| self.places.span(&path, &[]))
    }

    fn extension(&self, name: &str) -> Option<(Value, Vec<i32>)> {
        let pool = self.loaded.checked.parent_pool();
        let extension = pool.get_extension_by_name(&format!("nearcall.{name}"))?;
        let is_here = extension.parent_file().name() == FILE && self.is_kept_as(&extension);
        let path = [&self.path[..], &[extension.number() as i32]].concat();
        is_here.then(|| (self.message.get_extension(&extension).into_owned(), path))
    }

    /// Whether something is said by that option, or by another one of its number.
    fn is_kept_as(&self, extension: &ExtensionDescriptor) -> bool {
        extension.containing_message() == self.message.descriptor()
            && self.message.has_extension(extension)
    }

    /// What is refused of an option that somebody else declares with the number of one of ours:
    /// options are kept by number, so that it would be taken for that one.
    fn rival(&self) -> Option<Diagnostic> {
        let pool = self.loaded.checked.parent_pool();
        let own = pool.get_file_by_name(FILE)?;
        let mut said = own.extensions().filter(|own| self.is_kept_as(own));
        let (own, other) = said.find_map(|own| {
            let is_other = |one: &ExtensionDescriptor| one.number() == own.number() && *one != own;
            let other = self.message.descriptor().extensions().find(is_other)?;
            Some((own, other))
        })?;
        let (number, other) = (own.number(), other.full_name());
        let span = self.places.span(&self.path, &[number as i32]);
        let message = format!(
            "`{other}` has the number {number}, as `{}` has: which of the two is meant is not told",
            own.full_name()
        );
        let way_out = format!("give `{other}` a number that no other option has");
        Some(Diagnostic::new(&rules::OPTION_PLACE, span, message).help(way_out))
    }

    /// A field of such a message, if it is given.
    fn field(&self, name: &str) -> Option<(Value, Span)> {
        let field = self.message.descriptor().get_field_by_name(name)?;
        let span = self.places.span(&self.path, &[field.number() as i32]);
        let is_here = self.message.has_field(&field);
        is_here.then(|| (self.message.get_field(&field).into_owned(), span))
    }
}

/// What becomes of the options of a procedure.
#[derive(Default)]
pub(super) struct OfProcedure {
    pub operation: Vec<Annotation>,
    pub request: Vec<Annotation>,
}

impl Lowering<'_> {
    /// Those of a procedure that stands at `path` of its file.
    pub fn options_of(
        &mut self,
        source: usize,
        path: &[i32],
        method: &MethodDescriptorProto,
    ) -> OfProcedure {
        const OPTIONS: i32 = 4;
        let (mut own, mut findings) = (OfProcedure::default(), Vec::new());
        if method.options.is_none() {
            return own;
        }
        let (loaded, places) = (self.sources[source].loaded, &self.sources[source].places);
        let [_, service, _, at] = path else { return own };
        // By name: to count up to them would take every service and method before them.
        let declared = &loaded.checked.file_descriptor_proto().service[*service as usize];
        let name = format!("{}.{}", loaded.checked.package_name(), declared.name());
        let pool = loaded.checked.parent_pool();
        let Some(checked) = pool.get_service_by_name(name.trim_start_matches('.')) else {
            return own;
        };
        let checked = MethodDescriptor::new(checked, *at as usize);
        let path = [path, &[OPTIONS]].concat();
        let said = Said { loaded, places, message: checked.options(), path };
        if let Some(finding) = said.rival() {
            self.findings.push(finding);
            return own;
        }
        let leaf = said.is_set("leaf");
        own.operation.extend(leaf.map(|span| annotation("leaf", Arguments::None, span)));
        let astack = said.own("astack");
        own.operation.extend(astack.as_ref().and_then(|one| astack_of(one, method, &mut findings)));
        let bytes = astack.and_then(|one| one.field("bytes"));
        let bytes = bytes.map(|(_, span)| span);
        let [takes, gives] = passed(method);
        let request = Side {
            word: "request",
            message: takes,
            is_stream: method.client_streaming(),
            of: method.name(),
            bytes,
        };
        let response = Side {
            word: "response",
            message: gives,
            is_stream: method.server_streaming(),
            ..request
        };
        for (side, annotations) in [(request, &mut own.request), (response, &mut own.operation)] {
            if let Some(said) = said.own(side.word) {
                annotations.extend(side.typical(&said, &mut findings));
                annotations.extend(side.opaque(&said, &mut findings));
            }
        }
        self.findings.extend(findings);
        own
    }

    /// The range of the field that is the one at `path` of its file.
    pub fn range_of(
        &mut self,
        source: usize,
        path: &[i32],
        holder: &str,
        field: &FieldDescriptorProto,
    ) -> Vec<Annotation> {
        const OPTIONS: i32 = 8;
        if field.options.is_none() {
            return Vec::new();
        }
        let (loaded, places) = (self.sources[source].loaded, &self.sources[source].places);
        let pool = loaded.checked.parent_pool();
        let message = pool.get_message_by_name(holder.trim_start_matches('.'));
        let Some(checked) = message.and_then(|one| one.get_field(field.number() as u32)) else {
            return Vec::new();
        };
        let path = [path, &[OPTIONS]].concat();
        let said = Said { loaded, places, message: checked.options(), path };
        let range = match said.rival() {
            Some(finding) => Err(finding),
            None => said.own("range").map_or(Ok(None), |range| range_of(&range, field)),
        };
        match range {
            Ok(annotation) => annotation.into_iter().collect(),
            Err(finding) => {
                self.findings.push(finding);
                Vec::new()
            }
        }
    }
}

/// `@astack`, of what is within its limits.
fn astack_of(
    said: &Said<'_>,
    method: &MethodDescriptorProto,
    findings: &mut Vec<Diagnostic>,
) -> Option<Annotation> {
    let limits = [("count", ASTACKS_MAX), ("bytes", ASTACK_BYTES_MAX)];
    let given = limits.into_iter().filter_map(|(name, most)| {
        let (value, span) = said.field(name)?;
        let what = format!("`{name}` of the A-stacks of `{}`", method.name());
        let number = counted(&what, &value, most, span, findings)?;
        Some((Name { text: name.into(), span }, number))
    });
    let given: Vec<_> = given.collect();
    let span = given.first()?.0.span;
    Some(annotation("astack", Arguments::Named(given), span))
}

/// A number from 1 to `most`.
fn counted(
    what: &str,
    value: &Value,
    most: u32,
    span: Span,
    findings: &mut Vec<Diagnostic>,
) -> Option<Expression> {
    let value = value.as_u32()?;
    if (1..=most).contains(&value) {
        return Some(integer(value, span));
    }
    let message = format!("{what} is {value}, allowed is 1 to {most}");
    findings.push(Diagnostic::new(&rules::OPTION_VALUE, span, message));
    None
}

/// The request or the response of a procedure.
#[derive(Clone, Copy)]
struct Side<'m> {
    word: &'static str,
    /// None if it is nothing at all.
    message: Option<&'m str>,
    is_stream: bool,
    /// The procedure's name.
    of: &'m str,
    /// Where the room of all of it is said.
    bytes: Option<Span>,
}

impl Side<'_> {
    /// What is of one size is found by the resolver.
    fn typical(&self, said: &Said<'_>, findings: &mut Vec<Diagnostic>) -> Option<Annotation> {
        let (value, span) = said.field("typical")?;
        if let Some((why, help)) = self.has_no_length() {
            findings.push(self.misplaced("typical length", span, why, help));
            return None;
        }
        if let Some(bytes) = self.bytes {
            let why = "`bytes` of `astack` says how much room there is for all";
            let help = "leave one of the two out";
            let finding = self.misplaced("typical length", span, why, help);
            findings.push(finding.label(bytes, "that is said here"));
            return None;
        }
        let what = format!("`typical` of the {} of `{}`", self.word, self.of);
        let number = counted(&what, &value, ASTACK_BYTES_MAX, span, findings)?;
        Some(annotation("typical", Arguments::Single(number), span))
    }

    fn opaque(&self, said: &Said<'_>, findings: &mut Vec<Diagnostic>) -> Option<Annotation> {
        let (value, span) = said.field("opaque")?;
        if value.as_bool() != Some(true) {
            return None;
        }
        let finding = match (self.has_no_length(), self.message) {
            (Some((why, help)), _) => self.misplaced("opaque part", span, why, help),
            (None, Some(OCTETS)) => return Some(annotation("opaque", Arguments::None, span)),
            (None, message) => {
                let name = message.unwrap_or_default().trim_start_matches('.');
                let why = format!("it is `{name}`, which is copied field by field");
                let help = "pass the octets as `google.protobuf.BytesValue`, to Protocol Buffers \
                            the same as a message with the one field `bytes value = 1`; or leave \
                            `opaque` out: they arrive as well";
                self.misplaced("opaque part", span, &why, help)
            }
        };
        findings.push(finding);
        None
    }

    /// Why nothing is told of one value that goes, and the way out.
    fn has_no_length(&self) -> Option<(&'static str, &'static str)> {
        match self.message {
            None => Some(("`google.protobuf.Empty` is nothing at all", "leave that out")),
            Some(_) if self.is_stream => {
                Some(("it is a stream", "leave that out: items go in batches, which are copied"))
            }
            Some(_) => None,
        }
    }

    fn misplaced(&self, what: &str, span: Span, why: &str, help: &str) -> Diagnostic {
        let message = format!("the {} of `{}` has no {what}: {why}", self.word, self.of);
        Diagnostic::new(&rules::OPTION_PLACE, span, message).help(help)
    }
}

/// What a field's values may be at most, as a `double` says it.
struct Numbers {
    least: f64,
    most: f64,
    is_whole: bool,
}

/// Those of one field; or why there are none, and the way out.
fn numbers(field: &FieldDescriptorProto) -> Result<Numbers, (&'static str, &'static str)> {
    let whole = |least, most| Ok(Numbers { least, most, is_whole: true });
    let real = |most: f64| Ok(Numbers { least: -most, most, is_whole: false });
    if field.label() == Count::Repeated {
        let help = "have each in a message of its own, with a field that has the range";
        return Err(("it holds any number of values", help));
    }
    match wrapped(field.type_name()).unwrap_or(field.r#type()) {
        Type::Int32 | Type::Sint32 | Type::Sfixed32 => whole(i32::MIN.into(), i32::MAX.into()),
        Type::Uint32 | Type::Fixed32 => whole(0.0, u32::MAX.into()),
        Type::Int64 | Type::Sint64 | Type::Sfixed64 => whole(-WHOLE_MAX, WHOLE_MAX),
        Type::Uint64 | Type::Fixed64 => whole(0.0, WHOLE_MAX),
        Type::Float => real(f32::MAX.into()),
        Type::Double => real(f64::MAX),
        Type::Bool | Type::String | Type::Bytes | Type::Enum | Type::Message | Type::Group => {
            Err(("it is no number", "leave that out, and judge it in the procedure"))
        }
    }
}

/// `@range`, or `@min` or `@max` alone; nothing if no end is given.
fn range_of(
    said: &Said<'_>,
    field: &FieldDescriptorProto,
) -> Result<Option<Annotation>, Diagnostic> {
    let end = |name: &'static str| {
        let (value, span) = said.field(name)?;
        Some((name, value.as_f64()?, span))
    };
    let given: Vec<_> = ["min", "max"].into_iter().filter_map(end).collect();
    let Some((_, _, span)) = given.last().copied() else { return Ok(None) };
    let numbers = numbers(field).map_err(|(why, help)| {
        let message = format!("`{}` has no range: {why}", field.name());
        Diagnostic::new(&rules::OPTION_PLACE, span, message).help(help)
    })?;
    for (name, value, span) in &given {
        check_end(field, &numbers, name, *value)
            .map_err(|message| Diagnostic::new(&rules::OPTION_VALUE, *span, message))?;
    }
    if let [(_, least, _), (_, greatest, _)] = given[..]
        && least > greatest
    {
        let [least, greatest] = [least, greatest].map(shown);
        let message = format!("`{}` can have no value from {least} to {greatest}", field.name());
        return Err(Diagnostic::new(&rules::OPTION_VALUE, span, message));
    }
    let ends = given.into_iter().map(|(name, value, span)| {
        // -0.0 is 0.0: who writes either means the same, and hashes know.
        let kind = ExpressionKind::Float(value + 0.0);
        let is_whole = numbers.is_whole;
        let end = if is_whole { integer(value as i64, span) } else { Expression { kind, span } };
        (Name { text: name.into(), span }, end)
    });
    let mut ends: Vec<_> = ends.collect();
    Ok(Some(match ends.len() {
        1 => {
            let (name, end) = ends.remove(0);
            annotation(&name.text, Arguments::Single(end), span)
        }
        _ => annotation("range", Arguments::Named(ends), span),
    }))
}

/// Whether one end is a value that the field can have; what to say if it is none.
fn check_end(
    field: &FieldDescriptorProto,
    numbers: &Numbers,
    name: &str,
    value: f64,
) -> Result<(), String> {
    let what = format!("`{name}` of the range of `{}` is {}", field.name(), shown(value));
    if !(numbers.least..=numbers.most).contains(&value) {
        let [least, most] = [numbers.least, numbers.most].map(shown);
        return Err(format!("{what}, allowed is {least} to {most}"));
    }
    match numbers.is_whole && value.fract() != 0.0 {
        true => Err(format!("{what}, allowed are whole numbers")),
        false => Ok(()),
    }
}

/// Without hundreds of zeros.
fn shown(value: f64) -> String {
    if value.abs() < 1e17 { value.to_string() } else { format!("{value:e}") }
}
