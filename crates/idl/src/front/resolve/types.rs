//! Types where they are used, and typedefs (clauses 7.4.1.4.4, 7.4.13.4).

use super::annotation::{Place, Subject};
use super::limits::DEPTH_MAX;
use super::scope::{State, SymbolId, SymbolKind};
use super::{Resolver, constant::Wanted};
use crate::diagnostic::Diagnostic;
use crate::front::ast::{
    Annotation, Arguments, Declarator, Definition, Expression, ExpressionKind, Member, ScopedName,
    TypeKind, TypeUse,
};
use crate::front::dialect::Dialect;
use crate::front::rules::semantics as rules;
use crate::model::{Kind, Primitive, Type};
use crate::source::Span;

/// A type that was found.
#[derive(Clone)]
pub(super) struct Resolved {
    pub declared: Type,
    /// It is a sequence of this type, which is not complete yet.
    pub unfinished: Option<SymbolId>,
}

impl From<Type> for Resolved {
    fn from(declared: Type) -> Resolved {
        Resolved { declared, unfinished: None }
    }
}

impl Resolver {
    /// A type; what is none has been reported.
    pub(super) fn type_use(&mut self, used: &TypeUse) -> Option<Resolved> {
        self.type_kind(used, false)
    }

    /// A type of which a whole value is passed: a sequence of something incomplete is none.
    pub(super) fn complete_type(&mut self, used: &TypeUse) -> Option<Type> {
        let resolved = self.type_use(used)?;
        if let Some(unfinished) = resolved.unfinished {
            self.report_incomplete(unfinished, used.span);
            return None;
        }
        Some(resolved.declared)
    }

    /// The type of a member of a struct or union. A sequence of something incomplete may be one:
    /// what is declared forward is defined in the end, and a sequence may be empty. So may what
    /// is `@external`, as DDS-XTypes has it; whether it ends is judged in the end.
    pub(super) fn member_type(&mut self, member: &Member) -> Option<Type> {
        let is_external = member.annotations.iter().any(is_external);
        self.type_kind(&member.declared, is_external).map(|resolved| resolved.declared)
    }

    /// `is_elsewhere`: its values lie in memory of their own, so that it need not be complete.
    fn type_kind(&mut self, used: &TypeUse, is_elsewhere: bool) -> Option<Resolved> {
        match &used.kind {
            TypeKind::Primitive(primitive) => Some(Type::Primitive(*primitive).into()),
            TypeKind::String { bound } => {
                let bound = self.optional_bound(bound.as_ref())?;
                Some(Type::String { bound }.into())
            }
            TypeKind::WideString { bound } => {
                let bound = self.optional_bound(bound.as_ref())?;
                Some(Type::WideString { bound }.into())
            }
            TypeKind::Sequence { element, bound } => {
                let element = self.type_kind(element, true);
                let bound = self.optional_bound(bound.as_ref());
                let (element, bound) = (element?, bound?);
                let declared = Type::Sequence { element: Box::new(element.declared), bound };
                Some(Resolved { declared, unfinished: element.unfinished })
            }
            TypeKind::Map { key, value, bound } => {
                let key_type = self.type_kind(key, false);
                let value = self.type_kind(value, true);
                let bound = self.optional_bound(bound.as_ref());
                let key_type = key_type?.declared;
                self.check_key(&key_type, key.span)?;
                let (key, value, bound) = (Box::new(key_type), value?, bound?);
                let declared = Type::Map { key, value: Box::new(value.declared), bound };
                Some(Resolved { declared, unfinished: value.unfinished })
            }
            TypeKind::Array { element, count } => self.array_type(element, count, is_elsewhere),
            TypeKind::Name(name) => self.named_type(name, is_elsewhere),
            TypeKind::Constructed(definition) => Some(self.constructed(definition)?.named().into()),
            TypeKind::Outside => None,
        }
    }

    /// An array of arrays is one with all their dimensions.
    fn array_type(
        &mut self,
        element: &TypeUse,
        count: &Expression,
        is_elsewhere: bool,
    ) -> Option<Resolved> {
        let inner = self.type_kind(element, is_elsewhere);
        let count = self.positive(count);
        let (Resolved { declared, unfinished }, count) = (inner?, count?);
        let (element, inner) = match declared {
            Type::Array { element, dimensions } => (element, dimensions),
            other => (Box::new(other), Vec::new()),
        };
        let dimensions = std::iter::once(count).chain(inner).collect();
        Some(Resolved { declared: Type::Array { element, dimensions }, unfinished })
    }

    fn named_type(&mut self, name: &ScopedName, is_elsewhere: bool) -> Option<Resolved> {
        let id = self.lookup(name)?;
        let span = name.span();
        let symbol = self.symbol(id);
        let (rule, help) = match symbol.kind {
            SymbolKind::Alias => {
                let unfinished = symbol.unfinished;
                symbol.declaration?;
                let unfinished = unfinished.filter(|id| self.symbol(*id).state != State::Complete);
                return Some(Resolved { declared: id.named(), unfinished });
            }
            SymbolKind::Struct | SymbolKind::Union => {
                return self.aggregate_type(id, span, is_elsewhere);
            }
            SymbolKind::Enum | SymbolKind::Bitmask | SymbolKind::Bitset => {
                return symbol.declaration.map(|_| id.named().into());
            }
            SymbolKind::Outside => return None,
            SymbolKind::Exception => (&rules::EXCEPTION_AS_TYPE, "put its members into a struct"),
            SymbolKind::Interface => (
                &rules::INTERFACE_AS_TYPE,
                "pass the name under which the client imports it, or what identifies the thing",
            ),
            _ => (&rules::NOT_A_TYPE, "name a type"),
        };
        let message = format!("`{name}` is {}, not a type of values", symbol.kind.what());
        let finding = Diagnostic::new(rule, span, message)
            .label(symbol.name.span, "declared here")
            .help(help);
        self.diagnostics.push(finding);
        None
    }

    fn aggregate_type(&mut self, id: SymbolId, span: Span, is_elsewhere: bool) -> Option<Resolved> {
        let symbol = self.symbol(id);
        match symbol.state {
            State::Complete => symbol.declaration.map(|_| id.named().into()),
            _ if is_elsewhere => Some(Resolved { declared: id.named(), unfinished: Some(id) }),
            State::Forward => {
                self.report_incomplete(id, span);
                None
            }
            State::Open => {
                let name = &symbol.name.text;
                let message = format!("`{name}` cannot hold itself");
                let finding = Diagnostic::new(&rules::RECURSIVE, span, message)
                    .label(symbol.name.span, "this is being defined")
                    .help(match self.dialect {
                        Dialect::Omg | Dialect::Proto => format!(
                            "use `sequence<{name}, 1>` or `sequence<{name}>`, or put `@external` \
                             before it"
                        ),
                        Dialect::Midl => "write a `*` before the name of the member".to_owned(),
                    });
                self.diagnostics.push(finding);
                None
            }
        }
    }

    fn report_incomplete(&mut self, id: SymbolId, span: Span) {
        let symbol = self.symbol(id);
        let message = format!("`{}` is not complete here", symbol.name.text);
        let finding = Diagnostic::new(&rules::INCOMPLETE, span, message)
            .label(symbol.name.span, "declared here")
            .help("define it before it is used");
        self.diagnostics.push(finding);
    }

    /// `None`: there is a bound and it is none; it has been reported.
    fn optional_bound(&mut self, bound: Option<&Expression>) -> Option<Option<u32>> {
        match bound {
            None => Some(None),
            Some(bound) => self.positive(bound).map(Some),
        }
    }

    /// Keys are compared, and floating-point numbers are not equal to what they were.
    fn check_key(&mut self, key: &Type, span: Span) -> Option<()> {
        match self.wanted(key) {
            Some(Wanted::Float(_)) | None => {
                let finding =
                    Diagnostic::new(&rules::MAP_KEY, span, "this type cannot be the key of a map")
                        .help("use an integer, a character, a boolean, a string or an enum");
                self.diagnostics.push(finding);
                None
            }
            Some(_) => Some(()),
        }
    }

    /// A type with the dimensions of its declarator folded in.
    pub(super) fn declarator_type(
        &mut self,
        declared: Option<Type>,
        declarator: &Declarator,
    ) -> Option<Type> {
        let mut dimensions = Some(Vec::new());
        for dimension in &declarator.dimensions {
            match (self.positive(dimension), &mut dimensions) {
                (Some(count), Some(dimensions)) => dimensions.push(count),
                _ => dimensions = None,
            }
        }
        let (declared, dimensions) = (declared?, dimensions?);
        if dimensions.is_empty() {
            return Some(declared);
        }
        Some(Type::Array { element: Box::new(declared), dimensions })
    }

    /// `typedef`: an alias for each declarator.
    pub(super) fn typedef(
        &mut self,
        definition: &Definition,
        used: &TypeUse,
        declarators: &[Declarator],
    ) {
        let resolved = self.type_use(used);
        for declarator in declarators {
            let declared = resolved.as_ref().map(|resolved| resolved.declared.clone());
            let declared = self.declarator_type(declared, declarator);
            let head = self.head(definition, Subject::of(Place::Alias, declared.as_ref()));
            let symbol = self.declare(&declarator.name, SymbolKind::Alias);
            self.symbol_mut(symbol).unfinished =
                resolved.as_ref().and_then(|resolved| resolved.unfinished);
            let declared = declared.filter(|declared| self.check_chain(symbol, declared));
            if let Some(declared) = declared {
                self.complete(symbol, Kind::Alias(declared), head);
            }
        }
    }

    /// Aliases of aliases: everything follows them, so their number is limited at once.
    fn check_chain(&mut self, symbol: SymbolId, declared: &Type) -> bool {
        let Type::Named(id) = declared else {
            return true;
        };
        let depth = self.symbol(SymbolId(id.0)).alias_depth + 1;
        self.symbol_mut(symbol).alias_depth = depth;
        if depth < DEPTH_MAX {
            return true;
        }
        let name = self.symbol(symbol).name.clone();
        self.report_too_deep(&name);
        false
    }

    /// Is it a sequence of octets, bounded or not, whatever it is called?
    pub(super) fn is_octets(&self, declared: &Type) -> bool {
        match self.behind(declared) {
            Type::Sequence { element, .. } => {
                matches!(self.behind(element), Type::Primitive(Primitive::Octet))
            }
            _ => false,
        }
    }
}

/// `@external`, not `@external(FALSE)`.
fn is_external(annotation: &Annotation) -> bool {
    let [name] = &annotation.name.parts[..] else {
        return false;
    };
    let value = match &annotation.arguments {
        Arguments::None => None,
        Arguments::Single(value) => Some(value),
        Arguments::Named(values) => values.first().map(|(_, value)| value),
    };
    let is_false = value.is_some_and(|value| value.kind == ExpressionKind::Boolean(false));
    &*name.text == "external" && !is_false
}
