//! An ephemeral resource without its types.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;

use crate::context::Context;
use crate::diagnostics::Diagnostics;
use crate::ephemeral::{EphemeralResource, Opened, Renewed};
use crate::model::{AttributeValue, Model};
use crate::private::Private;
use crate::schema::Schema;
use crate::value::Value;

#[async_trait]
pub(crate) trait AnyEphemeral<D>: Send + Sync {
    fn name(&self) -> &'static str;
    fn schema(&self) -> &Schema;
    async fn validate(&self, ctx: &Context<D>, config: &Value) -> Result<(), Diagnostics>;
    async fn open(&self, ctx: &Context<D>, config: &Value) -> Result<Opened<Value>, Diagnostics>;
    async fn renew(&self, ctx: &Context<D>, private: Private) -> Result<Renewed, Diagnostics>;
    async fn close(&self, ctx: &Context<D>, private: Private) -> Result<(), Diagnostics>;
}

struct Erased<E> {
    ephemeral: E,
    schema: OnceLock<Schema>,
}

pub(crate) fn erase_ephemeral<E: EphemeralResource>(ephemeral: E) -> Arc<dyn AnyEphemeral<E::Data>> {
    Arc::new(Erased {
        ephemeral,
        schema: OnceLock::new(),
    })
}

#[async_trait]
impl<E: EphemeralResource> AnyEphemeral<E::Data> for Erased<E> {
    fn name(&self) -> &'static str {
        self.ephemeral.name()
    }

    fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| self.ephemeral.schema())
    }

    async fn validate(&self, ctx: &Context<E::Data>, config: &Value) -> Result<(), Diagnostics> {
        self.ephemeral.validate(ctx, &E::Model::read(config)?).await
    }

    async fn open(&self, ctx: &Context<E::Data>, config: &Value) -> Result<Opened<Value>, Diagnostics> {
        let Opened {
            result,
            renew_at,
            private,
        } = self.ephemeral.open(ctx, E::Model::read(config)?).await?;
        Ok(Opened {
            result: result.to_value(),
            renew_at,
            private,
        })
    }

    async fn renew(&self, ctx: &Context<E::Data>, private: Private) -> Result<Renewed, Diagnostics> {
        self.ephemeral.renew(ctx, private).await
    }

    async fn close(&self, ctx: &Context<E::Data>, private: Private) -> Result<(), Diagnostics> {
        self.ephemeral.close(ctx, private).await
    }
}
