//! Compiles the interface files of `tests/stubs`.

#[path = "../stubs/build/all.rs"]
mod all;

use std::env;
use std::path::PathBuf;

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("this is a build script"));
    all::write(&out, &all::files());
}
