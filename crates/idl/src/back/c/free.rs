//! Giving back what values hold, and what exceptions need.

use std::collections::BTreeMap;

use crate::back::c::C;
use crate::back::c::guards::{print_functions, print_unless_defined};
use crate::back::c::text::Text;
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Member, Type, UnionDefault};

impl C<'_> {
    /// Every type that has functions of its own, by tag: structs, unions, exceptions' members, and
    /// types without a name.
    pub fn compound_types(&self) -> BTreeMap<String, Type> {
        let mut found = BTreeMap::new();
        for id in self.ids() {
            match &self.model.declaration(id).kind {
                Kind::Alias(behind) => self.collect(behind, &mut found),
                Kind::Struct(_) | Kind::Union(_) => self.collect(&Type::Named(id), &mut found),
                Kind::Exception(own) => {
                    own.iter().for_each(|member| self.collect(&member.declared, &mut found));
                }
                Kind::Interface(interface) => {
                    for operation in &interface.operations {
                        let parameters = operation.parameters.iter().map(|one| &one.declared);
                        let all = parameters.chain(&operation.returns);
                        all.for_each(|declared| self.collect(declared, &mut found));
                    }
                }
                _ => {}
            }
        }
        found
    }

    fn collect(&self, declared: &Type, found: &mut BTreeMap<String, Type>) {
        let resolved = self.resolved(declared);
        let is_compound = match resolved {
            Type::Primitive(_) | Type::String { .. } | Type::WideString { .. } => false,
            Type::Named(id) => {
                matches!(self.model.declaration(*id).kind, Kind::Struct(_) | Kind::Union(_))
            }
            _ => true,
        };
        if !is_compound || found.insert(self.tag(resolved), resolved.clone()).is_some() {
            return;
        }
        match resolved {
            Type::Sequence { element, .. } | Type::Array { element, .. } => {
                self.collect(element, found);
            }
            Type::Map { key, value, .. } => {
                self.collect(key, found);
                self.collect(value, found);
            }
            Type::Named(id) => {
                for member in self.all_members(*id) {
                    self.collect(&member.declared, found);
                }
            }
            _ => {}
        }
    }

    /// Members of a struct or exception, cases of a union.
    pub fn all_members(&self, id: DeclarationId) -> Vec<&Member> {
        match &self.model.declaration(id).kind {
            Kind::Union(union) => union.cases.iter().map(|case| &case.member).collect(),
            _ => members(self.model, id),
        }
    }

    /// Does a value of a type hold memory?
    pub fn owns(&self, declared: &Type) -> bool {
        self.owns_unseen(declared, &mut Vec::new())
    }

    fn owns_unseen(&self, declared: &Type, seen: &mut Vec<DeclarationId>) -> bool {
        match self.resolved(declared) {
            Type::Primitive(_) => false,
            Type::Array { element, .. } => self.owns_unseen(element, seen),
            Type::Named(id) if seen.contains(id) => false,
            Type::Named(id) => {
                seen.push(*id);
                let is_compound =
                    matches!(self.model.declaration(*id).kind, Kind::Struct(_) | Kind::Union(_));
                is_compound && self.holds_memory(*id, seen)
            }
            _ => true,
        }
    }

    /// Does a struct, union or exception hold memory?
    fn holds_memory(&self, id: DeclarationId, seen: &mut Vec<DeclarationId>) -> bool {
        let mut all = self.all_members(id).into_iter().zip(self.boxed(id));
        all.any(|(member, is_boxed)| {
            is_boxed || member.is_optional || self.owns_unseen(&member.declared, seen)
        })
    }

    /// The statement that gives back what a value holds, if it holds anything.
    pub fn free(&self, declared: &Type, value: &str) -> Option<String> {
        match self.is_text(declared) {
            true => Some(format!("nearcall_free({value});")),
            false => self
                .owns(declared)
                .then(|| format!("nearcall_free_{}(&{value});", self.tag(declared))),
        }
    }

    /// The functions that give back what values hold, and those of exceptions.
    pub fn print_frees(&self, text: &mut Text) {
        let all = self.compound_types();
        let owning: Vec<_> = all.iter().filter(|(_, declared)| self.owns(declared)).collect();
        for (tag, declared) in &owning {
            let (name, kind) = (self.type_name(declared), self.function_kind(declared));
            let declaration = format!("{kind} void nearcall_free_{tag}({name} *value);");
            print_unless_defined(tag, &declaration, text);
        }
        text.line("");
        for (tag, declared) in &owning {
            let (name, kind) = (self.type_name(declared), self.function_kind(declared));
            let mut own = Text::default();
            own.open(format!("{kind} void nearcall_free_{tag}({name} *value) {{"));
            self.print_free(declared, &mut own);
            own.line("memset(value, 0, sizeof *value);");
            own.close("}");
            print_functions(tag, own, text);
        }
        for id in self.ids() {
            match &self.model.declaration(id).kind {
                Kind::Alias(behind) if !self.is_text(behind) && self.owns(behind) => {
                    self.print_alias_free(id, behind, text);
                }
                Kind::Exception(_) => self.print_exception(id, text),
                _ => {}
            }
        }
    }

    fn print_alias_free(&self, id: DeclarationId, behind: &Type, text: &mut Text) {
        let (name, tag) = (self.names.declaration(id), self.tag(behind));
        let mut own = Text::default();
        own.open(format!("NEARCALL_INLINE void nearcall_free_{name}({name} *value) {{"));
        own.line(format!("nearcall_free_{tag}(value);"));
        own.close("}");
        print_functions(name, own, text);
    }

    fn print_free(&self, declared: &Type, text: &mut Text) {
        match self.resolved(declared) {
            Type::Sequence { element, .. } => {
                self.print_free_each(&[(element, "value->_buffer[i]")], text);
            }
            Type::Map { key, value, .. } => {
                let both = [(&**key, "value->_buffer[i].key"), (value, "value->_buffer[i].value")];
                self.print_free_each(&both, text);
            }
            Type::Array { element, dimensions } => {
                if let Some(free) = self.free(element, "items[i]") {
                    self.print_items(element, dimensions, "", text);
                    text.line(free);
                    text.close("}");
                }
            }
            Type::Named(id) => match &self.model.declaration(*id).kind {
                Kind::Union(_) => self.print_free_union(*id, text),
                _ => {
                    let all = members(self.model, *id).into_iter().zip(self.boxed(*id));
                    for ((member, is_boxed), name) in all.zip(self.member_names(*id)) {
                        self.print_free_member(member, is_boxed, &format!("value->{name}"), text);
                    }
                }
            },
            _ => {}
        }
    }

    /// Opens a loop over every item of the array that `value` points to.
    pub fn print_items(&self, element: &Type, dimensions: &[u32], constant: &str, text: &mut Text) {
        let (name, count) = (self.type_name(self.resolved(element)), items(dimensions));
        let zeros = "[0]".repeat(dimensions.len());
        let (space, cast) = if name.ends_with('*') { ("", &*name) } else { (" ", &*name) };
        let constant = if constant.is_empty() { "" } else { "const " };
        let pointer = match name.ends_with('*') && !constant.is_empty() {
            true => format!("{cast}const *items = &value->_at{zeros};"),
            false => format!("{constant}{cast}{space}*items = &value->_at{zeros};"),
        };
        text.line(pointer);
        text.open(format!("for (size_t i = 0; i < {count}u; i++) {{"));
    }

    fn print_free_each(&self, parts: &[(&Type, &str)], text: &mut Text) {
        let frees: Vec<String> =
            parts.iter().filter_map(|(declared, item)| self.free(declared, item)).collect();
        if !frees.is_empty() {
            text.open("for (uint32_t i = 0; i < value->_length; i++) {");
            text.lines(frees);
            text.close("}");
        }
        text.line("nearcall_free(value->_buffer);");
    }

    fn print_free_member(&self, member: &Member, is_boxed: bool, place: &str, text: &mut Text) {
        let declared = &member.declared;
        if !(member.is_optional || is_boxed) {
            text.lines(self.free(declared, place));
            return;
        }
        match self.free(declared, &format!("(*{place})")) {
            Some(free) => {
                text.open(format!("if ({place} != NEARCALL_NULL) {{"));
                text.line(free);
                text.line(format!("nearcall_free({place});"));
                text.close("}");
            }
            None => text.line(format!("nearcall_free({place});")),
        }
    }

    fn print_free_union(&self, id: DeclarationId, text: &mut Text) {
        let Kind::Union(union) = &self.model.declaration(id).kind else { return };
        text.open(format!("switch ({}) {{", self.chosen(union)));
        let cases = union.cases.iter().zip(self.case_names(union)).zip(self.boxed(id));
        for (((case, name), is_boxed), index) in cases.zip(0u32..) {
            self.print_labels(union, index, text);
            let place = format!("value->_u.{name}");
            self.print_free_member(&case.member, is_boxed, &place, text);
            text.line("break;");
        }
        if !matches!(union.default, UnionDefault::Case(_)) {
            text.line("default:");
            text.line("break;");
        }
        text.close("}");
    }

    /// The labels of a case, before its statements.
    pub fn print_labels(&self, union: &crate::model::Union, index: u32, text: &mut Text) {
        for label in &union.cases[index as usize].labels {
            text.line(format!("case {}:", self.label(label)));
        }
        if union.default == UnionDefault::Case(index) {
            text.line("default:");
        }
    }

    fn print_exception(&self, id: DeclarationId, header: &mut Text) {
        let (name, kind) = (self.names.declaration(id), self.exception_kind(id));
        let mut text = Text::default();
        text.open(format!("{kind} void nearcall_free_{name}({name} *value) {{"));
        let all = members(self.model, id).into_iter().zip(self.boxed(id));
        for ((member, is_boxed), member_name) in all.zip(self.member_names(id)) {
            self.print_free_member(member, is_boxed, &format!("value->{member_name}"), &mut text);
        }
        text.line("memset(value, 0, sizeof *value);");
        text.close("}");
        text.open(format!("NEARCALL_COLD void nearcall_drop_{name}(void *exception) {{"));
        text.line(format!("nearcall_free_{name}(NEARCALL_CAST({name} *, exception));"));
        text.line("nearcall_free(exception);");
        text.close("}");
        text.line("/* The exception if it was this one, or null; the environment keeps it. */");
        text.open(format!(
            "NEARCALL_INLINE {name} *nearcall_raised_{name}(const nearcall_environment *env) {{"
        ));
        text.line(format!("return NEARCALL_CAST({name} *, nearcall_raised(env, ex_{name}));"));
        text.close("}");
        text.line("/* Raises it; what it holds is the environment's from here on. */");
        text.line(format!("NEARCALL_COLD void nearcall_raise_{name}(nearcall_environment *env,"));
        text.open(format!("    {name} exception) {{"));
        text.line(format!("{name} *copy ="));
        text.line(format!("    NEARCALL_CAST({name} *, nearcall_allocate(sizeof *copy));"));
        text.open("if (copy != NEARCALL_NULL) {");
        text.line("*copy = exception;");
        text.label("} else {");
        text.line(format!("nearcall_free_{name}(&exception);"));
        text.close("}");
        text.line(format!("nearcall_raise(env, ex_{name}, copy, nearcall_drop_{name});"));
        text.close("}");
        print_functions(name, text, header);
    }
}

/// How many items an array has.
pub fn items(dimensions: &[u32]) -> u64 {
    dimensions.iter().fold(1, |all, many| all.saturating_mul((*many).into()))
}
