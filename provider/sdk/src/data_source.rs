//! Data sources.

use async_trait::async_trait;

use crate::context::Context;
use crate::diagnostics::Diagnostics;
use crate::model::Model;
use crate::schema::Schema;

/// Something to read. A core reads it while planning as soon as its own configuration is known, even when the provider's
/// is not: then [`Context::ready`] gives the message.
#[async_trait]
pub trait DataSource: Send + Sync + 'static {
    /// The provider's data.
    type Data: Send + Sync + 'static;
    /// Configuration and result.
    type Model: Model;

    /// The type's name in configurations.
    fn name(&self) -> &'static str;

    /// The schema; by default the model's.
    fn schema(&self) -> Schema {
        Self::Model::schema(0)
    }

    /// Checks the configuration beyond its attributes' validators; values may be unknown.
    async fn validate(&self, ctx: &Context<Self::Data>, config: &Self::Model) -> Result<(), Diagnostics> {
        let _ = (ctx, config);
        Ok(())
    }

    /// Reads. The configuration is wholly known and comes back as it is, with the computed attributes filled in.
    async fn read(&self, ctx: &Context<Self::Data>, config: Self::Model) -> Result<Self::Model, Diagnostics>;
}
