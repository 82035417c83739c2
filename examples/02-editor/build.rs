//! Compiles the two interface files to `$OUT_DIR/windows.rs` and `$OUT_DIR/file_cache.rs`.

fn main() {
    nearcall_idl::build("windows.idl");
    nearcall_idl::build("file_cache.idl");
}
