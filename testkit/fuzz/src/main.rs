//! Row T11: feeds one decoder of a peer's bytes, whose name is in `NEARCALL_DECODER`, with what
//! libFuzzer makes up. See `testkit::campaign::decoders`.

#![forbid(unsafe_code)]
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::campaign::decoders::feed_named(bytes));
