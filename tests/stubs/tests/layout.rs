//! What holds for the layout of every interface, over many random ones.

#![forbid(unsafe_code)]

use std::path::Path;

use nearcall_idl::back::rust::compile_rust;
use nearcall_idl::front::compile_from;
use nearcall_idl::front::options::Options;
use nearcall_idl::front::preprocessor::files::InMemory;
use nearcall_idl::layout::{ItemKind, MessageLayout, OperationLayout, Place, interface};
use nearcall_idl::model::{Direction, Model, Operation};
use nearcall_idl::source::SourceMap;
use random_interface::{RandomInterface, interfaces};

use proptest::prelude::*;

fn model(random: &RandomInterface) -> Model {
    let mut files = InMemory::default();
    let text = random.idl("random");
    files.insert("random.idl", text.clone());
    let mut sources = SourceMap::default();
    let compilation =
        compile_from(&files, Path::new("random.idl"), &Options::default(), &mut sources);
    compilation.model.unwrap_or_else(|| panic!("{text}\n{:?}", compilation.diagnostics))
}

fn bytes(kind: ItemKind) -> u32 {
    match kind {
        ItemKind::Scalar(scalar) => scalar.width().into(),
        ItemKind::Block { bytes } | ItemKind::Image { bytes } => bytes,
        ItemKind::Length => 4,
        ItemKind::Presence => 1,
    }
}

/// No byte is in two items, words are aligned, and everything lies before what comes after.
fn check_message(message: &MessageLayout) {
    let mut end = 0;
    for item in &message.items {
        assert!(item.at >= end, "{item:?} begins before {end}");
        if matches!(item.kind, ItemKind::Scalar(_) | ItemKind::Length) {
            assert_eq!(item.at % bytes(item.kind), 0, "{item:?}");
        }
        end = item.at + bytes(item.kind);
    }
    assert_eq!(message.fixed_bytes, end);
    assert!(message.variable_at >= end && message.variable_at.is_multiple_of(8));
    let filled: u32 = message.items.iter().map(|item| bytes(item.kind)).sum();
    // One gap before the blocks, and one of the inout words that nothing fitted.
    assert!(end - filled < 16, "{} of {end} bytes are wasted", end - filled);
}

/// Words of inout parameters lie at the same place of both messages.
fn check_inout(operation: &Operation, layout: &OperationLayout) {
    let words = |message: &MessageLayout| -> Vec<(Place, u32)> {
        let is_inout = |place: &Place| {
            let mut parameters = (0u32..).zip(&operation.parameters);
            parameters.any(|(index, parameter)| {
                parameter.direction == Direction::Inout
                    && place.root == nearcall_idl::layout::Root::Parameter(index)
            })
        };
        let words = message.items.iter().filter(|item| {
            is_inout(&item.place) && matches!(item.kind, ItemKind::Scalar(_) | ItemKind::Length)
        });
        words.map(|item| (item.place.clone(), item.at)).collect()
    };
    assert_eq!(words(&layout.request), words(&layout.reply));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_message_is_aligned_packed_and_without_overlap(random in interfaces()) {
        let model = model(&random);
        for (_, _, declared) in model.interfaces() {
            let layout = interface(&model, declared);
            for (operation, layout) in declared.operations.iter().zip(&layout.operations) {
                layout.messages().for_each(check_message);
                check_inout(operation, layout);
            }
            for pair in layout.classes.windows(2) {
                prop_assert!(pair[0].block_bytes < pair[1].block_bytes);
            }
        }
    }

    #[test]
    fn every_interface_becomes_rust(random in interfaces()) {
        // It ends with an error if what was printed is no Rust.
        prop_assert!(compile_rust(&model(&random)).contains("pub trait RandomServer"));
    }
}
