//! Cases of NodePool.

use super::{
    Row,
    Verdict::{Refused, Unusable, Valid},
};

const REQ: &str = "/spec/template/spec/requirements";
const BUDGETS: &str = "/spec/disruption";
const LABELS: &str = "/spec/template/metadata/labels";

pub(super) const ROWS: &[Row] = &[
    ("the least", &[], Valid),
    (
        "everything set",
        &[
            (
                "/spec/disruption",
                r#"{"consolidateAfter": "1m", "consolidationPolicy": "WhenEmpty", "budgets": [
                {"nodes": "10%"},
                {"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h", "reasons": ["Drifted", "Underutilized"]},
                {"nodes": "100%", "schedule": "@daily", "duration": "1h30m0s", "reasons": ["Empty"]}]}"#,
            ),
            (
                "/spec/limits",
                r#"{"cpu": 100, "memory": "1000Gi", "nvidia.com/gpu": "2", "nodes": "10"}"#,
            ),
            ("/spec/weight", "80"),
            (
                "/spec/template/metadata",
                r#"{"labels": {"team": "a", "karpenter.sh/capacity-type": "spot",
                "karpenter.k8s.aws/instance-family": "m5", "example.com/x": ""}, "annotations": {"a/b": "anything: at all"}}"#,
            ),
            ("/spec/template/spec/expireAfter", "\"336h\""),
            ("/spec/template/spec/terminationGracePeriod", "\"24h30m10s\""),
            (
                "/spec/template/spec/taints",
                r#"[{"key": "a", "value": "b", "effect": "NoSchedule"}]"#,
            ),
            (
                "/spec/template/spec/startupTaints",
                r#"[{"key": "a", "effect": "NoExecute"},
                {"key": "cilium.io/not-ready", "effect": "PreferNoSchedule", "timeAdded": "2026-01-31T09:00:00Z"}]"#,
            ),
            (
                REQ,
                r#"[
                {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"], "minValues": 2},
                {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt", "values": ["1"]},
                {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Lte", "values": ["64"]},
                {"key": "karpenter.k8s.aws/instance-generation", "operator": "Gte", "values": ["3"]},
                {"key": "karpenter.k8s.aws/instance-memory", "operator": "Lt", "values": ["131072"]},
                {"key": "node.kubernetes.io/instance-type", "operator": "NotIn", "values": ["t3.nano"]},
                {"key": "karpenter.k8s.aws/instance-family", "operator": "Exists", "minValues": 5},
                {"key": "example.com/custom", "operator": "DoesNotExist"},
                {"key": "karpenter.k8s.aws/ec2nodeclass", "operator": "Exists"},
                {"key": "topology.k8s.aws/zone-id", "operator": "Exists"}]"#,
            ),
        ],
        Valid,
    ),
    // replicas, limits, weight
    (
        "static",
        &[("/spec/replicas", "0"), ("/spec/limits", r#"{"nodes": 5}"#)],
        Valid,
    ),
    (
        "static with empty limits",
        &[("/spec/replicas", "3"), ("/spec/limits", "{}")],
        Valid,
    ),
    (
        "static with a cpu limit",
        &[("/spec/replicas", "3"), ("/spec/limits", r#"{"cpu": 5}"#)],
        Refused("spec"),
    ),
    (
        "static with nodes and a cpu limit",
        &[
            ("/spec/replicas", "3"),
            ("/spec/limits", r#"{"nodes": 5, "cpu": 5}"#),
        ],
        Refused("spec"),
    ),
    (
        "static with weight",
        &[("/spec/replicas", "3"), ("/spec/weight", "5")],
        Refused("spec"),
    ),
    (
        "negative replicas",
        &[("/spec/replicas", "-1")],
        Refused("spec.replicas"),
    ),
    ("weight 100", &[("/spec/weight", "100")], Valid),
    ("weight 0", &[("/spec/weight", "0")], Refused("spec.weight")),
    ("weight 101", &[("/spec/weight", "101")], Refused("spec.weight")),
    (
        "weight as text",
        &[("/spec/weight", "\"5\"")],
        Refused("spec.weight"),
    ),
    (
        "weight with a fraction",
        &[("/spec/weight", "1.5")],
        Refused("spec.weight"),
    ),
    (
        "limit as fraction text",
        &[("/spec/limits", r#"{"cpu": "1.5"}"#)],
        Valid,
    ),
    (
        "limit as exponent",
        &[("/spec/limits", r#"{"cpu": "1e3"}"#)],
        Valid,
    ),
    (
        "limit as fraction number",
        &[("/spec/limits", r#"{"cpu": 1.5}"#)],
        Refused("spec.limits.cpu"),
    ),
    (
        "limit that is no quantity",
        &[("/spec/limits", r#"{"memory": "10GB"}"#)],
        Refused("spec.limits.memory"),
    ),
    (
        "limit that is true",
        &[("/spec/limits", r#"{"memory": true}"#)],
        Refused("spec.limits.memory"),
    ),
    // disruption
    (
        "disruption without consolidateAfter",
        &[(BUDGETS, "{}")],
        Refused("spec.disruption.consolidateAfter"),
    ),
    (
        "never consolidated",
        &[(BUDGETS, r#"{"consolidateAfter": "Never"}"#)],
        Valid,
    ),
    (
        "hours and seconds",
        &[(BUDGETS, r#"{"consolidateAfter": "1h30s"}"#)],
        Valid,
    ),
    (
        "never in lower case",
        &[(BUDGETS, r#"{"consolidateAfter": "never"}"#)],
        Refused("spec.disruption.consolidateAfter"),
    ),
    (
        "negative wait",
        &[(BUDGETS, r#"{"consolidateAfter": "-1m"}"#)],
        Refused("spec.disruption.consolidateAfter"),
    ),
    (
        "wait as number",
        &[(BUDGETS, r#"{"consolidateAfter": 30}"#)],
        Refused("spec.disruption.consolidateAfter"),
    ),
    (
        "wait in days",
        &[(BUDGETS, r#"{"consolidateAfter": "1d"}"#)],
        Refused("spec.disruption.consolidateAfter"),
    ),
    (
        "an endless wait",
        &[(BUDGETS, r#"{"consolidateAfter": "9999999999h"}"#)],
        Unusable("spec.disruption.consolidateAfter"),
    ),
    (
        "balanced",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "consolidationPolicy": "Balanced"}"#,
        )],
        Valid,
    ),
    (
        "unknown policy",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "consolidationPolicy": "WhenUnderutilized"}"#,
        )],
        Refused("spec.disruption.consolidationPolicy"),
    ),
    (
        "no budgets at all",
        &[(BUDGETS, r#"{"consolidateAfter": "0s", "budgets": []}"#)],
        Valid,
    ),
    (
        "schedule without duration",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "budgets": [{"nodes": "1", "schedule": "@daily"}]}"#,
        )],
        Refused("spec.disruption.budgets[0]"),
    ),
    (
        "duration without schedule",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "budgets": [{"nodes": "1", "duration": "1h"}]}"#,
        )],
        Refused("spec.disruption.budgets[0]"),
    ),
    (
        "one good and one bad budget",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "budgets": [{"nodes": "1"}, {"nodes": "1", "duration": "1h"}]}"#,
        )],
        Refused("spec.disruption.budgets[1]"),
    ),
    (
        "budget nodes by default",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "budgets": [{"reasons": ["Empty"]}]}"#,
        )],
        Valid,
    ),
    (
        "budget above 100%",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "budgets": [{"nodes": "101%"}]}"#,
        )],
        Refused("spec.disruption.budgets[0].nodes"),
    ),
    (
        "negative budget",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "budgets": [{"nodes": "-1"}]}"#,
        )],
        Refused("spec.disruption.budgets[0].nodes"),
    ),
    (
        "budget as number",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "budgets": [{"nodes": 1}]}"#,
        )],
        Refused("spec.disruption.budgets[0].nodes"),
    ),
    (
        "budget in seconds",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "budgets": [{"nodes": "1", "schedule": "@daily", "duration": "30s"}]}"#,
        )],
        Refused("spec.disruption.budgets[0].duration"),
    ),
    (
        "unknown reason",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "budgets": [{"nodes": "1", "reasons": ["Drift"]}]}"#,
        )],
        Refused("spec.disruption.budgets[0].reasons[0]"),
    ),
    (
        "a reason twice",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "budgets": [{"nodes": "1", "reasons": ["Empty", "Empty"]}]}"#,
        )],
        Refused("spec.disruption.budgets[0].reasons[1]"),
    ),
    (
        "schedule that is a word",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "budgets": [{"nodes": "1", "schedule": "daily", "duration": "1h"}]}"#,
        )],
        Refused("spec.disruption.budgets[0].schedule"),
    ),
    (
        "schedule of four fields",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "budgets": [{"nodes": "1", "schedule": "* * * *", "duration": "1h"}]}"#,
        )],
        Refused("spec.disruption.budgets[0].schedule"),
    ),
    (
        "schedule of six fields",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "budgets": [{"nodes": "1", "schedule": "0 0 9 * * *", "duration": "1h"}]}"#,
        )],
        Unusable("spec.disruption.budgets[0].schedule"),
    ),
    (
        "schedule at hour 25",
        &[(
            BUDGETS,
            r#"{"consolidateAfter": "0s", "budgets": [{"nodes": "1", "schedule": "0 25 * * *", "duration": "1h"}]}"#,
        )],
        Unusable("spec.disruption.budgets[0].schedule"),
    ),
    // template
    ("no template", &[("/spec/template", "")], Refused("spec.template")),
    ("no spec", &[("/spec", "")], Refused("spec")),
    (
        "no class",
        &[("/spec/template/spec/nodeClassRef", "")],
        Refused("spec.template.spec.nodeClassRef"),
    ),
    (
        "no class' name",
        &[("/spec/template/spec/nodeClassRef/name", "")],
        Refused("spec.template.spec.nodeClassRef.name"),
    ),
    (
        "empty name of class",
        &[("/spec/template/spec/nodeClassRef/name", "\"\"")],
        Refused("spec.template.spec.nodeClassRef.name"),
    ),
    (
        "empty kind of class",
        &[("/spec/template/spec/nodeClassRef/kind", "\"\"")],
        Refused("spec.template.spec.nodeClassRef.kind"),
    ),
    (
        "empty group of class",
        &[("/spec/template/spec/nodeClassRef/group", "\"\"")],
        Refused("spec.template.spec.nodeClassRef.group"),
    ),
    (
        "group with a version",
        &[(
            "/spec/template/spec/nodeClassRef/group",
            "\"karpenter.k8s.aws/v1\"",
        )],
        Refused("spec.template.spec.nodeClassRef.group"),
    ),
    (
        "another kind of class of AWS",
        &[("/spec/template/spec/nodeClassRef/kind", "\"AWSNodeTemplate\"")],
        Unusable("spec.template.spec.nodeClassRef.kind"),
    ),
    (
        "no requirements",
        &[(REQ, "")],
        Refused("spec.template.spec.requirements"),
    ),
    ("empty requirements", &[(REQ, "[]")], Valid),
    (
        "unknown field",
        &[("/spec/template/spec/kubelet", "{}")],
        Refused("spec.template.spec.kubelet"),
    ),
    (
        "never expires",
        &[("/spec/template/spec/expireAfter", "\"Never\"")],
        Valid,
    ),
    (
        "expiry of nothing",
        &[("/spec/template/spec/expireAfter", "\"\"")],
        Refused("spec.template.spec.expireAfter"),
    ),
    (
        "expiry in days",
        &[("/spec/template/spec/expireAfter", "\"30d\"")],
        Refused("spec.template.spec.expireAfter"),
    ),
    (
        "grace that never ends",
        &[("/spec/template/spec/terminationGracePeriod", "\"Never\"")],
        Refused("spec.template.spec.terminationGracePeriod"),
    ),
    (
        "null expiry",
        &[("/spec/template/spec/expireAfter", "null")],
        Valid,
    ),
    ("null weight", &[("/spec/weight", "null")], Refused("spec.weight")),
    (
        "null limit",
        &[("/spec/limits", r#"{"cpu": null}"#)],
        Refused("spec.limits.cpu"),
    ),
    (
        "null template",
        &[("/spec/template", "null")],
        Refused("spec.template"),
    ),
    // labels
    (
        "label of the pool",
        &[(LABELS, r#"{"karpenter.sh/nodepool": "x"}"#)],
        Refused("spec.template.metadata.labels[\"karpenter.sh/nodepool\"]"),
    ),
    (
        "label karpenter.sh/x",
        &[(LABELS, r#"{"karpenter.sh/x": "x"}"#)],
        Refused("spec.template.metadata.labels[\"karpenter.sh/x\"]"),
    ),
    (
        "label below karpenter.sh",
        &[(LABELS, r#"{"a.karpenter.sh/x": "x"}"#)],
        Refused("spec.template.metadata.labels[\"a.karpenter.sh/x\"]"),
    ),
    (
        "label karpenter.k8s.aws/x",
        &[(LABELS, r#"{"karpenter.k8s.aws/x": "x"}"#)],
        Refused("spec.template.metadata.labels[\"karpenter.k8s.aws/x\"]"),
    ),
    (
        "label of the host",
        &[(LABELS, r#"{"kubernetes.io/hostname": "x"}"#)],
        Refused("spec.template.metadata.labels[\"kubernetes.io/hostname\"]"),
    ),
    (
        "label of kubernetes",
        &[(
            LABELS,
            r#"{"node-restriction.kubernetes.io/x": "x", "kops.k8s.io/y": "z"}"#,
        )],
        Valid,
    ),
    (
        "label value with a space",
        &[(LABELS, r#"{"a": "b c"}"#)],
        Refused("spec.template.metadata.labels.a"),
    ),
    (
        "label key with a space",
        &[(LABELS, r#"{"a b": "c"}"#)],
        Unusable("spec.template.metadata.labels[\"a b\"]"),
    ),
    (
        "label that is a number",
        &[(LABELS, r#"{"a": 1}"#)],
        Refused("spec.template.metadata.labels.a"),
    ),
    // taints
    (
        "taint without effect",
        &[("/spec/template/spec/taints", r#"[{"key": "a"}]"#)],
        Refused("spec.template.spec.taints[0].effect"),
    ),
    (
        "taint without key",
        &[("/spec/template/spec/taints", r#"[{"effect": "NoSchedule"}]"#)],
        Refused("spec.template.spec.taints[0].key"),
    ),
    (
        "taint with empty key",
        &[(
            "/spec/template/spec/taints",
            r#"[{"key": "", "effect": "NoSchedule"}]"#,
        )],
        Refused("spec.template.spec.taints[0].key"),
    ),
    (
        "unknown effect",
        &[(
            "/spec/template/spec/taints",
            r#"[{"key": "a", "effect": "NoRun"}]"#,
        )],
        Refused("spec.template.spec.taints[0].effect"),
    ),
    (
        "bad taint key",
        &[(
            "/spec/template/spec/taints",
            r#"[{"key": "a b", "effect": "NoExecute"}]"#,
        )],
        Refused("spec.template.spec.taints[0].key"),
    ),
    (
        "bad taint value",
        &[(
            "/spec/template/spec/taints",
            r#"[{"key": "a", "value": "b c", "effect": "NoExecute"}]"#,
        )],
        Refused("spec.template.spec.taints[0].value"),
    ),
    (
        "bad time of a taint",
        &[(
            "/spec/template/spec/taints",
            r#"[{"key": "a", "effect": "NoExecute", "timeAdded": "today"}]"#,
        )],
        Refused("spec.template.spec.taints[0].timeAdded"),
    ),
    (
        "a taint twice",
        &[
            (
                "/spec/template/spec/taints",
                r#"[{"key": "a", "effect": "NoExecute"}]"#,
            ),
            (
                "/spec/template/spec/startupTaints",
                r#"[{"key": "a", "effect": "NoExecute", "value": "b"}]"#,
            ),
        ],
        Unusable("spec.template.spec.startupTaints[0]"),
    ),
    // requirements, one by one
    (
        "unknown operator",
        &[(REQ, r#"[{"key": "a", "operator": "Equals", "values": ["b"]}]"#)],
        Refused("spec.template.spec.requirements[0].operator"),
    ),
    (
        "no operator",
        &[(REQ, r#"[{"key": "a", "values": ["b"]}]"#)],
        Refused("spec.template.spec.requirements[0].operator"),
    ),
    (
        "no key",
        &[(REQ, r#"[{"operator": "Exists"}]"#)],
        Refused("spec.template.spec.requirements[0].key"),
    ),
    (
        "bad key",
        &[(REQ, r#"[{"key": "a/b/c", "operator": "Exists"}]"#)],
        Refused("spec.template.spec.requirements[0].key"),
    ),
    (
        "In without values",
        &[(REQ, r#"[{"key": "a", "operator": "In"}]"#)],
        Refused("spec.template.spec.requirements[0]"),
    ),
    (
        "In with empty values",
        &[(REQ, r#"[{"key": "a", "operator": "In", "values": []}]"#)],
        Refused("spec.template.spec.requirements[0]"),
    ),
    (
        "NotIn without values",
        &[(REQ, r#"[{"key": "a", "operator": "NotIn"}]"#)],
        Valid,
    ),
    (
        "Gt without values",
        &[(REQ, r#"[{"key": "a", "operator": "Gt"}]"#)],
        Refused("spec.template.spec.requirements[0]"),
    ),
    (
        "Gt with two values",
        &[(REQ, r#"[{"key": "a", "operator": "Gt", "values": ["1", "2"]}]"#)],
        Refused("spec.template.spec.requirements[0]"),
    ),
    (
        "Lt with a word",
        &[(REQ, r#"[{"key": "a", "operator": "Lt", "values": ["few"]}]"#)],
        Refused("spec.template.spec.requirements[0]"),
    ),
    (
        "Gte with a negative number",
        &[(REQ, r#"[{"key": "a", "operator": "Gte", "values": ["-1"]}]"#)],
        Refused("spec.template.spec.requirements[0]"),
    ),
    (
        "Lte with a fraction",
        &[(REQ, r#"[{"key": "a", "operator": "Lte", "values": ["1.5"]}]"#)],
        Refused("spec.template.spec.requirements[0]"),
    ),
    (
        "Gte 0",
        &[(REQ, r#"[{"key": "a", "operator": "Gte", "values": ["0"]}]"#)],
        Valid,
    ),
    (
        "more minValues than values",
        &[(
            REQ,
            r#"[{"key": "a", "operator": "In", "values": ["b"], "minValues": 2}]"#,
        )],
        Refused("spec.template.spec.requirements[0]"),
    ),
    (
        "minValues 0",
        &[(REQ, r#"[{"key": "a", "operator": "Exists", "minValues": 0}]"#)],
        Refused("spec.template.spec.requirements[0].minValues"),
    ),
    (
        "minValues 51",
        &[(REQ, r#"[{"key": "a", "operator": "Exists", "minValues": 51}]"#)],
        Refused("spec.template.spec.requirements[0].minValues"),
    ),
    (
        "requirement on the pool",
        &[(REQ, r#"[{"key": "karpenter.sh/nodepool", "operator": "Exists"}]"#)],
        Refused("spec.template.spec.requirements[0].key"),
    ),
    (
        "requirement karpenter.sh/x",
        &[(REQ, r#"[{"key": "karpenter.sh/x", "operator": "Exists"}]"#)],
        Refused("spec.template.spec.requirements[0].key"),
    ),
    (
        "requirement karpenter.k8s.aws/x",
        &[(
            REQ,
            r#"[{"key": "karpenter.k8s.aws/instance-famly", "operator": "Exists"}]"#,
        )],
        Refused("spec.template.spec.requirements[0].key"),
    ),
    (
        "requirement on the host",
        &[(
            REQ,
            r#"[{"key": "kubernetes.io/hostname", "operator": "In", "values": ["x"]}]"#,
        )],
        Refused("spec.template.spec.requirements[0].key"),
    ),
    (
        "values that are numbers",
        &[(REQ, r#"[{"key": "a", "operator": "In", "values": [1]}]"#)],
        Refused("spec.template.spec.requirements[0].values[0]"),
    ),
    (
        "values that are a text",
        &[(REQ, r#"[{"key": "a", "operator": "In", "values": "b"}]"#)],
        Refused("spec.template.spec.requirements[0].values"),
    ),
    (
        "a value with a space",
        &[(REQ, r#"[{"key": "a", "operator": "In", "values": ["b c"]}]"#)],
        Unusable("spec.template.spec.requirements[0].values[0]"),
    ),
    (
        "unknown capacity type",
        &[(
            REQ,
            r#"[{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["ondemand"]}]"#,
        )],
        Unusable("spec.template.spec.requirements[0].values"),
    ),
    (
        "one unknown capacity type",
        &[(
            REQ,
            r#"[{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["ondemand", "spot"]}]"#,
        )],
        Valid,
    ),
    (
        "too few known capacity types",
        &[(
            REQ,
            r#"[{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["ondemand", "spot"], "minValues": 2}]"#,
        )],
        Unusable("spec.template.spec.requirements[0].minValues"),
    ),
    // requirements, together
    (
        "two lists without a common value",
        &[(
            REQ,
            r#"[{"key": "a", "operator": "In", "values": ["b"]}, {"key": "a", "operator": "In", "values": ["c"]}]"#,
        )],
        Unusable("spec.template.spec.requirements[1]"),
    ),
    (
        "an alias against the label",
        &[(
            REQ,
            r#"[{"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]},
            {"key": "beta.kubernetes.io/arch", "operator": "NotIn", "values": ["arm64"]}]"#,
        )],
        Unusable("spec.template.spec.requirements[1]"),
    ),
    (
        "an empty range",
        &[(
            REQ,
            r#"[{"key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt", "values": ["8"]},
            {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Lt", "values": ["9"]}]"#,
        )],
        Unusable("spec.template.spec.requirements[1]"),
    ),
    (
        "a label against a requirement",
        &[
            (LABELS, r#"{"a": "b"}"#),
            (REQ, r#"[{"key": "a", "operator": "NotIn", "values": ["b"]}]"#),
        ],
        Unusable("spec.template.spec.requirements[0]"),
    ),
    // header
    (
        "annotation of the template with a space",
        &[("/spec/template/metadata/annotations", r#"{"a b": "x"}"#)],
        Unusable("spec.template.metadata.annotations[\"a b\"]"),
    ),
    (
        "annotation with a space",
        &[("/metadata/annotations", r#"{"a b": "x"}"#)],
        Refused("metadata.annotations[\"a b\"]"),
    ),
    (
        "annotation in capitals",
        &[("/metadata/annotations", r#"{"Example.com/A": "x y"}"#)],
        Valid,
    ),
    (
        "label with a value that is none",
        &[("/metadata/labels", r#"{"a": "not valid!"}"#)],
        Refused("metadata.labels.a"),
    ),
    (
        "a long name",
        &[(
            "/metadata/name",
            "\"a123456789b123456789c123456789d123456789e123456789f123456789abcd\"",
        )],
        Unusable("metadata.name"),
    ),
    (
        "a name in capitals",
        &[("/metadata/name", "\"Default\"")],
        Refused("metadata.name"),
    ),
];
