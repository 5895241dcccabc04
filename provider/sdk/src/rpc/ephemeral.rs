//! Ephemeral resources.

use jiff::Timestamp;
use tfplugin_proto::tfplugin6 as proto;

use super::answer::{report, reported_with};
use super::panics::guarded;
use super::service::Service;
use super::wire::{decode, encode};
use crate::diagnostics::Diagnostics;
use crate::prepare::{defaults, validators};
use crate::private::Private;
use crate::provider::Provider;
use crate::value::Value;

pub(super) async fn validate<P: Provider>(
    service: &Service<P>,
    request: proto::validate_ephemeral_resource_config::Request,
) -> Result<proto::validate_ephemeral_resource_config::Response, Diagnostics> {
    let ephemeral = service.ephemeral(&request.type_name)?;
    let config = decode(request.config.as_ref(), &ephemeral.schema().ty())?;
    let mut found = validators::run(ephemeral.schema(), &config);
    let ctx = service.context(None);
    if let Err(more) = ephemeral.validate(&ctx, &config).await {
        found.append(more);
    }
    Ok(proto::validate_ephemeral_resource_config::Response {
        diagnostics: reported_with(&ctx, found),
    })
}

pub(super) async fn open<P: Provider>(
    service: &Service<P>,
    request: proto::open_ephemeral_resource::Request,
) -> Result<proto::open_ephemeral_resource::Response, Diagnostics> {
    let ephemeral = service.ephemeral(&request.type_name)?;
    let schema = ephemeral.schema();
    let config = decode(request.config.as_ref(), &schema.ty())?;
    let mut filled = config.clone();
    defaults::apply(schema, &config, &Value::Null, &mut filled);
    let ctx = service.context(request.client_capabilities);
    let opened = match guarded(ephemeral.open(&ctx, &filled)).await {
        Ok(opened) => opened,
        Err(failure) => {
            let diagnostics = reported_with(&ctx, failure);
            return Ok(proto::open_ephemeral_resource::Response {
                diagnostics,
                ..Default::default()
            });
        }
    };
    let (diagnostics, deferred) = report(&ctx);
    Ok(proto::open_ephemeral_resource::Response {
        result: Some(encode(&opened.result, &schema.ty())?),
        renew_at: opened.renew_at.map(to_proto_time),
        private: Some(opened.private.to_bytes()),
        diagnostics,
        deferred,
    })
}

pub(super) async fn renew<P: Provider>(
    service: &Service<P>,
    request: proto::renew_ephemeral_resource::Request,
) -> Result<proto::renew_ephemeral_resource::Response, Diagnostics> {
    let ephemeral = service.ephemeral(&request.type_name)?;
    let ctx = service.context(None);
    let private = Private::from_bytes(request.private.as_deref().unwrap_or_default());
    match guarded(ephemeral.renew(&ctx, private)).await {
        Ok(renewed) => Ok(proto::renew_ephemeral_resource::Response {
            renew_at: renewed.renew_at.map(to_proto_time),
            private: Some(renewed.private.to_bytes()),
            diagnostics: report(&ctx).0,
        }),
        Err(failure) => Ok(proto::renew_ephemeral_resource::Response {
            diagnostics: reported_with(&ctx, failure),
            ..Default::default()
        }),
    }
}

pub(super) async fn close<P: Provider>(
    service: &Service<P>,
    request: proto::close_ephemeral_resource::Request,
) -> Result<proto::close_ephemeral_resource::Response, Diagnostics> {
    let ephemeral = service.ephemeral(&request.type_name)?;
    let ctx = service.context(None);
    let private = Private::from_bytes(request.private.as_deref().unwrap_or_default());
    let failure = guarded(ephemeral.close(&ctx, private))
        .await
        .err()
        .unwrap_or_default();
    Ok(proto::close_ephemeral_resource::Response {
        diagnostics: reported_with(&ctx, failure),
    })
}

fn to_proto_time(time: Timestamp) -> prost_types::Timestamp {
    prost_types::Timestamp {
        seconds: time.as_second(),
        nanos: time.subsec_nanosecond(),
    }
}
