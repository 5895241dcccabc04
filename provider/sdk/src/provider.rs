//! The provider itself.

use std::sync::Arc;

use async_trait::async_trait;

use crate::context::{Configured, Context};
use crate::data_source::DataSource;
use crate::diagnostics::Diagnostics;
use crate::ephemeral::EphemeralResource;
use crate::erased::{
    AnyDataSource, AnyEphemeral, AnyResource, erase_data_source, erase_ephemeral, erase_resource,
};
use crate::function::Function;
use crate::model::Model;
use crate::resource::Resource;
use crate::schema::Schema;

/// A provider: its configuration and what it offers.
#[async_trait]
pub trait Provider: Send + Sync + 'static {
    /// The provider block.
    type Model: Model;
    /// What a configured provider hands to its resources: clients, settings.
    type Data: Send + Sync + 'static;

    /// The schema of the provider block; by default the model's.
    fn schema(&self) -> Schema {
        Self::Model::schema(0)
    }

    /// Checks the provider block beyond its attributes' validators; values may be unknown.
    async fn validate(&self, ctx: &Context<Self::Data>, config: &Self::Model) -> Result<(), Diagnostics> {
        let _ = (ctx, config);
        Ok(())
    }

    /// Makes the provider's data. Values may be unknown while planning: then answer [`Configured::UnknownUntilApply`]
    /// instead of an error. Open no connection here; do it when a resource first needs one. The context is not configured
    /// yet; it brings cancellation and takes warnings.
    async fn configure(
        &self,
        ctx: &Context<Self::Data>,
        config: Self::Model,
    ) -> Result<Configured<Self::Data>, Diagnostics>;

    /// What it offers.
    fn offers(&self) -> Offers<Self::Data>;
}

/// What a provider offers, in the order it was added.
pub struct Offers<D> {
    pub(crate) resources: Vec<Arc<dyn AnyResource<D>>>,
    pub(crate) data_sources: Vec<Arc<dyn AnyDataSource<D>>>,
    pub(crate) ephemeral: Vec<Arc<dyn AnyEphemeral<D>>>,
    pub(crate) functions: Vec<Arc<dyn Function>>,
}

impl<D: Send + Sync + 'static> Offers<D> {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            resources: Vec::new(),
            data_sources: Vec::new(),
            ephemeral: Vec::new(),
            functions: Vec::new(),
        }
    }

    /// And this resource.
    #[must_use]
    pub fn resource(mut self, resource: impl Resource<Data = D>) -> Self {
        self.resources.push(erase_resource(resource));
        self
    }

    /// And this data source.
    #[must_use]
    pub fn data_source(mut self, data_source: impl DataSource<Data = D>) -> Self {
        self.data_sources.push(erase_data_source(data_source));
        self
    }

    /// And this ephemeral resource.
    #[must_use]
    pub fn ephemeral(mut self, ephemeral: impl EphemeralResource<Data = D>) -> Self {
        self.ephemeral.push(erase_ephemeral(ephemeral));
        self
    }

    /// And this function.
    #[must_use]
    pub fn function(mut self, function: impl Function) -> Self {
        self.functions.push(Arc::new(function));
        self
    }
}

impl<D: Send + Sync + 'static> Default for Offers<D> {
    fn default() -> Self {
        Self::new()
    }
}
