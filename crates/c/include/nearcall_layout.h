/* Made by crates/c/src/handle/layout.rs, where a test compares them. */
#ifndef NEARCALL_LAYOUT_H
#define NEARCALL_LAYOUT_H

NEARCALL_ASSERT(sizeof(nearcall_environment) == 280);
NEARCALL_ASSERT(offsetof(nearcall_environment, outcome) == 0);
NEARCALL_ASSERT(offsetof(nearcall_environment, ran) == 4);
NEARCALL_ASSERT(offsetof(nearcall_environment, exception_id) == 8);
NEARCALL_ASSERT(offsetof(nearcall_environment, exception) == 16);
NEARCALL_ASSERT(offsetof(nearcall_environment, release) == 24);
NEARCALL_ASSERT(offsetof(nearcall_environment, incarnation) == 32);
NEARCALL_ASSERT(offsetof(nearcall_environment, reason) == 40);
NEARCALL_ASSERT(offsetof(nearcall_environment, message) == 44);

NEARCALL_ASSERT(sizeof(nearcall_class) == 8);
NEARCALL_ASSERT(offsetof(nearcall_class, block_bytes) == 0);
NEARCALL_ASSERT(offsetof(nearcall_class, count) == 4);

NEARCALL_ASSERT(sizeof(nearcall_procedure) == 32);
NEARCALL_ASSERT(offsetof(nearcall_procedure, name) == 0);
NEARCALL_ASSERT(offsetof(nearcall_procedure, hash) == 8);
NEARCALL_ASSERT(offsetof(nearcall_procedure, class_index) == 24);
NEARCALL_ASSERT(offsetof(nearcall_procedure, is_oneway) == 25);
NEARCALL_ASSERT(offsetof(nearcall_procedure, is_idempotent) == 26);
NEARCALL_ASSERT(offsetof(nearcall_procedure, is_leaf) == 27);

NEARCALL_ASSERT(sizeof(nearcall_appendable) == 24);
NEARCALL_ASSERT(offsetof(nearcall_appendable, name) == 0);
NEARCALL_ASSERT(offsetof(nearcall_appendable, hashes) == 8);
NEARCALL_ASSERT(offsetof(nearcall_appendable, hash_count) == 16);
NEARCALL_ASSERT(offsetof(nearcall_appendable, procedure) == 20);

NEARCALL_ASSERT(sizeof(nearcall_interface) == 72);
NEARCALL_ASSERT(offsetof(nearcall_interface, name) == 0);
NEARCALL_ASSERT(offsetof(nearcall_interface, hash) == 8);
NEARCALL_ASSERT(offsetof(nearcall_interface, procedures) == 24);
NEARCALL_ASSERT(offsetof(nearcall_interface, classes) == 32);
NEARCALL_ASSERT(offsetof(nearcall_interface, appendables) == 40);
NEARCALL_ASSERT(offsetof(nearcall_interface, procedure_count) == 48);
NEARCALL_ASSERT(offsetof(nearcall_interface, class_count) == 52);
NEARCALL_ASSERT(offsetof(nearcall_interface, appendable_count) == 56);
NEARCALL_ASSERT(offsetof(nearcall_interface, stub_bytes_max) == 60);
NEARCALL_ASSERT(offsetof(nearcall_interface, is_awaited) == 64);

NEARCALL_ASSERT(sizeof(nearcall_wait_policy) == 56);
NEARCALL_ASSERT(offsetof(nearcall_wait_policy, linger_cycles_max) == 0);
NEARCALL_ASSERT(offsetof(nearcall_wait_policy, spin_ns_max) == 4);
NEARCALL_ASSERT(offsetof(nearcall_wait_policy, spin_ns_min) == 8);
NEARCALL_ASSERT(offsetof(nearcall_wait_policy, polls_per_spin) == 12);
NEARCALL_ASSERT(offsetof(nearcall_wait_policy, yields_max) == 16);
NEARCALL_ASSERT(offsetof(nearcall_wait_policy, yield_ns_max) == 20);
NEARCALL_ASSERT(offsetof(nearcall_wait_policy, slow_yields_ns_max) == 24);
NEARCALL_ASSERT(offsetof(nearcall_wait_policy, yield_ban_waits_min) == 28);
NEARCALL_ASSERT(offsetof(nearcall_wait_policy, yield_ban_waits_max) == 32);
NEARCALL_ASSERT(offsetof(nearcall_wait_policy, sleep_slice_ns_min) == 40);
NEARCALL_ASSERT(offsetof(nearcall_wait_policy, sleep_slice_ns_max) == 48);

NEARCALL_ASSERT(sizeof(nearcall_domain_options) == 128);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, wait) == 0);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, introduction_timeout_ns) == 56);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, mapped_bytes_max) == 64);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, own_bytes_max) == 72);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, estack_bytes) == 80);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, estacks_max) == 88);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, processors_max) == 92);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, bindings_max) == 96);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, handshakes_max) == 100);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, astacks_max) == 104);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, descriptors_max) == 108);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, mappings_max) == 112);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, open_descriptors_max) == 116);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, raises_descriptor_limit) == 120);
NEARCALL_ASSERT(offsetof(nearcall_domain_options, is_dumpable) == 121);

NEARCALL_ASSERT(sizeof(nearcall_import_options) == 56);
NEARCALL_ASSERT(offsetof(nearcall_import_options, ready_timeout_ns) == 0);
NEARCALL_ASSERT(offsetof(nearcall_import_options, rebind_timeout_ns) == 8);
NEARCALL_ASSERT(offsetof(nearcall_import_options, timeout_ns) == 16);
NEARCALL_ASSERT(offsetof(nearcall_import_options, grows) == 24);
NEARCALL_ASSERT(offsetof(nearcall_import_options, directory) == 32);
NEARCALL_ASSERT(offsetof(nearcall_import_options, wait) == 40);
NEARCALL_ASSERT(offsetof(nearcall_import_options, ready_pidfd) == 48);

NEARCALL_ASSERT(sizeof(nearcall_export_options) == 40);
NEARCALL_ASSERT(offsetof(nearcall_export_options, policy) == 0);
NEARCALL_ASSERT(offsetof(nearcall_export_options, is_open_to_anyone) == 8);
NEARCALL_ASSERT(offsetof(nearcall_export_options, directory) == 16);
NEARCALL_ASSERT(offsetof(nearcall_export_options, runs_on_estacks) == 24);
NEARCALL_ASSERT(offsetof(nearcall_export_options, exceptions) == 32);

NEARCALL_ASSERT(sizeof(nearcall_importer) == 32);
NEARCALL_ASSERT(offsetof(nearcall_importer, pid) == 0);
NEARCALL_ASSERT(offsetof(nearcall_importer, uid) == 8);
NEARCALL_ASSERT(offsetof(nearcall_importer, gid) == 16);
NEARCALL_ASSERT(offsetof(nearcall_importer, known) == 24);

NEARCALL_ASSERT(sizeof(nearcall_put) == 32);
NEARCALL_ASSERT(offsetof(nearcall_put, bytes) == 0);
NEARCALL_ASSERT(offsetof(nearcall_put, byte_count) == 8);
NEARCALL_ASSERT(offsetof(nearcall_put, name) == 16);
NEARCALL_ASSERT(offsetof(nearcall_put, is_text) == 24);
NEARCALL_ASSERT(offsetof(nearcall_put, is_opaque) == 25);
NEARCALL_ASSERT(offsetof(nearcall_put, length_at) == 28);

NEARCALL_ASSERT(sizeof(nearcall_message) == 40);
NEARCALL_ASSERT(offsetof(nearcall_message, fixed) == 0);
NEARCALL_ASSERT(offsetof(nearcall_message, payloads) == 8);
NEARCALL_ASSERT(offsetof(nearcall_message, fixed_bytes) == 16);
NEARCALL_ASSERT(offsetof(nearcall_message, variable_at) == 20);
NEARCALL_ASSERT(offsetof(nearcall_message, payload_count) == 24);
NEARCALL_ASSERT(offsetof(nearcall_message, descriptor_count) == 28);
NEARCALL_ASSERT(offsetof(nearcall_message, descriptors) == 32);

NEARCALL_ASSERT(sizeof(nearcall_descriptor) == 16);
NEARCALL_ASSERT(offsetof(nearcall_descriptor, name) == 0);
NEARCALL_ASSERT(offsetof(nearcall_descriptor, kind) == 8);
NEARCALL_ASSERT(offsetof(nearcall_descriptor, is_optional) == 10);
NEARCALL_ASSERT(offsetof(nearcall_descriptor, is_there) == 11);
NEARCALL_ASSERT(offsetof(nearcall_descriptor, fd) == 12);

NEARCALL_ASSERT(sizeof(nearcall_take) == 24);
NEARCALL_ASSERT(offsetof(nearcall_take, bytes) == 0);
NEARCALL_ASSERT(offsetof(nearcall_take, count) == 8);
NEARCALL_ASSERT(offsetof(nearcall_take, width) == 12);
NEARCALL_ASSERT(offsetof(nearcall_take, limit) == 16);
NEARCALL_ASSERT(offsetof(nearcall_take, form) == 20);

NEARCALL_ASSERT(sizeof(nearcall_filling) == 24);
NEARCALL_ASSERT(offsetof(nearcall_filling, name) == 0);
NEARCALL_ASSERT(offsetof(nearcall_filling, target) == 8);
NEARCALL_ASSERT(offsetof(nearcall_filling, item_bytes) == 16);

NEARCALL_ASSERT(sizeof(nearcall_reply) == 88);
NEARCALL_ASSERT(offsetof(nearcall_reply, fixed) == 0);
NEARCALL_ASSERT(offsetof(nearcall_reply, fixed_bytes) == 8);
NEARCALL_ASSERT(offsetof(nearcall_reply, exception_count) == 12);
NEARCALL_ASSERT(offsetof(nearcall_reply, is_kept) == 16);
NEARCALL_ASSERT(offsetof(nearcall_reply, has_descriptors) == 17);
NEARCALL_ASSERT(offsetof(nearcall_reply, raised) == 20);
NEARCALL_ASSERT(offsetof(nearcall_reply, held) == 24);

NEARCALL_ASSERT(sizeof(nearcall_posted) == 56);
NEARCALL_ASSERT(offsetof(nearcall_posted, state) == 0);
NEARCALL_ASSERT(offsetof(nearcall_posted, held) == 8);

NEARCALL_ASSERT(sizeof(nearcall_deferred) == 16);
NEARCALL_ASSERT(offsetof(nearcall_deferred, own) == 0);
NEARCALL_ASSERT(offsetof(nearcall_deferred, held) == 8);

NEARCALL_ASSERT(sizeof(nearcall_source) == 24);
NEARCALL_ASSERT(offsetof(nearcall_source, next) == 0);
NEARCALL_ASSERT(offsetof(nearcall_source, free) == 8);
NEARCALL_ASSERT(offsetof(nearcall_source, item_bytes) == 16);
NEARCALL_ASSERT(offsetof(nearcall_source, batch_count) == 20);

NEARCALL_ASSERT(sizeof(nearcall_intake) == 32);
NEARCALL_ASSERT(offsetof(nearcall_intake, take) == 0);
NEARCALL_ASSERT(offsetof(nearcall_intake, end) == 8);
NEARCALL_ASSERT(offsetof(nearcall_intake, free) == 16);
NEARCALL_ASSERT(offsetof(nearcall_intake, item_bytes) == 24);
NEARCALL_ASSERT(offsetof(nearcall_intake, result_bytes) == 28);

NEARCALL_ASSERT(sizeof(nearcall_exchange) == 32);
NEARCALL_ASSERT(offsetof(nearcall_exchange, free_taken) == 0);
NEARCALL_ASSERT(offsetof(nearcall_exchange, free_given) == 8);
NEARCALL_ASSERT(offsetof(nearcall_exchange, taken_bytes) == 16);
NEARCALL_ASSERT(offsetof(nearcall_exchange, given_bytes) == 20);
NEARCALL_ASSERT(offsetof(nearcall_exchange, batch_count) == 24);
NEARCALL_ASSERT(offsetof(nearcall_exchange, kind) == 28);

NEARCALL_ASSERT(sizeof(nearcall_batch) == 16);
NEARCALL_ASSERT(offsetof(nearcall_batch, items) == 0);
NEARCALL_ASSERT(offsetof(nearcall_batch, count) == 8);

NEARCALL_ASSERT(sizeof(nearcall_opaque) == 16);
NEARCALL_ASSERT(offsetof(nearcall_opaque, held) == 0);

NEARCALL_ASSERT(sizeof(nearcall_malformed) == 24);
NEARCALL_ASSERT(offsetof(nearcall_malformed, kind) == 0);
NEARCALL_ASSERT(offsetof(nearcall_malformed, claimed) == 8);
NEARCALL_ASSERT(offsetof(nearcall_malformed, limit) == 16);

NEARCALL_ASSERT(sizeof(nearcall_breach) == 40);
NEARCALL_ASSERT(offsetof(nearcall_breach, name) == 0);
NEARCALL_ASSERT(offsetof(nearcall_breach, allowed) == 8);
NEARCALL_ASSERT(offsetof(nearcall_breach, value) == 16);
NEARCALL_ASSERT(offsetof(nearcall_breach, limit) == 24);
NEARCALL_ASSERT(offsetof(nearcall_breach, kind) == 32);

NEARCALL_ASSERT(sizeof(nearcall_prealloc) == 32);
NEARCALL_ASSERT(offsetof(nearcall_prealloc, _buffer) == 0);
NEARCALL_ASSERT(offsetof(nearcall_prealloc, _length) == 8);
NEARCALL_ASSERT(offsetof(nearcall_prealloc, _maximum) == 12);
NEARCALL_ASSERT(offsetof(nearcall_prealloc, _grow) == 16);
NEARCALL_ASSERT(offsetof(nearcall_prealloc, _own) == 24);

NEARCALL_ASSERT(offsetof(nearcall_bias, owner) == 0);
NEARCALL_ASSERT(offsetof(nearcall_bias, free) == 8);
NEARCALL_ASSERT(offsetof(nearcall_astack, head) == 0);
NEARCALL_ASSERT(offsetof(nearcall_astack, own_line) == 8);
NEARCALL_ASSERT(offsetof(nearcall_astack, peer_line) == 16);
NEARCALL_ASSERT(offsetof(nearcall_astack, sequence) == 32);
NEARCALL_ASSERT(offsetof(nearcall_astack, server_processor) == 36);
NEARCALL_ASSERT(offsetof(nearcall_astack, linger) == 56);
NEARCALL_ASSERT(offsetof(nearcall_astack, kept) == 48);
NEARCALL_ASSERT(offsetof(nearcall_astack, outstanding) == 60);
NEARCALL_ASSERT(offsetof(nearcall_binding, biases) == 256);
NEARCALL_ASSERT(offsetof(nearcall_head, turn) == 0);
NEARCALL_ASSERT(offsetof(nearcall_head, selector) == 4);
NEARCALL_ASSERT(offsetof(nearcall_head, message_bytes) == 8);
NEARCALL_ASSERT(offsetof(nearcall_head, origin) == 12);
NEARCALL_ASSERT(offsetof(nearcall_head, words) == 16);
NEARCALL_ASSERT(offsetof(nearcall_brief, bias) == 0);
NEARCALL_ASSERT(offsetof(nearcall_brief, astack) == 8);
NEARCALL_ASSERT(offsetof(nearcall_ahead, binding) == 0);
NEARCALL_ASSERT(offsetof(nearcall_ahead, astack) == 8);
NEARCALL_ASSERT(offsetof(nearcall_ahead, procedure) == 16);
NEARCALL_ASSERT(offsetof(nearcall_ahead, deadline_ns) == 24);
NEARCALL_ASSERT(offsetof(nearcall_ahead, deadline_word) == 32);
NEARCALL_ASSERT(offsetof(nearcall_ahead, lead) == 40);
NEARCALL_ASSERT(sizeof(nearcall_bias) == 64);
NEARCALL_ASSERT(sizeof(nearcall_astack) == 256);
NEARCALL_ASSERT(sizeof(nearcall_ahead) == 48);
NEARCALL_ASSERT(sizeof(nearcall_brief) == 16);
NEARCALL_ASSERT(offsetof(nearcall_client, processor_offset) == 0);
NEARCALL_ASSERT(offsetof(nearcall_client, briefs) == 8);
NEARCALL_ASSERT(offsetof(nearcall_client, binding) == 264);
NEARCALL_ASSERT(offsetof(nearcall_client, lookout) == 272);

NEARCALL_ASSERT(NEARCALL_RETURNED == 0);
NEARCALL_ASSERT(NEARCALL_RAISED == 1);
NEARCALL_ASSERT(NEARCALL_USAGE == 2);
NEARCALL_ASSERT(NEARCALL_NO_ASTACK == 3);
NEARCALL_ASSERT(NEARCALL_NOT_EXECUTED == 4);
NEARCALL_ASSERT(NEARCALL_CALL_FAILED == 5);
NEARCALL_ASSERT(NEARCALL_CALL_ABORTED == 6);
NEARCALL_ASSERT(NEARCALL_PANICKED == 7);
NEARCALL_ASSERT(NEARCALL_RESULTS_REFUSED == 8);
NEARCALL_ASSERT(NEARCALL_PEER == 9);
NEARCALL_ASSERT(NEARCALL_NOT_BOUND == 10);
NEARCALL_ASSERT(NEARCALL_NOT_EXPORTED == 11);
NEARCALL_ASSERT(NEARCALL_NO_MEMORY == 12);
NEARCALL_ASSERT(NEARCALL_SYSTEM == 13);
NEARCALL_ASSERT(NEARCALL_GIVEN_UP == 14);
NEARCALL_ASSERT(NEARCALL_RAN_NO == 0);
NEARCALL_ASSERT(NEARCALL_RAN_MAYBE == 1);
NEARCALL_ASSERT(NEARCALL_RAN_YES == 2);
NEARCALL_ASSERT(NEARCALL_FORM_BYTES == 0);
NEARCALL_ASSERT(NEARCALL_FORM_TEXT == 1);
NEARCALL_ASSERT(NEARCALL_FORM_LENT == 2);
NEARCALL_ASSERT(NEARCALL_FORM_SCRATCH == 4);
NEARCALL_ASSERT(NEARCALL_FORM_ITEMS == 3);
NEARCALL_ASSERT(NEARCALL_FORM_PREALLOC == 8);
NEARCALL_ASSERT(NEARCALL_BREACH_BOUND == 0);
NEARCALL_ASSERT(NEARCALL_BREACH_TEXT == 1);
NEARCALL_ASSERT(NEARCALL_BREACH_SIGNED == 2);
NEARCALL_ASSERT(NEARCALL_BREACH_UNSIGNED == 3);
NEARCALL_ASSERT(NEARCALL_BREACH_FLOAT == 4);
NEARCALL_ASSERT(NEARCALL_BREACH_DOUBLE == 5);
NEARCALL_ASSERT(NEARCALL_BREACH_CHARACTER == 6);
NEARCALL_ASSERT(NEARCALL_BREACH_LEVELS == 7);
NEARCALL_ASSERT(NEARCALL_POST_NOW == 0);
NEARCALL_ASSERT(NEARCALL_POST_SPARE == 1);
NEARCALL_ASSERT(NEARCALL_POST_EITHER == 2);
NEARCALL_ASSERT(NEARCALL_NOT_POSTED == 0);
NEARCALL_ASSERT(NEARCALL_POSTED_ONCE == 1);
NEARCALL_ASSERT(NEARCALL_POSTED_AHEAD == 2);
NEARCALL_ASSERT(NEARCALL_POSTED_TWICE == 3);
NEARCALL_ASSERT(NEARCALL_POSTED_ENDED == 4);
NEARCALL_ASSERT(NEARCALL_DESCRIPTOR_ANY == 0);
NEARCALL_ASSERT(NEARCALL_DESCRIPTOR_FILE == 1);
NEARCALL_ASSERT(NEARCALL_DESCRIPTOR_SEGMENT == 2);
NEARCALL_ASSERT(NEARCALL_DESCRIPTOR_SOCKET == 3);
NEARCALL_ASSERT(NEARCALL_DESCRIPTOR_BINDING == 4);
NEARCALL_ASSERT(NEARCALL_CLASSES_MAX == 16);
NEARCALL_ASSERT(NEARCALL_BATCH_CALLS == 64);
NEARCALL_ASSERT(NEARCALL_LINE_WORDS == 48);
NEARCALL_ASSERT(NEARCALL_LINE_BYTES == 64);
NEARCALL_ASSERT(NEARCALL_LOOKS == 1);
NEARCALL_ASSERT(NEARCALL_REVOKED == 2);
NEARCALL_ASSERT(NEARCALL_NTH_SHIFT == 8);
NEARCALL_ASSERT(NEARCALL_POSTED == 3);
NEARCALL_ASSERT(NEARCALL_DEPTH_MAX == 64);
NEARCALL_ASSERT(NEARCALL_DEFAULT_BYTES_MAX == 16777216);
NEARCALL_ASSERT(NEARCALL_REASON_NONE == 0);
NEARCALL_ASSERT(NEARCALL_REASON_NAME == 1);
NEARCALL_ASSERT(NEARCALL_REASON_NO_SUCH_NAME == 2);
NEARCALL_ASSERT(NEARCALL_REASON_NOT_ADMITTED == 3);
NEARCALL_ASSERT(NEARCALL_REASON_OTHER_INTERFACE == 4);
NEARCALL_ASSERT(NEARCALL_REASON_HASH == 5);
NEARCALL_ASSERT(NEARCALL_REASON_OVERLOADED == 6);
NEARCALL_ASSERT(NEARCALL_REASON_TIMED_OUT == 7);
NEARCALL_ASSERT(NEARCALL_REASON_NOT_READY == 8);
NEARCALL_ASSERT(NEARCALL_REASON_NO_INTRODUCTION == 9);
NEARCALL_ASSERT(NEARCALL_REASON_INTRODUCTION_OVER == 10);
NEARCALL_ASSERT(NEARCALL_REASON_INTRODUCED == 11);
NEARCALL_ASSERT(NEARCALL_REASON_REVOKED == 12);
NEARCALL_ASSERT(NEARCALL_REASON_PEER == 13);
NEARCALL_ASSERT(NEARCALL_REASON_SYSTEM == 14);
NEARCALL_ASSERT(NEARCALL_REASON_SERVER_ENDED == 15);
NEARCALL_ASSERT(NEARCALL_REASON_REFUSED == 16);
NEARCALL_ASSERT(NEARCALL_REASON_ARGUMENTS_REFUSED == 17);
NEARCALL_ASSERT(NEARCALL_REASON_NOT_PERMITTED == 18);
NEARCALL_ASSERT(NEARCALL_REASON_NOT_PROVIDED == 19);
NEARCALL_ASSERT(NEARCALL_REASON_DEADLINE_PASSED == 20);
NEARCALL_ASSERT(NEARCALL_REASON_DESCRIPTORS_NOT_SENT == 21);
NEARCALL_ASSERT(NEARCALL_REASON_FEED_OVER == 22);
NEARCALL_ASSERT(NEARCALL_REASON_ALREADY_EXPORTED == 23);
NEARCALL_ASSERT(NEARCALL_REASON_POLICY == 24);
NEARCALL_ASSERT(NEARCALL_REASON_OVER_BOUND == 25);
NEARCALL_ASSERT(NEARCALL_REASON_OUT_OF_RANGE == 26);
NEARCALL_ASSERT(NEARCALL_REASON_TEXT == 27);
NEARCALL_ASSERT(NEARCALL_REASON_OUTSTANDING == 28);
NEARCALL_ASSERT(NEARCALL_REASON_NO_MEMORY == 29);
NEARCALL_ASSERT(NEARCALL_REASON_LENT_ELSEWHERE == 30);
NEARCALL_ASSERT(NEARCALL_REASON_FORKED == 31);
NEARCALL_ASSERT(NEARCALL_REASON_WRONG_DESCRIPTOR == 32);
NEARCALL_ASSERT(NEARCALL_REASON_CANCELLED == 33);
NEARCALL_ASSERT(NEARCALL_REASON_NO_ROOM == 34);
NEARCALL_ASSERT(NEARCALL_REASON_TOO_MANY_FEEDS == 35);
NEARCALL_ASSERT(NEARCALL_REASON_PROCESS_ENDED == 36);

#endif
