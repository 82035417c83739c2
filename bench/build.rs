//! Compiles the interface files.

fn main() {
    nearcall_idl::build("calls.idl");
    nearcall_idl::build("workload.idl");
}
