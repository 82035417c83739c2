//! Names the shared library as it is installed (`cargo xtask install`): before 1.0 every second
//! number of the version is another ABI.

fn main() {
    let series = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libnearcall.so.{series}");
    println!("cargo:rerun-if-changed=build.rs");
}
