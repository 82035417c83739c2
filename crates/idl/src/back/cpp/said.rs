//! What an exception says of itself to a handler that knows none: its name, and its members that
//! are texts, words or enumerators.

use std::collections::HashSet;

use crate::back::c::text::Text;
use crate::back::c::types::{quoted, signed};
use crate::back::cpp::Cpp;
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Member, Primitive, Type};

impl Cpp<'_, '_> {
    /// `what()` of an exception whose members are `all`, called `names`.
    pub fn print_what(
        &self,
        id: DeclarationId,
        (all, names): (&[&Member], &[String]),
        text: &mut Text,
    ) {
        let name = quoted(&self.c.model.declaration(id).name.to_string());
        let what = "const char *what() const noexcept override {";
        let said = self.c.boxed(id).into_iter().zip(all).zip(names);
        let said = said.filter(|((is_boxed, one), _)| !is_boxed && self.is_said(&one.declared));
        let said: Vec<String> = said
            .map(|((_, one), own)| {
                format!("    nc_say(nc_words, {}, this->{own});", quoted(&one.name))
            })
            .collect();
        if said.is_empty() {
            return text.line(format!("{what} return {name}; }}"));
        }
        text.open(what);
        let say = "[this](::nearcall::detail::words &nc_words) {";
        text.line(format!("return ::nearcall::exception::nc_said({name}, {say}"));
        text.line("    using ::nearcall::detail::nc_say;");
        text.lines(said);
        text.line("});");
        text.close("}");
    }

    /// Is a member of this type short enough to be said?
    fn is_said(&self, declared: &Type) -> bool {
        match self.c.resolved(declared) {
            Type::Primitive(primitive) => *primitive != Primitive::LongDouble,
            Type::String { .. } | Type::WideString { .. } => true,
            Type::Named(id) => {
                let kind = &self.c.model.declaration(*id).kind;
                matches!(kind, Kind::Enum(_) | Kind::Bitmask(_) | Kind::Bitset(_))
            }
            _ => false,
        }
    }

    /// What the enumerators are called that an exception says, where nothing has said so before.
    pub fn print_enumerators_said(&self, exception: DeclarationId, text: &mut Text) {
        let mut printed = HashSet::new();
        for member in members(self.c.model, exception) {
            let Type::Named(id) = self.c.resolved(&member.declared) else { continue };
            let Kind::Enum(shape) = &self.c.model.declaration(*id).kind else { continue };
            if !printed.insert(*id) {
                continue;
            }
            self.open_space(*id, "NAMES", text);
            let own = self.path(*id);
            text.open(format!("inline const char *nc_name({own} value) noexcept {{"));
            text.line("switch (static_cast<::std::int32_t>(value)) {");
            let mut values = HashSet::new();
            for one in shape.enumerators.iter().filter(|one| values.insert(one.value)) {
                let name = quoted(&one.name);
                text.line(format!("case {}: return {name};", signed(one.value.into())));
            }
            text.line("default: return nullptr;");
            text.line("}");
            text.close("}");
            self.close_space(text);
        }
    }
}
