use joiner_core::snapshot::{PodState, Settings};
use k8s_openapi::api::resource::v1 as dra;
use serde_json::json;

use super::read;
use crate::{Objects, Parts};

const NOW: jiff::Timestamp = jiff::Timestamp::UNIX_EPOCH;

fn parts(texts: &[&str]) -> Parts {
    let mut objects = Objects::default();
    for text in texts {
        read("it.yaml", text, &mut objects).unwrap();
    }
    objects.finish(Settings::default(), NOW)
}

fn error(text: &str) -> String {
    read("it.yaml", text, &mut Objects::default())
        .unwrap_err()
        .to_string()
}

fn names(parts: &Parts) -> Vec<String> {
    parts
        .snapshot
        .pending
        .iter()
        .map(|pod| pod.key.to_string())
        .collect()
}

#[test]
fn objects_come_in_many_shapes() {
    let pod = |name: &str| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": []}});
    let bare = json!({"metadata": {"name": "a"}, "spec": {"containers": []}});
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [pod("a"), pod("b")]});
    for (shape, text, want) in [
        ("one document", "kind: Pod\napiVersion: v1\nmetadata: {name: a}\n".to_owned(), 1),
        ("two documents", "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: b\n".to_owned(), 2),
        ("JSON", pod("a").to_string(), 1),
        ("JSON list", list.to_string(), 2),
        ("pretty JSON list", serde_json::to_string_pretty(&list).unwrap(), 2),
        ("JSON array", json!([pod("a"), pod("b")]).to_string(), 2),
        ("JSON lines", format!("{}\n{}\n", pod("a"), pod("b")), 2),
        ("list of the API", json!({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [bare]}).to_string(), 1),
        ("YAML list", "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\nkind: List\n".to_owned(), 1),
        ("YAML in flow style", "{apiVersion: v1, kind: Pod, metadata: {name: a}}".to_owned(), 1),
        ("JSON after YAML", format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\n---\n{}\n", pod("b")), 2),
        ("empty list", json!({"apiVersion": "v1", "kind": "List", "items": []}).to_string(), 0),
        ("nothing", "# nothing\n---\n".to_owned(), 0),
    ] {
        assert_eq!(names(&parts(&[&text])).len(), want, "{shape}");
    }
}

#[test]
fn many_items_are_read_in_order_whatever_the_number_of_threads() {
    let items: Vec<_> = (0..1000)
        .map(|number| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("p{number:04}")}}))
        .collect();
    let text = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let names = names(&parts(&[&text]));
    assert_eq!((names.len(), names[999].as_str()), (1000, "default/p0999"));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, want) in [
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec:\n  \
             containers: [{name: c, resources: {requests: {cpu: 4cores}}}]\n",
            "it.yaml, line 4, document 2 (Pod default/b): spec.containers[0].resources.requests.cpu: \"4cores\" is no quantity",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {containers: 5}\n",
            "it.yaml, line 1, document 1 (Pod): spec.containers: invalid type: integer `5`",
        ),
        (
            "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": 5}}]}",
            "it.yaml, line 2, document 1, item 0 (Pod): metadata.name: invalid type: integer `5`, expected a string",
        ),
        (
            "apiVersion: v1\nmetadata: {}\n",
            "it.yaml, line 1, document 1: kind: it is missing",
        ),
        (
            "kind: Pod\nmetadata: {}\n",
            "it.yaml, line 1, document 1: apiVersion: it is missing",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {}\n",
            "(Pod): metadata.name: it is missing",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  affinity:\n    nodeAffinity:\n      \
             requiredDuringSchedulingIgnoredDuringExecution:\n        nodeSelectorTerms:\n        - matchExpressions: \
             [{key: a, operator: Is, values: [b]}]\n",
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]\
             .operator: \"Is\" found, an operator such as",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  topologySpreadConstraints: [{maxSkew: 0, topologyKey: z, \
             whenUnsatisfiable: DoNotSchedule}]\n",
            "spec.topologySpreadConstraints[0].maxSkew: 0 found, a number of at least 1 wanted",
        ),
        (
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {limits: {cpu: much}}\n",
            "(NodePool): spec.limits.cpu: \"much\" is no quantity",
        ),
        (
            "apiVersion: joiner.dev/v1alpha1\nkind: InstanceTypeCatalog\ninstanceTypes: [{name: a, offerings: [{price: -1}]}]\n",
            "(InstanceTypeCatalog): instanceTypes[0].offerings[0].price: invalid value",
        ),
        (
            "apiVersion: joiner.dev/v1alpha1\nkind: InstanceTypeCatalog\ninstanceTypes: [{name: a, offerings: [{price: 1}]}]\n",
            "instanceTypes[0].offerings[0].requirements: topology.kubernetes.io/zone is missing",
        ),
        (
            "{\"apiVersion\": \"v1\", \"kind\": \"Secret\"} &",
            "this is no JSON value",
        ),
        ("a: [", "this is no YAML"),
    ] {
        let got = error(text);
        assert!(got.contains(want), "{got}\nwants {want}");
    }
}

#[test]
fn what_an_api_server_would_fill_in_need_not_be_written() {
    let parts = parts(&["
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: bare}
---
apiVersion: v1
kind: Node
metadata: {name: n}
status: {capacity: {cpu: 4}}
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: c}
status: {nodeName: n}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
---
apiVersion: v1
kind: Pod
metadata: {name: q}
spec: {nodeName: n}
"]);
    let snapshot = &parts.snapshot;
    assert_eq!(
        snapshot.pools[0].readiness,
        joiner_core::snapshot::Readiness::Ready
    );
    assert_eq!(&*snapshot.pools[0].class.name, "default");
    assert_eq!(snapshot.nodes.len(), 1, "claim and node are one place");
    let node = snapshot.nodes[0].object.as_ref().unwrap();
    assert!(node.ready && node.labels.contains_key("kubernetes.io/hostname"));
    assert_eq!(node.allocatable, node.capacity);
    assert_eq!(snapshot.nodes[0].pods.len(), 1);
    assert_eq!(snapshot.pending[0].state, PodState::Unschedulable);
}

#[test]
fn pods_behind_gates_and_finished_ones_are_not_decided_on() {
    let parts = parts(&["
apiVersion: v1
kind: Pod
metadata: {name: gated}
spec: {schedulingGates: [{name: example.com/wait}]}
---
apiVersion: v1
kind: Pod
metadata: {name: done}
status: {phase: Succeeded}
"]);
    assert_eq!(parts.gated.len(), 1);
    assert_eq!(parts.snapshot.pending.len(), 1);
    assert_eq!(parts.snapshot.pending[0].state, PodState::Waiting);
}

#[test]
fn without_a_node_its_pods_wait() {
    let mut objects = Objects::default();
    let text = "
apiVersion: v1
kind: Node
metadata: {name: n}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {nodeName: n}
---
apiVersion: v1
kind: Pod
metadata: {name: d, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u}]}
spec: {nodeName: n}
";
    read("it.yaml", text, &mut objects).unwrap();
    assert!(objects.remove_node("n"));
    assert!(!objects.remove_node("n"));
    let parts = objects.finish(Settings::default(), NOW);
    assert_eq!(names(&parts), ["default/p"]);
    assert!(parts.snapshot.nodes.is_empty());
}

#[test]
fn other_kinds_are_noted() {
    let parts = parts(&[
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
    ]);
    assert_eq!(parts.notes.len(), 2, "{:?}", parts.notes);
    assert!(parts.notes[0].contains("1 x Deployment ignored: pods are placed"));
}

#[test]
fn volumes_namespaces_and_workloads_are_looked_up() {
    let parts = parts(&["
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp3}
provisioner: kubernetes.io/aws-ebs
volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{matchLabelExpressions: [{key: failure-domain.beta.kubernetes.io/zone, values: [z1, z2]}]}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: new}
spec: {storageClassName: gp3}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: old}
spec: {storageClassName: gp3, volumeName: pv}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv}
spec:
  csi: {driver: ebs.csi.aws.com, volumeHandle: vol-1}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [z3]}]}]}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {team: a}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec: {replicas: 3, selector: {matchLabels: {app: web}}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]}
spec:
  priorityClassName: system-node-critical
  volumes:
  - {name: a, persistentVolumeClaim: {claimName: new}}
  - {name: b, persistentVolumeClaim: {claimName: old}}
  - {name: c, persistentVolumeClaim: {claimName: none}}
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {topologyKey: kubernetes.io/hostname, labelSelector: {}, namespaceSelector: {matchLabels: {team: a}}},
    {topologyKey: kubernetes.io/hostname, labelSelector: {}, namespaceSelector: {}}]}}
"]);
    let pod = &parts.snapshot.pending[0];
    let volumes = &pod.placement.volumes;
    assert_eq!(volumes.len(), 2);
    assert_eq!(
        volumes[0].alternatives[0].to_string(),
        "topology.kubernetes.io/zone In [z1, z2]"
    );
    assert_eq!(&*volumes[0].attach.as_ref().unwrap().driver, "ebs.csi.aws.com");
    assert_eq!(&*volumes[1].attach.as_ref().unwrap().volume, "vol-1");
    assert_eq!(pod.placement.unsupported.len(), 1);
    assert_eq!(
        pod.placement.anti_affinity[0].namespaces.as_deref(),
        Some(&["shop".into()][..])
    );
    assert_eq!(pod.placement.anti_affinity[1].namespaces, None);
    let workload = pod.workload.as_ref().unwrap();
    assert_eq!(
        (workload.replicas, &*workload.name),
        (3, "ReplicaSet/default/web")
    );
    assert_eq!(pod.priority, 2_000_001_000);
}

#[test]
fn buffers_become_pods() {
    let parts = parts(&["
apiVersion: v1
kind: PodTemplate
metadata: {name: unit}
template: {metadata: {labels: {app: b}}, spec: {containers: [{name: a, resources: {requests: {cpu: 500m}}}]}}
---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: spare}
spec: {podTemplateRef: {name: unit}, replicas: 5, limits: {cpu: 2}}
"]);
    assert_eq!(names(&parts).len(), 4);
    let pod = &parts.snapshot.pending[0];
    assert_eq!(
        (&*pod.key.name, pod.priority),
        ("capacity-buffer-spare-1", i32::MIN)
    );
    assert_eq!(pod.buffer.as_deref(), Some("default/spare"));
}

#[test]
fn devices_are_looked_up() {
    let parts = parts(&[r#"
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, count: 2}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  nodeName: n
  pool: {name: n, generation: 1, resourceSliceCount: 1}
  devices: [{name: g0, attributes: {model: {string: a}}, capacity: {memory: {value: 10Gi}}}]
---
apiVersion: v1
kind: Node
metadata: {name: n}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {resourceClaims: [{name: g, resourceClaimTemplateName: one}]}
"#]);
    let devices = &parts.snapshot.pending[0].placement.devices;
    assert_eq!(devices[0].requests[0].alternatives[0].count, Some(2));
    assert_eq!(
        parts.snapshot.nodes[0].devices[0].capacity.values().next(),
        Some(&(10 << 30))
    );
}

/// Whatever is written in place of `STATUS`, what a pod's claim from a template asks for is known.
#[test]
fn claims_of_a_pod_alone_have_no_name() {
    let text = r#"
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: p-g-1}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
STATUS
---
apiVersion: v1
kind: Node
metadata: {name: n}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {REFERENCE}
status: {phase: Pending, resourceClaimStatuses: [{name: g, resourceClaimName: NAME}]}
"#;
    let template = "resourceClaims: [{name: g, resourceClaimTemplateName: one}]";
    let named = "resourceClaims: [{name: g, resourceClaimName: p-g-1}]";
    let bound = format!("nodeName: n, {template}");
    let allocation = "allocation: {nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n]}]}]}}";
    let allocated = format!("status: {{{allocation}}}");
    let used = "reservedFor: [{resource: pods, name: p, uid: a}, {resource: pods, name: q, uid: b}]";
    let used = format!("status: {{{allocation}, {used}}}");
    for (case, status, reference, name, want) in [
        ("not known yet", "", template, "p-g-2", ("", false)),
        ("made", "", template, "p-g-1", ("", false)),
        ("about to be bound", &*allocated, template, "p-g-1", ("", true)),
        ("it may move", &*allocated, &*bound, "p-g-1", ("", false)),
        ("it shares and has to stay", &*used, &*bound, "p-g-1", ("", true)),
        ("named", "", named, "other", ("default/p-g-1", false)),
    ] {
        let text = text
            .replace("STATUS", status)
            .replace("REFERENCE", reference)
            .replace("NAME", name);
        let snapshot = parts(&[&text]).snapshot;
        let on_node = snapshot.nodes.iter().flat_map(|node| &node.pods);
        let pod = on_node.chain(&snapshot.pending).next().expect("a pod");
        let claim = &pod.placement.devices[0];
        assert_eq!((&*claim.name, claim.allocated.is_some()), want, "{case}");
        assert_eq!(claim.requests.len(), 1, "{case}");
    }
}

/// Of a pool the newest generation counts, and a driver has published when all of its slices are there.
#[test]
fn slices_of_older_generations_do_not_count() {
    let slice = |name: &str, generation: u32, count: u32, device: &str| dra::ResourceSlice {
        metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
            name: Some(name.to_owned()),
            ..Default::default()
        },
        spec: serde_json::from_value(serde_json::json!({
            "driver": "gpu.example.com", "nodeName": "n", "devices": [{"name": device}],
            "pool": {"name": "n", "generation": generation, "resourceSliceCount": count},
        }))
        .unwrap(),
    };
    for (case, slices, devices, complete) in [
        ("none", vec![], "", false),
        ("one of one", vec![slice("a", 1, 1, "g0")], "g0", true),
        ("one of two", vec![slice("a", 1, 2, "g0")], "g0", false),
        (
            "two of two",
            vec![slice("a", 1, 2, "g0"), slice("b", 1, 2, "g1")],
            "g0 g1",
            true,
        ),
        (
            "the next has begun",
            vec![slice("a", 1, 2, "g0"), slice("b", 2, 2, "g1")],
            "g1",
            false,
        ),
    ] {
        let mut objects = crate::DeviceObjects::default();
        slices.into_iter().for_each(|slice| objects.slice(slice));
        let found = objects.by_node().remove("n").unwrap_or_default();
        let names: Vec<&str> = found.iter().map(|device| &*device.name).collect();
        assert_eq!(names.join(" "), devices, "{case}");
        assert_eq!(objects.drivers_by_node().contains_key("n"), complete, "{case}");
    }
}

#[test]
fn types_of_a_document_have_devices() {
    let document = |devices: &str| {
        format!(
            "apiVersion: joiner.dev/v1alpha1\nkind: InstanceTypeCatalog\ninstanceTypes:\n- name: a\n  devices: [{devices}]\n"
        )
    };
    let gpu = "{driver: gpu.example.com, name: g0, attributes: {cores: {int: 8}, other.example.com/model: {string: x}}, \
               capacity: {memory: {value: 10Gi}}}";
    let catalog = parts(&[&document(gpu)]).catalog.expect("a document");
    let catalogue = catalog.catalogue(std::iter::once(&"default".into()));
    let device = &catalogue.types("default")[0].devices[0];
    assert_eq!((&*device.driver, &*device.name), ("gpu.example.com", "g0"));
    let attributes: Vec<&str> = device.attributes.keys().map(|name| &**name).collect();
    assert_eq!(attributes, ["gpu.example.com/cores", "other.example.com/model"]);
    assert_eq!(device.capacity.get("gpu.example.com/memory"), Some(&(10 << 30)));
    let got = error(&document(&format!("{gpu}, {gpu}")));
    assert!(got.contains("instanceTypes[0].devices[1].name"), "{got}");
}
