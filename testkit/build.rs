//! Compiles the interfaces of the two-domain tests.

fn main() {
    nearcall_idl::build("faults.idl");
    nearcall_idl::build("contract.idl");
}
