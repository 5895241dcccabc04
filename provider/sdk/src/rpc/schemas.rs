//! What the provider offers: metadata, schemas, identity schemas.

use tfplugin_proto::tfplugin6 as proto;

use super::functions;
use super::service::Service;
use crate::diagnostics::Diagnostics;
use crate::identity::identity_to_proto;
use crate::provider::Provider;
use crate::schema::Schema;

fn capabilities() -> proto::ServerCapabilities {
    proto::ServerCapabilities {
        plan_destroy: true,
        get_provider_schema_optional: true,
        move_resource_state: true,
        generate_resource_config: false,
    }
}

pub(super) async fn metadata<P: Provider>(
    service: &Service<P>,
    _: proto::get_metadata::Request,
) -> Result<proto::get_metadata::Response, Diagnostics> {
    use proto::get_metadata::{DataSourceMetadata, EphemeralMetadata, FunctionMetadata, ResourceMetadata};
    let tables = service.tables();
    let owned = |name: &&'static str| (*name).to_owned();
    Ok(proto::get_metadata::Response {
        server_capabilities: Some(capabilities()),
        resources: tables
            .resources
            .keys()
            .map(|name| ResourceMetadata {
                type_name: owned(name),
            })
            .collect(),
        data_sources: tables
            .data_sources
            .keys()
            .map(|name| DataSourceMetadata {
                type_name: owned(name),
            })
            .collect(),
        ephemeral_resources: tables
            .ephemeral
            .keys()
            .map(|name| EphemeralMetadata {
                type_name: owned(name),
            })
            .collect(),
        functions: tables
            .functions
            .keys()
            .map(|name| FunctionMetadata { name: owned(name) })
            .collect(),
        ..Default::default()
    })
}

pub(super) async fn provider_schema<P: Provider>(
    service: &Service<P>,
    _: proto::get_provider_schema::Request,
) -> Result<proto::get_provider_schema::Response, Diagnostics> {
    let tables = service.tables();
    let named = |name: &str, schema: &Schema| (name.to_owned(), schema.to_proto());
    Ok(proto::get_provider_schema::Response {
        provider: Some(service.provider.schema().to_proto()),
        resource_schemas: tables
            .resources
            .iter()
            .map(|(name, item)| named(name, item.schema()))
            .collect(),
        data_source_schemas: tables
            .data_sources
            .iter()
            .map(|(name, item)| named(name, item.schema()))
            .collect(),
        ephemeral_resource_schemas: tables
            .ephemeral
            .iter()
            .map(|(name, item)| named(name, item.schema()))
            .collect(),
        functions: functions::signatures(service),
        server_capabilities: Some(capabilities()),
        ..Default::default()
    })
}

pub(super) async fn identity_schemas<P: Provider>(
    service: &Service<P>,
    _: proto::get_resource_identity_schemas::Request,
) -> Result<proto::get_resource_identity_schemas::Response, Diagnostics> {
    let with_identity = service.tables().resources.iter().filter_map(|(name, resource)| {
        let schema = resource.identity_schema()?;
        Some(((*name).to_owned(), identity_to_proto(schema)))
    });
    Ok(proto::get_resource_identity_schemas::Response {
        identity_schemas: with_identity.collect(),
        ..Default::default()
    })
}
