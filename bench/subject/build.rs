//! Compiles the interface file.

fn main() {
    nearcall_idl::build("calls.idl");
}
