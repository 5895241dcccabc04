//! A data source without its types.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;

use crate::context::Context;
use crate::data_source::DataSource;
use crate::diagnostics::Diagnostics;
use crate::model::{AttributeValue, Model};
use crate::schema::Schema;
use crate::value::Value;

#[async_trait]
pub(crate) trait AnyDataSource<D>: Send + Sync {
    fn name(&self) -> &'static str;
    fn schema(&self) -> &Schema;
    async fn validate(&self, ctx: &Context<D>, config: &Value) -> Result<(), Diagnostics>;
    async fn read(&self, ctx: &Context<D>, config: &Value) -> Result<Value, Diagnostics>;
}

struct Erased<S> {
    source: S,
    schema: OnceLock<Schema>,
}

pub(crate) fn erase_data_source<S: DataSource>(source: S) -> Arc<dyn AnyDataSource<S::Data>> {
    Arc::new(Erased {
        source,
        schema: OnceLock::new(),
    })
}

#[async_trait]
impl<S: DataSource> AnyDataSource<S::Data> for Erased<S> {
    fn name(&self) -> &'static str {
        self.source.name()
    }

    fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| self.source.schema())
    }

    async fn validate(&self, ctx: &Context<S::Data>, config: &Value) -> Result<(), Diagnostics> {
        self.source.validate(ctx, &S::Model::read(config)?).await
    }

    async fn read(&self, ctx: &Context<S::Data>, config: &Value) -> Result<Value, Diagnostics> {
        Ok(self.source.read(ctx, S::Model::read(config)?).await?.to_value())
    }
}
