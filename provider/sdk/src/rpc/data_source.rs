//! Data sources.

use tfplugin_proto::tfplugin6 as proto;

use super::answer::{report, reported_with};
use super::panics::guarded;
use super::service::Service;
use super::wire::{decode, encode, self_check};
use crate::diagnostics::Diagnostics;
use crate::prepare::{defaults, spelling, validators};
use crate::provider::Provider;
use crate::rules::unknowns_left;
use crate::value::Value;

pub(super) async fn validate<P: Provider>(
    service: &Service<P>,
    request: proto::validate_data_resource_config::Request,
) -> Result<proto::validate_data_resource_config::Response, Diagnostics> {
    let source = service.data_source(&request.type_name)?;
    let config = decode(request.config.as_ref(), &source.schema().ty())?;
    let mut found = validators::run(source.schema(), &config);
    let ctx = service.context(None);
    if let Err(more) = source.validate(&ctx, &config).await {
        found.append(more);
    }
    Ok(proto::validate_data_resource_config::Response {
        diagnostics: reported_with(&ctx, found),
    })
}

pub(super) async fn read<P: Provider>(
    service: &Service<P>,
    request: proto::read_data_source::Request,
) -> Result<proto::read_data_source::Response, Diagnostics> {
    let source = service.data_source(&request.type_name)?;
    let schema = source.schema();
    let config = decode(request.config.as_ref(), &schema.ty())?;
    let mut filled = config.clone();
    defaults::apply(schema, &config, &Value::Null, &mut filled);
    let ctx = service.context(request.client_capabilities);
    let mut state = match guarded(source.read(&ctx, &filled)).await {
        Ok(state) => state,
        Err(failure) => {
            let diagnostics = reported_with(&ctx, failure);
            return Ok(proto::read_data_source::Response {
                diagnostics,
                ..Default::default()
            });
        }
    };
    spelling::keep(schema, &config, &mut state);
    let (mut diagnostics, deferred) = report(&ctx);
    diagnostics.extend(self_check("result", || unknowns_left(&state)).to_proto());
    Ok(proto::read_data_source::Response {
        state: Some(encode(&state, &schema.ty())?),
        diagnostics,
        deferred,
    })
}
