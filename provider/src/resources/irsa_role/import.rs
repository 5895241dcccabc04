//! Importing by role name: what the trust policy, our tag and the controller's policy tell.

use super::documents::OWNER_TAG;
use super::plan::region_now;
use super::schema::IrsaRole;
use crate::provider::Joiner;
use crate::roles::{self, CONTROLLER_POLICY, ControllerAttributes, RoleIdentity};
use joiner_aws::iam::Role;
use serde_json::Value as Json;
use tfplugin::{Context, Diagnostics, Field, ImportBy, State};

/// The role with the name that is the ID.
pub(super) async fn import(
    ctx: &Context<Joiner>,
    by: ImportBy<RoleIdentity>,
) -> Result<Vec<State<IrsaRole, RoleIdentity>>, Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let (role, hanging) = roles::find(aws, by).await?;
    roles::warn_of_another(ctx, &role, OWNER_TAG, "tag, trust policy and policies");
    let told = told(&role);
    let usual = region_now(&data, &told).await?;
    let model = IrsaRole {
        region: roles::granted_region(&hanging, &usual),
        role: roles::imported(aws, (&role, &hanging), OWNER_TAG, &[CONTROLLER_POLICY]),
        controller: told.controller.granted_by(&hanging),
        ..told
    };
    Ok(vec![State {
        identity: RoleIdentity::of(&model.role),
        ..State::new(model)
    }])
}

/// What the role itself tells of its service account.
fn told(role: &Role) -> IrsaRole {
    let trust: Json = serde_json::from_str(&role.trust).unwrap_or_default();
    let statement = match &trust["Statement"] {
        Json::Array(statements) => statements.first().cloned().unwrap_or_default(),
        other => other.clone(),
    };
    let provider = first_text(&statement["Principal"]["Federated"]);
    let subject = statement["Condition"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(_, keys)| keys.as_object())
        .flatten()
        .find(|(key, _)| key.ends_with(":sub"))
        .and_then(|(_, value)| first_text(value));
    let account = subject
        .as_deref()
        .and_then(|subject| subject.strip_prefix("system:serviceaccount:"));
    let (namespace, service_account) = account.and_then(|account| account.split_once(':')).unzip();
    let cluster = role
        .tags
        .get(OWNER_TAG)
        .and_then(|owner| Some(owner.rsplit_once('@')?.1.to_owned()));
    IrsaRole {
        controller: ControllerAttributes {
            namespace: Field::from_option(namespace.map(str::to_owned)),
            service_account: Field::from_option(service_account.map(str::to_owned)),
            cluster_name: Field::from_option(cluster),
            ..ControllerAttributes::default()
        },
        oidc_provider_arn: Field::from_option(provider),
        ..IrsaRole::default()
    }
}

fn first_text(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Array(items) => items.first().and_then(Json::as_str).map(str::to_owned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use joiner_aws::policy::{ServiceAccount, irsa_trust};
    use std::collections::BTreeMap;

    #[test]
    fn a_role_tells_its_service_account() {
        let arn = "arn:aws:iam::1:oidc-provider/h/id/A";
        let account = ServiceAccount {
            namespace: "n".into(),
            name: "s".into(),
        };
        let role = Role {
            name: "r".into(),
            arn: "a".into(),
            id: "i".into(),
            path: "/".into(),
            description: String::new(),
            trust: irsa_trust(arn, &[account]).expect("valid").to_json(),
            boundary: None,
            max_session_seconds: 3600,
            tags: BTreeMap::from([(OWNER_TAG.into(), "n/s@c".into())]),
        };
        let model = told(&role);
        assert_eq!(
            (
                model.oidc_provider_arn.as_str(),
                model.controller.namespace.as_str(),
                model.controller.service_account.as_str(),
                model.controller.cluster_name.as_str()
            ),
            (Some(arn), Some("n"), Some("s"), Some("c"))
        );
    }
}
