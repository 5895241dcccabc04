//! Stored states: of older versions, and of other resource types.

use tfplugin_proto::tfplugin6 as proto;

use super::identity::encode_identity;
use super::service::Service;
use super::wire::{decode_stored, encode, parse_stored};
use crate::diagnostics::Diagnostics;
use crate::prepare::write_only;
use crate::provider::Provider;
use crate::resource::MoveRequest;

pub(super) async fn upgrade<P: Provider>(
    service: &Service<P>,
    request: proto::upgrade_resource_state::Request,
) -> Result<proto::upgrade_resource_state::Response, Diagnostics> {
    let resource = service.resource(&request.type_name)?;
    let schema = resource.schema();
    let mut state = if request.version == schema.version {
        let stored = decode_stored(request.raw_state.as_ref(), schema)?;
        resource.complete(&service.context(None), stored)?
    } else {
        resource
            .upgrade(request.version, parse_stored(request.raw_state.as_ref())?)
            .await?
    };
    write_only::clear(schema, &mut state);
    Ok(proto::upgrade_resource_state::Response {
        upgraded_state: Some(encode(&state, resource.ty())?),
        ..Default::default()
    })
}

pub(super) async fn move_here<P: Provider>(
    service: &Service<P>,
    request: proto::move_resource_state::Request,
) -> Result<proto::move_resource_state::Response, Diagnostics> {
    let resource = service.resource(&request.target_type_name)?;
    let schema = resource.schema();
    let state = parse_stored(request.source_state.as_ref())?;
    let (source, provider) = (
        request.source_type_name.clone(),
        request.source_provider_address.clone(),
    );
    let moved = resource
        .move_state(MoveRequest {
            source_provider: request.source_provider_address,
            source_type: request.source_type_name,
            source_version: request.source_schema_version,
            state,
            private: request.source_private,
        })
        .await?;
    let Some(mut moved) = moved else {
        return Err(Diagnostics::error(
            "Move not supported",
            format!(
                "A {} cannot take over the state of a {source} of {provider}. Import the object instead.",
                request.target_type_name
            ),
        ));
    };
    write_only::clear(schema, &mut moved.model);
    Ok(proto::move_resource_state::Response {
        target_state: Some(encode(&moved.model, resource.ty())?),
        target_private: moved.private.to_bytes(),
        target_identity: encode_identity(moved.identity.as_ref(), resource.identity_schema())?,
        ..Default::default()
    })
}
