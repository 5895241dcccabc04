//! `joiner_node_pool` and `joiner_node_pools`.

use super::objects::{conditions, get, list, text, texts};
use crate::objects::Custom as _;
use crate::provider::Joiner;
use crate::resources::NodePool;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use tfplugin::{Context, DataSource, Diagnostics, Field, Model, async_trait};

/// A NodePool as the cluster has it, with its status.
#[derive(Clone, Debug, Default, Model)]
pub(super) struct NodePoolLookup {
    /// Name of the pool.
    #[tf(required)]
    name: Field<String>,
    /// The cluster that it is in. Nothing is done with it: refer to something of the cluster here, so that the pool is read only when the
    /// cluster is there.
    cluster: Field<String>,
    /// The uid that the API server gave it.
    #[tf(computed)]
    uid: Field<String>,
    /// Its own labels.
    #[tf(computed)]
    labels: Field<BTreeMap<String, String>>,
    /// Its own annotations.
    #[tf(computed)]
    annotations: Field<BTreeMap<String, String>>,
    /// Its spec as JSON, as the API server has it.
    #[tf(computed)]
    spec_json: Field<String>,
    /// Whether it may buy nodes.
    #[tf(computed)]
    ready: Field<bool>,
    /// How many nodes it has.
    #[tf(computed)]
    node_count: Field<i64>,
    /// What its nodes have together, by resource.
    #[tf(computed)]
    resources: Field<BTreeMap<String, String>>,
    /// Its conditions: type and `True`, `False` or `Unknown`.
    #[tf(computed)]
    conditions: Field<BTreeMap<String, String>>,
}

/// The data source `joiner_node_pool`.
pub(super) struct NodePoolData;

#[async_trait]
impl DataSource for NodePoolData {
    type Data = Joiner;
    type Model = NodePoolLookup;

    fn name(&self) -> &'static str {
        "joiner_node_pool"
    }

    async fn read(
        &self,
        ctx: &Context<Joiner>,
        config: NodePoolLookup,
    ) -> Result<NodePoolLookup, Diagnostics> {
        let name = config.name.as_str().unwrap_or_default();
        let object = get(ctx, NodePool::kind(), name).await?;
        let status = &object["status"];
        let all = conditions(&object);
        Ok(NodePoolLookup {
            uid: text(&object["metadata"]["uid"]),
            labels: texts(&object["metadata"]["labels"]),
            annotations: texts(&object["metadata"]["annotations"]),
            spec_json: Field::Known(object["spec"].to_string()),
            ready: Field::Known(all.get("Ready").is_some_and(|status| status == "True")),
            node_count: Field::from_option(nodes(status)),
            resources: texts(&status["resources"]),
            conditions: Field::Known(all),
            ..config
        })
    }
}

/// A pool's nodes: counted in the status, among the resources in older ones.
fn nodes(status: &Json) -> Option<i64> {
    let count = |value: &Json| value.as_i64().or_else(|| value.as_str()?.parse().ok());
    count(&status["nodes"]).or_else(|| count(&status["resources"]["nodes"]))
}

/// The NodePools of the cluster.
#[derive(Clone, Debug, Default, Model)]
pub(super) struct NodePoolsLookup {
    /// Only those that have all these labels.
    labels: Field<BTreeMap<String, String>>,
    /// The cluster that they are in. Nothing is done with it: refer to something of the cluster here, so that they are read only when the
    /// cluster is there.
    cluster: Field<String>,
    /// Their names, sorted.
    #[tf(computed)]
    names: Field<Vec<String>>,
}

/// The data source `joiner_node_pools`.
pub(super) struct NodePoolsData;

#[async_trait]
impl DataSource for NodePoolsData {
    type Data = Joiner;
    type Model = NodePoolsLookup;

    fn name(&self) -> &'static str {
        "joiner_node_pools"
    }

    async fn read(
        &self,
        ctx: &Context<Joiner>,
        config: NodePoolsLookup,
    ) -> Result<NodePoolsLookup, Diagnostics> {
        let labels = config.labels.known().cloned().unwrap_or_default();
        let found = list(ctx, NodePool::kind(), &labels).await?;
        let names = found
            .iter()
            .filter_map(|object| Some(object["metadata"]["name"].as_str()?.to_owned()));
        Ok(NodePoolsLookup {
            names: Field::Known(names.collect()),
            ..config
        })
    }
}
