//! A core whose provider has the account in memory.

use super::Account;
use crate::provider::JoinerProvider;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use tfplugin::testing::{Core, Session};

/// The account and a core that is configured for it, for the life of resources of one type.
pub(crate) struct World {
    pub account: Arc<Account>,
    pub url: String,
    core: Core<JoinerProvider>,
    kind: &'static str,
}

impl World {
    /// With a configured provider; `kind` is the resource's type.
    pub(crate) async fn of(kind: &'static str) -> Self {
        let (account, url) = Account::start().await;
        let core = Core::new(Account::provider())
            .await
            .expect("the schemas are valid");
        let world = Self {
            account,
            url,
            core,
            kind,
        };
        world.configure(Account::settings(&world.url)).await;
        world
    }

    /// Configures the provider anew, with this `aws` block.
    pub(crate) async fn configure(&self, aws: Json) {
        let configured = self.core.configure(json!({ "aws": aws })).await;
        configured.expect("configured");
    }

    /// A resource that is not there yet.
    pub(crate) fn session(&self) -> Session<JoinerProvider> {
        self.core.resource(self.kind).expect("the type exists")
    }
}
