//! The plugin protocol's messages and services, generated from `plugin/*.proto` at build time without `protoc`.
//!
//! Server traits come with default methods that answer UNIMPLEMENTED, so a provider writes the ones it has.

/// Protocol 6 (level 6.10): `tfplugin6.Provider` and its messages.
pub mod tfplugin6 {
    tonic::include_proto!("tfplugin6");
}

/// The services that go-plugin's client expects: stdio, broker and controller.
pub mod go_plugin {
    tonic::include_proto!("plugin");
}

/// The standard gRPC health service.
pub mod health {
    tonic::include_proto!("grpc.health.v1");
}
