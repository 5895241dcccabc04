//! Compiles the .proto files with protox, in Rust alone: no `protoc` is needed to build.

use std::error::Error;

const FILES: [&str; 3] = [
    "plugin/tfplugin6.proto",
    "plugin/go_plugin.proto",
    "plugin/health.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    for file in FILES {
        println!("cargo:rerun-if-changed={file}");
    }
    let descriptors = protox::compile(FILES, ["plugin"])?;
    tonic_prost_build::configure()
        .build_transport(false)
        .generate_default_stubs(true)
        .compile_fds(descriptors)?;
    Ok(())
}
