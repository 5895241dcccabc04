//! `joiner_controller_policy_document`.

use crate::provider::Joiner;
use crate::roles::{
    Anchor, ControllerAttributes, Place, check_account, check_queue_region, check_region_at,
    controller_policy,
};
use joiner_aws::sts::partition_of;
use std::collections::BTreeSet;
use tfplugin::validate::not_empty;
use tfplugin::{Context, DataSource, Diagnostics, Field, Model, async_trait};

/// The IAM policy that a controller needs, for a role that is made elsewhere. No network and no credentials are needed.
#[derive(Clone, Debug, Default, Model)]
pub(super) struct PolicyDocumentLookup {
    /// Name of the cluster.
    #[tf(required, validate = not_empty)]
    cluster_name: Field<String>,
    /// Region of the cluster; it tells the partition, too.
    #[tf(required)]
    region: Field<String>,
    /// The account, 12 digits.
    #[tf(required, validate = not_empty)]
    account_id: Field<String>,
    /// ARNs of the roles that nodes may have; the controller may hand no others to EC2.
    node_role_arns: Field<BTreeSet<String>>,
    /// ARN of the queue of interruption events, when there is one.
    interruption_queue_arn: Field<String>,
    /// Whether the controller makes instance profiles (default `true`).
    manage_instance_profiles: Field<bool>,
    /// The policy, as JSON.
    #[tf(computed)]
    json: Field<String>,
}

/// The data source `joiner_controller_policy_document`.
pub(super) struct PolicyDocumentData;

#[async_trait]
impl DataSource for PolicyDocumentData {
    type Data = Joiner;
    type Model = PolicyDocumentLookup;

    fn name(&self) -> &'static str {
        "joiner_controller_policy_document"
    }

    async fn validate(&self, _: &Context<Joiner>, config: &PolicyDocumentLookup) -> Result<(), Diagnostics> {
        let mut found = Diagnostics::new();
        check_region_at("region", &config.region, &mut found);
        if let Some(account) = config.account_id.as_str().filter(|account| !account.is_empty()) {
            check_account("account_id", account, &mut found);
        }
        let attributes = attributes(config);
        if let Some(region) = config.region.as_str() {
            check_queue_region(&attributes.interruption_queue_arn, "region", region, &mut found);
            attributes.check_partition(Some(Anchor::of_region("region", region)), &mut found);
        }
        attributes.check(&mut found);
        found.told()
    }

    async fn read(
        &self,
        _: &Context<Joiner>,
        mut config: PolicyDocumentLookup,
    ) -> Result<PolicyDocumentLookup, Diagnostics> {
        let region = config.region.as_str().unwrap_or_default().to_owned();
        let place = Place {
            partition: partition_of(&region).to_owned(),
            account: config.account_id.as_str().unwrap_or_default().to_owned(),
            region,
        };
        config.json = controller_policy(&attributes(&config), Field::Known(place));
        Ok(config)
    }
}

fn attributes(config: &PolicyDocumentLookup) -> ControllerAttributes {
    ControllerAttributes {
        cluster_name: config.cluster_name.clone(),
        node_role_arns: config.node_role_arns.clone(),
        interruption_queue_arn: config.interruption_queue_arn.clone(),
        manage_instance_profiles: Field::Known(config.manage_instance_profiles.known_or(true)),
        ..ControllerAttributes::default()
    }
}
