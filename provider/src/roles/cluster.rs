//! What EKS tells at a plan of the cluster that a role is for: that it is there, and that its issuer is the one that the role trusts.
//!
//! Only where credentials are at hand and the provider's own cluster answers: while that is still to be made, the named one may be, too. What
//! the account does not tell, for want of permission or in time, is no finding.

use crate::provider::{Checks, Joiner, Level, Part};
use joiner_aws::{Aws, Error, eks};
use std::time::Duration;
use tfplugin::{Configured, Context, Diagnostic, Diagnostics, Field};

/// How long EKS gets to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The issuer that a role trusts.
pub(crate) struct Trusted<'a> {
    /// Without scheme.
    pub issuer: &'a str,
    /// The region in its name.
    pub region: Option<&'a str>,
}

/// Asks EKS for the cluster of this name, and tells what does not fit.
pub(crate) async fn check_cluster(
    ctx: &Context<Joiner>,
    name: &Field<String>,
    trusted: Option<Trusted<'_>>,
) -> Result<(), Diagnostics> {
    let level = Checks::in_context(ctx).account;
    let (Configured::Ready(data), Some(name)) = (ctx.provider(), name.as_str()) else {
        return Ok(());
    };
    let (Part::Known(own), Part::Known(aws)) = (&data.cluster, &data.aws) else {
        return Ok(());
    };
    if level == Level::Off || !aws.has_credentials_at_hand() {
        return Ok(());
    }
    let ask = async {
        if !matches!(own.uid().await, Ok(Some(_))) {
            return None;
        }
        told(aws, name, trusted, level).await
    };
    match tokio::time::timeout(PATIENCE, ask).await {
        Ok(Some(told)) if told.is_error() => return Err(told.into()),
        Ok(Some(told)) => ctx.report(told),
        Ok(None) => {}
        Err(_) => tracing::warn!(
            cluster = name,
            "EKS did not answer in time; the role was not checked against its cluster"
        ),
    }
    Ok(())
}

async fn told(aws: &Aws, name: &str, trusted: Option<Trusted<'_>>, level: Level) -> Option<Diagnostic> {
    let region = aws.region().await.ok()?;
    // A cluster of that name in the provider's region is another one than that of an issuer elsewhere.
    let elsewhere = trusted.as_ref().and_then(|trusted| trusted.region);
    if elsewhere.is_some_and(|elsewhere| elsewhere != region) {
        return None;
    }
    let cluster = match eks::describe(aws, name).await {
        Ok(cluster) => cluster,
        Err(Error::NotFound(_)) => {
            let told = Diagnostic::warning(
                format!("There is no cluster {name:?}"),
                format!(
                    "EKS has none of this name in {region}, and the provider's own cluster is there. If this plan makes it, all is well; if \
                     not, write the name of the cluster that is meant, as aws eks list-clusters tells it."
                ),
            );
            return Some(told.at("cluster_name"));
        }
        Err(error) => {
            tracing::info!(cluster = name, %error, "the role was not checked against its cluster");
            return None;
        }
    };
    let issuer = cluster.issuer?;
    let issuer = issuer.strip_prefix("https://").unwrap_or(&issuer);
    let trusted = trusted.filter(|trusted| trusted.issuer != issuer)?;
    let summary = "The OIDC provider is another cluster's";
    let detail = format!(
        "Cluster {name:?} has the issuer {issuer}, and oidc_provider_arn names {}: pods of the cluster could not take the role on. Name the \
         provider of {issuer}, or the cluster that is meant in cluster_name.",
        trusted.issuer
    );
    let told = match level {
        Level::Error => Diagnostic::error(summary, detail),
        Level::Warning | Level::Off => Diagnostic::warning(summary, detail),
    };
    Some(told.at("oidc_provider_arn"))
}

#[cfg(test)]
mod tests {
    use crate::account::Account;
    use crate::cluster::Cluster;
    use crate::cluster::mock::MockApi;
    use crate::provider::JoinerProvider;
    use serde_json::{Value as Json, json};
    use std::sync::Arc;
    use tfplugin::testing::Core;

    const ISSUER: &str = "oidc.eks.eu-central-1.amazonaws.com/id/A";

    fn role(kind: &str, cluster: &str, issuer: &str) -> Json {
        let mut role = json!({ "name": "r", "cluster_name": cluster });
        if kind == "joiner_irsa_role" {
            role["oidc_provider_arn"] = json!(format!("arn:aws:iam::123456789012:oidc-provider/{issuer}"));
        }
        role
    }

    #[tokio::test]
    async fn the_named_cluster_is_looked_at() {
        let api = MockApi::new("c");
        let (account, url) = Account::start().await;
        let cluster = json!({
            "name": "c", "status": "ACTIVE", "identity": { "oidc": { "issuer": format!("https://{ISSUER}") } },
        });
        account.clusters().described.insert("c".into(), cluster);
        let reached = Arc::clone(&api);
        let provider = JoinerProvider::reaching(move |_| Cluster::from_client("https://c", reached.client()))
            .with(Account::fakes());
        let core = Core::new(provider).await.expect("the schemas are valid");
        let configure = async |level: &str| {
            let settings = json!({
                "aws": Account::settings(&url), "kubernetes": { "host": "https://c" }, "checks": { "account": level },
            });
            core.configure(settings).await.expect("configured");
        };
        let paths = async |kind: &str, cluster: &str, issuer: &str| {
            let mut session = core.resource(kind).expect("the type exists");
            match session.plan(role(kind, cluster, issuer)).await {
                Ok(planned) => planned.warnings.paths(),
                Err(failure) => failure
                    .diagnostics()
                    .paths()
                    .iter()
                    .map(|path| format!("error at {path}"))
                    .collect(),
            }
        };
        configure("warning").await;
        let other = ISSUER.replace("/A", "/B");
        for (kind, cluster, issuer, want) in [
            ("joiner_irsa_role", "c", ISSUER, &[][..]),
            ("joiner_irsa_role", "c", &other, &["oidc_provider_arn"]),
            // Another region's cluster of the name.
            (
                "joiner_irsa_role",
                "c",
                &other.replace("eu-central-1", "us-west-2"),
                &[],
            ),
            ("joiner_irsa_role", "d", ISSUER, &["cluster_name"]),
            ("joiner_pod_identity_role", "c", "", &[]),
            ("joiner_pod_identity_role", "d", "", &["cluster_name"]),
            ("joiner_node_role", "d", "", &["cluster_name"]),
        ] {
            assert_eq!(
                paths(kind, cluster, issuer).await,
                want,
                "{kind} {cluster} {issuer}"
            );
        }
        configure("error").await;
        assert_eq!(
            paths("joiner_irsa_role", "c", &other).await,
            ["error at oidc_provider_arn"]
        );
        assert_eq!(
            paths("joiner_pod_identity_role", "d", "").await,
            ["cluster_name"],
            "this plan may make it"
        );
        configure("off").await;
        assert!(paths("joiner_irsa_role", "c", &other).await.is_empty());
        // While the provider's own cluster is still to be made, the named one may be, too.
        configure("warning").await;
        api.remove("/api/v1/namespaces/kube-system");
        assert!(paths("joiner_pod_identity_role", "d", "").await.is_empty());
    }
}
