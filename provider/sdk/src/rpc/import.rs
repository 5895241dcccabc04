//! Taking over objects that exist.

use tfplugin_proto::tfplugin6 as proto;

use super::answer::{report, reported_with};
use super::identity::{decode_identity, encode_identity};
use super::panics::guarded;
use super::service::Service;
use super::wire::encode;
use crate::diagnostics::Diagnostics;
use crate::prepare::write_only;
use crate::provider::Provider;
use crate::resource::ImportBy;

pub(super) async fn import<P: Provider>(
    service: &Service<P>,
    request: proto::import_resource_state::Request,
) -> Result<proto::import_resource_state::Response, Diagnostics> {
    let resource = service.resource(&request.type_name)?;
    let (schema, identity_schema) = (resource.schema(), resource.identity_schema());
    let by = match decode_identity(request.identity.as_ref(), identity_schema)? {
        Some(identity) if request.id.is_empty() => ImportBy::Identity(identity),
        _ if request.id.is_empty() => {
            return Err(Diagnostics::error(
                "Nothing to import by",
                format!(
                    "Give the id of the {} to import; this provider has no identity for it.",
                    request.type_name
                ),
            ));
        }
        _ => ImportBy::Id(request.id),
    };
    let ctx = service.context(request.client_capabilities);
    let found = match guarded(resource.import(&ctx, by)).await {
        Ok(found) => found,
        Err(failure) => {
            let diagnostics = reported_with(&ctx, failure);
            return Ok(proto::import_resource_state::Response {
                diagnostics,
                ..Default::default()
            });
        }
    };
    let ty = resource.ty();
    let imported = found.into_iter().map(|mut state| {
        write_only::clear(schema, &mut state.model);
        Ok(proto::import_resource_state::ImportedResource {
            type_name: request.type_name.clone(),
            state: Some(encode(&state.model, ty)?),
            private: state.private.to_bytes(),
            identity: encode_identity(state.identity.as_ref(), identity_schema)?,
        })
    });
    let imported_resources = imported.collect::<Result<_, Diagnostics>>()?;
    let (diagnostics, deferred) = report(&ctx);
    Ok(proto::import_resource_state::Response {
        imported_resources,
        diagnostics,
        deferred,
    })
}
