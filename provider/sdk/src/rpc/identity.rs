//! Identities in and out of messages.

use tfplugin_proto::tfplugin6 as proto;

use super::service::Service;
use super::wire::{decode, decode_stored, encode};
use crate::diagnostics::Diagnostics;
use crate::provider::Provider;
use crate::schema::Schema;
use crate::value::Value;

/// Reads an identity; `None` when there is none, or none is meant.
pub(super) fn decode_identity(
    data: Option<&proto::ResourceIdentityData>,
    schema: Option<&Schema>,
) -> Result<Option<Value>, Diagnostics> {
    let (Some(data), Some(schema)) = (data, schema) else {
        return Ok(None);
    };
    let value = decode(data.identity_data.as_ref(), &schema.ty())?;
    Ok(Some(value).filter(|value| !value.is_null()))
}

/// Writes an identity, where the resource has one.
pub(super) fn encode_identity(
    identity: Option<&Value>,
    schema: Option<&Schema>,
) -> Result<Option<proto::ResourceIdentityData>, Diagnostics> {
    let (Some(identity), Some(schema)) = (identity, schema) else {
        return Ok(None);
    };
    Ok(Some(proto::ResourceIdentityData {
        identity_data: Some(encode(identity, &schema.ty())?),
    }))
}

/// An object's identity never changes: an identity that was known must come back as it is.
pub(super) fn unchanged(before: Option<&Value>, after: Option<&Value>) -> Result<(), Diagnostics> {
    match (before, after) {
        (Some(before), Some(after)) if before.is_wholly_known() && !is_blank(before) && before != after => {
            Err(Diagnostics::error(
                "Unexpected identity change",
                format!(
                    "The identity of an object must not change, but it was {before:?} and is now {after:?}. Please report this \
                     bug of the provider."
                ),
            ))
        }
        _ => Ok(()),
    }
}

fn is_blank(identity: &Value) -> bool {
    identity
        .as_object()
        .is_some_and(|attributes| attributes.values().all(Value::is_null))
}

pub(super) async fn upgrade<P: Provider>(
    service: &Service<P>,
    request: proto::upgrade_resource_identity::Request,
) -> Result<proto::upgrade_resource_identity::Response, Diagnostics> {
    let resource = service.resource(&request.type_name)?;
    let schema = resource.identity_schema().ok_or_else(|| {
        Diagnostics::error(
            "No identity",
            format!("{} has no identity in this version.", request.type_name),
        )
    })?;
    if request.version != schema.version {
        return Err(Diagnostics::error(
            "Identity of another version",
            format!(
                "The stored identity has version {}; this provider reads version {}.",
                request.version, schema.version
            ),
        ));
    }
    let identity = decode_stored(request.raw_identity.as_ref(), schema)?;
    Ok(proto::upgrade_resource_identity::Response {
        upgraded_identity: encode_identity(Some(&identity), Some(schema))?,
        ..Default::default()
    })
}
