//! The conventional encoding of every type that has functions of its own (L32).

use crate::back::allowed;
use crate::back::c::C;
use crate::back::c::checks::{Beyond, Outside};
use crate::back::c::free::items;
use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::layout::{Scalar, Shape, bytes_min, members, shape};
use crate::model::{DeclarationId, Kind, Member, Primitive, Type, Union, UnionDefault};
use crate::plan::{Footprint, LimitCheck, TypePlan};

impl C<'_> {
    /// Encoders and decoders.
    pub fn print_codecs(&self, text: &mut Text) {
        self.print_judges(text);
        let all = self.compound_types();
        for (tag, declared) in &all {
            let (name, kind) = (self.type_name(declared), self.function_kind(declared));
            let constant = format!("const {name} *value");
            text.line(format!(
                "{kind} void nearcall_encode_{tag}(nearcall_writer *writer, {constant});"
            ));
            text.line(format!("{kind} bool nearcall_decode_{tag}(nearcall_reader *reader,"));
            text.line(format!("    {name} *value);"));
        }
        for declared in all.values() {
            self.print_footprint(declared, text);
        }
        text.line("");
        for (tag, declared) in &all {
            let (name, kind) = (self.type_name(declared), self.function_kind(declared));
            text.line(format!("{kind} void nearcall_encode_{tag}(nearcall_writer *writer,"));
            text.open(format!("    const {name} *value) {{"));
            self.print_encode(declared, text);
            text.close("}");
            text.line("");
            text.line(format!("{kind} bool nearcall_decode_{tag}(nearcall_reader *reader,"));
            text.open(format!("    {name} *value) {{"));
            self.print_decode(declared, text);
            text.close("}");
            text.line("");
        }
        for id in self.ids() {
            if let Kind::Exception(own) = &self.model.declaration(id).kind {
                let all = own.iter().zip(0u32..).filter(|(member, _)| member.is_optional);
                all.for_each(|(member, index)| self.print_optional(id, (member, index), text));
            }
        }
        self.print_spreads(text);
    }

    /// That a plain value has no gaps, since it is as long as its members are together.
    fn print_footprint(&self, declared: &Type, text: &mut Text) {
        if let Some(Footprint { bytes, .. }) = self.plan.footprint(self.model, declared) {
            let name = self.type_name(declared);
            text.line(format!("NEARCALL_ASSERT(sizeof({name}) == {bytes}u);"));
        }
    }

    /// Statements that append a value; `name` is told if it is refused.
    pub fn encode(&self, declared: &Type, value: &str, name: &str) -> Vec<String> {
        if self.is_text(declared) {
            return vec![format!("nearcall_write_text(writer, {}, {value});", quoted(name))];
        }
        match shape(self.model, declared) {
            Shape::Scalar(scalar) => self.encode_scalar(scalar, declared, value, name),
            _ if matches!(self.resolved(declared), Type::Primitive(_)) => {
                vec![format!("nearcall_write(writer, &{value}, sizeof {value});")]
            }
            _ if self.is_list(declared) => vec![
                format!("if ({value}._length == 0) {{"),
                String::from("    nearcall_write_none(writer);"),
                String::from("} else {"),
                format!("    nearcall_encode_{}(writer, &{value});", self.tag(declared)),
                String::from("}"),
            ],
            _ => vec![format!("nearcall_encode_{}(writer, &{value});", self.tag(declared))],
        }
    }

    fn encode_scalar(
        &self,
        scalar: Scalar,
        declared: &Type,
        value: &str,
        name: &str,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(condition) = self.is_own_value(scalar, value) {
            let breach = self.not_of_type(scalar, declared, value).breach(name);
            lines.push(format!("if (!({condition})) {{"));
            lines.push(format!("    nearcall_write_breach(writer, {breach});"));
            lines.push(String::from("}"));
        }
        let raw = self.raw_type(scalar);
        lines.push(String::from("{"));
        lines.push(format!("    const {raw} word = ({raw}){value};"));
        lines.push(String::from("    nearcall_write(writer, &word, sizeof word);"));
        lines.push(String::from("}"));
        lines
    }

    /// A condition that takes a value off, or statements and the condition.
    pub fn decode(&self, declared: &Type, value: &str) -> Vec<String> {
        let unless = |condition: String| {
            vec![
                format!("if (!{condition}) {{"),
                String::from("    return false;"),
                String::from("}"),
            ]
        };
        if self.is_text(declared) {
            return unless(format!("nearcall_read_text(reader, &{value})"));
        }
        match shape(self.model, declared) {
            Shape::Scalar(Scalar::Primitive(Primitive::Boolean)) => {
                unless(format!("nearcall_read_boolean(reader, &{value})"))
            }
            Shape::Scalar(Scalar::Primitive(Primitive::WideChar)) => {
                unless(format!("nearcall_read_character(reader, &{value})"))
            }
            Shape::Scalar(scalar @ (Scalar::Enum { .. } | Scalar::Bits { .. })) => {
                self.decode_word(scalar, value)
            }
            Shape::Scalar(Scalar::Primitive(_)) => {
                unless(format!("nearcall_read(reader, &{value}, sizeof {value})"))
            }
            _ if matches!(self.resolved(declared), Type::Primitive(_)) => {
                unless(format!("nearcall_read(reader, &{value}, sizeof {value})"))
            }
            _ => {
                let is_list = self.is_list(declared);
                let none = if is_list { "nearcall_read_none(reader) && !" } else { "" };
                unless(format!("{none}nearcall_decode_{}(reader, &{value})", self.tag(declared)))
            }
        }
    }

    fn decode_word(&self, scalar: Scalar, value: &str) -> Vec<String> {
        let raw = self.raw_type(scalar);
        let mut lines = vec![
            String::from("{"),
            format!("    {raw} word = 0;"),
            String::from("    if (!nearcall_read(reader, &word, sizeof word)) {"),
            String::from("        return false;"),
            String::from("    }"),
        ];
        if let Some(condition) = self.is_value(scalar, "word") {
            let refusal = "nearcall_read_bad(reader, NEARCALL_MALFORMED_RANGE, (uint64_t)word, 0)";
            lines.push(format!("    if (!({condition})) {{"));
            lines.push(format!("        return {refusal};"));
            lines.push(String::from("    }"));
        }
        lines.push(format!("    {value} = {};", self.of_word(scalar, "word")));
        lines.push(String::from("}"));
        lines
    }

    fn print_encode(&self, declared: &Type, text: &mut Text) {
        if self.is_plain(declared) {
            return text.line("nearcall_write(writer, value, sizeof *value);");
        }
        match self.resolved(declared) {
            Type::Sequence { element, .. } if self.is_plain(element) => text.line(
                "nearcall_write_items(writer, value->_buffer, value->_length, \
                 sizeof *value->_buffer);",
            ),
            Type::Sequence { element, .. } => {
                text.line("nearcall_write(writer, &value->_length, sizeof value->_length);");
                text.open("if (nearcall_write_deeper(writer, 1)) {");
                text.open("for (uint32_t i = 0; i < value->_length; i++) {");
                text.lines(self.encode(element, "value->_buffer[i]", "element"));
                text.close("}");
                text.line("writer->depth -= 1;");
                text.close("}");
            }
            Type::Map { key, value, .. } => {
                text.line("nearcall_write(writer, &value->_length, sizeof value->_length);");
                text.open("if (nearcall_write_deeper(writer, 1)) {");
                text.open("for (uint32_t i = 0; i < value->_length; i++) {");
                text.lines(self.encode(key, "value->_buffer[i].key", "key"));
                text.lines(self.encode(value, "value->_buffer[i].value", "value"));
                text.close("}");
                text.line("writer->depth -= 1;");
                text.close("}");
            }
            Type::Array { element, dimensions } => {
                self.print_items(element, dimensions, "const", text);
                text.lines(self.encode(element, "items[i]", "element"));
                text.close("}");
            }
            Type::Named(id) => match &self.model.declaration(*id).kind {
                Kind::Union(union) => self.print_encode_union(*id, union, text),
                _ => self.print_encode_struct(*id, text),
            },
            _ => {}
        }
    }

    fn print_encode_struct(&self, id: DeclarationId, text: &mut Text) {
        let all = members(self.model, id);
        let TypePlan { is_appendable, members: plans, .. } = self.type_plan(id);
        if *is_appendable {
            text.line("const size_t begin = nearcall_write_appendable(writer);");
        }
        for ((member, plan), name) in all.iter().zip(plans).zip(self.member_names(id)) {
            let place = format!("value->{name}");
            self.print_encode_member(member, (plan.is_boxed, &plan.checks), &place, text);
        }
        if *is_appendable {
            if all.is_empty() {
                text.line("(void)value;");
            }
            return text.line("nearcall_write_appended(writer, begin);");
        }
        if all.is_empty() {
            text.line("(void)value;");
            text.lines(["{", "    const uint8_t word = 0;"].map(String::from));
            text.lines(["    nearcall_write(writer, &word, 1);", "}"].map(String::from));
        }
    }

    pub fn print_encode_member(
        &self,
        member: &Member,
        (is_boxed, checks): (bool, &[LimitCheck]),
        place: &str,
        text: &mut Text,
    ) {
        let name = &member.name;
        let write_breach = |breach: String| format!("nearcall_write_breach(writer, {breach});");
        let leave = |beyond: &Beyond| vec![write_breach(beyond.breach(name))];
        let pointed = format!("(*{place})");
        if is_boxed && !member.is_optional {
            text.open(format!("if ({place} == NULL) {{"));
            text.line(write_breach(null().breach(name)));
            text.label("} else if (nearcall_write_deeper(writer, 1)) {");
            self.print_checks(checks, &member.declared, &pointed, &leave, text);
            text.lines(self.encode(&member.declared, &pointed, name));
            text.line("writer->depth -= 1;");
            text.close("}");
            return;
        }
        self.print_checks(checks, &member.declared, place, &leave, text);
        if !member.is_optional {
            return text.lines(self.encode(&member.declared, place, name));
        }
        text.lines([
            String::from("{"),
            format!("    const uint8_t is_present = {place} != NULL;"),
            String::from("    nearcall_write(writer, &is_present, 1);"),
            String::from("}"),
        ]);
        let levels = 1 + usize::from(is_boxed);
        text.open(format!("if ({place} != NULL && nearcall_write_deeper(writer, {levels})) {{"));
        text.lines(self.encode(&member.declared, &pointed, name));
        text.line(format!("writer->depth -= {levels};"));
        text.close("}");
    }

    fn print_encode_union(&self, id: DeclarationId, union: &Union, text: &mut Text) {
        let TypePlan { is_appendable, members: plans, .. } = self.type_plan(id);
        if *is_appendable {
            text.line("const size_t begin = nearcall_write_appendable(writer);");
        }
        text.lines(self.encode(&union.discriminator, "value->_d", "discriminator"));
        text.open(format!("switch (({})value->_d) {{", self.label_type(&union.discriminator)));
        let cases = union.cases.iter().zip(plans).zip(self.case_names(union));
        for (((case, plan), name), index) in cases.zip(0u32..) {
            self.print_labels(union, index, text);
            let place = format!("value->_u.{name}");
            self.print_encode_member(&case.member, (plan.is_boxed, &plan.checks), &place, text);
            text.line("break;");
        }
        match union.default {
            UnionDefault::Case(_) => {}
            // A version that has a case of another number would look for its value.
            UnionDefault::Implicit if *is_appendable => {
                text.lines(["case 0:", "    break;"].map(String::from));
                self.print_no_case(union, allowed::set_or_not(self.model, union), text);
            }
            UnionDefault::Implicit => text.lines(["default:", "    break;"].map(String::from)),
            UnionDefault::Covered => {
                self.print_no_case(union, allowed::labelled(self.model, union), text);
            }
        }
        text.close("}");
        if *is_appendable {
            text.line("nearcall_write_appended(writer, begin);");
        }
    }

    /// Any other discriminator is refused.
    fn print_no_case(&self, union: &Union, allowed: String, text: &mut Text) {
        let outside = self.outside(&union.discriminator, "value->_d", allowed);
        let breach = outside.breach("discriminator");
        text.line("default:");
        text.line(format!("    nearcall_write_breach(writer, {breach});"));
        text.line("    break;");
    }

    fn print_decode(&self, declared: &Type, text: &mut Text) {
        if self.is_plain(declared) {
            return text.line("return nearcall_read(reader, value, sizeof *value);");
        }
        match self.resolved(declared) {
            Type::Sequence { element, .. } if self.is_plain(element) => {
                self.print_decode_items(text);
            }
            Type::Sequence { element, .. } => {
                let least = bytes_min(self.model, element);
                self.print_decode_list(least, &[(element, "value->_buffer[at]")], text);
            }
            Type::Map { key, value, .. } => {
                let least = bytes_min(self.model, key) + bytes_min(self.model, value);
                let both =
                    [(&**key, "value->_buffer[at].key"), (value, "value->_buffer[at].value")];
                self.print_decode_list(least, &both, text);
            }
            Type::Array { element, dimensions } => {
                let name = self.type_name(self.resolved(element));
                let zeros = "[0]".repeat(dimensions.len());
                text.line(format!("{name} *items = &value->_at{zeros};"));
                text.open(format!("for (size_t i = 0; i < {}u; i++) {{", items(dimensions)));
                text.lines(self.decode(element, "items[i]"));
                text.close("}");
            }
            Type::Named(id) => match &self.model.declaration(*id).kind {
                Kind::Union(union) => self.print_decode_union(*id, union, text),
                _ => self.print_decode_struct(*id, text),
            },
            _ => {}
        }
        text.line("return true;");
    }

    /// All at once: their count was judged by the bytes that are left.
    fn print_decode_items(&self, text: &mut Text) {
        text.line("void *items = NULL;");
        text.line("if (!nearcall_read_items(reader, &items, &value->_length,");
        text.open("                        sizeof *value->_buffer)) {");
        text.line("return false;");
        text.close("}");
        text.line("value->_buffer = items;");
    }

    /// Memory is had as the elements come, never for a count alone.
    fn print_decode_list(&self, least: u64, parts: &[(&Type, &str)], text: &mut Text) {
        text.lines([
            String::from("uint32_t count = 0;"),
            String::from("uint32_t capacity = 0;"),
            format!("if (!nearcall_read_count(reader, UINT64_C({least}), &count) ||"),
            String::from("    !nearcall_read_deeper(reader)) {"),
            String::from("    return false;"),
            String::from("}"),
        ]);
        text.open("while (value->_length < count) {");
        text.lines([
            String::from("const uint32_t at = value->_length;"),
            String::from("void *buffer = value->_buffer;"),
            String::from("if (!nearcall_read_grow(reader, &buffer, at, &capacity, count,"),
            String::from("                        sizeof *value->_buffer)) {"),
            String::from("    return false;"),
            String::from("}"),
            String::from("value->_buffer = buffer;"),
            String::from("value->_length++;"),
        ]);
        for (declared, item) in parts {
            text.lines(self.decode(declared, item));
        }
        text.close("}");
        text.line("reader->depth--;");
    }

    fn print_decode_struct(&self, id: DeclarationId, text: &mut Text) {
        let all = members(self.model, id);
        let TypePlan { is_appendable, members: plans, .. } = self.type_plan(id);
        if *is_appendable {
            print_read_appendable(text);
        }
        for ((member, plan), name) in all.iter().zip(plans).zip(self.member_names(id)) {
            let place = format!("value->{name}");
            print_missing(&plan.missing, text);
            self.print_decode_member(member, (plan.is_boxed, &plan.checks), &place, text);
        }
        if *is_appendable {
            if all.is_empty() {
                text.line("value->_empty = 0;");
            }
            return text.line("nearcall_read_appended(reader, &behind);");
        }
        if all.is_empty() {
            text.lines(self.decode(&Type::Primitive(Primitive::Char), "value->_empty"));
            text.open("if (value->_empty != 0) {");
            text.line(
                "return nearcall_read_bad(reader, NEARCALL_MALFORMED_RANGE, \
                 (uint8_t)value->_empty, 0);",
            );
            text.close("}");
        }
    }

    pub fn print_decode_member(
        &self,
        member: &Member,
        (is_boxed, checks): (bool, &[LimitCheck]),
        place: &str,
        text: &mut Text,
    ) {
        let leave = |beyond: &Beyond| {
            vec![format!("return nearcall_read_bad(reader, {});", beyond.malformed())]
        };
        let pointed = format!("(*{place})");
        if member.is_optional {
            text.open("{");
            text.line("bool is_present = false;");
            text.lines(
                ["if (!nearcall_read_boolean(reader, &is_present)) {", "    return false;"]
                    .map(String::from),
            );
            text.line("}");
            text.open("if (is_present) {");
        }
        let levels = usize::from(member.is_optional) + usize::from(is_boxed);
        if levels > 0 {
            text.open("{");
            text.line("void *room = NULL;");
            for _ in 0..levels {
                text.lines(
                    ["if (!nearcall_read_deeper(reader)) {", "    return false;", "}"]
                        .map(String::from),
                );
            }
            text.line(format!("if (!nearcall_read_room(reader, sizeof *{place}, &room)) {{"));
            text.lines(["    return false;", "}"].map(String::from));
            text.line(format!("{place} = room;"));
            text.lines(self.decode(&member.declared, &pointed));
            text.line(format!("reader->depth -= {levels};"));
            text.close("}");
        } else {
            text.lines(self.decode(&member.declared, place));
        }
        if member.is_optional {
            text.close("}");
            text.close("}");
        }
        let judged = if is_boxed && !member.is_optional { &pointed } else { place };
        self.print_checks(checks, &member.declared, judged, &leave, text);
    }

    fn print_decode_union(&self, id: DeclarationId, union: &Union, text: &mut Text) {
        let TypePlan { is_appendable, members: plans, .. } = self.type_plan(id);
        if *is_appendable {
            print_read_appendable(text);
        }
        text.lines(self.decode(&union.discriminator, "value->_d"));
        text.open(format!("switch (({})value->_d) {{", self.label_type(&union.discriminator)));
        let cases = union.cases.iter().zip(plans).zip(self.case_names(union));
        for (((case, plan), name), index) in cases.zip(0u32..) {
            self.print_labels(union, index, text);
            text.open("{");
            let place = format!("value->_u.{name}");
            self.print_decode_member(&case.member, (plan.is_boxed, &plan.checks), &place, text);
            text.line("break;");
            text.close("}");
        }
        match union.default {
            UnionDefault::Case(_) => {}
            UnionDefault::Implicit if *is_appendable => {
                // One that only a newer version has is none here.
                let lines = [
                    "case 0:",
                    "    break;",
                    "default:",
                    "    value->_d = 0;",
                    "    nearcall_read_no_case(reader);",
                    "    break;",
                ];
                text.lines(lines.map(String::from));
            }
            UnionDefault::Implicit => text.lines(["default:", "    break;"].map(String::from)),
            UnionDefault::Covered => {
                text.line("default:");
                text.line(
                    "    return nearcall_read_bad(reader, NEARCALL_MALFORMED_RANGE, \
                     (uint64_t)value->_d, 0);",
                );
            }
        }
        text.close("}");
        if *is_appendable {
            text.open("if (!nearcall_read_oneof_end(reader, &behind)) {");
            text.line("return false;");
            text.close("}");
        }
    }
}

/// From here on no more is read than the length that comes first says.
fn print_read_appendable(text: &mut Text) {
    text.line("nearcall_behind behind = {NULL, 0};");
    text.open("if (!nearcall_read_appendable(reader, &behind)) {");
    text.line("return false;");
    text.close("}");
}

/// Where a member of an appendable struct did not come, its default is read.
fn print_missing(missing: &[u8], text: &mut Text) {
    if missing.is_empty() {
        return;
    }
    let bytes: Vec<String> = match missing.iter().all(|byte| *byte == 0) {
        true => vec![String::from("0")],
        false => missing.iter().map(u8::to_string).collect(),
    };
    text.open("{");
    text.line(format!(
        "static const uint8_t missing[{}] = {{{}}};",
        missing.len(),
        bytes.join(", ")
    ));
    text.open("if (!nearcall_read_missing(reader, missing, sizeof missing)) {");
    text.line("return false;");
    text.close("}");
    text.close("}");
}

/// A member that has to point to something, and does not.
fn null() -> Outside {
    let (bits, allowed) = (String::from("0"), String::from("one that is there"));
    Outside { kind: "UNSIGNED", bits, allowed }
}
