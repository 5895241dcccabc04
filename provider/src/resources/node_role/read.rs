//! Reading role, access entry and instance profile.

use super::documents::{managed_arn, owner_tag};
use super::schema::NodeRole;
use super::{OWNER_TAG, profile};
use crate::provider::Joiner;
use crate::report;
use crate::roles::{self, RoleIdentity, keep_words, partition, stored_tags};
use joiner_aws::eks::access_entries;
use joiner_aws::iam::{Attachments, Role};
use joiner_aws::{Aws, Error};
use tfplugin::{Context, Diagnostics, Field, State};

/// A stored role; the first releases stored no `tags_all`.
pub(super) fn stored(ctx: &Context<Joiner>, mut model: NodeRole) -> NodeRole {
    let owner = owner_tag(&model);
    model.role.tags_all = stored_tags(ctx, model.role.tags_all, &model.role.tags, owner);
    model
}

/// The state of the role now; `None` when it is gone. While AWS is unknown the state stays as it is.
pub(super) async fn read(
    ctx: &Context<Joiner>,
    state: State<NodeRole, RoleIdentity>,
) -> Result<Option<State<NodeRole, RoleIdentity>>, Diagnostics> {
    let data = ctx.ready()?;
    if data.aws.is_unknown() {
        return Ok(Some(state));
    }
    let (aws, prior) = (data.aws()?, state.model);
    let Some((role, hanging)) = roles::present(ctx, aws, &prior.role, OWNER_TAG).await? else {
        return Ok(None);
    };
    let mut model = merge(&prior, &role, &hanging);
    beside(aws, &mut model)
        .await
        .map_err(|error| report::aws("What belongs to the role was not read", &error))?;
    Ok(Some(State {
        identity: RoleIdentity::of(&model.role),
        model,
        private: state.private,
    }))
}

fn merge(prior: &NodeRole, role: &Role, hanging: &Attachments) -> NodeRole {
    let partition = partition(&role.arn).unwrap_or("aws");
    let mut model = NodeRole {
        role: roles::merge(&prior.role, role, hanging),
        description: Field::Known(role.description.clone()),
        trust_policy_json: keep_words(Field::Known(role.trust.clone()), &prior.trust_policy_json),
        ..prior.clone()
    };
    if let Some(names) = model.managed_policies.known_mut() {
        names.retain(|name| hanging.policies.contains(&managed_arn(partition, name)));
    }
    model
}

/// Looks for access entry and profile: one that is gone, or that is of another type, is made anew by the plan.
async fn beside(aws: &Aws, model: &mut NodeRole) -> Result<(), Error> {
    if let (Some(cluster), Some(role), Some(true)) = (
        model.cluster_name.as_str(),
        model.role.arn.as_str(),
        model.create_access_entry.known(),
    ) {
        let found = access_entries::get(aws, cluster, role).await?;
        if let Some(found) = &found {
            model.access_entry_type = Field::Known(found.kind.clone());
        }
        model.access_entry_arn = Field::from_option(found.map(|found| found.arn));
    }
    let found = profile::present(aws, model).await?;
    let (name, arn) = found.map(|found| (found.name, found.arn)).unzip();
    model.instance_profile_name = Field::from_option(name);
    model.instance_profile_arn = Field::from_option(arn);
    Ok(())
}
