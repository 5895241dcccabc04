//! Carrying a plan out.

use tfplugin_proto::tfplugin6 as proto;

use super::answer::{report, reported_with};
use super::identity::{decode_identity, encode_identity, unchanged};
use super::panics::guarded;
use super::service::Service;
use super::wire::{decode, encode, self_check};
use crate::context::Context;
use crate::diagnostics::Diagnostics;
use crate::erased::{AnyResource, RawApply, RawState};
use crate::prepare::{spelling, write_only};
use crate::private::Private;
use crate::provider::Provider;
use crate::rules::{compatible, unknowns_left};
use crate::value::Value;

type Response = proto::apply_resource_change::Response;

pub(super) async fn apply<P: Provider>(
    service: &Service<P>,
    request: proto::apply_resource_change::Request,
) -> Result<Response, Diagnostics> {
    // Whatever fails: an answer without a state would make the core forget an object that is there.
    let kept = (
        request.prior_state.clone(),
        request.planned_private.clone(),
        request.planned_identity.clone(),
    );
    Ok(change(service, request).await.unwrap_or_else(|failure| Response {
        new_state: kept.0,
        private: kept.1,
        new_identity: kept.2,
        diagnostics: failure.to_proto(),
        ..Default::default()
    }))
}

async fn change<P: Provider>(
    service: &Service<P>,
    request: proto::apply_resource_change::Request,
) -> Result<Response, Diagnostics> {
    let resource = service.resource(&request.type_name)?;
    let (schema, identity_schema) = (resource.schema(), resource.identity_schema());
    let ty = resource.ty();
    let prior = decode(request.prior_state.as_ref(), ty)?;
    let planned = decode(request.planned_state.as_ref(), ty)?;
    let config = decode(request.config.as_ref(), ty)?;
    let identity = decode_identity(request.planned_identity.as_ref(), identity_schema)?;
    let private = Private::from_bytes(&request.planned_private);
    let ctx = service.context(None);
    let before = RawState {
        model: prior.clone(),
        private: private.clone(),
        identity: identity.clone(),
    };
    if planned.is_null() {
        return delete(resource.as_ref(), &ctx, before, request).await;
    }
    let change = RawApply {
        config,
        planned: planned.clone(),
        private,
        identity,
    };
    let applied = if prior.is_null() {
        guarded(resource.create(&ctx, change)).await
    } else {
        guarded(resource.update(&ctx, before.clone(), change)).await
    };
    let mut applied = match applied {
        Ok(applied) => applied,
        // A failed create leaves nothing; a failed update leaves what was.
        Err(failure) => {
            return Ok(Response {
                new_state: Some(encode(&prior, ty)?),
                private: before.private.to_bytes(),
                new_identity: if prior.is_null() {
                    None
                } else {
                    request.planned_identity
                },
                diagnostics: reported_with(&ctx, failure),
                ..Default::default()
            });
        }
    };
    if !prior.is_null() {
        let moved = unchanged(before.identity.as_ref(), applied.identity.as_ref());
        moved.unwrap_or_else(|failure| ctx.report_all(failure));
    }
    let identity = applied
        .identity
        .or(before.identity)
        .filter(Value::is_wholly_known);
    write_only::clear(schema, &mut applied.model);
    spelling::keep(schema, &planned, &mut applied.model);
    let failed = report(&ctx).0;
    let has_errors = failed
        .iter()
        .any(|diagnostic| diagnostic.severity == proto::diagnostic::Severity::Error as i32);
    let mut diagnostics = failed;
    diagnostics.extend(
        self_check("result", || {
            let mut broken = unknowns_left(&applied.model);
            if !has_errors {
                broken.extend(compatible(&planned, &applied.model));
            }
            broken
        })
        .to_proto(),
    );
    Ok(Response {
        new_state: Some(encode(&applied.model, ty)?),
        private: applied.private.to_bytes(),
        new_identity: encode_identity(identity.as_ref(), identity_schema)?,
        diagnostics,
        legacy_type_system: false,
    })
}

async fn delete<D>(
    resource: &dyn AnyResource<D>,
    ctx: &Context<D>,
    state: RawState,
    request: proto::apply_resource_change::Request,
) -> Result<Response, Diagnostics> {
    match guarded(resource.delete(ctx, state)).await {
        Ok(()) => {
            let new_state = Some(encode(&Value::Null, resource.ty())?);
            Ok(Response {
                new_state,
                diagnostics: report(ctx).0,
                ..Default::default()
            })
        }
        Err(failure) => Ok(Response {
            new_state: request.prior_state,
            private: request.planned_private,
            new_identity: request.planned_identity,
            diagnostics: reported_with(ctx, failure),
            ..Default::default()
        }),
    }
}
