//! Compiles the interfaces that Rust and C call each other through, for the Rust side.

fn main() {
    nearcall_idl::build("cross.idl");
    for version in ["old", "new", "other"] {
        nearcall_idl::build(format!("versions/{version}.idl"));
    }
}
