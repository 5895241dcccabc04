//! `joiner_cluster_auth`.

use crate::provider::Joiner;
use crate::report;
use jiff::Timestamp;
use joiner_aws::eks;
use std::time::SystemTime;
use tfplugin::validate::not_empty;
use tfplugin::{Context, Diagnostics, EphemeralResource, Field, Model, Opened, Private, async_trait};

/// A bearer token for the API server of an EKS cluster, for the time of a run: it is in no state and in no plan.
///
/// It is good for 15 minutes. This provider itself needs none: with `eks = { cluster_name = ... }` it makes tokens as it needs them, in a run
/// of any length.
#[derive(Clone, Debug, Default, Model)]
pub(super) struct ClusterToken {
    /// Name of the cluster.
    #[tf(required, validate = not_empty)]
    cluster_name: Field<String>,
    /// The token.
    #[tf(computed, sensitive)]
    token: Field<String>,
    /// When it ends, as RFC 3339 has it.
    #[tf(computed)]
    expires_at: Field<String>,
}

/// The ephemeral resource `joiner_cluster_auth`.
pub(super) struct ClusterAuth;

#[async_trait]
impl EphemeralResource for ClusterAuth {
    type Data = Joiner;
    type Model = ClusterToken;

    fn name(&self) -> &'static str {
        "joiner_cluster_auth"
    }

    async fn open(
        &self,
        ctx: &Context<Joiner>,
        mut config: ClusterToken,
    ) -> Result<Opened<ClusterToken>, Diagnostics> {
        let data = ctx.ready()?;
        let now = SystemTime::now();
        let name = config.cluster_name.as_str().unwrap_or_default();
        let token = eks::token(data.aws()?, name, now)
            .await
            .map_err(|error| report::aws("No token could be made", &error))?;
        let ends = Timestamp::try_from(now + eks::TOKEN_LIFETIME).ok();
        config.token = Field::Known(token);
        config.expires_at = Field::from_option(ends.map(|ends| ends.to_string()));
        Ok(Opened {
            result: config,
            // A renewal could not change the token that was handed out.
            renew_at: None,
            private: Private::default(),
        })
    }
}
