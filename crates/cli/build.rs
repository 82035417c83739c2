//! Compiles the interfaces of the demo: its four calls, and the files of the first example.

fn main() {
    nearcall_idl::build("calls.idl");
    nearcall_idl::build("files.idl");
}
