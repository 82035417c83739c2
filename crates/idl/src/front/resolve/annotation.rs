//! Annotations: declared by users (clause 7.4.15.4.1) and applied (clauses 7.4.15.4.2, 8).
//!
//! Decides what may stand where and what it is given. An annotation that nobody declares is noted
//! and left out, because other tools read the same files. What an annotation means for a stub is
//! the plan's to decide.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::Resolver;
use super::constant::Wanted;
use super::scope::{ROOT, ScopeId, SymbolId, SymbolKind};
use super::standard::{self, Absent, Standard, StandardParameter, Takes};
use super::unknown::nearest;
use crate::diagnostic::Diagnostic;
use crate::front::ast::{
    self, AnnotationParameter, Arguments, Expression, ExpressionKind, Item, Name, ScopedName,
};
use crate::front::rules::semantics as rules;
use crate::model::{self, Primitive, Type, Value};
use crate::source::Span;

/// Kinds of thing that an annotation can be applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Module,
    Constant,
    Alias,
    Struct,
    Union,
    Enum,
    Bitmask,
    Bitset,
    Exception,
    Interface,
    Operation,
    Attribute,
    Parameter,
    Member,
    Case,
    Enumerator,
    Flag,
}

/// What annotations are applied to.
#[derive(Clone, Copy)]
pub(super) struct Subject<'t> {
    pub place: Place,
    /// The type of its values, where it has one and that is known.
    pub declared: Option<&'t Type>,
}

impl<'t> Subject<'t> {
    pub const MODULE: Subject<'static> = Subject { place: Place::Module, declared: None };

    pub fn of(place: Place, declared: Option<&'t Type>) -> Subject<'t> {
        Subject { place, declared }
    }
}

/// An annotation that was found good, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Applied {
    pub annotation: model::Annotation,
    pub span: Span,
}

/// What `@annotation` declared.
pub(super) struct AnnotationDeclaration {
    scope: ScopeId,
    parameters: Vec<DeclaredParameter>,
}

struct DeclaredParameter {
    name: Rc<str>,
    /// `None` if its type was reported.
    wanted: Option<Wanted>,
    default: Option<Value>,
    has_default: bool,
}

/// The `value` of an annotation and where it stands.
pub(super) fn find(applied: &[Applied], name: &str) -> Option<(Value, Span)> {
    let one = applied.iter().find(|one| one.annotation.name == name)?;
    Some((one.annotation.parameters.get("value")?.clone(), one.span))
}

/// Is the annotation there, and not with `FALSE`?
pub(super) fn is_set(applied: &[Applied], name: &str) -> bool {
    matches!(find(applied, name), Some((Value::Boolean(true), _)))
}

impl Place {
    fn what(self) -> &'static str {
        match self {
            Place::Module => "a module",
            Place::Constant => "a constant",
            Place::Alias => "a typedef",
            Place::Struct => "a struct",
            Place::Union => "a union",
            Place::Enum => "an enum",
            Place::Bitmask => "a bitmask",
            Place::Bitset => "a bitset",
            Place::Exception => "an exception",
            Place::Interface => "an interface",
            Place::Operation => "an operation",
            Place::Attribute => "an attribute",
            Place::Parameter => "a parameter",
            Place::Member => "a member",
            Place::Case => "a case of a union",
            Place::Enumerator => "an enumerator",
            Place::Flag => "a flag of a bitmask",
        }
    }
}

impl Resolver {
    /// The annotations before something, those that hold.
    pub(super) fn annotations(
        &mut self,
        annotations: &[ast::Annotation],
        subject: Subject,
    ) -> Vec<Applied> {
        let mut applied: Vec<Applied> = Vec::new();
        let mut seen: HashMap<String, Span> = HashMap::new();
        for annotation in annotations {
            let name = annotation.name.to_string();
            if let Some(first) = seen.get(&name) {
                let message = format!("`@{name}` is already applied here");
                let finding =
                    Diagnostic::new(&rules::ANNOTATION_REPEATED, annotation.span, message)
                        .label(*first, "first applied here");
                self.diagnostics.push(finding);
                continue;
            }
            seen.insert(name.clone(), annotation.span);
            let parameters = match standard::find(&name) {
                Some(standard) => self.standard(standard, annotation, subject),
                None => self.declared(annotation),
            };
            if let Some(parameters) = parameters {
                let annotation_kept = model::Annotation { name, parameters };
                applied.push(Applied { annotation: annotation_kept, span: annotation.span });
            }
        }
        self.check_extensibility(&applied);
        self.check_values(&applied);
        self.check_opaque(&applied, subject);
        applied
    }

    fn standard(
        &mut self,
        standard: &'static Standard,
        annotation: &ast::Annotation,
        subject: Subject,
    ) -> Option<BTreeMap<String, Value>> {
        if !standard.places.contains(&subject.place) {
            let place = subject.place.what();
            let message = format!("`@{}` is not for {place}", standard.name);
            let places: Vec<&str> = standard.places.iter().map(|place| place.what()).collect();
            let finding = Diagnostic::new(&rules::ANNOTATION_PLACE, annotation.span, message)
                .help(format!("it is for {}", places.join(", ")));
            self.diagnostics.push(finding);
            return None;
        }
        let names: Vec<&str> = standard.parameters.iter().map(|one| one.name).collect();
        let mut given = self.arguments(annotation, &names)?;
        let mut values = BTreeMap::new();
        let mut missing = Vec::new();
        let mut is_good = true;
        for parameter in standard.parameters {
            let value = match given.remove(parameter.name) {
                Some(expression) => self.standard_argument(parameter, expression, subject),
                None => match parameter.absent {
                    Absent::Refused => {
                        missing.push(parameter.name);
                        None
                    }
                    Absent::Away => continue,
                    Absent::True => Some(Value::Boolean(true)),
                    Absent::Text(text) => Some(Value::String(text.to_owned())),
                },
            };
            match value {
                Some(value) => {
                    values.insert(parameter.name.to_owned(), value);
                }
                None => is_good = false,
            }
        }
        let help = self.one_end(standard, &values);
        for parameter in missing {
            self.report_missing(annotation, parameter, help.clone());
        }
        is_good.then_some(values)
    }

    /// The arguments of an application by name, each of a parameter that there is.
    fn arguments<'a>(
        &mut self,
        annotation: &'a ast::Annotation,
        parameters: &[&str],
    ) -> Option<HashMap<String, &'a Expression>> {
        let mut given: HashMap<String, &Expression> = HashMap::new();
        let count = self.diagnostics.len();
        match &annotation.arguments {
            Arguments::None => {}
            Arguments::Single(expression) => match parameters {
                [] => self.report_parameter(annotation, "a value", expression.span, parameters),
                [only] => {
                    given.insert((*only).to_owned(), expression);
                }
                [..] => {
                    let message = format!("`@{}` has several parameters", annotation.name);
                    let span = expression.span;
                    let finding = Diagnostic::new(&rules::ARGUMENT_UNKNOWN, span, message)
                        .help(format!("name the one that is meant: {}", parameters.join(", ")));
                    self.diagnostics.push(finding);
                }
            },
            Arguments::Named(arguments) => {
                for (name, expression) in arguments {
                    let Some(known) = parameters.iter().find(|known| **known == &*name.text) else {
                        let what = format!("a parameter `{}`", name.text);
                        self.report_parameter(annotation, &what, name.span, parameters);
                        continue;
                    };
                    if given.insert((*known).to_owned(), expression).is_some() {
                        let message = format!("`{known}` is already given");
                        let finding =
                            Diagnostic::new(&rules::ARGUMENT_REPEATED, name.span, message);
                        self.diagnostics.push(finding);
                    }
                }
            }
        }
        (self.diagnostics.len() == count).then_some(given)
    }

    fn report_parameter(
        &mut self,
        annotation: &ast::Annotation,
        what: &str,
        span: Span,
        parameters: &[&str],
    ) {
        let message = format!("`@{}` does not have {what}", annotation.name);
        let help = match parameters {
            [] => "it has no parameters".to_owned(),
            _ => format!("it has {}", parameters.join(", ")),
        };
        let finding = Diagnostic::new(&rules::ARGUMENT_UNKNOWN, span, message).help(help);
        self.diagnostics.push(finding);
    }

    /// What says one end of a range, where there is no other. Each end is called as the annotation
    /// that gives it alone.
    fn one_end(&self, standard: &Standard, given: &BTreeMap<String, Value>) -> Option<String> {
        let (end, value) = given.first_key_value().filter(|_| standard.name == "range")?;
        let value = self.value_text(value);
        Some(format!("`@{end}({})` limits that end alone", value.trim_matches('`')))
    }

    fn report_missing(
        &mut self,
        annotation: &ast::Annotation,
        parameter: &str,
        help: Option<String>,
    ) {
        let message = format!("`@{}` needs its parameter `{parameter}`", annotation.name);
        let mut finding = Diagnostic::new(&rules::ARGUMENT_MISSING, annotation.span, message);
        finding.help = help;
        self.diagnostics.push(finding);
    }

    fn standard_argument(
        &mut self,
        parameter: &StandardParameter,
        expression: &Expression,
        subject: Subject,
    ) -> Option<Value> {
        match parameter.takes {
            Takes::Boolean => self.evaluate(expression, Wanted::Boolean),
            Takes::Text => self.evaluate(expression, Wanted::String { bound: None }),
            Takes::Number(least, greatest) => {
                let wanted = Wanted::Integer(Primitive::Int64);
                let value = self.evaluate(expression, wanted)?;
                match value {
                    Value::Integer(number) if (least..=greatest).contains(&number) => Some(value),
                    _ => {
                        let message = format!(
                            "{} is not from {least} to {greatest}",
                            self.value_text(&value)
                        );
                        self.report_value(expression.span, message);
                        None
                    }
                }
            }
            Takes::Subject => self.subject_argument(expression, subject),
            Takes::Word(words) => match &expression.kind {
                ExpressionKind::Name(name)
                    if name.parts.len() == 1 && words.contains(&&*name.parts[0].text) =>
                {
                    Some(Value::String(name.parts[0].text.to_string()))
                }
                _ => {
                    let message = format!("expected one of {}", words.join(", "));
                    self.report_value(expression.span, message);
                    None
                }
            },
        }
    }

    fn subject_argument(&mut self, expression: &Expression, subject: Subject) -> Option<Value> {
        let declared = self.behind(subject.declared?).clone();
        match self.wanted(&declared) {
            Some(wanted @ Wanted::Enum(of)) => self.word_of(expression, of, wanted),
            Some(wanted) => self.evaluate(expression, wanted),
            None => {
                let message = "this type has no constants that could be given here".to_owned();
                self.report_value(expression.span, message);
                None
            }
        }
    }

    /// An enumerator, which may be named alone wherever its enum is (clause 8.3).
    fn word_of(&mut self, expression: &Expression, of: SymbolId, wanted: Wanted) -> Option<Value> {
        if let ExpressionKind::Name(ScopedName { is_global: false, parts }) = &expression.kind
            && let [only] = &parts[..]
            && let Some(value) = self.enumerator(of, &only.text)
        {
            return Some(value);
        }
        self.evaluate(expression, wanted)
    }

    fn report_value(&mut self, span: Span, message: String) {
        self.diagnostics.push(Diagnostic::new(&rules::ARGUMENT_VALUE, span, message));
    }

    /// An annotation that the file declares, or nobody.
    fn declared(&mut self, annotation: &ast::Annotation) -> Option<BTreeMap<String, Value>> {
        let Some(index) = self.find_annotation(&annotation.name) else {
            let name = annotation.name.to_string();
            if self.noted.insert(format!("@{name}").into()) {
                let message = format!("`@{name}` is not known, and ignored");
                let help = match nearest(&name, standard::names()) {
                    Some(near) => format!("did you mean `@{near}`?"),
                    None => "if it should mean something, declare it with `@annotation`".to_owned(),
                };
                let note = Diagnostic::new(&rules::ANNOTATION_UNKNOWN, annotation.span, message)
                    .help(help);
                self.diagnostics.push(note);
            }
            return None;
        };
        let declaration = &self.annotation_declarations[index];
        let names: Vec<Rc<str>> =
            declaration.parameters.iter().map(|one| one.name.clone()).collect();
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let mut given = self.arguments(annotation, &names)?;
        let mut values = BTreeMap::new();
        let mut is_good = true;
        for (place, name) in names.iter().enumerate() {
            let parameter = &self.annotation_declarations[index].parameters[place];
            let scope = self.annotation_declarations[index].scope;
            let value = match (given.remove(*name), parameter.wanted) {
                (_, None) => None,
                (None, _) if !parameter.has_default => {
                    self.report_missing(annotation, name, None);
                    None
                }
                (None, _) => parameter.default.clone(),
                (Some(expression), Some(wanted)) => self.argument(expression, wanted, scope),
            };
            match value {
                Some(value) => {
                    let value = self.portable(value);
                    values.insert((*name).to_owned(), value);
                }
                None => is_good = false,
            }
        }
        is_good.then_some(values)
    }

    /// An argument; enumerators of the annotation's own enums need no scope before them.
    fn argument(
        &mut self,
        expression: &Expression,
        wanted: Wanted,
        scope: ScopeId,
    ) -> Option<Value> {
        match wanted {
            Wanted::Enum(of) if self.symbol(of).scope == scope => {
                self.word_of(expression, of, wanted)
            }
            _ => self.evaluate(expression, wanted),
        }
    }

    /// Enums of annotation declarations are not in the model; their values are words there.
    fn portable(&self, value: Value) -> Value {
        let Value::Enumerator(of, place) = &value else {
            return value;
        };
        let symbol = self.symbol(SymbolId(of.0));
        let Some(declared) = symbol.declaration.map(|index| &self.declared[index]) else {
            return value;
        };
        match &declared.declaration.kind {
            model::Kind::Enum(declaration) if declared.is_hidden => {
                Value::String(declaration.enumerators[*place as usize].name.clone())
            }
            _ => value,
        }
    }

    /// Annotations are kept under `@name`, so that they clash with nothing else.
    fn find_annotation(&mut self, name: &ScopedName) -> Option<usize> {
        let (last, outer) = name.parts.split_last()?;
        let text = format!("@{}", last.text).into();
        let last = Name { text, span: last.span };
        let mut scope = Some(if name.is_global { ROOT } else { self.current });
        while let Some(at) = scope {
            let mut inner = Some(at);
            for part in outer {
                inner = inner.and_then(|inner| {
                    let symbol = self.member(inner, part)?;
                    self.symbol(symbol).inner
                });
            }
            if let Some(symbol) = inner.and_then(|inner| self.member(inner, &last))
                && let SymbolKind::Annotation(index) = self.symbol(symbol).kind
            {
                return Some(index);
            }
            scope = if name.is_global { None } else { self.scope(at).parent };
        }
        None
    }

    pub(super) fn annotation_declaration(
        &mut self,
        name: &Name,
        parameters: &[AnnotationParameter],
        items: &[Item],
    ) {
        if standard::find(&name.text).is_some() {
            let message = format!("`@{}` is a standard annotation", name.text);
            let note = Diagnostic::new(&rules::ANNOTATION_STANDARD, name.span, message)
                .help("this declaration is ignored");
            self.diagnostics.push(note);
            return;
        }
        let index = self.annotation_declarations.len();
        let kept = Name { text: format!("@{}", name.text).into(), span: name.span };
        let symbol = self.declare(&kept, SymbolKind::Annotation(index));
        let scope = self.open_scope(Some(symbol));
        self.annotation_declarations.push(AnnotationDeclaration { scope, parameters: Vec::new() });
        let was_hidden = std::mem::replace(&mut self.is_hidden, true);
        let parameters = self.inside(scope, |resolver| {
            resolver.items(items);
            parameters.iter().map(|one| resolver.annotation_parameter(one)).collect()
        });
        self.is_hidden = was_hidden;
        self.annotation_declarations[index].parameters = parameters;
    }

    fn annotation_parameter(&mut self, parameter: &AnnotationParameter) -> DeclaredParameter {
        self.declare(&parameter.name, SymbolKind::Member);
        let wanted = match &parameter.declared {
            None => Some(Wanted::Any),
            Some(used) => {
                let declared = self.type_use(used).map(|resolved| resolved.declared);
                let wanted = declared.as_ref().and_then(|declared| self.wanted(declared));
                if declared.is_some() && wanted.is_none() {
                    let message = format!("`{}` cannot have this type", parameter.name.text);
                    let finding = Diagnostic::new(&rules::PARAMETER_TYPE, used.span, message)
                        .help("use a number, a character, a string, an enum or `any`");
                    self.diagnostics.push(finding);
                }
                wanted
            }
        };
        let default = match (&parameter.default, wanted) {
            (Some(default), Some(wanted)) => self.evaluate(default, wanted),
            _ => None,
        };
        DeclaredParameter {
            name: parameter.name.text.clone(),
            wanted,
            default,
            has_default: parameter.default.is_some(),
        }
    }

    fn check_extensibility(&mut self, applied: &[Applied]) {
        let kinds = ["extensibility", "final", "appendable", "mutable"];
        let mut given = applied.iter().filter(|one| kinds.contains(&one.annotation.name.as_str()));
        if let (Some(first), Some(second)) = (given.next(), given.next()) {
            let message = format!(
                "`@{}` and `@{}` both say how the type may change",
                first.annotation.name, second.annotation.name
            );
            let finding = Diagnostic::new(&rules::EXTENSIBILITY_CLASH, second.span, message)
                .label(first.span, "the other stands here")
                .help("keep one");
            self.diagnostics.push(finding);
        }
    }

    /// `@range`, `@min`, `@max` and `@default` agree with one another.
    fn check_values(&mut self, applied: &[Applied]) {
        let given = |name: &str, parameter: &str| {
            let one = applied.iter().find(|one| one.annotation.name == name)?;
            Some((one.annotation.parameters.get(parameter)?, one.span))
        };
        let least = given("range", "min").or_else(|| given("min", "value"));
        let greatest = given("range", "max").or_else(|| given("max", "value"));
        if let (Some((least, _)), Some((greatest, span))) = (least, greatest)
            && is_above(least, greatest)
        {
            let [least, greatest] = [least, greatest].map(|value| self.value_text(value));
            let message = format!("no value is from {least} to {greatest}");
            self.diagnostics.push(Diagnostic::new(&rules::RANGE_EMPTY, span, message));
            return;
        }
        let Some((default, span)) = given("default", "value") else {
            return;
        };
        let below = least.filter(|(least, _)| is_above(least, default));
        let above = greatest.filter(|(greatest, _)| is_above(default, greatest));
        for (limit, at) in below.into_iter().chain(above) {
            let [default, limit] = [default, limit].map(|value| self.value_text(value));
            let message = format!("the default {default} is beyond the limit {limit}");
            let finding = Diagnostic::new(&rules::DEFAULT_RANGE, span, message)
                .label(at, "the limit stands here");
            self.diagnostics.push(finding);
        }
    }

    /// Only bytes can be passed on without a look (L43).
    fn check_opaque(&mut self, applied: &[Applied], subject: Subject) {
        if !is_set(applied, "opaque") {
            return;
        }
        let Some(declared) = subject.declared else {
            return;
        };
        if self.is_octets(declared) {
            return;
        }
        let span = applied.iter().find(|one| one.annotation.name == "opaque").map(|one| one.span);
        let message = "`@opaque` is for a sequence of octets, and this is none";
        let finding = span.map(|span| {
            Diagnostic::new(&rules::OPAQUE_TYPE, span, message)
                .help("use `sequence<octet>`, or leave `@opaque` out: the server then gets a copy")
        });
        self.diagnostics.extend(finding);
    }
}

fn is_above(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Integer(one), Value::Integer(other)) => one > other,
        (Value::Float(one), Value::Float(other)) => one > other,
        (Value::Char(one), Value::Char(other)) => one > other,
        (Value::Enumerator(_, one), Value::Enumerator(_, other)) => one > other,
        _ => false,
    }
}
