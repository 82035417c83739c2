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
        "estacks.idl",
        "lasting.idl",
        "known.idl",
        "../matrix/idl/statuses.proto",
        "pieces.proto",
    ] {
        nearcall_idl::build(file);
    }
    let stores = ["old", "new", "other"];
    let shelves = ["early", "late", "moved"];
    let movers = ["straight", "turned", "mirrored"];
    for version in [stores, shelves, movers].concat() {
        nearcall_idl::build(format!("versions/{version}.idl"));
    }
    for version in ["planted", "grown", "pruned"] {
        nearcall_idl::build(format!("versions/{version}.proto"));
    }
}
