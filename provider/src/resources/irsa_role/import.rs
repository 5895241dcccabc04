//! Importing by role name: what the trust policy and our tag tell.

use super::documents::OWNER_TAG;
use super::identity::{RoleIdentity, account};
use super::schema::IrsaRole;
use crate::provider::Joiner;
use crate::report;
use joiner_aws::iam::{Role, get_role};
use serde_json::Value as Json;
use tfplugin::{Context, Diagnostics, Field, ImportBy, State};

/// The role with the name that is the ID.
pub(super) async fn import(
    ctx: &Context<Joiner>,
    by: ImportBy<RoleIdentity>,
) -> Result<Vec<State<IrsaRole, RoleIdentity>>, Diagnostics> {
    let (name, wanted_account) = match by {
        ImportBy::Id(name) => (name, None),
        ImportBy::Identity(RoleIdentity { name, account_id }) => {
            (name.known_or_default(), account_id.into_known())
        }
    };
    let data = ctx.ready()?;
    let found = get_role(data.aws()?, &name)
        .await
        .map_err(|error| report::aws("The role was not read", &error))?;
    match found {
        Some(role) => {
            let found = account(&role.arn);
            if wanted_account.is_some() && found != wanted_account.as_deref() {
                return Err(Diagnostics::error(
                    format!("Role {name:?} is in another account"),
                    format!(
                        "The identity names account {}, and the provider reaches {}, with account {}. Use the credentials, or the \
                         assume_role, of the account that is meant.",
                        wanted_account.unwrap_or_default(),
                        role.arn,
                        found.unwrap_or("unknown")
                    ),
                ));
            }
            let model = model(&role);
            Ok(vec![State {
                identity: RoleIdentity::of(&model),
                ..State::new(model)
            }])
        }
        None => Err(Diagnostics::error(
            format!("There is no role {name:?}"),
            "The account has none of this name. The ID is the role's name, not its ARN.",
        )),
    }
}

/// What the role itself tells of the attributes; the core reads the rest.
fn model(role: &Role) -> IrsaRole {
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
        id: Field::Known(role.name.clone()),
        name: Field::Known(role.name.clone()),
        arn: Field::Known(role.arn.clone()),
        oidc_provider_arn: Field::from_option(provider),
        namespace: Field::from_option(namespace.map(str::to_owned)),
        service_account: Field::from_option(service_account.map(str::to_owned)),
        cluster_name: Field::from_option(cluster),
        manage_instance_profiles: Field::Known(true),
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
        let model = model(&role);
        assert_eq!(
            (
                model.oidc_provider_arn.as_str(),
                model.namespace.as_str(),
                model.service_account.as_str(),
                model.cluster_name.as_str()
            ),
            (Some(arn), Some("n"), Some("s"), Some("c"))
        );
    }
}
