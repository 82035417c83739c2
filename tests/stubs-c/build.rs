//! Compiles the interface that Rust and C call each other through, for the Rust side.

fn main() {
    nearcall_idl::build("cross.idl");
}
