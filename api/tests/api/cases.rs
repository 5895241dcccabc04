//! Valid and invalid objects: what the API server and `rules::check` must say about each.
//!
//! A case is a base object with a few edits: (JSON pointer, JSON text), an empty text removes.

use joiner_api::rules::Kind;
use serde_json::{Value, json};

use crate::support::edit::{edit, try_edit};

/// What must be said about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing.
    Valid,
    /// The API server and the rules refuse it, the rules at this place.
    Refused(&'static str),
    /// The API server takes it, but the controller could not use it; the rules say so at this place.
    Unusable(&'static str),
}

/// One object, or one change of an object.
pub(crate) struct Case {
    pub(crate) kind: Kind,
    pub(crate) what: &'static str,
    /// The object that is there before; none for a creation.
    pub(crate) before: Option<Value>,
    pub(crate) object: Value,
    pub(crate) verdict: Verdict,
}

type Edits = &'static [(&'static str, &'static str)];
type Row = (&'static str, Edits, Verdict);

/// All cases.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in Kind::ALL {
        for (what, edits, verdict) in rows(kind) {
            cases.push(Case {
                kind,
                what,
                before: None,
                object: edited(kind, edits),
                verdict: *verdict,
            });
        }
    }
    for (kind, what, before, after, verdict) in CHANGES {
        cases.push(Case {
            kind: *kind,
            what,
            before: Some(edited(*kind, before)),
            object: edited(*kind, after),
            verdict: *verdict,
        });
    }
    cases
}

/// Objects with the edits of two rows of the table each: `count` a kind, the same ones at every run.
pub(crate) fn mixed(kind: Kind, count: usize) -> Vec<(String, Value)> {
    let rows = rows(kind);
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |limit: usize| {
        // Marsaglia's xorshift: any spread will do, as long as it never changes.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % u64::try_from(limit).unwrap_or(1)).unwrap_or(0)
    };
    (0..count)
        .filter_map(|_| {
            let (first, second) = (&rows[next(rows.len())], &rows[next(rows.len())]);
            let mut object = edited(kind, first.1);
            second
                .1
                .iter()
                .try_for_each(|(pointer, json)| try_edit(&mut object, pointer, json))?;
            Some((format!("{} + {}", first.0, second.0), object))
        })
        .collect()
}

fn rows(kind: Kind) -> &'static [Row] {
    match kind {
        Kind::NodePool => node_pool::ROWS,
        Kind::NodeClaim => node_claim::ROWS,
        Kind::NodeOverlay => node_overlay::ROWS,
        Kind::EC2NodeClass => ec2_node_class::ROWS,
    }
}

use Verdict::{Refused, Valid};

const CHANGES: &[(Kind, &str, Edits, Edits, Verdict)] = &[
    (Kind::NodePool, "nothing changed", &[], &[], Valid),
    (
        Kind::NodePool,
        "weight changed",
        &[],
        &[("/spec/weight", "5")],
        Valid,
    ),
    (
        Kind::NodePool,
        "dynamic to static",
        &[],
        &[("/spec/replicas", "2")],
        Refused("spec"),
    ),
    (
        Kind::NodePool,
        "static to dynamic",
        &[("/spec/replicas", "2")],
        &[],
        Refused("spec"),
    ),
    (
        Kind::NodePool,
        "another number of replicas",
        &[("/spec/replicas", "2")],
        &[("/spec/replicas", "3")],
        Valid,
    ),
    (
        Kind::NodePool,
        "another class' name",
        &[],
        &[("/spec/template/spec/nodeClassRef/name", "\"other\"")],
        Valid,
    ),
    (
        Kind::NodePool,
        "another class' group",
        &[],
        &[("/spec/template/spec/nodeClassRef/group", "\"example.com\"")],
        Refused("spec.template.spec.nodeClassRef"),
    ),
    (
        Kind::NodePool,
        "another class' kind",
        &[("/spec/template/spec/nodeClassRef/group", "\"example.com\"")],
        &[
            ("/spec/template/spec/nodeClassRef/group", "\"example.com\""),
            ("/spec/template/spec/nodeClassRef/kind", "\"Other\""),
        ],
        Refused("spec.template.spec.nodeClassRef"),
    ),
    (
        Kind::NodeClaim,
        "a new label",
        &[],
        &[("/metadata/labels", r#"{"a": "b"}"#)],
        Valid,
    ),
    (
        Kind::NodeClaim,
        "another spec",
        &[],
        &[("/spec/expireAfter", "\"1h\"")],
        Refused("spec"),
    ),
    (
        Kind::NodeClaim,
        "a default spelt out",
        &[],
        &[("/spec/expireAfter", "\"720h\"")],
        Valid,
    ),
    (
        Kind::EC2NodeClass,
        "another role",
        &[],
        &[("/spec/role", "\"other\"")],
        Valid,
    ),
    (
        Kind::EC2NodeClass,
        "role to profile",
        &[],
        &[("/spec/role", ""), ("/spec/instanceProfile", "\"profile\"")],
        Valid,
    ),
];

fn edited(kind: Kind, edits: Edits) -> Value {
    let mut object = base(kind);
    for (pointer, json) in edits {
        edit(&mut object, pointer, json);
    }
    object
}

fn base(kind: Kind) -> Value {
    let requirements = json!([{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]);
    let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
    let spec = match kind {
        Kind::NodePool => {
            json!({"template": {"spec": {"nodeClassRef": class, "requirements": requirements}}})
        }
        Kind::NodeClaim => json!({"nodeClassRef": class, "requirements": requirements}),
        Kind::NodeOverlay => json!({"requirements": requirements}),
        Kind::EC2NodeClass => json!({
            "role": "node",
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "test"}}],
            "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "test"}}],
        }),
    };
    json!({"apiVersion": kind.api_version(), "kind": kind.as_str(), "metadata": {"name": "test"}, "spec": spec})
}

mod ec2_node_class;
mod node_claim;
mod node_overlay;
mod node_pool;
