//! Ephemeral resources: values that live for one run and are never stored.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::context::Context;
use crate::diagnostics::Diagnostics;
use crate::model::Model;
use crate::private::Private;
use crate::schema::Schema;

/// Something opened for the time of a run, such as a token.
#[async_trait]
pub trait EphemeralResource: Send + Sync + 'static {
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

    /// Opens it. The configuration comes back as it is, with the computed attributes filled in.
    async fn open(
        &self,
        ctx: &Context<Self::Data>,
        config: Self::Model,
    ) -> Result<Opened<Self::Model>, Diagnostics>;

    /// Keeps it alive; the value already handed out cannot change.
    async fn renew(&self, ctx: &Context<Self::Data>, private: Private) -> Result<Renewed, Diagnostics> {
        let _ = ctx;
        Ok(Renewed {
            renew_at: None,
            private,
        })
    }

    /// Closes it.
    async fn close(&self, ctx: &Context<Self::Data>, private: Private) -> Result<(), Diagnostics> {
        let _ = (ctx, private);
        Ok(())
    }
}

/// An opened ephemeral resource.
#[derive(Clone, Debug)]
pub struct Opened<M> {
    /// The configuration with its computed attributes.
    pub result: M,
    /// When it must be renewed; `None` is never.
    pub renew_at: Option<Timestamp>,
    /// Data for renew and close.
    pub private: Private,
}

/// A renewed ephemeral resource.
#[derive(Clone, Debug)]
pub struct Renewed {
    /// When it must be renewed again; `None` is never.
    pub renew_at: Option<Timestamp>,
    /// Data for the next renew, and for close.
    pub private: Private,
}
