//! The CRDs, compiled once for checking.

use std::{collections::BTreeMap, sync::LazyLock};

use kube::CustomResourceExt;
use serde_json::{Value, json};

use super::{Kind, structure::Node};

/// The compiled schema of a kind.
pub(super) fn schema(kind: Kind) -> &'static Node {
    match kind {
        Kind::NodePool => &POOL,
        Kind::NodeClaim => &CLAIM,
        Kind::NodeOverlay => &OVERLAY,
        Kind::EC2NodeClass => &CLASS,
    }
}

static POOL: LazyLock<Node> = LazyLock::new(|| compile(crate::NodePool::crd_name()));
static CLAIM: LazyLock<Node> = LazyLock::new(|| compile(crate::NodeClaim::crd_name()));
static OVERLAY: LazyLock<Node> = LazyLock::new(|| compile(crate::NodeOverlay::crd_name()));
static CLASS: LazyLock<Node> = LazyLock::new(|| compile(crate::EC2NodeClass::crd_name()));

static SCHEMAS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    crate::crds()
        .into_iter()
        .filter_map(|crd| {
            let name = crd.metadata.name.clone()?;
            let version = crd.spec.versions.into_iter().next()?;
            let schema = serde_json::to_value(version.schema?.open_api_v3_schema?).ok()?;
            Some((name, schema))
        })
        .collect()
});

fn compile(name: &str) -> Node {
    let mut schema = SCHEMAS.get(name).cloned().unwrap_or_else(|| json!({}));
    // Every object has these; a CRD does not list them.
    for (field, kind) in [
        ("apiVersion", "string"),
        ("kind", "string"),
        ("metadata", "object"),
    ] {
        schema["properties"][field] = json!({"type": kind});
    }
    Node::compile(&schema)
}
