//! Compiles the interface of the demo's four calls.

fn main() {
    nearcall_idl::build("calls.idl");
}
