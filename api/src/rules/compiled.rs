//! The CRDs, each compiled once, when it is first asked for.

use std::sync::LazyLock;

use kube::CustomResourceExt;
use serde_json::{Value, json};

use super::{Kind, structure::Node};
use crate::{EC2NodeClass, NodeClaim, NodeOverlay, NodePool, crds::crd_of};

static POOL: LazyLock<Node> = LazyLock::new(compile::<NodePool>);
static CLAIM: LazyLock<Node> = LazyLock::new(compile::<NodeClaim>);
static OVERLAY: LazyLock<Node> = LazyLock::new(compile::<NodeOverlay>);
static CLASS: LazyLock<Node> = LazyLock::new(compile::<EC2NodeClass>);

/// The compiled schema of a kind.
pub(super) fn schema(kind: Kind) -> &'static Node {
    match kind {
        Kind::NodePool => &POOL,
        Kind::NodeClaim => &CLAIM,
        Kind::NodeOverlay => &OVERLAY,
        Kind::EC2NodeClass => &CLASS,
    }
}

fn compile<K: CustomResourceExt>() -> Node {
    let versions = crd_of::<K>().spec.versions;
    let schema = versions
        .into_iter()
        .next()
        .and_then(|version| version.schema?.open_api_v3_schema);
    let mut schema = serde_json::to_value(schema).unwrap_or(Value::Null);
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
