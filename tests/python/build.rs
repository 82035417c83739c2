//! Compiles what the tests of the Python package call.

fn main() {
    nearcall_idl::build("../idl/python/shapes.idl");
    nearcall_idl::build("../idl/python/passing.idl");
}
