//! How values of the interface file's own types are shown.

use crate::back::rust::selftest::Programs;
use crate::back::rust::selftest::printed;
use crate::back::rust::unions::variants;
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Type, Union, UnionDefault};
use crate::selftest::Manner;

const SUPPORT: &str = include_str!("support.rs");
/// Where open files are passed.
const DESCRIPTORS: &str = include_str!("descriptors.rs");
/// Where calls are awaited.
const WAITING: &str = include_str!("waiting.rs");

impl Programs<'_, '_> {
    /// What both programs use.
    pub fn shared(&self) -> String {
        let model = self.rust.model;
        let mut text = String::new();
        for id in (0u32..).map(DeclarationId).take(model.declarations.len()) {
            let body = match &model.declaration(id).kind {
                Kind::Struct(_) | Kind::Exception(_) => self.show_fields(id),
                Kind::Union(union) => self.show_union(union),
                Kind::Enum(_) => String::from("*text += &(*self as i64).to_string();"),
                Kind::Bitmask(_) => String::from("*text += &self.bits().to_string();"),
                Kind::Bitset(_) => {
                    let word = crate::back::rust::types::word_type(
                        self.rust.type_plan(id).bytes_min as u8,
                    );
                    format!("*text += &{word}::from(*self).to_string();")
                }
                Kind::Constant(_) | Kind::Alias(_) | Kind::Interface(_) => continue,
            };
            text += &implementation(&self.declared(id), &body);
        }
        for interface in &self.test.interfaces {
            for (operation, _) in interface.calls(self.interface_of(interface)) {
                // Inherited ones have the type of the interface that declares them.
                if !operation.raises.is_empty() && operation.declared_in == interface.id {
                    let variants = self.rust.exception_variants(operation);
                    let arms = operation.raises.iter().zip(variants).map(|(raised, variant)| {
                        let name = &model.declaration(*raised).name;
                        format!(
                            "Self::{variant}(raised) => \
                             {{ *text += \"raised {name} \"; raised.show(text); }}\n"
                        )
                    });
                    let arms: String = arms.collect();
                    let body = format!("match self {{ {arms} }}");
                    text += &implementation(&self.raised_type(operation), &body);
                }
            }
        }
        // What is the same for all is formatted already, and has comments.
        // Behind its head, which only a file of its own can have.
        let besides = |text: &'static str, is_needed: bool| {
            text.find('\n').filter(|_| is_needed).map_or("", |end| &text[end..])
        };
        let descriptors = besides(DESCRIPTORS, self.test.has_descriptors(model));
        let waiting = besides(WAITING, self.test.manner == Manner::Awaited);
        // The module alone: a function of the programs' own half may have its name.
        let stubs = format!("\nuse super::{}::{{self}};\n", self.stubs);
        format!("{SUPPORT}{descriptors}{waiting}{stubs}{}", printed(&text))
    }

    fn show_fields(&self, id: DeclarationId) -> String {
        let all = members(self.rust.model, id);
        let mut text = String::from("text.push('{');\n");
        for (index, (member, field)) in all.iter().zip(self.rust.field_names(id)).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            text += &format!("*text += \"{comma}{}: \";\nself.{field}.show(text);\n", member.name);
        }
        text + "text.push('}');\n"
    }

    fn show_union(&self, union: &Union) -> String {
        let (names, other) = variants(union);
        let mut arms = String::new();
        for (index, name) in names.iter().enumerate() {
            let show = "*text += \": \"; value.show(text);";
            match self.rust.is_selected_by_one(union, index as u32) {
                true => {
                    let label = self.label(union, index);
                    let declared = self.owned(&union.discriminator);
                    arms += &format!(
                        "Self::{name}(value) => {{ let selected: {declared} = {label}; \
                         selected.show(text); {show} }}\n"
                    );
                }
                false => {
                    arms += &format!(
                        "Self::{name}(selected, value) => {{ selected.show(text); {show} }}\n"
                    );
                }
            }
        }
        if union.default == UnionDefault::Implicit {
            arms += &format!("Self::{other}(selected) => selected.show(text),\n");
        }
        format!("text.push('(');\nmatch self {{ {arms} }}\ntext.push(')');\n")
    }

    /// The only label of a case.
    fn label(&self, union: &Union, index: usize) -> String {
        let discriminator: &Type = self.rust.model.resolved(&union.discriminator);
        let label = crate::selftest::label(&union.cases[index].labels[0], discriminator);
        self.expression(&union.discriminator, &label)
    }
}

fn implementation(name: &str, body: &str) -> String {
    format!("impl Shown for {name} {{ fn show(&self, text: &mut String) {{ {body} }} }}\n")
}
