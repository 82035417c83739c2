//! crates/cli

fn main() {}
