//! The standard annotations of clause 8, and Nearcall's own, as a table.

use super::annotation::Place;
use super::annotation::Place::{
    Alias, Attribute, Bitmask, Bitset, Case, Constant, Enum, Enumerator, Exception, Flag,
    Interface, Member, Module, Operation, Parameter, Struct, Union,
};

/// An annotation that everyone knows.
pub(super) struct Standard {
    pub name: &'static str,
    /// What it may be applied to.
    pub places: &'static [Place],
    pub parameters: &'static [StandardParameter],
}

/// One of its parameters.
pub(super) struct StandardParameter {
    pub name: &'static str,
    pub takes: Takes,
    pub absent: Absent,
}

/// What a parameter takes.
#[derive(Clone, Copy)]
pub(super) enum Takes {
    Boolean,
    Text,
    /// A whole number in this range.
    Number(i128, i128),
    /// A value of the type of what is annotated.
    Subject,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// What holds for a parameter that is not given.
#[derive(Clone, Copy)]
pub(super) enum Absent {
    /// It has to be given.
    Refused,
    /// It stays away.
    Away,
    True,
    Text(&'static str),
}

const TYPES: &[Place] = &[Struct, Union, Enum, Bitmask, Bitset, Exception];
const VALUES: &[Place] = &[Member, Case, Alias, Parameter, Attribute];
const EVERYWHERE: &[Place] = &[
    Module, Constant, Alias, Struct, Union, Enum, Bitmask, Bitset, Exception, Interface, Operation,
    Attribute, Parameter, Member, Case, Enumerator, Flag,
];
const EXTENSIBILITIES: &[&str] = &["FINAL", "APPENDABLE", "MUTABLE"];
const DESCRIPTOR_KINDS: &[&str] = &["ANY", "BINDING", "FILE", "SEGMENT", "SOCKET"];
const PLACEMENTS: &[&str] = &[
    "BEGIN_FILE",
    "BEFORE_DECLARATION",
    "BEGIN_DECLARATION",
    "END_DECLARATION",
    "AFTER_DECLARATION",
    "END_FILE",
];

const IS: StandardParameter =
    StandardParameter { name: "value", takes: Takes::Boolean, absent: Absent::True };

const fn required(name: &'static str, takes: Takes) -> StandardParameter {
    StandardParameter { name, takes, absent: Absent::Refused }
}

const fn optional(name: &'static str, takes: Takes) -> StandardParameter {
    StandardParameter { name, takes, absent: Absent::Away }
}

const fn text(name: &'static str, absent: &'static str) -> StandardParameter {
    StandardParameter { name, takes: Takes::Text, absent: Absent::Text(absent) }
}

/// A-stacks that an operation may ask for.
pub(in crate::front) const ASTACKS_MAX: u32 = 1_024;

/// Bytes of an A-stack that it may ask for.
pub(in crate::front) const ASTACK_BYTES_MAX: u32 = 1 << 20;

const NUMBER: Takes = Takes::Number(0, u32::MAX as i128);
const SHORT: Takes = Takes::Number(0, u16::MAX as i128);
const COUNT: Takes = Takes::Number(1, ASTACKS_MAX as i128);
const BYTES: Takes = Takes::Number(1, ASTACK_BYTES_MAX as i128);
const ENUM_VALUE: Takes = Takes::Number(i32::MIN as i128, u32::MAX as i128);

const fn standard(
    name: &'static str,
    places: &'static [Place],
    parameters: &'static [StandardParameter],
) -> Standard {
    Standard { name, places, parameters }
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    STANDARD.iter().map(|one| one.name)
}

/// By name.
pub(super) fn find(name: &str) -> Option<&'static Standard> {
    STANDARD.iter().find(|one| one.name == name)
}

static STANDARD: &[Standard] = &[
    // 8.3.1 General purpose
    standard("id", &[Member, Case], &[required("value", NUMBER)]),
    standard(
        "autoid",
        &[Module, Struct, Union],
        &[StandardParameter {
            name: "value",
            takes: Takes::Word(&["SEQUENTIAL", "HASH"]),
            absent: Absent::Text("HASH"),
        }],
    ),
    standard("optional", &[Member, Parameter, Operation], &[IS]),
    standard("position", &[Flag], &[required("value", SHORT)]),
    standard("value", &[Enumerator], &[required("value", ENUM_VALUE)]),
    standard("extensibility", TYPES, &[required("value", Takes::Word(EXTENSIBILITIES))]),
    standard("final", TYPES, &[]),
    standard("appendable", TYPES, &[]),
    standard("mutable", TYPES, &[]),
    // 8.3.2 Data modelling
    standard("key", &[Member, Case], &[IS]),
    standard("must_understand", &[Member, Case], &[IS]),
    standard("default_literal", &[Enumerator], &[]),
    // 8.3.3 Units and ranges
    standard("default", VALUES, &[required("value", Takes::Subject)]),
    standard("range", VALUES, &[required("min", Takes::Subject), required("max", Takes::Subject)]),
    standard("min", VALUES, &[required("value", Takes::Subject)]),
    standard("max", VALUES, &[required("value", Takes::Subject)]),
    standard("unit", VALUES, &[required("value", Takes::Text)]),
    // 8.3.4 Data implementation
    standard("bit_bound", &[Enum, Bitmask], &[required("value", SHORT)]),
    standard("external", &[Member, Case], &[IS]),
    standard("nested", TYPES, &[IS]),
    // 8.3.5 Code generation
    standard(
        "verbatim",
        EVERYWHERE,
        &[
            text("language", "*"),
            StandardParameter {
                name: "placement",
                takes: Takes::Word(PLACEMENTS),
                absent: Absent::Text("BEFORE_DECLARATION"),
            },
            required("text", Takes::Text),
        ],
    ),
    // 8.3.6 Interfaces
    standard("service", &[Interface], &[text("platform", "*")]),
    standard("oneway", &[Operation], &[IS]),
    standard("ami", &[Interface, Operation, Attribute], &[IS]),
    // Nearcall's own
    standard("opaque", &[Parameter, Operation, Attribute], &[IS]),
    standard("prealloc", &[Parameter, Operation], &[IS]),
    standard("typical", &[Parameter, Operation, Attribute], &[required("bytes", BYTES)]),
    standard(
        "fd",
        &[Parameter, Operation],
        &[StandardParameter {
            name: "kind",
            takes: Takes::Word(DESCRIPTOR_KINDS),
            absent: Absent::Text("ANY"),
        }],
    ),
    standard("feed", &[Parameter, Operation], &[IS]),
    standard("idempotent", &[Operation, Attribute], &[IS]),
    standard("leaf", &[Operation, Attribute], &[IS]),
    standard(
        "astack",
        &[Operation, Attribute],
        &[optional("count", COUNT), optional("bytes", BYTES)],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_standard_annotation_of_clause_8_is_there() {
        let names = [
            "id",
            "autoid",
            "optional",
            "position",
            "value",
            "extensibility",
            "final",
            "appendable",
            "mutable",
            "key",
            "must_understand",
            "default_literal",
            "default",
            "range",
            "min",
            "max",
            "unit",
            "bit_bound",
            "external",
            "nested",
            "verbatim",
            "service",
            "oneway",
            "ami",
        ];
        assert!(names.iter().all(|name| find(name).is_some()));
        assert!(find("keys").is_none());
    }

    #[test]
    fn users_are_told_of_every_annotation() {
        let document = include_str!("../../../../../docs/interface-files.md");
        assert!(STANDARD.len() > 30);
        for annotation in STANDARD {
            let name = format!("`@{}", annotation.name);
            let told = document
                .match_indices(&name)
                .any(|(at, _)| document[at + name.len()..].starts_with(['`', '(']));
            assert!(told, "{name} is not in docs/interface-files.md");
        }
    }
}
