//! How a core finds a provider that somebody started to debug it.

use serde_json::json;

use super::listen::Endpoint;

/// The variable's value: a JSON map from the source address to where the provider is.
pub(crate) fn variable(address: &str, pid: u32, endpoint: &Endpoint) -> String {
    let attach = json!({
        "Protocol": "grpc",
        "ProtocolVersion": 6,
        "Pid": pid,
        "Test": true,
        "Addr": { "Network": endpoint.network(), "String": endpoint.address() },
    });
    json!({ address: attach }).to_string()
}

/// What a user who debugs is told.
pub(crate) fn instructions(address: &str, endpoint: &Endpoint) -> String {
    let variable = variable(address, std::process::id(), endpoint);
    format!(
        "Provider started. To use it, set this variable where you run tofu or terraform; no init is needed:\n\n\
         \tTF_REATTACH_PROVIDERS='{variable}'\n\n\
         It serves until it is interrupted.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_address_protocol_and_socket() {
        let endpoint = Endpoint::Unix("/tmp/p/plugin.sock".into());
        let json: serde_json::Value =
            serde_json::from_str(&variable("example.com/a/b", 7, &endpoint)).unwrap();
        assert_eq!(
            json,
            json!({"example.com/a/b": {"Protocol": "grpc", "ProtocolVersion": 6, "Pid": 7, "Test": true,
                "Addr": {"Network": "unix", "String": "/tmp/p/plugin.sock"}}})
        );
    }
}
