//! `joiner_node_claims`.

use super::objects::{conditions, list, text};
use crate::objects::node_claims;
use crate::provider::Joiner;
use joiner_api::labels::{CAPACITY_TYPE, INSTANCE_TYPE, NODEPOOL, ZONE};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use tfplugin::{Context, DataSource, Diagnostics, Field, Model, async_trait};

/// The NodeClaims of the cluster: the nodes that the controller has bought, or is about to.
#[derive(Clone, Debug, Default, Model)]
pub(super) struct NodeClaimsLookup {
    /// Only those of this node pool.
    node_pool: Field<String>,
    /// The cluster that they are in. Nothing is done with it: refer to something of the cluster here, so that they are read only when the
    /// cluster is there.
    cluster: Field<String>,
    /// The claims, by name.
    #[tf(computed)]
    node_claims: Field<Vec<FoundClaim>>,
}

/// A NodeClaim.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(super) struct FoundClaim {
    /// Its name.
    #[tf(computed)]
    name: Field<String>,
    /// Its node pool.
    #[tf(computed)]
    node_pool: Field<String>,
    /// Name of its node; null before there is one.
    #[tf(computed)]
    node_name: Field<String>,
    /// Its instance, as `aws:///ZONE/INSTANCE`.
    #[tf(computed)]
    provider_id: Field<String>,
    /// Its instance type.
    #[tf(computed)]
    instance_type: Field<String>,
    /// Its zone.
    #[tf(computed)]
    zone: Field<String>,
    /// How it is paid for: `spot`, `on-demand` or `reserved`.
    #[tf(computed)]
    capacity_type: Field<String>,
    /// Its conditions: type and `True`, `False` or `Unknown`.
    #[tf(computed)]
    conditions: Field<BTreeMap<String, String>>,
}

/// The data source `joiner_node_claims`.
pub(super) struct NodeClaimsData;

#[async_trait]
impl DataSource for NodeClaimsData {
    type Data = Joiner;
    type Model = NodeClaimsLookup;

    fn name(&self) -> &'static str {
        "joiner_node_claims"
    }

    async fn read(
        &self,
        ctx: &Context<Joiner>,
        config: NodeClaimsLookup,
    ) -> Result<NodeClaimsLookup, Diagnostics> {
        let pool = config.node_pool.as_str();
        let labels = pool.map(|pool| (NODEPOOL.to_owned(), pool.to_owned()));
        let found = list(ctx, node_claims(), &labels.into_iter().collect()).await?;
        Ok(NodeClaimsLookup {
            node_claims: Field::Known(found.iter().map(claim).collect()),
            ..config
        })
    }
}

fn claim(object: &Json) -> FoundClaim {
    let labels = &object["metadata"]["labels"];
    let status = &object["status"];
    FoundClaim {
        name: text(&object["metadata"]["name"]),
        node_pool: text(&labels[NODEPOOL]),
        node_name: text(&status["nodeName"]),
        provider_id: text(&status["providerID"]),
        instance_type: text(&labels[INSTANCE_TYPE]),
        zone: text(&labels[ZONE]),
        capacity_type: text(&labels[CAPACITY_TYPE]),
        conditions: Field::Known(conditions(object)),
    }
}
