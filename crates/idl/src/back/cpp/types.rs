//! Types: which class of the standard library, or of ours, stands for what.

use crate::back::c::text::Text;
use crate::back::c::types::{primitive_name, signed};
use crate::back::cpp::Cpp;
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Member, Type, Union};

impl Cpp<'_, '_> {
    /// What a type is called in C++.
    pub fn type_name(&self, declared: &Type) -> String {
        self.name_where(declared, &|_| false)
    }

    /// The same where some types are not defined yet, which is nothing to a vector.
    fn name_where(&self, declared: &Type, is_later: &dyn Fn(DeclarationId) -> bool) -> String {
        let inner = |declared| self.name_where(declared, is_later);
        // What an alias stands for is another type here.
        let declared = match self.maps(declared, is_later) {
            true => self.c.resolved(declared),
            false => declared,
        };
        match declared {
            Type::Primitive(primitive) => primitive_name(*primitive).to_owned(),
            Type::String { .. } | Type::WideString { .. } => String::from("::std::string"),
            Type::Sequence { element, .. } => format!("::std::vector<{}>", inner(element)),
            Type::Array { element, dimensions } => {
                let around = |inner, many: &u32| format!("::std::array<{inner}, {many}>");
                dimensions.iter().rev().fold(inner(element), around)
            }
            Type::Map { key, value, .. } => {
                let held = match self.is_of(value, is_later) {
                    true => format!("::nearcall::boxed<{}>", inner(value)),
                    false => inner(value),
                };
                format!("::std::map<{}, {held}>", inner(key))
            }
            Type::Named(id) => self.path(*id),
        }
    }

    /// Is there a map in a type whose values are of one of these?
    fn maps(&self, declared: &Type, these: &dyn Fn(DeclarationId) -> bool) -> bool {
        match self.c.resolved(declared) {
            Type::Sequence { element, .. } | Type::Array { element, .. } => {
                self.maps(element, these)
            }
            Type::Map { value, .. } => self.is_of(value, these) || self.maps(value, these),
            _ => false,
        }
    }

    /// Is a type one of these, or an array of them?
    fn is_of(&self, declared: &Type, these: &dyn Fn(DeclarationId) -> bool) -> bool {
        match self.c.resolved(declared) {
            Type::Array { element, .. } => self.is_of(element, these),
            Type::Named(id) => these(*id),
            _ => false,
        }
    }

    /// Whether a type is not defined yet where `holder` is.
    fn is_later(&self, id: DeclarationId, holder: DeclarationId) -> bool {
        self.places[id.0 as usize] >= self.places[holder.0 as usize]
    }

    /// Whether a member of `holder` has a map of boxes in it.
    pub fn has_boxes(&self, holder: DeclarationId, member: &Member) -> bool {
        self.maps(&member.declared, &|id| self.is_later(id, holder))
    }

    /// The type of a member of `holder`.
    fn member(&self, holder: DeclarationId, member: &Member, is_boxed: bool) -> String {
        let name = self.name_where(&member.declared, &|id| self.is_later(id, holder));
        match (is_boxed, member.is_optional) {
            (true, _) => format!("::nearcall::boxed<{name}>"),
            (false, true) => format!("::std::optional<{name}>"),
            (false, false) => name,
        }
    }

    /// Structs and unions by name: values of one may hold another that comes later.
    pub fn print_forwards(&self, text: &mut Text) {
        for id in self.c.ids() {
            if let Kind::Struct(_) | Kind::Union(_) = self.c.model.declaration(id).kind {
                let (space, name) = self.place(id);
                text.line(format!("namespace {space} {{ struct {name}; }}"));
            }
        }
        text.line("");
    }

    /// A declaration that is no interface.
    pub fn print_type(&self, id: DeclarationId, text: &mut Text) {
        let declaration = self.c.model.declaration(id);
        match &declaration.kind {
            Kind::Constant(constant) => return self.print_constant(id, constant, text),
            Kind::Interface(_) => return,
            _ => {}
        }
        if let Kind::Exception(_) = declaration.kind {
            self.print_enumerators_said(id, text);
        }
        self.open_space(id, "HAS", text);
        text.doc(&declaration.doc);
        let name = &self.place(id).1;
        match &declaration.kind {
            Kind::Alias(behind) => text.line(format!("using {name} = {};", self.type_name(behind))),
            Kind::Enum(shape) => {
                text.open(format!("enum class {name} : ::std::int32_t {{"));
                for one in &shape.enumerators {
                    text.doc(&one.doc);
                    let name = self.enumerator(one);
                    text.line(format!("{name} = {},", signed(one.value.into())));
                }
                text.close("};");
            }
            Kind::Bitmask(_) | Kind::Bitset(_) => {
                text.line(format!("using {name} = ::{};", self.c.names.declaration(id)));
            }
            Kind::Struct(_) => self.print_struct(id, name, "", text),
            Kind::Exception(_) => self.print_struct(id, name, " : ::nearcall::exception", text),
            Kind::Union(union) => self.print_union(id, name, union, text),
            Kind::Constant(_) | Kind::Interface(_) => {}
        }
        self.close_space(text);
    }

    /// Names of the members of a struct or exception: C's, but for what an exception has itself.
    pub fn member_names(&self, id: DeclarationId) -> Vec<String> {
        let all = members(self.c.model, id);
        let is_exception = matches!(self.c.model.declaration(id).kind, Kind::Exception(_));
        let own = is_exception.then_some("what").into_iter();
        let taken = own.clone().count();
        let all = own.chain(all.iter().map(|member| &*member.name));
        self.c.names.beside(all).split_off(taken)
    }

    fn print_struct(&self, id: DeclarationId, name: &str, base: &str, text: &mut Text) {
        let (all, names) = (members(self.c.model, id), self.member_names(id));
        text.open(format!("struct {name}{base} {{"));
        for ((member, own), is_boxed) in all.iter().zip(&names).zip(self.c.boxed(id)) {
            text.doc(&member.doc);
            let is_word = !member.is_optional && self.c.scalar(&member.declared).is_some();
            // Others are empty by themselves, and may be of what is not defined yet.
            let zero = if is_word { "{}" } else { "" };
            text.line(format!("{} {own}{zero};", self.member(id, member, is_boxed)));
        }
        if !base.is_empty() {
            self.print_constructors(id, (&all, &names), name, text);
            self.print_what(id, (&all, &names), text);
        }
        self.print_times(id, name, text);
        text.close("};");
    }

    /// An exception with its members at once; none of it is an aggregate, since it has functions.
    fn print_constructors(
        &self,
        id: DeclarationId,
        (all, names): (&[&Member], &[String]),
        name: &str,
        text: &mut Text,
    ) {
        // No member of a class with constructors may be called as it is.
        if all.is_empty() || names.iter().any(|own| own == name) {
            return;
        }
        // One of nothing at all is made by the other constructor.
        let required = all.iter().rposition(|one| !one.has_zero).map_or(1, |last| last + 1);
        let takes = all.iter().zip(names).enumerate().map(|(place, (one, own))| {
            let zero = if place < required { "" } else { " = {}" };
            format!("{} nc_{own}{zero}", self.member(id, one, false))
        });
        let takes: Vec<String> = takes.collect();
        let moves: Vec<String> =
            names.iter().map(|own| format!("{own}(::std::move(nc_{own}))")).collect();
        let explicit = if all.len() == 1 { "explicit " } else { "" };
        text.line(format!("{name}() = default;"));
        let (takes, moves) = (takes.join(", "), moves.join(", "));
        text.line(format!("{explicit}{name}({takes}) : {moves} {{}}"));
    }

    /// The discriminator, and the case that it selects: alternative n + 1 is case n.
    fn print_union(&self, id: DeclarationId, name: &str, union: &Union, text: &mut Text) {
        let cases = union.cases.iter().zip(self.c.boxed(id));
        let cases: Vec<String> =
            cases.map(|(case, is_boxed)| self.member(id, &case.member, is_boxed)).collect();
        text.line(
            "/* Alternative n + 1 is the n-th case; none is for a discriminator of no case. */",
        );
        text.open(format!("struct {name} {{"));
        text.line(format!("{} _d{{}};", self.type_name(&union.discriminator)));
        text.line(format!("::std::variant<::std::monostate, {}> _u;", cases.join(", ")));
        text.close("};");
    }
}
