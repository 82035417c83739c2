//! Compiles the interfaces that Rust and C call each other through, for the Rust side.

fn main() {
    for file in [
        "brief.idl",
        "cross.idl",
        "vault.idl",
        "feeding.idl",
        "talking.idl",
        "again.idl",
        "witness.idl",
        "throwing.idl",
        "posting.idl",
        "lending.idl",
        "ready.idl",
        "deferring.idl",
        "../matrix/idl/statuses.proto",
    ] {
        nearcall_idl::build(file);
    }
    for version in ["old", "new", "other", "early", "late", "moved"] {
        nearcall_idl::build(format!("versions/{version}.idl"));
    }
}
