//! How values are shown: a function for each class.

use crate::back::c::guards::{guard_of, open_header};
use crate::back::c::selftest::DESCRIPTORS;
use crate::back::c::text::Text;
use crate::back::cpp::selftest::Programs;
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Union, UnionDefault};

const SUPPORT: &str = include_str!("support.hpp");
/// Where open files are passed.
const SHOW_OPENED: &str = "\
namespace selftest {

/* The text in an open file. */
inline void show(std::string &text, const nearcall::descriptor &value) {
    char bytes[NC_OPENED_BYTES_MAX + 1];
    nc_read(value.get(), bytes);
    show(text, std::string(bytes));
}

} // namespace selftest
";

impl Programs<'_, '_, '_> {
    /// What both programs use, and a source that includes both.
    pub fn shared(&self, stem: &str) -> String {
        let body = self.support(stem);
        let mut text = Text::default();
        text.line("/* What the two programs of a self-test share: values as text, and what is");
        text.line(" * counted. */");
        open_header(&mut text, &guard_of((stem, "SELFTEST_HPP"), &body));
        text.lines(body.lines().map(String::from));
        text.line("#endif");
        text.finish()
    }

    fn support(&self, stem: &str) -> String {
        let mut text = Text::default();
        text.line(format!("#include \"{stem}.hpp\""));
        text.line("");
        let has_members = |id: &DeclarationId| {
            let kind = &self.cpp.c.model.declaration(*id).kind;
            matches!(kind, Kind::Struct(_) | Kind::Exception(_) | Kind::Union(_))
        };
        let classes: Vec<DeclarationId> = self.cpp.c.ids().filter(has_members).collect();
        text.line("/* Before the templates that find them. */");
        text.line("namespace selftest {");
        text.line(format!("constexpr std::size_t OPERATIONS = {};", self.test.operation_count()));
        for id in &classes {
            text.line(format!("{};", self.head_of(*id, "value")));
        }
        let has_descriptors = self.test.has_descriptors(self.cpp.c.model);
        if has_descriptors {
            text.line("void show(std::string &text, const nearcall::descriptor &value);");
        }
        text.line("}");
        text.line("");
        text.lines(SUPPORT.lines().map(String::from));
        text.line("");
        if has_descriptors {
            let lines = DESCRIPTORS.lines().chain([""]).chain(SHOW_OPENED.lines());
            text.lines(lines.map(String::from));
            text.line("");
        }
        text.line("namespace selftest {");
        for id in classes {
            text.line("");
            match &self.cpp.c.model.declaration(id).kind {
                Kind::Union(union) => self.show_union(id, union, &mut text),
                _ => self.show_fields(id, &mut text),
            }
        }
        text.line("");
        text.line("} // namespace selftest");
        text.finish()
    }

    fn head_of(&self, id: DeclarationId, value: &str) -> String {
        format!("inline void show(std::string &text, const {} &{value})", self.cpp.path(id))
    }

    fn show_fields(&self, id: DeclarationId, text: &mut Text) {
        let all = members(self.cpp.c.model, id);
        let value = if all.is_empty() { "" } else { "value" };
        text.open(format!("{} {{", self.head_of(id, value)));
        text.line("text += '{';");
        for (index, (member, name)) in all.iter().zip(self.cpp.member_names(id)).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            text.line(format!("text += \"{comma}{}: \";", member.name));
            text.line(format!("show(text, value.{name});"));
        }
        text.line("text += '}';");
        text.close("}");
    }

    fn show_union(&self, id: DeclarationId, union: &Union, text: &mut Text) {
        text.open(format!("{} {{", self.head_of(id, "value")));
        text.line("text += '(';");
        text.line("show(text, value._d);");
        let label = self.cpp.c.label_type(&union.discriminator);
        text.line(format!("switch (static_cast<{label}>(value._d)) {{"));
        for index in 0..union.cases.len() as u32 {
            self.cpp.c.print_labels(union, index, text);
            text.open("{");
            text.line("text += \": \";");
            text.line(format!("show(text, std::get<{}>(value._u));", index + 1));
            text.line("break;");
            text.close("}");
        }
        if !matches!(union.default, UnionDefault::Case(_)) {
            text.lines(["default:", "    break;"].map(String::from));
        }
        text.line("}");
        text.line("text += ')';");
        text.close("}");
    }
}
