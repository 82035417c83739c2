//! Compiles the interface file to `$OUT_DIR/files.rs`.

fn main() {
    nearcall_idl::build("files.idl");
}
