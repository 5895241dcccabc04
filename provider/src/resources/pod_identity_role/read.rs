//! Reading role and association: what is there, in the words of the state where it means the same.

use super::OWNER_TAG;
use super::association::service_account;
use super::schema::PodIdentityRole;
use crate::provider::Joiner;
use crate::report;
use crate::roles::{self, RoleIdentity, stored_tags};
use joiner_aws::eks::pod_identity::{self, Association};
use joiner_aws::{Aws, Error};
use tfplugin::{Context, Diagnostics, Field, State};

/// A stored role; the first releases stored no `tags_all`.
pub(super) fn stored(ctx: &Context<Joiner>, mut model: PodIdentityRole) -> PodIdentityRole {
    let owner = model.controller.owner_tag(OWNER_TAG);
    model.role.tags_all = stored_tags(ctx, model.role.tags_all, &model.role.tags, owner);
    model
}

/// The state of the role now; `None` when it is gone. While AWS is unknown the state stays as it is.
pub(super) async fn read(
    ctx: &Context<Joiner>,
    state: State<PodIdentityRole, RoleIdentity>,
) -> Result<Option<State<PodIdentityRole, RoleIdentity>>, Diagnostics> {
    let data = ctx.ready()?;
    if data.aws.is_unknown() {
        return Ok(Some(state));
    }
    let (aws, prior) = (data.aws()?, state.model);
    let Some((role, hanging)) = roles::present(ctx, aws, &prior.role, OWNER_TAG).await? else {
        return Ok(None);
    };
    let association = association(aws, &prior, &role.arn)
        .await
        .map_err(|error| report::aws("The association was not read", &error))?;
    let (id, arn) = association.map(|found| (found.id, found.arn)).unzip();
    let model = PodIdentityRole {
        role: roles::merge(&prior.role, &role, &hanging),
        controller: prior.controller.as_found(&role, &hanging),
        association_id: Field::from_option(id),
        association_arn: Field::from_option(arn),
        ..prior
    };
    Ok(Some(State {
        identity: RoleIdentity::of(&model.role),
        model,
        private: state.private,
    }))
}

/// The association that gives this role to the service account; `None` when there is none, so that the plan makes it.
async fn association(aws: &Aws, prior: &PodIdentityRole, role: &str) -> Result<Option<Association>, Error> {
    let Some(cluster) = prior.controller.cluster_name.as_str() else {
        return Ok(None);
    };
    let account = service_account(prior);
    let known = match prior.association_id.as_str() {
        Some(id) => pod_identity::get(aws, cluster, id).await?,
        None => None,
    };
    let found = match known {
        Some(known) => Some(known),
        None => pod_identity::find(aws, cluster, &account).await?,
    };
    Ok(found.filter(|found| found.role_arn == role && found.account == account))
}
