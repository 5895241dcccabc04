//! `joiner_registry_auth`.

use crate::provider::Joiner;
use crate::report;
use jiff::Timestamp;
use joiner_aws::ecr;
use tfplugin::{Context, Diagnostics, EphemeralResource, Field, Model, Opened, Private, async_trait};

/// A login for the OCI registry (ECR) of an AWS account, for the time of a run: it is in no state and in no plan.
///
/// It is good for twelve hours, and for every registry in the region that the credentials may read. Charts in `public.ecr.aws` need no
/// login. A provider block cannot use an ephemeral resource of the same provider configuration: give this one an alias that has
/// `aws` alone.
#[derive(Clone, Debug, Default, Model)]
pub(super) struct RegistryLogin {
    /// The account whose registry is meant, twelve digits; the credentials' own when left out.
    #[tf(validate = account)]
    registry_id: Field<String>,
    /// The registry, as `oci://HOST`: what an entry of the provider's `registries` takes, and the beginning of a chart in it.
    #[tf(computed)]
    url: Field<String>,
    /// User of the login.
    #[tf(computed)]
    username: Field<String>,
    /// Password of the login.
    #[tf(computed, sensitive)]
    password: Field<String>,
    /// When it ends, as RFC 3339 has it.
    #[tf(computed)]
    expires_at: Field<String>,
}

fn account(id: &str) -> Result<(), String> {
    if id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_digit()) {
        Ok(())
    } else {
        Err(format!(
            "{id:?} is no account: expected twelve digits, such as 123456789012."
        ))
    }
}

/// The ephemeral resource `joiner_registry_auth`.
pub(super) struct RegistryAuth;

#[async_trait]
impl EphemeralResource for RegistryAuth {
    type Data = Joiner;
    type Model = RegistryLogin;

    fn name(&self) -> &'static str {
        "joiner_registry_auth"
    }

    async fn open(
        &self,
        ctx: &Context<Joiner>,
        mut config: RegistryLogin,
    ) -> Result<Opened<RegistryLogin>, Diagnostics> {
        let data = ctx.ready()?;
        let login = ecr::login(data.aws()?)
            .await
            .map_err(|error| report::aws("No login could be had", &error))?;
        let host = match config.registry_id.as_str() {
            Some(account) => login.host_of(account),
            None => login.host.clone(),
        };
        let ends = login.ends.and_then(|ends| Timestamp::try_from(ends).ok());
        config.url = Field::Known(format!("oci://{host}"));
        config.username = Field::Known(login.user);
        config.password = Field::Known(login.password);
        config.expires_at = Field::from_option(ends.map(|ends| ends.to_string()));
        Ok(Opened {
            result: config,
            // A renewal could not change the password that was handed out.
            renew_at: None,
            private: Private::default(),
        })
    }
}
