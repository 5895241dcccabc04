//! What the API server fills in where a configuration leaves something out; planned as known values.

use super::schema::MetadataOptions;
use tfplugin::Field;

/// `spec.metadataOptions` when it is left out.
pub(super) fn metadata_options() -> MetadataOptions {
    MetadataOptions {
        http_endpoint: "enabled".into(),
        http_protocol_ipv6: "disabled".into(),
        http_put_response_hop_limit: Field::Known(1),
        http_tokens: "required".into(),
    }
}
