//! The attributes: which there are, where each may stand, and which say what Nearcall cannot do.

use std::ops::RangeInclusive;

use nearcall_abi::counted;

use super::ast::{Argument, Attribute};
use super::lower::Lowering;
use crate::diagnostic::{Diagnostic, Rule};
use crate::front::ast::Expression;
use crate::front::rules::midl as rules;
use crate::source::Span;

/// Where attributes stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Interface,
    Type,
    Member,
    Parameter,
    Operation,
}

/// What is to be done about an attribute.
enum Meaning {
    /// It says something about these.
    For(&'static [Place]),
    /// It changes nothing that Nearcall does.
    Nothing,
    /// It is an error: the rule, what it is about, the way out.
    Refused(&'static Rule, &'static str, &'static str),
}

/// As many further places as one finding shows.
const LABELS_MAX: usize = 5;

use Place::{Interface, Member, Operation, Parameter, Type};

const VALUES: &[Place] = &[Type, Member, Parameter];
const POINTERS: &[Place] = &[Type, Member, Parameter, Operation];

fn meaning(name: &str) -> Option<Meaning> {
    Some(match name {
        "uuid" | "version" | "pointer_default" => Meaning::For(&[Interface]),
        "in" | "out" => Meaning::For(&[Parameter]),
        "prealloc" | "prealloc_client" | "fd" | "feed" | "opaque" | "typical" => {
            Meaning::For(&[Parameter, Operation])
        }
        "leaf" | "astack" => Meaning::For(&[Operation]),
        "ref" | "unique" | "ptr" | "string" => Meaning::For(POINTERS),
        "size_is" | "max_is" | "length_is" | "last_is" | "switch_is" => {
            Meaning::For(&[Member, Parameter])
        }
        "switch_type" => Meaning::For(VALUES),
        "range" => Meaning::For(VALUES),
        "idempotent" | "maybe" | "oneway" => Meaning::For(&[Operation]),
        "local" => Meaning::For(&[Interface, Operation]),
        _ => return ignored(name).or_else(|| refused(name)),
    })
}

/// What speaks of transports, headers, type libraries or memory that C has and Rust has not.
fn ignored(name: &str) -> Option<Meaning> {
    let is_known = matches!(
        name,
        "allocate"
            | "async"
            | "auto_handle"
            | "code"
            | "comm_status"
            | "decode"
            | "encode"
            | "enable_allocate"
            | "endpoint"
            | "explicit_handle"
            | "fault_status"
            | "helpcontext"
            | "helpfile"
            | "helpstring"
            | "hidden"
            | "max_value"
            | "ms_union"
            | "nocode"
            | "optimize"
            | "prealloc_server"
            | "public"
            | "restricted"
            | "authservice"
            | "strict_context_handle"
            | "type_strict_context_handle"
            | "v1_enum"
    );
    is_known.then_some(Meaning::Nothing)
}

/// Attributes of COM and of type libraries.
const OF_COM: &[&str] = &[
    "aggregatable",
    "annotation",
    "appobject",
    "bindable",
    "control",
    "custom",
    "defaultbind",
    "defaultcollelem",
    "defaultvalue",
    "defaultvtable",
    "displaybind",
    "dllname",
    "dual",
    "entry",
    "id",
    "iid_is",
    "immediatebind",
    "lcid",
    "licensed",
    "nonbrowsable",
    "noncreatable",
    "nonextensible",
    "object",
    "odl",
    "oleautomation",
    "optional",
    "predeclid",
    "propget",
    "propput",
    "propputref",
    "proxy",
    "readonly",
    "replaceable",
    "requestedit",
    "retval",
    "source",
    "uidefault",
    "usesgetlasterror",
    "vararg",
];

/// Attributes of Samba's pidl.
const OF_PIDL: &[&str] = &[
    "bitmap16bit",
    "bitmap32bit",
    "bitmap64bit",
    "bitmap8bit",
    "charset",
    "compression",
    "depends",
    "enum16bit",
    "enum8bit",
    "flag",
    "gensize",
    "nodiscriminant",
    "noejs",
    "noopnum",
    "noprint",
    "nopull",
    "nopush",
    "nopython",
    "nosize",
    "pad",
    "pyhelper",
    "ref_not_null",
    "relative",
    "relative_base",
    "relative_short",
    "represent",
    "skip",
    "sptr",
    "subcontext",
    "subcontext_size",
    "to_null",
    "todo",
    "value",
];

fn refused(name: &str) -> Option<Meaning> {
    let (rule, what, help): (&'static Rule, _, _) = match name {
        _ if OF_COM.contains(&name) => (
            &rules::COM,
            "is of COM, whose objects are outside what Nearcall maps",
            "declare the operations in an interface without `object`, with `[out]` for results",
        ),
        _ if OF_PIDL.contains(&name) => (
            &rules::PIDL,
            "is of Samba's pidl, and about bytes that Nearcall lays out by itself",
            "delete it; a value that follows from others is computed by whoever calls",
        ),
        "context_handle" | "context_handle_noserialize" | "context_handle_serialize" => (
            &rules::CONTEXT_HANDLE,
            "is outside what Nearcall maps",
            "pass an integer that the server makes up and checks",
        ),
        "handle" | "implicit_handle" => (
            &rules::HANDLE,
            "is outside what Nearcall maps: a stub is called on a binding",
            "pass it as a value, or leave it out",
        ),
        "first_is" | "min_is" => (
            &rules::BOUNDS,
            "is outside what Nearcall maps: what is passed begins at element 0",
            "pass the part alone, and where it begins as a parameter",
        ),
        "represent_as" | "transmit_as" | "user_marshal" | "wire_marshal" | "cs_char" => (
            &rules::OUTSIDE,
            "is outside what Nearcall maps: types pass as they are declared",
            "declare the type that is to pass, and convert before the call",
        ),
        "broadcast" => (
            &rules::OUTSIDE,
            "is outside what Nearcall maps: a call goes to one server",
            "call every server in turn",
        ),
        "call_as"
        | "callback"
        | "ignore"
        | "message"
        | "notify"
        | "notify_flag"
        | "noxfer"
        | "partial_ignore"
        | "disable_consistency_check" => (
            &rules::OUTSIDE,
            "is outside what Nearcall maps",
            "delete it, with what it stands before if that has no meaning without it",
        ),
        _ => return None,
    };
    Some(Meaning::Refused(rule, what, help))
}

/// The attribute of this name.
pub(super) fn find<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|one| &*one.name.text == name)
}

/// Does an attribute say that this is none of Nearcall's types?
pub(super) fn is_outside(attributes: &[Attribute]) -> bool {
    let is_refused = |one: &Attribute| {
        let is_type = matches!(
            meaning(&one.name.text),
            Some(Meaning::Refused(rule, ..))
                if *rule == rules::CONTEXT_HANDLE || *rule == rules::HANDLE || *rule == rules::COM
        );
        is_type || matches!(&*one.name.text, "transmit_as" | "wire_marshal" | "user_marshal")
    };
    attributes.iter().any(is_refused)
}

/// The values of an attribute that are given without a `*`.
pub(super) fn values(attribute: &Attribute) -> Vec<&Expression> {
    let value = |argument| match argument {
        &Argument::Value { stars: 0, ref value } => Some(value),
        _ => None,
    };
    attribute.arguments.iter().filter_map(value).collect()
}

/// Before what an attribute may stand.
pub(super) fn places(name: &str) -> &'static [Place] {
    match meaning(name) {
        Some(Meaning::For(places)) => places,
        _ => &[],
    }
}

/// How many values an attribute takes, if that is judged.
fn wanted(name: &str) -> Option<RangeInclusive<usize>> {
    Some(match name {
        "range" => 2..=2,
        "uuid" | "version" | "pointer_default" | "switch_type" | "switch_is" | "typical" => 1..=1,
        "fd" => 0..=1,
        "astack" => 1..=2,
        "feed" | "leaf" | "opaque" | "prealloc" | "prealloc_client" => 0..=0,
        "size_is" | "max_is" | "length_is" | "last_is" => 1..=usize::MAX,
        _ => return None,
    })
}

/// How many it is given. An empty place counts beside others.
fn given_count(attribute: &Attribute) -> usize {
    match &attribute.arguments {
        given if given.iter().all(|one| matches!(one, Argument::Nothing)) => 0,
        given => given.len(),
    }
}

/// What is wrong with what an attribute is given, if that is judged.
fn fault(attribute: &Attribute) -> Option<String> {
    let name = &*attribute.name.text;
    // Of the others those take it that say a length or a discriminator.
    if matches!(name, "range" | "typical" | "fd" | "astack") {
        let given = &attribute.arguments;
        let is_empty = |one: &Argument| matches!(one, Argument::Nothing);
        if given.len() > 1
            && let Some(index) = given.iter().position(is_empty)
        {
            return Some(format!("`{name}` is given nothing as its value {}", index + 1));
        }
        let points = |one: &Argument| matches!(one, Argument::Value { stars: 1.., .. });
        if let Some(index) = given.iter().position(points) {
            let message =
                format!("`{name}` is given what is behind a `*` as its value {}", index + 1);
            return Some(message);
        }
    }
    let (wanted, count) = (wanted(name)?, given_count(attribute));
    let (least, most) = (*wanted.start(), *wanted.end());
    match count {
        _ if wanted.contains(&count) => None,
        _ if count < least => {
            Some(format!("`{name}` is given {count} of its {}", counted(least, "value")))
        }
        _ => Some(format!("`{name}` is given {count} values, and takes at most {most}")),
    }
}

/// Is an attribute given the values that it takes?
pub(super) fn is_well_given(attribute: &Attribute) -> bool {
    fault(attribute).is_none()
}

impl Lowering {
    /// Judges every attribute before something.
    pub(super) fn check_attributes(&mut self, attributes: &[Attribute], place: Place) {
        for (index, one) in attributes.iter().enumerate() {
            let name = &*one.name.text;
            let first = find(&attributes[..index], name);
            if let Some(first) = first {
                let message = format!("`{name}` already stands here");
                let finding =
                    Diagnostic::new(&rules::REPEATED, one.span, message).label(first.span, "first");
                self.diagnostics.push(finding);
                continue;
            }
            match meaning(name) {
                None => self.report_unknown_attribute(one),
                Some(Meaning::Nothing) => self.note_ignored(one),
                Some(Meaning::Refused(rule, what, help)) => self.refuse(one, rule, what, help),
                Some(Meaning::For(places)) if !places.contains(&place) => {
                    self.report_place(one, places);
                }
                Some(Meaning::For(_)) => self.check_arguments(one),
            }
        }
        self.check_clashes(attributes);
    }

    /// One finding an attribute, however often it stands in the text.
    fn refuse(&mut self, one: &Attribute, rule: &'static Rule, what: &str, help: &str) {
        let name = &one.name.text;
        if let Some(index) = self.refused.get(name) {
            let known = &mut self.diagnostics[*index];
            if known.labels.len() < LABELS_MAX {
                known.labels.push((one.span, "and here".to_owned()));
            }
            return;
        }
        self.refused.insert(name.clone(), self.diagnostics.len());
        let message = format!("`{name}` {what}");
        self.diagnostics.push(Diagnostic::new(rule, one.span, message).help(help));
    }

    fn report_unknown_attribute(&mut self, attribute: &Attribute) {
        let message = format!("nothing is known of an attribute `{}`", attribute.name.text);
        let finding = Diagnostic::new(&rules::UNKNOWN, attribute.name.span, message)
            .help("is it misspelt? Delete it if it means nothing to a caller");
        self.diagnostics.push(finding);
    }

    fn note_ignored(&mut self, attribute: &Attribute) {
        let name = &attribute.name.text;
        if self.is_included || !self.noted.insert(name.to_string()) {
            return;
        }
        let message = format!("`{name}` changes nothing here");
        self.diagnostics.push(Diagnostic::new(&rules::IGNORED, attribute.span, message));
    }

    fn report_place(&mut self, attribute: &Attribute, places: &[Place]) {
        let names: Vec<&str> = places.iter().map(|place| what(*place)).collect();
        let message = format!("`{}` means nothing here", attribute.name.text);
        let finding = Diagnostic::new(&rules::PLACE, attribute.span, message)
            .help(format!("it is for {}", names.join(", ")));
        self.diagnostics.push(finding);
    }

    fn check_arguments(&mut self, attribute: &Attribute) {
        if let Some(message) = fault(attribute) {
            self.diagnostics.push(Diagnostic::new(&rules::ARGUMENTS, attribute.span, message));
        }
    }

    fn check_clashes(&mut self, attributes: &[Attribute]) {
        for group in [
            &["ref", "unique", "ptr"][..],
            &["size_is", "max_is"],
            &["length_is", "last_is"],
            &["string", "length_is"],
            &["maybe", "idempotent"],
            &["maybe", "oneway"],
        ] {
            let mut there = attributes.iter().filter(|one| group.contains(&&*one.name.text));
            if let (Some(first), Some(second)) = (there.next(), there.next())
                && first.name.text != second.name.text
            {
                let [one, other] = [first, second].map(|one| &one.name.text);
                let message = format!("`{one}` and `{other}` contradict each other");
                let finding = Diagnostic::new(&rules::CLASH, second.span, message)
                    .label(first.span, "the other stands here")
                    .help("keep one");
                self.diagnostics.push(finding);
            }
        }
    }

    /// The version of an interface: `1.0`, or `1`.
    pub(super) fn check_version(&mut self, text: &str, span: Span) {
        let is_number = |part: &str| part.parse::<u16>().is_ok() && !part.starts_with('+');
        let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
        if is_number(major) && is_number(minor) {
            return;
        }
        let message = format!("`{text}` is no version");
        let finding = Diagnostic::new(&rules::VERSION, span, message).help("write `1.0`");
        self.diagnostics.push(finding);
    }

    /// A uuid, or the number that IDL4 gives an interface.
    pub(super) fn check_uuid(&mut self, text: &str, span: Span) {
        let groups: Vec<&str> = text.split('-').collect();
        let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
        let is_hexadecimal = |group: &&str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_uuid = lengths == [8, 4, 4, 4, 12] && groups.iter().all(is_hexadecimal);
        if is_uuid || text.parse::<u32>().is_ok() {
            return;
        }
        let message = format!("`{text}` is no uuid");
        let finding = Diagnostic::new(&rules::UUID, span, message)
            .help("`uuidgen` makes one; it may be left out");
        self.diagnostics.push(finding);
    }
}

fn what(place: Place) -> &'static str {
    match place {
        Interface => "an interface",
        Type => "a type",
        Member => "a member",
        Parameter => "a parameter",
        Operation => "an operation",
    }
}
