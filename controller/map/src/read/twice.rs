//! Objects that are read twice, and objects of other versions than the one that is read.

use joiner_core::snapshot::Settings;
use serde_json::json;

use super::read;
use crate::Objects;

fn pool(weight: u32) -> String {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": { "name": "a", "resourceVersion": weight.to_string() },
        "spec": { "weight": weight, "template": { "spec": { "nodeClassRef": { "name": "c" }, "requirements": [] } } },
    })
    .to_string()
}

fn list(objects: &[&str]) -> String {
    format!(
        r#"{{"apiVersion": "v1", "kind": "List", "items": [{}]}}"#,
        objects.join(",")
    )
}

/// Objects of every kind that has a name; `number` is somewhere in each.
fn of_every_kind(number: u32) -> String {
    format!(
        r#"
apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec: {{priority: {number}}}
---
apiVersion: v1
kind: Node
metadata: {{name: n}}
status: {{capacity: {{cpu: {number}}}}}
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {{name: n, annotations: {{number: "{number}"}}}}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: n}}
spec: {{role: "r{number}", amiSelectorTerms: [], subnetSelectorTerms: [], securityGroupSelectorTerms: []}}
---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {{name: n}}
spec: {{price: "{number}.5", requirements: []}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: n}}
spec: {{selector: {{}}, template: {{spec: {{containers: [{{name: c, resources: {{requests: {{cpu: {number}}}}}}}]}}}}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: n, namespace: d}}
status: {{disruptionsAllowed: {number}, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0}}
---
apiVersion: v1
kind: Namespace
metadata: {{name: n, labels: {{number: "{number}"}}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: n}}
spec: {{volumeName: v{number}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {{name: n}}
spec: {{storageClassName: c{number}}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: n}}
provisioner: p{number}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {{name: n}}
value: {number}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {{name: n}}
spec: {{replicas: {number}, selector: {{}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: n}}
spec: {{selector: {{number: "{number}"}}}}
"#
    )
}

fn both(first: &str, second: &str) -> Result<Objects, String> {
    let mut objects = Objects::default();
    read("a.yaml", first, &mut objects).map_err(|error| error.to_string())?;
    match read("b.yaml", second, &mut objects) {
        Ok(()) => Ok(objects),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn another_object_of_a_name_is_refused_with_both_places() {
    for (first, second, want) in [
        (
            pool(1),
            pool(2),
            "b.yaml, line 1, document 1 (NodePool a): another NodePool of this name was read from a.yaml, document 1, and the two differ",
        ),
        (
            list(&[&pool(1)]),
            list(&[&pool(1), &pool(3)]),
            "b.yaml, line 1, document 1, item 1 (NodePool a): another NodePool of this name was read from a.yaml, document 1, item 0",
        ),
    ] {
        let error = both(&first, &second).expect_err(want);
        assert!(error.starts_with(want), "{error}");
    }
    let documents = of_every_kind(1);
    let mut refused = 0;
    for (before, after) in documents.split("---").zip(of_every_kind(2).split("---")) {
        assert!(both(before, before).is_ok(), "{before}");
        let error = both(before, after).expect_err(after);
        assert!(error.contains("of this name was read from a.yaml"), "{error}");
        refused += 1;
    }
    assert_eq!(refused, 14);
}

#[test]
fn the_same_object_may_be_read_twice() {
    // What only the API server counts makes no difference.
    let again = pool(1).replace(r#""resourceVersion":"1""#, r#""resourceVersion":"7""#);
    assert_ne!(again, pool(1));
    let objects = both(&list(&[&pool(1)]), &again).expect("the same");
    assert_eq!(objects.counts(), (0, 0, 1));
    let all = of_every_kind(1);
    let twice = both(&all, &all).expect("the same");
    let once = both(&all, "").expect("once");
    let parts = |objects: Objects| objects.finish(Settings::default(), jiff::Timestamp::UNIX_EPOCH);
    assert_eq!(format!("{:?}", parts(twice)), format!("{:?}", parts(once)));
    // Buffers are counted, and those of a list that is read twice are not there twice.
    let buffer = "
apiVersion: v1
kind: PodTemplate
metadata: {name: unit}
template: {spec: {containers: [{name: a, resources: {requests: {cpu: 500m}}}]}}
---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: spare}
spec: {podTemplateRef: {name: unit}, replicas: 2}
";
    let parts = parts(both(buffer, buffer).expect("the same"));
    assert_eq!(parts.snapshot.pending.len(), 2);
}

#[test]
fn pods_without_names_of_their_own_are_several() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {generateName: web-}}";
    assert_eq!(both(pod, pod).expect("two pods").counts(), (2, 0, 0));
}

#[test]
fn another_version_is_refused_with_what_to_do() {
    for (version, kind, want) in [
        (
            "karpenter.sh/v1beta1",
            "NodePool",
            r#"(NodePool x): apiVersion: "karpenter.sh/v1beta1" found, karpenter.sh/v1 wanted: ask a cluster that serves it (kubectl get nodepools.v1.karpenter.sh -o yaml), or run `joiner migrate`"#,
        ),
        ("karpenter.sh/v1alpha5", "NodePool", "karpenter.sh/v1 wanted"),
        (
            "karpenter.k8s.aws/v1beta1",
            "EC2NodeClass",
            "karpenter.k8s.aws/v1 wanted",
        ),
        ("karpenter.sh/v1beta1", "NodeClaim", "nodeclaims.v1.karpenter.sh"),
        ("karpenter.sh/v1", "NodeOverlay", "karpenter.sh/v1alpha1 wanted"),
    ] {
        let object = json!({ "apiVersion": version, "kind": kind, "metadata": { "name": "x" }, "spec": {} });
        for text in [object.to_string(), list(&[&object.to_string()])] {
            let error = read("it", &text, &mut Objects::default())
                .expect_err(want)
                .to_string();
            assert!(error.contains(want), "{error}");
        }
    }
}

#[test]
fn nothing_is_nothing() {
    let mut objects = Objects::default();
    read("it", "# nothing\n---\n", &mut objects).expect("YAML");
    assert!(objects.is_empty());
    let old = "{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: x}}";
    read("it", old, &mut objects).expect("ignored");
    assert!(!objects.is_empty());
    let notes = objects
        .finish(Settings::default(), jiff::Timestamp::UNIX_EPOCH)
        .notes;
    assert!(
        notes[0].contains("1 x Provisioner ignored: run `joiner migrate`"),
        "{notes:?}"
    );
}
