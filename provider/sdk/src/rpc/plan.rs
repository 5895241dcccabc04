//! Planning a create, an update or a destroy.

use tfplugin_proto::tfplugin6 as proto;

use super::answer::{report, reported_with};
use super::identity::{decode_identity, encode_identity};
use super::panics::guarded;
use super::service::Service;
use super::wire::{decode, encode, self_check};
use crate::diagnostics::Diagnostics;
use crate::erased::{AnyResource, PlanInput, RawState};
use crate::path::AttributePath;
use crate::prepare::{defaults, modifiers, replacement, spelling, unknowns, write_only};
use crate::private::Private;
use crate::provider::Provider;
use crate::resource::RawPlan;
use crate::rules::{plan_valid, write_only_set};
use crate::schema::Schema;
use crate::value::Value;

pub(super) async fn plan<P: Provider>(
    service: &Service<P>,
    request: proto::plan_resource_change::Request,
) -> Result<proto::plan_resource_change::Response, Diagnostics> {
    let resource = service.resource(&request.type_name)?;
    let (schema, identity_schema) = (resource.schema(), resource.identity_schema());
    let ty = resource.ty();
    let raw = RawPlan {
        config: decode(request.config.as_ref(), ty)?,
        prior: decode(request.prior_state.as_ref(), ty)?,
        proposed: decode(request.proposed_new_state.as_ref(), ty)?,
    };
    let identity = decode_identity(request.prior_identity.as_ref(), identity_schema)?;
    if raw.proposed.is_null() {
        return plan_destroy(service, resource.as_ref(), request, raw.prior, identity).await;
    }
    let planned = prepare(schema, &raw);
    let ctx = service.context(request.client_capabilities);
    let (config, prior) = (raw.config.clone(), raw.prior.clone());
    let input = PlanInput {
        raw,
        planned,
        private: Private::from_bytes(&request.prior_private),
        identity,
    };
    let mut output = match guarded(resource.plan(&ctx, input)).await {
        Ok(output) => output,
        Err(failure) => {
            let diagnostics = reported_with(&ctx, failure);
            return Ok(proto::plan_resource_change::Response {
                diagnostics,
                ..Default::default()
            });
        }
    };
    if output.assume_changed {
        unknowns::mark_unchanged(schema, &config, &prior, &mut output.planned);
    }
    write_only::clear(schema, &mut output.planned);
    let replace = replacement::paths(schema, &config, &prior, &output.planned, output.replace);
    let (mut diagnostics, deferred) = report(&ctx);
    let bugs = self_check("plan", || {
        let mut broken = plan_valid(schema, &prior, &config, &output.planned);
        broken.extend(write_only_set(schema, &output.planned));
        broken
    });
    diagnostics.extend(bugs.to_proto());
    Ok(proto::plan_resource_change::Response {
        planned_state: Some(encode(&output.planned, ty)?),
        requires_replace: replace.iter().map(AttributePath::to_proto).collect(),
        planned_private: output.private.to_bytes(),
        planned_identity: encode_identity(output.identity.as_ref(), identity_schema)?,
        diagnostics,
        deferred,
        legacy_type_system: false,
    })
}

/// The SDK's own part of a plan.
fn prepare(schema: &Schema, raw: &RawPlan) -> Value {
    let RawPlan {
        config,
        prior,
        proposed,
    } = raw;
    let mut planned = proposed.clone();
    write_only::clear(schema, &mut planned);
    defaults::apply(schema, config, prior, &mut planned);
    spelling::keep(schema, prior, &mut planned);
    if planned.unrefined() != prior.unrefined() {
        unknowns::mark(schema, config, prior, &mut planned);
    }
    modifiers::run(schema, config, prior, &mut planned);
    planned
}

async fn plan_destroy<P: Provider>(
    service: &Service<P>,
    resource: &dyn AnyResource<P::Data>,
    request: proto::plan_resource_change::Request,
    prior: Value,
    identity: Option<Value>,
) -> Result<proto::plan_resource_change::Response, Diagnostics> {
    let ctx = service.context(request.client_capabilities);
    if !prior.is_null() {
        let state = RawState {
            model: prior,
            private: Private::from_bytes(&request.prior_private),
            identity,
        };
        if let Err(failure) = guarded(resource.plan_destroy(&ctx, state)).await {
            let diagnostics = reported_with(&ctx, failure);
            return Ok(proto::plan_resource_change::Response {
                diagnostics,
                ..Default::default()
            });
        }
    }
    let (diagnostics, deferred) = report(&ctx);
    Ok(proto::plan_resource_change::Response {
        planned_state: Some(encode(&Value::Null, resource.ty())?),
        planned_private: request.prior_private,
        planned_identity: request.prior_identity,
        diagnostics,
        deferred,
        ..Default::default()
    })
}
