//! How each type is made from C's and the other way round.

use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::back::cpp::Cpp;
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Member, Union, UnionDefault};

impl Cpp<'_, '_> {
    /// What a struct, an exception or a union is converted by. All types are defined before, so
    /// that each may hold each.
    pub fn print_conversions(&self, id: DeclarationId, text: &mut Text) {
        match &self.c.model.declaration(id).kind {
            Kind::Struct(_) | Kind::Exception(_) => {
                self.open_space(id, "CONVERTS", text);
                self.print_struct_conversions(id, text);
                self.close_space(text);
            }
            Kind::Union(union) => {
                self.open_space(id, "CONVERTS", text);
                self.print_union_conversions(id, union, text);
                self.close_space(text);
            }
            _ => {}
        }
    }

    fn print_struct_conversions(&self, id: DeclarationId, text: &mut Text) {
        let (all, names) = (members(self.c.model, id), self.member_names(id));
        let pairs = || names.iter().zip(self.c.member_names(id));
        // With its namespace: what a parameter is called may be a type's name.
        let (own, c) = (self.path(id), self.c.names.declaration(id));
        self.open_conversion("give", (&own, c), all.is_empty(), text);
        for (((own, c), member), is_boxed) in pairs().zip(&all).zip(self.c.boxed(id)) {
            let [from, to] = [format!("value.{own}"), format!("target.{c}")];
            text.line(self.member_given(id, (member, is_boxed), [&from, &to]));
        }
        text.close("}");
        self.open_conversion("take", (&own, c), all.is_empty(), text);
        for (own, c) in pairs() {
            text.line(format!("nc_take(value.{c}, target.{own});"));
        }
        text.close("}");
        if !matches!(self.c.model.declaration(id).kind, Kind::Exception(_)) {
            let owning = all.iter().zip(&names).filter(|(one, _)| self.c.owns(&one.declared));
            let held: Vec<String> =
                owning.map(|(_, own)| format!("nc_held_bytes(value.{own})")).collect();
            self.print_held_bytes(&own, &held, text);
        }
    }

    /// Gives a member of `holder` to C; boxes that a map holds may have no value.
    fn member_given(
        &self,
        holder: DeclarationId,
        (member, is_boxed): (&Member, bool),
        [from, to]: [&str; 2],
    ) -> String {
        // A level of the option's and one of the box, which are one value here.
        let depth = if member.is_optional && is_boxed { "nc_depth + 1" } else { "nc_depth" };
        if !self.has_boxes(holder, member) {
            return format!("nc_give({from}, {to}, {depth});");
        }
        let name = format!("{}::{}", self.c.model.declaration(holder).name, member.name);
        format!("::nearcall::detail::give_boxes({}, {from}, {to}, {depth});", quoted(&name))
    }

    fn print_union_conversions(&self, id: DeclarationId, union: &Union, text: &mut Text) {
        let (own, c) = (self.path(id), self.c.names.declaration(id));
        let names = self.c.names.beside(union.cases.iter().map(|case| &*case.member.name));
        self.open_conversion("give", (&own, c), false, text);
        text.line("nc_give(value._d, target._d, nc_depth);");
        let scoped = quoted(&self.c.model.declaration(id).name.to_string());
        let check = |at| format!("::nearcall::detail::check_case({scoped}, value, {at});");
        self.open_switch("target", union, text);
        for ((own, index), is_boxed) in names.iter().zip(0u32..).zip(self.c.boxed(id)) {
            self.c.print_labels(union, index, text);
            let at = index + 1;
            text.line(format!("    {}", check(at)));
            let [from, to] = [format!("::std::get<{at}>(value._u)"), format!("target._u.{own}")];
            let member = &union.cases[index as usize].member;
            text.line(format!("    {}", self.member_given(id, (member, is_boxed), [&from, &to])));
            text.line("    break;");
        }
        // A discriminator that no union of this type has is refused by what C writes.
        let is_open = union.default == UnionDefault::Implicit;
        let nothing = if is_open { format!("    {}", check(0)) } else { String::new() };
        self.close_switch(&nothing, union, text);
        text.close("}");
        self.open_conversion("take", (&own, c), false, text);
        text.line("nc_take(value._d, target._d);");
        self.open_switch("value", union, text);
        for (own, index) in names.iter().zip(0u32..) {
            self.c.print_labels(union, index, text);
            let at = index + 1;
            let alternative = format!("::nearcall::detail::alternative<{at}>(target._u)");
            text.line(format!("    nc_take(value._u.{own}, {alternative});"));
            text.line("    break;");
        }
        self.close_switch("    target._u.emplace<0>();", union, text);
        text.close("}");
        let held = "::std::visit([](const auto &one) { return nc_held_bytes(one); }, value._u)";
        self.print_held_bytes(&own, &[held.to_owned()], text);
    }

    /// How much memory a value holds, of what its members hold.
    fn print_held_bytes(&self, name: &str, held: &[String], text: &mut Text) {
        let value = if held.is_empty() { "" } else { "value" };
        text.open(format!("inline ::std::size_t nc_held_bytes(const {name} &{value}) {{"));
        if !held.is_empty() {
            text.line("using ::nearcall::detail::nc_held_bytes;");
        }
        let sum = if held.is_empty() { String::from("0") } else { held.join(" +\n       ") };
        text.lines(format!("return {sum};").lines().map(String::from));
        text.close("}");
    }

    fn open_conversion(&self, verb: &str, (name, c): (&str, &str), empty: bool, text: &mut Text) {
        let (value, target) = match verb {
            "give" => (name.to_owned(), format!("::{c}")),
            _ => (format!("::{c}"), name.to_owned()),
        };
        let (value_name, target_name) = if empty { ("", "") } else { ("value", "target") };
        let depth = match (verb, empty) {
            ("give", true) => ", ::std::uint32_t",
            ("give", false) => ", ::std::uint32_t nc_depth",
            _ => "",
        };
        text.open(format!(
            "inline void nc_{verb}(const {value} &{value_name}, {target} &{target_name}{depth}) {{"
        ));
        if !empty {
            text.line(format!("using ::nearcall::detail::nc_{verb};"));
        }
    }

    fn open_switch(&self, value: &str, union: &Union, text: &mut Text) {
        let label = self.c.label_type(&union.discriminator);
        let discriminator = format!("{value}._d");
        text.line(match self.c.type_name(self.c.resolved(&union.discriminator)) == label {
            true => format!("switch ({discriminator}) {{"),
            false => format!("switch (static_cast<{label}>({discriminator})) {{"),
        });
    }

    /// Where the discriminator selects no case, there is nothing but `none` to be done.
    fn close_switch(&self, none: &str, union: &Union, text: &mut Text) {
        if !matches!(union.default, UnionDefault::Case(_)) {
            let lines = ["default:", none, "    break;"];
            text.lines(lines.into_iter().filter(|line| !line.is_empty()).map(String::from));
        }
        text.line("}");
    }
}
