//! The service: what is configured, what is offered, and one method a call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use tfplugin_proto::tfplugin6 as proto;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, async_trait};

use super::answer::{Paths, answer};
use super::{
    apply, data_source, ephemeral, functions, identity, import, plan, provider, read, schemas, state,
};
use crate::context::{ClientCapabilities, Configured, Context};
use crate::diagnostics::Diagnostics;
use crate::erased::{AnyDataSource, AnyEphemeral, AnyResource};
use crate::function::{Function, Signature};
use crate::provider::Provider;
use crate::schema::Schema;

/// A provider as the protocol sees it.
pub(crate) struct Service<P: Provider> {
    pub(super) provider: P,
    offers: OnceLock<Tables<P::Data>>,
    configured: RwLock<Configured<P::Data>>,
    stop: Mutex<CancellationToken>,
    paths: Paths,
}

/// What is offered, by name.
pub(super) struct Tables<D> {
    pub(super) resources: BTreeMap<&'static str, Arc<dyn AnyResource<D>>>,
    pub(super) data_sources: BTreeMap<&'static str, Arc<dyn AnyDataSource<D>>>,
    pub(super) ephemeral: BTreeMap<&'static str, Arc<dyn AnyEphemeral<D>>>,
    pub(super) functions: BTreeMap<&'static str, Arc<dyn Function>>,
}

impl<P: Provider> Service<P> {
    pub(crate) fn new(provider: P, paths: Paths) -> Self {
        Self {
            provider,
            offers: OnceLock::new(),
            configured: RwLock::new(Configured::Unconfigured),
            stop: Mutex::new(CancellationToken::new()),
            paths,
        }
    }

    pub(super) fn tables(&self) -> &Tables<P::Data> {
        self.offers.get_or_init(|| {
            let offers = self.provider.offers();
            Tables {
                resources: offers
                    .resources
                    .into_iter()
                    .map(|resource| (resource.name(), resource))
                    .collect(),
                data_sources: offers
                    .data_sources
                    .into_iter()
                    .map(|source| (source.name(), source))
                    .collect(),
                ephemeral: offers
                    .ephemeral
                    .into_iter()
                    .map(|ephemeral| (ephemeral.name(), ephemeral))
                    .collect(),
                functions: offers
                    .functions
                    .into_iter()
                    .map(|function| (function.name(), function))
                    .collect(),
            }
        })
    }

    pub(super) fn resource(&self, name: &str) -> Result<&Arc<dyn AnyResource<P::Data>>, Diagnostics> {
        self.tables()
            .resources
            .get(name)
            .ok_or_else(|| not_offered("resource", name))
    }

    pub(super) fn data_source(&self, name: &str) -> Result<&Arc<dyn AnyDataSource<P::Data>>, Diagnostics> {
        self.tables()
            .data_sources
            .get(name)
            .ok_or_else(|| not_offered("data source", name))
    }

    pub(super) fn ephemeral(&self, name: &str) -> Result<&Arc<dyn AnyEphemeral<P::Data>>, Diagnostics> {
        self.tables()
            .ephemeral
            .get(name)
            .ok_or_else(|| not_offered("ephemeral resource", name))
    }

    pub(crate) fn provider_schema(&self) -> Schema {
        self.provider.schema()
    }

    pub(crate) fn resource_schema(&self, name: &str) -> Option<&Schema> {
        self.tables()
            .resources
            .get(name)
            .map(|resource| resource.schema())
    }

    pub(crate) fn resource_identity_schema(&self, name: &str) -> Option<&Schema> {
        self.tables()
            .resources
            .get(name)
            .and_then(|resource| resource.identity_schema())
    }

    pub(crate) fn data_source_schema(&self, name: &str) -> Option<&Schema> {
        self.tables().data_sources.get(name).map(|source| source.schema())
    }

    pub(crate) fn ephemeral_schema(&self, name: &str) -> Option<&Schema> {
        self.tables()
            .ephemeral
            .get(name)
            .map(|ephemeral| ephemeral.schema())
    }

    pub(crate) fn function_signature(&self, name: &str) -> Option<Signature> {
        self.tables()
            .functions
            .get(name)
            .map(|function| function.signature())
    }

    /// Every schema but the provider's, with the name it is offered by.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = (&'static str, &Schema)> {
        let tables = self.tables();
        let resources = tables.resources.iter().map(|(name, item)| (*name, item.schema()));
        let identities = tables
            .resources
            .iter()
            .filter_map(|(name, item)| Some((*name, item.identity_schema()?)));
        let data_sources = tables
            .data_sources
            .iter()
            .map(|(name, item)| (*name, item.schema()));
        let ephemeral = tables.ephemeral.iter().map(|(name, item)| (*name, item.schema()));
        resources.chain(identities).chain(data_sources).chain(ephemeral)
    }

    pub(super) fn configure(&self, configured: Configured<P::Data>) {
        *self.configured.write().unwrap_or_else(PoisonError::into_inner) = configured;
    }

    /// The surroundings of a call that begins now.
    pub(super) fn context(&self, capabilities: Option<proto::ClientCapabilities>) -> Context<P::Data> {
        let capabilities =
            capabilities.map_or_else(ClientCapabilities::default, |capabilities| ClientCapabilities {
                deferral_allowed: capabilities.deferral_allowed,
                write_only_attributes_allowed: capabilities.write_only_attributes_allowed,
            });
        let configured = self
            .configured
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let stop = self
            .stop
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .child_token();
        Context::new(configured, stop, capabilities)
    }

    /// Cancels all calls in flight; later calls go on.
    pub(crate) fn stop(&self) {
        let mut stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *stop).cancel();
    }
}

fn not_offered(what: &str, name: &str) -> Diagnostics {
    Diagnostics::error(
        format!("Unknown {what}"),
        format!("This version of the provider has no {what} {name:?}."),
    )
}

macro_rules! calls {
    ($($method:ident, $message:ident, $subject:ident => $handle:path;)*) => {
        #[async_trait]
        impl<P: Provider> proto::provider_server::Provider for Service<P> {
            $(
                async fn $method(
                    &self,
                    request: Request<proto::$message::Request>,
                ) -> Result<Response<proto::$message::Response>, Status> {
                    let request = request.into_inner();
                    let subject = $subject(&request);
                    answer(stringify!($method), &subject, self.paths, $handle(self, request)).await
                }
            )*

            async fn call_function(
                &self,
                request: Request<proto::call_function::Request>,
            ) -> Result<Response<proto::call_function::Response>, Status> {
                Ok(Response::new(functions::call(self, request.into_inner()).await))
            }

            async fn stop_provider(
                &self,
                _: Request<proto::stop_provider::Request>,
            ) -> Result<Response<proto::stop_provider::Response>, Status> {
                tracing::info!("stop asked for: calls in flight are cancelled");
                self.stop();
                Ok(Response::new(proto::stop_provider::Response::default()))
            }
        }
    };
}

fn nothing<T>(_: &T) -> String {
    String::new()
}

trait Named {
    fn type_name(&self) -> &str;
}

macro_rules! named {
    ($($message:ident),*) => {$(
        impl Named for proto::$message::Request {
            fn type_name(&self) -> &str {
                &self.type_name
            }
        }
    )*};
}
named!(
    validate_resource_config,
    validate_data_resource_config,
    validate_ephemeral_resource_config,
    upgrade_resource_state,
    upgrade_resource_identity,
    read_resource,
    plan_resource_change,
    apply_resource_change,
    import_resource_state,
    read_data_source,
    open_ephemeral_resource,
    renew_ephemeral_resource,
    close_ephemeral_resource
);

fn type_name<T: Named>(request: &T) -> String {
    request.type_name().to_owned()
}

fn target(request: &proto::move_resource_state::Request) -> String {
    request.target_type_name.clone()
}

calls! {
    get_metadata, get_metadata, nothing => schemas::metadata;
    get_provider_schema, get_provider_schema, nothing => schemas::provider_schema;
    get_resource_identity_schemas, get_resource_identity_schemas, nothing => schemas::identity_schemas;
    get_functions, get_functions, nothing => functions::list;
    validate_provider_config, validate_provider_config, nothing => provider::validate;
    configure_provider, configure_provider, nothing => provider::configure;
    validate_resource_config, validate_resource_config, type_name => provider::validate_resource;
    validate_data_resource_config, validate_data_resource_config, type_name => data_source::validate;
    validate_ephemeral_resource_config, validate_ephemeral_resource_config, type_name => ephemeral::validate;
    upgrade_resource_state, upgrade_resource_state, type_name => state::upgrade;
    upgrade_resource_identity, upgrade_resource_identity, type_name => identity::upgrade;
    move_resource_state, move_resource_state, target => state::move_here;
    read_resource, read_resource, type_name => read::read;
    plan_resource_change, plan_resource_change, type_name => plan::plan;
    apply_resource_change, apply_resource_change, type_name => apply::apply;
    import_resource_state, import_resource_state, type_name => import::import;
    read_data_source, read_data_source, type_name => data_source::read;
    open_ephemeral_resource, open_ephemeral_resource, type_name => ephemeral::open;
    renew_ephemeral_resource, renew_ephemeral_resource, type_name => ephemeral::renew;
    close_ephemeral_resource, close_ephemeral_resource, type_name => ephemeral::close;
}
