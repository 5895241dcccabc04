//! Reading an object as it is now.

use tfplugin_proto::tfplugin6 as proto;

use super::answer::{report, reported_with};
use super::identity::{decode_identity, encode_identity, unchanged};
use super::panics::guarded;
use super::service::Service;
use super::wire::{decode, encode, self_check};
use crate::diagnostics::Diagnostics;
use crate::erased::RawState;
use crate::prepare::{spelling, write_only};
use crate::private::Private;
use crate::provider::Provider;
use crate::rules::unknowns_left;
use crate::value::Value;

pub(super) async fn read<P: Provider>(
    service: &Service<P>,
    request: proto::read_resource::Request,
) -> Result<proto::read_resource::Response, Diagnostics> {
    let resource = service.resource(&request.type_name)?;
    let (schema, identity_schema) = (resource.schema(), resource.identity_schema());
    let ty = resource.ty();
    let before = decode(request.current_state.as_ref(), ty)?;
    let identity = decode_identity(request.current_identity.as_ref(), identity_schema)?;
    let state = RawState {
        model: before.clone(),
        private: Private::from_bytes(&request.private),
        identity: identity.clone(),
    };
    let ctx = service.context(request.client_capabilities);
    let read = match guarded(resource.read(&ctx, state)).await {
        Ok(read) => read,
        Err(failure) => {
            let diagnostics = reported_with(&ctx, failure);
            return Ok(proto::read_resource::Response {
                new_state: request.current_state,
                private: request.private,
                new_identity: request.current_identity,
                diagnostics,
                ..Default::default()
            });
        }
    };
    let (mut diagnostics, deferred) = report(&ctx);
    let Some(mut read) = read else {
        let new_state = Some(encode(&Value::Null, ty)?);
        return Ok(proto::read_resource::Response {
            new_state,
            diagnostics,
            deferred,
            ..Default::default()
        });
    };
    unchanged(identity.as_ref(), read.identity.as_ref())?;
    let identity = read.identity.or(identity);
    write_only::clear(schema, &mut read.model);
    spelling::keep(schema, &before, &mut read.model);
    diagnostics.extend(self_check("state", || unknowns_left(&read.model)).to_proto());
    Ok(proto::read_resource::Response {
        new_state: Some(encode(&read.model, ty)?),
        private: read.private.to_bytes(),
        new_identity: encode_identity(identity.as_ref(), identity_schema)?,
        diagnostics,
        deferred,
    })
}
