//! The clauses that rules cite are sections of formal/18-01-05, or of what else is named here.

use std::collections::BTreeSet;

use super::super::all_rules;

/// Sections of the specification with their titles, as its text has them.
const CLAUSES: &[(&str, &str)] = &[
    ("7.2", "Lexical Conventions"),
    ("7.2.2", "Comments"),
    ("7.2.3", "Identifiers"),
    ("7.2.3.1", "Collision Rules"),
    ("7.2.4", "Keywords"),
    ("7.2.5", "Other Characters Recognized by IDL"),
    ("7.2.6", "Literals"),
    ("7.2.6.1", "Integer Literals"),
    ("7.2.6.2.1", "Wide and Non-wide Characters"),
    ("7.2.6.2.2", "Escape Sequences to Represent Character Literals"),
    ("7.2.6.3", "String Literals"),
    ("7.2.6.4", "Floating-point Literals"),
    ("7.3", "Preprocessing"),
    ("7.4", "IDL Grammar"),
    ("7.4.1.4.3", "Constants"),
    ("7.4.1.4.4.1", "Referencing Types"),
    ("7.4.1.4.4.3.2", "Strings"),
    ("7.4.1.4.4.3.4", "Fixed Type"),
    ("7.4.1.4.4.4", "Constructed Types"),
    ("7.4.1.4.4.4.2", "Unions"),
    ("7.4.1.4.4.4.3", "Enumerations"),
    ("7.4.1.4.4.4.4", "Constructed Recursive Types and Forward Declarations"),
    ("7.4.1.4.4.6", "Native Types"),
    ("7.4.2", "Building Block Any"),
    ("7.4.3.4.2", "Exceptions"),
    ("7.4.3.4.3.2", "Interface Inheritance"),
    ("7.4.3.4.3.2.1", "Inheritance Rules"),
    ("7.4.3.4.3.3", "Interface Body"),
    ("7.4.3.4.3.3.1", "Operations"),
    ("7.4.3.4.3.3.2", "Attributes"),
    ("7.4.3.4.3.4", "Forward Declaration"),
    ("7.4.4.4", "Interfaces - Full: Explanations and Semantics"),
    ("7.4.5", "Building Block Value Types"),
    ("7.4.6.4.1.1", "Repository Identity Declaration"),
    ("7.4.6.4.1.3", "Repository Id Conflict"),
    ("7.4.6.4.1.4", "Imports"),
    ("7.4.6.4.2", "Object"),
    ("7.4.6.4.3", "Local Interfaces"),
    ("7.4.6.4.5", "One-way Operations"),
    ("7.4.6.4.6", "Context Expressions"),
    ("7.4.6.4.7", "CORBA Module"),
    ("7.4.7.4.2.2", "Abstract Interfaces"),
    ("7.4.7.4.6", "Value Base"),
    ("7.4.8", "Building Block Components - Basic"),
    ("7.4.9", "Building Block Components - Homes"),
    ("7.4.10.4.1.1", "Event Types"),
    ("7.4.11", "Building Block Components - Ports and Connectors"),
    ("7.4.12", "Building Block Template Modules"),
    ("7.4.13.4.1", "Structures with Single Inheritance and/or Void Content"),
    ("7.4.13.4.2", "Union Discriminators"),
    ("7.4.13.4.3.2", "Bit Sets (including Bit Fields)"),
    ("7.4.13.4.3.3", "Bit Masks"),
    ("7.4.15.4.1", "Defining Annotations"),
    ("7.4.15.4.2", "Applying Annotations"),
    ("7.5.1", "Qualified Names"),
    ("7.5.2", "Scoping Rules and Name Resolution"),
    ("8.2.2", "Rules for Using Standardized Annotations"),
    ("8.3", "Standardized Groups of Annotations"),
    ("8.3.1.1", "@id Annotation"),
    ("8.3.1.5", "@value Annotation"),
    ("8.3.1.6", "@extensibility Annotation"),
    ("8.3.2.3", "@default_literal Annotation"),
    ("8.3.3.1", "@default Annotation"),
    ("8.3.3.2", "@range Annotation"),
    ("8.3.4.1", "@bit_bound Annotation"),
];

/// Of the specification of DCE 1.1 RPC the chapter, and the sections whose numbers are known from
/// what cites them; of Microsoft's reference of MIDL the entries.
const OF_MIDL: &[(&str, &str)] = &[
    ("C706 4", "Interface Definition Language"),
    ("C706 4.2.14", "Pipes"),
    ("C706 4.2.16.6", "Context handles"),
    ("C706 4.2.4.1", "The uuid attribute"),
    ("C706 4.2.4.2", "The version attribute"),
    ("MIDL case", "case attribute"),
    ("MIDL cpp_quote", "cpp_quote"),
    ("MIDL local", "local attribute"),
    ("MIDL object", "object attribute"),
    ("MIDL size_is", "size_is attribute"),
    ("MIDL string", "string attribute"),
    ("MIDL switch_is", "switch_is attribute"),
    ("MIDL void", "void"),
];

/// Of the language of Protocol Buffers the whole: its specification has no numbers.
const OF_PROTO: &[(&str, &str)] = &[("proto3", "Protocol Buffers Language Specification (Proto3)")];

/// Numbers of rules that are no more.
const RETIRED: &[&str] = &["E0217", "E0406"];

#[test]
fn every_rule_cites_a_section_of_the_specification_or_is_ours() {
    let all = CLAUSES.iter().chain(OF_MIDL).chain(OF_PROTO);
    let known: BTreeSet<&str> = all.map(|(number, _)| *number).collect();
    let cited: BTreeSet<&str> =
        all_rules().map(|rule| rule.clause).filter(|clause| *clause != "ours").collect();
    let unknown: Vec<_> = cited.difference(&known).collect();
    let unused: Vec<_> = known.difference(&cited).collect();
    assert!(unknown.is_empty() && unused.is_empty(), "unknown {unknown:?}, unused {unused:?}");
    println!("{} rules, {} sections", all_rules().count(), cited.len());
    assert!(all_rules().count() > 190 && cited.len() == known.len());
}

#[test]
fn a_retired_number_is_not_given_again() {
    for rule in all_rules() {
        assert!(!RETIRED.contains(&rule.code), "{} is retired", rule.code);
    }
    assert!(!RETIRED.is_empty());
}
