//! Cases of NodeClaim. What it shares with NodePool is tested there in more depth.

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
            ("/spec/expireAfter", "\"Never\""),
            ("/spec/terminationGracePeriod", "\"48h\""),
            (
                "/spec/resources",
                r#"{"requests": {"cpu": "1500m", "memory": "3Gi", "pods": 4}}"#,
            ),
            ("/spec/taints", r#"[{"key": "a", "effect": "NoSchedule"}]"#),
            ("/spec/startupTaints", r#"[{"key": "b", "effect": "NoSchedule"}]"#),
            (
                REQ,
                r#"[{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["default"]},
                {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"], "minValues": 1},
                {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Gte", "values": ["4"]},
                {"key": "karpenter.k8s.aws/capacity-reservation-id", "operator": "DoesNotExist"}]"#,
            ),
        ],
        Valid,
    ),
    (
        "no class",
        &[("/spec/nodeClassRef", "")],
        Refused("spec.nodeClassRef"),
    ),
    (
        "empty name of class",
        &[("/spec/nodeClassRef/name", "\"\"")],
        Refused("spec.nodeClassRef.name"),
    ),
    (
        "empty kind of class",
        &[("/spec/nodeClassRef/kind", "\"\"")],
        Refused("spec.nodeClassRef.kind"),
    ),
    (
        "empty group of class",
        &[("/spec/nodeClassRef/group", "\"\"")],
        Refused("spec.nodeClassRef.group"),
    ),
    ("no requirements", &[(REQ, "")], Refused("spec.requirements")),
    ("no spec", &[("/spec", "")], Refused("spec")),
    (
        "bad request",
        &[("/spec/resources", r#"{"requests": {"cpu": "a lot"}}"#)],
        Refused("spec.resources.requests.cpu"),
    ),
    (
        "bad expiry",
        &[("/spec/expireAfter", "\"soon\"")],
        Refused("spec.expireAfter"),
    ),
    (
        "bad grace",
        &[("/spec/terminationGracePeriod", "\"Never\"")],
        Refused("spec.terminationGracePeriod"),
    ),
    (
        "In without values",
        &[(REQ, r#"[{"key": "a", "operator": "In"}]"#)],
        Refused("spec.requirements[0]"),
    ),
    (
        "Gt with two values",
        &[(REQ, r#"[{"key": "a", "operator": "Gt", "values": ["1", "2"]}]"#)],
        Refused("spec.requirements[0]"),
    ),
    (
        "more minValues than values",
        &[(
            REQ,
            r#"[{"key": "a", "operator": "In", "values": ["b"], "minValues": 2}]"#,
        )],
        Refused("spec.requirements[0]"),
    ),
    (
        "requirement karpenter.sh/x",
        &[(REQ, r#"[{"key": "karpenter.sh/x", "operator": "Exists"}]"#)],
        Refused("spec.requirements[0].key"),
    ),
    (
        "requirement karpenter.k8s.aws/x",
        &[(REQ, r#"[{"key": "karpenter.k8s.aws/x", "operator": "Exists"}]"#)],
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
        "a taint twice",
        &[(
            "/spec/taints",
            r#"[{"key": "a", "effect": "NoExecute"}, {"key": "a", "effect": "NoExecute"}]"#,
        )],
        Unusable("spec.taints[1]"),
    ),
];
