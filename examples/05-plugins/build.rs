//! Compiles the interface file to `$OUT_DIR/filter.rs`.

fn main() {
    nearcall_idl::build("filter.idl");
}
