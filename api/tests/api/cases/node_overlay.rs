//! Cases of NodeOverlay.

use super::{
    Row,
    Verdict::{Refused, Unusable, Valid},
};

const REQ: &str = "/spec/requirements";

pub(super) const ROWS: &[Row] = &[
    ("the least", &[], Valid),
    (
        "everything set",
        &[
            ("/spec/weight", "10000"),
            ("/spec/priceAdjustment", "\"-15%\""),
            (
                "/spec/capacity",
                r#"{"example.com/license": 4, "smarter-devices/fuse": "1"}"#,
            ),
            (
                REQ,
                r#"[{"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["m5", "m6i"]},
                {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt", "values": ["4"]},
                {"key": "karpenter.sh/nodepool", "operator": "NotIn", "values": ["other"]},
                {"key": "karpenter.k8s.aws/ec2nodeclass", "operator": "Exists"}]"#,
            ),
        ],
        Valid,
    ),
    (
        "less than nothing",
        &[("/spec/capacity", r#"{"example.com/x": "-4"}"#)],
        Unusable("spec.capacity[\"example.com/x\"]"),
    ),
    ("price", &[("/spec/price", "\"0.25\"")], Valid),
    ("whole price", &[("/spec/price", "\"3\"")], Valid),
    (
        "negative price",
        &[("/spec/price", "\"-3\"")],
        Refused("spec.price"),
    ),
    ("price as number", &[("/spec/price", "3")], Refused("spec.price")),
    (
        "price in Arabic digits",
        &[("/spec/price", "\"٣\"")],
        Refused("spec.price"),
    ),
    (
        "price and adjustment",
        &[("/spec/price", "\"3\""), ("/spec/priceAdjustment", "\"+1\"")],
        Refused("spec"),
    ),
    ("adjustment +0.5", &[("/spec/priceAdjustment", "\"+0.5\"")], Valid),
    ("adjustment -.5", &[("/spec/priceAdjustment", "\"-.5\"")], Valid),
    (
        "adjustment +250%",
        &[("/spec/priceAdjustment", "\"+250%\"")],
        Valid,
    ),
    (
        "adjustment -100%",
        &[("/spec/priceAdjustment", "\"-100%\"")],
        Valid,
    ),
    (
        "adjustment -101%",
        &[("/spec/priceAdjustment", "\"-101%\"")],
        Refused("spec.priceAdjustment"),
    ),
    (
        "adjustment without sign",
        &[("/spec/priceAdjustment", "\"10%\"")],
        Refused("spec.priceAdjustment"),
    ),
    ("weight 0", &[("/spec/weight", "0")], Refused("spec.weight")),
    (
        "weight 10001",
        &[("/spec/weight", "10001")],
        Refused("spec.weight"),
    ),
    (
        "cpu",
        &[("/spec/capacity", r#"{"cpu": 4}"#)],
        Refused("spec.capacity"),
    ),
    (
        "memory among others",
        &[("/spec/capacity", r#"{"a/b": 1, "memory": "4Gi"}"#)],
        Refused("spec.capacity"),
    ),
    (
        "neuron devices",
        &[("/spec/capacity", r#"{"aws.amazon.com/neuron": "4"}"#)],
        Unusable("spec.capacity[\"aws.amazon.com/neuron\"]"),
    ),
    (
        "bad quantity",
        &[("/spec/capacity", r#"{"a/b": "much"}"#)],
        Refused("spec.capacity[\"a/b\"]"),
    ),
    ("no requirements", &[(REQ, "")], Refused("spec.requirements")),
    (
        "In without values",
        &[(REQ, r#"[{"key": "a", "operator": "In"}]"#)],
        Refused("spec.requirements[0]"),
    ),
    (
        "NotIn without values",
        &[(REQ, r#"[{"key": "a", "operator": "NotIn"}]"#)],
        Refused("spec.requirements[0]"),
    ),
    (
        "Lt without values",
        &[(REQ, r#"[{"key": "a", "operator": "Lt"}]"#)],
        Refused("spec.requirements[0]"),
    ),
    (
        "minValues",
        &[(REQ, r#"[{"key": "a", "operator": "Exists", "minValues": 2}]"#)],
        Refused("spec.requirements[0].minValues"),
    ),
    (
        "requirement karpenter.sh/x",
        &[(REQ, r#"[{"key": "karpenter.sh/x", "operator": "Exists"}]"#)],
        Refused("spec.requirements[0].key"),
    ),
    (
        "requirement on the host",
        &[(
            REQ,
            r#"[{"key": "kubernetes.io/hostname", "operator": "Exists"}]"#,
        )],
        Refused("spec.requirements[0].key"),
    ),
    (
        "requirement on tenancy",
        &[(
            REQ,
            r#"[{"key": "karpenter.k8s.aws/instance-tenancy", "operator": "Exists"}]"#,
        )],
        Refused("spec.requirements[0].key"),
    ),
    (
        "requirement on a reservation",
        &[(
            REQ,
            r#"[{"key": "karpenter.k8s.aws/capacity-reservation-id", "operator": "Exists"}]"#,
        )],
        Refused("spec.requirements[0].key"),
    ),
];
