//! Compiles the two interface files, and finds out which versions are measured.

mod versions;

use std::error::Error;
use std::fs::File;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    for input in ["calls.proto", "calls.capnp.request"] {
        println!("cargo::rerun-if-changed={input}");
    }
    tonic_prost_build::compile_fds(protox::compile(["calls.proto"], ["."])?)?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let mut compiler = capnpc::codegen::CodeGenerationCommand::new();
    compiler.default_parent_module(vec!["capnp_uds".to_owned()]);
    compiler.output_directory(out).run(File::open("calls.capnp.request")?)?;
    versions::give("Cargo.lock", &["capnp-rpc", "iceoryx2", "tarpc", "thrift", "tonic"])
}
