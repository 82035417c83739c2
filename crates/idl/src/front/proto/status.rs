//! What every procedure raises: a status, as gRPC has it, but for the one that says that all is
//! well.
//!
//! ```text
//! module grpc {
//!     enum RpcCode { @value(1) CANCELLED, ... @value(16) UNAUTHENTICATED };
//!     exception RpcStatus { RpcCode code; string message; sequence<octet> details; };
//! };
//! ```
//!
//! No .proto file can declare an exception, so that this one comes with the language, as
//! `google.protobuf.Timestamp` does, where there is a procedure to raise it. `Status` and `Code`
//! are what many a file calls something of its own; nobody's package is `grpc` but gRPC's.

use protox::prost_reflect::prost_types::field_descriptor_proto::Type;

use super::fields::{integer, member};
use super::lower::{Lowering, annotation, definition, is_needed};
use super::names::scoped;
use super::places::NAME;
use crate::diagnostic::Diagnostic;
use crate::front::ast::{
    Arguments, Definition, DefinitionKind, Literal, Member, Name, TypeKind, TypeUse,
};
use crate::front::rules::proto as rules;
use crate::source::Span;

/// Where both names stand.
const PACKAGE: &str = "grpc";
const CODE: &str = "RpcCode";
const STATUS: &str = "RpcStatus";

const STATUS_DOC: &str = "Why a procedure failed, in gRPC's words.";
const MESSAGE_DOC: &str = "For people.";
const DETAILS_DOC: &str = "\
For programs: whatever both sides agree on. With gRPC that is a `google.rpc.Status`,
as Protocol Buffers write it.";

/// gRPC's codes from 1 on, and what each says. 0 is `OK`, which nobody raises.
const CODES: [(&str, &str); 16] = [
    ("CANCELLED", "It was given up, by the caller as a rule."),
    ("UNKNOWN", "Nothing that any other code says."),
    ("INVALID_ARGUMENT", "The request is no good, whatever the state of the server."),
    ("DEADLINE_EXCEEDED", "Time was up before it was done; it may be done nonetheless."),
    ("NOT_FOUND", "What was asked for is not there."),
    ("ALREADY_EXISTS", "What was to be made is there."),
    ("PERMISSION_DENIED", "Who calls is known, and may not."),
    ("RESOURCE_EXHAUSTED", "Something is used up: a quota, or room."),
    ("FAILED_PRECONDITION", "Not in this state: something else has to be done first."),
    ("ABORTED", "Somebody else came between; all of it may be tried again."),
    ("OUT_OF_RANGE", "Past the end of what is there at present."),
    ("UNIMPLEMENTED", "This server does not do it."),
    ("INTERNAL", "Something is broken."),
    ("UNAVAILABLE", "Not now; the call may be made again."),
    ("DATA_LOSS", "Something is lost or spoilt for good."),
    ("UNAUTHENTICATED", "Who calls has not shown who that is."),
];

impl Lowering<'_> {
    /// Declares the status behind all that files declare, if there is a procedure to raise it. It
    /// stands where the first one does.
    pub fn status(&mut self) {
        let Some((source, span)) = self.first_procedure() else { return };
        let taken = self.taken_names();
        if taken.is_empty() {
            let scope = [Name { text: PACKAGE.into(), span }];
            self.put(source, &scope, codes(span));
            self.put(source, &scope, self.exception(span));
            self.raised = Some(scoped(&full_name(STATUS), span));
        }
        self.findings.extend(taken.into_iter().map(|(name, at)| {
            let name = name.trim_start_matches('.');
            let message = format!("`{name}` is a name of the status that procedures raise");
            Diagnostic::new(&rules::STATUS, at, message)
                .label(span, "this is the first of them")
                .help("choose another name, or another package")
        }));
    }

    /// File and place of the first procedure, of the named file if that has one.
    fn first_procedure(&self) -> Option<(usize, Span)> {
        const SERVICE: i32 = 6;
        const METHOD: i32 = 2;
        // The named file comes behind all that it imports.
        let sources = self.sources.iter().enumerate().rev();
        sources.filter(|(_, one)| !one.loaded.is_built_in).find_map(|(index, source)| {
            let mut services = source.loaded.descriptor.service.iter().zip(0..);
            let (_, at) = services.find(|(one, _)| !one.method.is_empty())?;
            Some((index, source.places.span(&[SERVICE, at, METHOD, 0], &[NAME])))
        })
    }

    /// What files themselves declare of the status's names, and where. What stands in something
    /// of its module's name is not told besides.
    fn taken_names(&self) -> Vec<(String, Span)> {
        let mut taken: Vec<_> =
            self.declared_names().into_iter().filter(|(name, _)| is_of_status(name)).collect();
        let is_module = |name: &str| name.trim_start_matches('.') == PACKAGE;
        if taken.iter().any(|(name, _)| is_module(name)) {
            taken.retain(|(name, _)| is_module(name));
        }
        taken
    }

    /// Full names of all that files declare, and of what their packages begin with.
    fn declared_names(&self) -> Vec<(String, Span)> {
        const SERVICE: i32 = 6;
        const VALUE: i32 = 2;
        let messages = self.names.messages.iter();
        let messages = messages.map(|one| (one.full_name.clone(), one.name.span));
        let enums = self.names.enums.iter();
        let enums = enums.map(|one| (one.full_name.clone(), one.name.span));
        // Values stand beside their enum.
        let values = self.names.enums.iter().flat_map(|one| {
            let places = &self.sources[one.source].places;
            one.descriptor.value.iter().zip(0..).map(|(value, at)| {
                let path = [&one.path[..], &[VALUE, at]].concat();
                (full_in(&one.scope, value.name()), places.span(&path, &[NAME]))
            })
        });
        let services = self.sources.iter().flat_map(|source| {
            source.loaded.descriptor.service.iter().zip(0..).map(|(service, at)| {
                let span = source.places.span(&[SERVICE, at], &[NAME]);
                (full_in(&source.package, service.name()), span)
            })
        });
        let sources = self.sources.iter().zip(0..);
        let sources = sources.filter(|(source, at)| is_needed(source, *at, &self.names));
        let packages = sources.filter_map(|(source, _)| match &source.package[..] {
            [outer, inner, ..] => {
                Some((full_in(std::slice::from_ref(outer), &inner.text), inner.span))
            }
            _ => None,
        });
        packages.chain(messages).chain(enums).chain(values).chain(services).collect()
    }

    fn exception(&self, span: Span) -> Definition {
        let field = |doc: Option<&str>, name: &str, kind| -> Member {
            let name = Name { text: name.into(), span };
            member(Vec::new(), doc.map(Into::into), TypeUse { kind, span }, name)
        };
        let code = TypeKind::Name(scoped(&full_name(CODE), span));
        let members = vec![
            field(None, "code", code),
            field(Some(MESSAGE_DOC), "message", self.scalar(Type::String, span)),
            field(Some(DETAILS_DOC), "details", self.scalar(Type::Bytes, span)),
        ];
        let name = Name { text: STATUS.into(), span };
        definition(DefinitionKind::Exception { name, members }, Some(STATUS_DOC.into()))
    }
}

fn codes(span: Span) -> Definition {
    let literals = CODES.iter().zip(1..).map(|((code, doc), number)| {
        let number = Arguments::Single(integer(number, span));
        let annotations = vec![annotation("value", number, span)];
        let name = Name { text: (*code).into(), span };
        Literal { annotations, doc: Some((*doc).into()), name, is_numbered: false }
    });
    let enumerators = literals.collect();
    let name = Name { text: CODE.into(), span };
    definition(DefinitionKind::Enum { name, enumerators }, None)
}

fn full_name(name: &str) -> String {
    format!(".{PACKAGE}.{name}")
}

fn full_in(scope: &[Name], name: &str) -> String {
    let scope: String = scope.iter().map(|part| format!(".{}", part.text)).collect();
    format!("{scope}.{name}")
}

/// Whether a full name is one of the status, or of what it stands in.
fn is_of_status(full_name: &str) -> bool {
    let name = full_name.trim_start_matches('.');
    match name.split_once('.') {
        None => name == PACKAGE,
        Some((outer, inner)) => {
            let is_code = || CODES.iter().any(|(code, _)| *code == inner);
            outer == PACKAGE && (inner == CODE || inner == STATUS || is_code())
        }
    }
}
