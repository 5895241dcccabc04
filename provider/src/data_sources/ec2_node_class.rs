//! `joiner_ec2_node_class`.

use super::objects::{conditions, get, text};
use crate::objects::Custom as _;
use crate::provider::Joiner;
use crate::resources::Ec2NodeClass;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use tfplugin::{Context, DataSource, Diagnostics, Field, Model, async_trait};

/// An EC2NodeClass as the cluster has it, with what its selectors found.
#[derive(Clone, Debug, Default, Model)]
pub(super) struct NodeClassLookup {
    /// Name of the class.
    #[tf(required)]
    name: Field<String>,
    /// The cluster that it is in. Nothing is done with it: refer to something of the cluster here, so that the class is read only when the
    /// cluster is there.
    cluster: Field<String>,
    /// The uid that the API server gave it.
    #[tf(computed)]
    uid: Field<String>,
    /// Its spec as JSON, as the API server has it.
    #[tf(computed)]
    spec_json: Field<String>,
    /// Whether nodes can be made with it.
    #[tf(computed)]
    ready: Field<bool>,
    /// The subnets that its terms found.
    #[tf(computed)]
    subnets: Field<Vec<FoundSubnet>>,
    /// The security groups that its terms found.
    #[tf(computed)]
    security_groups: Field<Vec<FoundThing>>,
    /// The images that its terms found.
    #[tf(computed)]
    amis: Field<Vec<FoundThing>>,
    /// The instance profile that its nodes get.
    #[tf(computed)]
    instance_profile: Field<String>,
    /// Its conditions: type and `True`, `False` or `Unknown`.
    #[tf(computed)]
    conditions: Field<BTreeMap<String, String>>,
}

/// A subnet.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(super) struct FoundSubnet {
    /// Its ID.
    #[tf(computed)]
    id: Field<String>,
    /// Its zone.
    #[tf(computed)]
    zone: Field<String>,
}

/// Something with an ID and perhaps a name.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(super) struct FoundThing {
    /// Its ID.
    #[tf(computed)]
    id: Field<String>,
    /// Its name.
    #[tf(computed)]
    name: Field<String>,
}

/// The data source `joiner_ec2_node_class`.
pub(super) struct Ec2NodeClassData;

#[async_trait]
impl DataSource for Ec2NodeClassData {
    type Data = Joiner;
    type Model = NodeClassLookup;

    fn name(&self) -> &'static str {
        "joiner_ec2_node_class"
    }

    async fn read(
        &self,
        ctx: &Context<Joiner>,
        config: NodeClassLookup,
    ) -> Result<NodeClassLookup, Diagnostics> {
        let name = config.name.as_str().unwrap_or_default();
        let object = get(ctx, Ec2NodeClass::kind(), name).await?;
        let status = &object["status"];
        let all = conditions(&object);
        let items = |key: &str| status[key].as_array().cloned().unwrap_or_default();
        let things = |key: &str| {
            let thing = |item: &Json| FoundThing {
                id: text(&item["id"]),
                name: text(&item["name"]),
            };
            Field::Known(items(key).iter().map(thing).collect())
        };
        let subnet = |item: &Json| FoundSubnet {
            id: text(&item["id"]),
            zone: text(&item["zone"]),
        };
        Ok(NodeClassLookup {
            uid: text(&object["metadata"]["uid"]),
            spec_json: Field::Known(object["spec"].to_string()),
            ready: Field::Known(all.get("Ready").is_some_and(|status| status == "True")),
            subnets: Field::Known(items("subnets").iter().map(subnet).collect()),
            security_groups: things("securityGroups"),
            amis: things("amis"),
            instance_profile: text(&status["instanceProfile"]),
            conditions: Field::Known(all),
            ..config
        })
    }
}
