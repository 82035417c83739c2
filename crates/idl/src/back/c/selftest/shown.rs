//! How values are shown: a function for each type that has members or items.

use crate::back::c::selftest::Programs;
use crate::back::c::text::Text;
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Member, Primitive, Type, Union, UnionDefault};

const SUPPORT: &str = include_str!("support.h");
/// Where open files are passed, in C++ too.
pub const DESCRIPTORS: &str = include_str!("descriptors.h");
/// The same, in C alone.
const PUT_OPENED: &str = "\
/* The text in an open file, which is closed, if there is one. */
NEARCALL_INLINE void nc_put_opened(nc_shown *text, int fd) {
    char bytes[NC_OPENED_BYTES_MAX + 1];
    if (fd < 0) {
        nc_put(text, \"none\");
        return;
    }
    nc_read(fd, bytes);
    nc_put_text(text, bytes);
    nearcall_close(fd);
}
";

impl Programs<'_, '_> {
    /// What both programs use.
    pub fn shared(&self, stem: &str) -> String {
        let mut text = Text::default();
        text.line("/* What the two programs of a self-test share: values as text, and what is");
        text.line(" * counted. Who includes it says which side it is. */");
        text.line(format!("#include \"{stem}.h\""));
        text.line("");
        text.line(format!("#define NC_OPERATIONS {}", self.test.operation_count()));
        text.lines(SUPPORT.lines().map(String::from));
        text.line("");
        if self.test.has_descriptors(self.c.model) {
            text.lines(DESCRIPTORS.lines().chain([""]).chain(PUT_OPENED.lines()).map(String::from));
            text.line("");
        }
        let compounds = self.c.compound_types();
        let exceptions = self
            .c
            .ids()
            .filter(|id| matches!(self.c.model.declaration(*id).kind, Kind::Exception(_)));
        let exceptions: Vec<DeclarationId> = exceptions.collect();
        for (tag, declared) in &compounds {
            text.line(format!("{};", self.head_of(tag, &self.c.type_name(declared))));
        }
        text.line("");
        for (tag, declared) in &compounds {
            text.open(format!("{} {{", self.head_of(tag, &self.c.type_name(declared))));
            self.show_compound(declared, &mut text);
            text.close("}");
            text.line("");
        }
        for id in exceptions {
            let name = self.c.names.declaration(id);
            text.open(format!("{} {{", self.head_of(name, name)));
            self.show_fields(id, &mut text);
            text.close("}");
            text.line("");
        }
        text.finish()
    }

    fn head_of(&self, tag: &str, name: &str) -> String {
        format!("NEARCALL_INLINE void nc_show_{tag}(nc_shown *text, const {name} *value)")
    }

    /// The statement that shows a value.
    pub fn show(&self, declared: &Type, text: &str, value: &str) -> String {
        let (function, value) = match self.c.resolved(declared) {
            Type::Primitive(primitive) => match primitive {
                Primitive::Boolean => ("boolean", value.to_owned()),
                Primitive::Char => ("unsigned", format!("(unsigned char){value}")),
                Primitive::Float => ("float", value.to_owned()),
                Primitive::Double => ("double", value.to_owned()),
                Primitive::LongDouble => ("long_double", value.to_owned()),
                Primitive::Int8 | Primitive::Int16 | Primitive::Int32 | Primitive::Int64 => {
                    ("signed", value.to_owned())
                }
                _ => ("unsigned", value.to_owned()),
            },
            Type::String { .. } | Type::WideString { .. } => ("text", value.to_owned()),
            Type::Named(id) => match &self.c.model.declaration(*id).kind {
                Kind::Enum(_) => ("signed", format!("(int64_t){value}")),
                Kind::Bitmask(_) | Kind::Bitset(_) => ("unsigned", value.to_owned()),
                _ => {
                    let name = self.c.names.declaration(*id);
                    return format!("nc_show_{name}({text}, &{value});");
                }
            },
            _ => return format!("nc_show_{}({text}, &{value});", self.c.tag(declared)),
        };
        format!("nc_put_{function}({text}, {value});")
    }

    fn show_compound(&self, declared: &Type, text: &mut Text) {
        match self.c.resolved(declared) {
            Type::Sequence { element, .. } => {
                self.show_items(element, ("value->_length", "value->_buffer"), &[], 0, text);
            }
            Type::Array { element, dimensions } => {
                let (count, inner) = (dimensions[0].to_string(), &dimensions[1..]);
                self.show_items(element, (&count, "value->_at"), inner, 0, text);
            }
            Type::Map { key, value, .. } => {
                text.line("nc_shown *pairs = calloc(value->_length + (size_t)1, sizeof *pairs);");
                text.open("if (pairs == NULL) {");
                text.line("nc_stop(\"there is no memory\");");
                text.close("}");
                text.open("for (uint32_t i = 0; i < value->_length; i++) {");
                text.line(self.show(key, "&pairs[i]", "value->_buffer[i].key"));
                text.line("nc_put(&pairs[i], \": \");");
                text.line(self.show(value, "&pairs[i]", "value->_buffer[i].value"));
                text.close("}");
                text.line("nc_put_pairs(text, pairs, value->_length);");
            }
            Type::Named(id) => match &self.c.model.declaration(*id).kind {
                Kind::Union(union) => self.show_union(*id, union, text),
                _ => self.show_fields(*id, text),
            },
            _ => {}
        }
    }

    fn show_items(
        &self,
        element: &Type,
        (count, items): (&str, &str),
        inner: &[u32],
        depth: usize,
        text: &mut Text,
    ) {
        let at = ["i", "j", "k"].get(depth).map_or(format!("i{depth}"), |name| (*name).to_owned());
        text.line("nc_put(text, \"[\");");
        text.open(format!("for (uint32_t {at} = 0; {at} < {count}; {at}++) {{"));
        text.line(format!("nc_put(text, {at} == 0 ? \"\" : \", \");"));
        let item = format!("{items}[{at}]");
        match inner.split_first() {
            Some((count, rest)) => {
                self.show_items(element, (&count.to_string(), &item), rest, depth + 1, text);
            }
            None => text.line(self.show(element, "text", &item)),
        }
        text.close("}");
        text.line("nc_put(text, \"]\");");
    }

    fn show_fields(&self, id: DeclarationId, text: &mut Text) {
        let all = members(self.c.model, id);
        if all.is_empty() {
            text.line("(void)value;");
        }
        text.line("nc_put(text, \"{\");");
        let names = self.c.member_names(id);
        for (index, (member, name)) in all.iter().zip(&names).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            text.line(format!("nc_put(text, \"{comma}{}: \");", member.name));
            let is_boxed = self.c.boxed(id)[index];
            self.show_member(member, is_boxed, &format!("value->{name}"), text);
        }
        text.line("nc_put(text, \"}\");");
    }

    fn show_member(&self, member: &Member, is_boxed: bool, place: &str, text: &mut Text) {
        if !member.is_optional && !is_boxed {
            return text.line(self.show(&member.declared, "text", place));
        }
        text.open(format!("if ({place} == NULL) {{"));
        text.line("nc_put(text, \"none\");");
        text.end();
        text.open("} else {");
        text.line(self.show(&member.declared, "text", &format!("(*{place})")));
        text.close("}");
    }

    fn show_union(&self, id: DeclarationId, union: &Union, text: &mut Text) {
        text.line("nc_put(text, \"(\");");
        text.line(self.show(&union.discriminator, "text", "value->_d"));
        let label = self.c.label_type(&union.discriminator);
        text.line(format!("switch (({label})value->_d) {{"));
        for (name, index) in self.c.case_names(union).iter().zip(0u32..) {
            let member = &union.cases[index as usize].member;
            self.c.print_labels(union, index, text);
            text.open("{");
            text.line("nc_put(text, \": \");");
            let is_boxed = self.c.boxed(id)[index as usize];
            self.show_member(member, is_boxed, &format!("value->_u.{name}"), text);
            text.line("break;");
            text.close("}");
        }
        if !matches!(union.default, UnionDefault::Case(_)) {
            text.lines(["default:", "    break;"].map(String::from));
        }
        text.line("}");
        text.line("nc_put(text, \")\");");
    }
}
