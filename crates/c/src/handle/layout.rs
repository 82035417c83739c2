//! `include/nearcall_layout.h`: where the fields of shared records lie, and the numbers that both
//! sides know, for the C compiler to assert.

use std::mem::size_of;

use nearcall::raw::Reason;

use super::records::*;

/// Sizes and offsets of every record, as assertions in C.
fn layout_header() -> String {
    let mut text = String::from(
        "/* Made by crates/c/src/handle/layout.rs, where a test compares them. */\n\
         #ifndef NEARCALL_LAYOUT_H\n#define NEARCALL_LAYOUT_H\n\n",
    );
    assert_interfaces(&mut text);
    assert_messages(&mut text);
    assert_prealloc(&mut text);
    assert_brief_calls(&mut text);
    for (name, value) in numbers() {
        text += &format!("NEARCALL_ASSERT({name} == {value});\n");
    }
    for (name, value) in reasons() {
        text += &format!("NEARCALL_ASSERT(NEARCALL_REASON_{} == {value});\n", name.to_uppercase());
    }
    text + "\n#endif\n"
}

macro_rules! record {
    ($text:ident, $record:ty, $name:literal, $($field:ident),+) => {{
        let bytes = size_of::<$record>();
        *$text += &format!("NEARCALL_ASSERT(sizeof({}) == {bytes});\n", $name);
        $(
            let at = std::mem::offset_of!($record, $field);
            let field = stringify!($field);
            *$text += &format!("NEARCALL_ASSERT(offsetof({}, {field}) == {at});\n", $name);
        )+
        $text.push('\n');
    }};
}

/// Of environments and interfaces.
fn assert_interfaces(text: &mut String) {
    record!(
        text,
        Environment,
        "nearcall_environment",
        outcome,
        ran,
        exception_id,
        exception,
        release,
        incarnation,
        reason,
        message
    );
    record!(text, Class, "nearcall_class", block_bytes, count);
    record!(
        text,
        Procedure,
        "nearcall_procedure",
        name,
        hash,
        class_index,
        is_oneway,
        is_idempotent,
        is_leaf
    );
    record!(text, Appendable, "nearcall_appendable", name, hashes, hash_count, procedure);
    record!(
        text,
        Interface,
        "nearcall_interface",
        name,
        hash,
        procedures,
        classes,
        appendables,
        procedure_count,
        class_count,
        appendable_count,
        stub_bytes_max,
        is_awaited
    );
    assert_options(text);
    record!(text, super::current::ImporterRecord, "nearcall_importer", pid, uid, gid, known);
}

/// Of what imports and exports may be told.
fn assert_options(text: &mut String) {
    use super::knobs::DomainOptionsRecord as Knobs;
    use super::options::{ExportOptionsRecord as Export, ImportOptionsRecord as Import};
    record!(
        text,
        nearcall::WaitPolicy,
        "nearcall_wait_policy",
        linger_cycles_max,
        spin_ns_max,
        spin_ns_min,
        polls_per_spin,
        yields_max,
        yield_ns_max,
        slow_yields_ns_max,
        yield_ban_waits_min,
        yield_ban_waits_max,
        sleep_slice_ns_min,
        sleep_slice_ns_max
    );
    record!(
        text,
        Knobs,
        "nearcall_domain_options",
        wait,
        introduction_timeout_ns,
        mapped_bytes_max,
        own_bytes_max,
        estack_bytes,
        estacks_max,
        processors_max,
        bindings_max,
        handshakes_max,
        astacks_max,
        descriptors_max,
        mappings_max,
        open_descriptors_max,
        raises_descriptor_limit,
        is_dumpable
    );
    record!(
        text,
        Import,
        "nearcall_import_options",
        ready_timeout_ns,
        rebind_timeout_ns,
        timeout_ns,
        grows,
        directory,
        wait,
        ready_pidfd
    );
    record!(
        text,
        Export,
        "nearcall_export_options",
        policy,
        is_open_to_anyone,
        directory,
        runs_on_estacks,
        exceptions
    );
}

/// Of messages, and what goes with them.
fn assert_messages(text: &mut String) {
    record!(text, Put, "nearcall_put", bytes, byte_count, name, is_text, is_opaque, length_at);
    record!(
        text,
        Message,
        "nearcall_message",
        fixed,
        payloads,
        fixed_bytes,
        variable_at,
        payload_count,
        descriptor_count,
        descriptors
    );
    record!(text, DescriptorRecord, "nearcall_descriptor", name, kind, is_optional, is_there, fd);
    record!(text, Take, "nearcall_take", bytes, count, width, limit, form);
    record!(text, FillingRecord, "nearcall_filling", name, target, item_bytes);
    record!(
        text,
        ReplyRecord,
        "nearcall_reply",
        fixed,
        fixed_bytes,
        exception_count,
        is_kept,
        has_descriptors,
        raised,
        held
    );
    record!(text, PostedRecord, "nearcall_posted", state, held);
    record!(text, super::deferred::DeferredRecord, "nearcall_deferred", own, held);
    record!(text, SourceRecord, "nearcall_source", next, free, item_bytes, batch_count);
    record!(text, IntakeRecord, "nearcall_intake", take, end, free, item_bytes, result_bytes);
    record!(
        text,
        ExchangeRecord,
        "nearcall_exchange",
        free_taken,
        free_given,
        taken_bytes,
        given_bytes,
        batch_count,
        kind
    );
    record!(text, BatchRecord, "nearcall_batch", items, count);
    record!(text, OpaqueRecord, "nearcall_opaque", held);
    record!(text, MalformedRecord, "nearcall_malformed", kind, claimed, limit);
    record!(
        text,
        super::breach::BreachRecord,
        "nearcall_breach",
        name,
        allowed,
        value,
        limit,
        kind
    );
}

/// Of what a caller fills in, whose members are named as OMG IDL's mapping names them.
fn assert_prealloc(text: &mut String) {
    let bytes = size_of::<PreallocRecord>();
    *text += &format!("NEARCALL_ASSERT(sizeof(nearcall_prealloc) == {bytes});\n");
    for (member, at) in [
        ("_buffer", std::mem::offset_of!(PreallocRecord, buffer)),
        ("_length", std::mem::offset_of!(PreallocRecord, length)),
        ("_maximum", std::mem::offset_of!(PreallocRecord, maximum)),
        ("_grow", std::mem::offset_of!(PreallocRecord, grow)),
        ("_own", std::mem::offset_of!(PreallocRecord, own)),
    ] {
        *text += &format!("NEARCALL_ASSERT(offsetof(nearcall_prealloc, {member}) == {at});\n");
    }
    text.push('\n');
}

/// Of what brief calls use of the runtime.
fn assert_brief_calls(text: &mut String) {
    use super::domain::ClientRecord;
    let own = nearcall::raw::BRIEF_LAYOUT.iter().chain(nearcall::raw::AHEAD_LAYOUT);
    for (record, field, at) in own {
        *text += &format!("NEARCALL_ASSERT(offsetof({record}, {field}) == {at});\n");
    }
    for (record, bytes) in nearcall::raw::BRIEF_LENGTHS {
        *text += &format!("NEARCALL_ASSERT(sizeof({record}) == {bytes});\n");
    }
    let heads = size_of::<nearcall::raw::Brief>();
    *text += &format!("NEARCALL_ASSERT(sizeof(nearcall_brief) == {heads});\n");
    for (field, at) in [
        ("processor_offset", std::mem::offset_of!(ClientRecord, processor_offset)),
        ("briefs", std::mem::offset_of!(ClientRecord, briefs)),
        ("binding", std::mem::offset_of!(ClientRecord, binding)),
        ("lookout", std::mem::offset_of!(ClientRecord, lookout)),
    ] {
        *text += &format!("NEARCALL_ASSERT(offsetof(nearcall_client, {field}) == {at});\n");
    }
    text.push('\n');
}

/// Numbers that both sides know.
fn numbers() -> Vec<(&'static str, u32)> {
    use super::breach::kind as breach;
    let mut all = Outcome::NAMES.to_vec();
    all.extend([
        ("NEARCALL_RAN_NO", RanWord::No as u32),
        ("NEARCALL_RAN_MAYBE", RanWord::Maybe as u32),
        ("NEARCALL_RAN_YES", RanWord::Yes as u32),
        ("NEARCALL_FORM_BYTES", form::BYTES),
        ("NEARCALL_FORM_TEXT", form::TEXT),
        ("NEARCALL_FORM_LENT", form::LENT),
        ("NEARCALL_FORM_SCRATCH", form::SCRATCH),
        ("NEARCALL_FORM_ITEMS", form::ITEMS),
        ("NEARCALL_FORM_PREALLOC", form::PREALLOC),
        ("NEARCALL_BREACH_BOUND", breach::BOUND),
        ("NEARCALL_BREACH_TEXT", breach::TEXT),
        ("NEARCALL_BREACH_SIGNED", breach::SIGNED),
        ("NEARCALL_BREACH_UNSIGNED", breach::UNSIGNED),
        ("NEARCALL_BREACH_FLOAT", breach::FLOAT),
        ("NEARCALL_BREACH_DOUBLE", breach::DOUBLE),
        ("NEARCALL_BREACH_CHARACTER", breach::CHARACTER),
        ("NEARCALL_BREACH_LEVELS", breach::LEVELS),
        ("NEARCALL_POST_NOW", when::NOW),
        ("NEARCALL_POST_SPARE", when::SPARE),
        ("NEARCALL_POST_EITHER", when::EITHER),
        ("NEARCALL_NOT_POSTED", posted::NOT.into()),
        ("NEARCALL_POSTED_ONCE", posted::ONCE.into()),
        ("NEARCALL_POSTED_AHEAD", posted::AHEAD.into()),
        ("NEARCALL_POSTED_TWICE", posted::TWICE.into()),
        ("NEARCALL_POSTED_ENDED", posted::ENDED.into()),
        ("NEARCALL_DESCRIPTOR_ANY", kind::ANY),
        ("NEARCALL_DESCRIPTOR_FILE", kind::FILE),
        ("NEARCALL_DESCRIPTOR_SEGMENT", kind::SEGMENT),
        ("NEARCALL_DESCRIPTOR_SOCKET", kind::SOCKET),
        ("NEARCALL_DESCRIPTOR_BINDING", kind::BINDING),
        ("NEARCALL_CLASSES_MAX", nearcall_abi::message::CLASSES_MAX as u32),
        ("NEARCALL_BATCH_CALLS", nearcall::raw::BRIEF_BATCH_CALLS),
        ("NEARCALL_LINE_WORDS", nearcall_abi::INLINE_BYTES),
        ("NEARCALL_LINE_BYTES", nearcall_abi::LINE_BYTES),
        ("NEARCALL_LOOKS", nearcall::raw::BRIEF_LOOKS),
        ("NEARCALL_REVOKED", super::brief::REVOKED),
        ("NEARCALL_NTH_SHIFT", super::brief::NTH_SHIFT),
        ("NEARCALL_POSTED", super::brief::POSTED),
        ("NEARCALL_DEPTH_MAX", nearcall::raw::DEPTH_MAX as u32),
        ("NEARCALL_DEFAULT_BYTES_MAX", nearcall::raw::DEFAULT_BYTES_MAX as u32),
    ]);
    all
}

/// Every reason that there is, as C++ names it.
fn reasons() -> Vec<(String, u32)> {
    let of = |reason: &Reason| (snake_case(&format!("{reason:?}")), *reason as u32);
    let all = Reason::ALL.iter().map(of);
    std::iter::once((String::from("none"), NO_REASON)).chain(all).collect()
}

fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

#[test]
fn cpp_has_every_reason_and_no_other() {
    let header = include_str!("../../include/nearcall.hpp");
    let all: Vec<String> = reasons()
        .iter()
        .map(|(name, _)| format!("    {name} = NEARCALL_REASON_{},", name.to_uppercase()))
        .collect();
    let start = header.find("enum class reason : std::uint32_t {").expect("it is there");
    let there: Vec<&str> =
        header[start..].lines().skip(1).take_while(|line| *line != "};").collect();
    assert_eq!(there, all);
}

#[test]
fn the_header_asserts_this_layout() {
    expect_test::expect_file!["../../include/nearcall_layout.h"].assert_eq(&layout_header());
}
