//! The provider block, and the checks of resource configurations.

use tfplugin_proto::tfplugin6 as proto;

use super::answer::{report, reported_with};
use super::service::Service;
use super::wire::decode;
use crate::context::{Configured, Context};
use crate::diagnostics::Diagnostics;
use crate::model::Model;
use crate::prepare::validators;
use crate::provider::Provider;

pub(super) async fn validate<P: Provider>(
    service: &Service<P>,
    request: proto::validate_provider_config::Request,
) -> Result<proto::validate_provider_config::Response, Diagnostics> {
    let schema = service.provider.schema();
    let config = decode(request.config.as_ref(), &schema.ty())?;
    let mut found = validators::run(&schema, &config);
    let ctx = service.context(None);
    if let Err(more) = service.provider.validate(&ctx, &P::Model::read(&config)?).await {
        found.append(more);
    }
    Ok(proto::validate_provider_config::Response {
        diagnostics: reported_with(&ctx, found),
    })
}

pub(super) async fn configure<P: Provider>(
    service: &Service<P>,
    request: proto::configure_provider::Request,
) -> Result<proto::configure_provider::Response, Diagnostics> {
    let schema = service.provider.schema();
    let config = decode(request.config.as_ref(), &schema.ty())?;
    let ctx = service.context(request.client_capabilities);
    let configured = service.provider.configure(&ctx, P::Model::read(&config)?).await;
    match configured {
        Ok(configured) => {
            let form = match &configured {
                Configured::Unconfigured => "unconfigured",
                Configured::UnknownUntilApply => "unknown until apply",
                Configured::Ready(_) => "ready",
            };
            tracing::debug!(core = request.terraform_version, form, "provider configured");
            service.configure(configured);
            Ok(proto::configure_provider::Response {
                diagnostics: report(&ctx).0,
            })
        }
        Err(failure) => Ok(proto::configure_provider::Response {
            diagnostics: reported_with(&ctx, failure),
        }),
    }
}

pub(super) async fn validate_resource<P: Provider>(
    service: &Service<P>,
    request: proto::validate_resource_config::Request,
) -> Result<proto::validate_resource_config::Response, Diagnostics> {
    let resource = service.resource(&request.type_name)?;
    let schema = resource.schema();
    let config = decode(request.config.as_ref(), resource.ty())?;
    let mut found = validators::run(schema, &config);
    let ctx: Context<P::Data> = service.context(request.client_capabilities);
    if let Err(more) = resource.validate(&ctx, &config).await {
        found.append(more);
    }
    Ok(proto::validate_resource_config::Response {
        diagnostics: reported_with(&ctx, found),
    })
}
