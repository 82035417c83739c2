//! Compiles the interface of the two-domain tests.

fn main() {
    nearcall_idl::build("faults.idl");
}
