use std::time::Instant;

use serde_json::json;

use super::*;

fn pool() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [
                {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]},
                {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
            ],
        }}},
    })
}

fn class() -> Value {
    json!({"spec": {
        "role": "node",
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "subnetSelectorTerms": [{"id": "subnet-1"}],
        "securityGroupSelectorTerms": [{"tags": {"a": "b"}}],
        "tags": {"a": "b"},
    }})
}

fn texts(kind: Kind, object: &Value, unknown: &[JsonPath]) -> Vec<String> {
    let unknown: UnknownPaths = unknown.iter().cloned().collect();
    check(kind, object, &unknown, None)
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// A path from a text such as `spec.tags.a` or `spec.terms.0.id`.
fn path(text: &str) -> JsonPath {
    text.split('.')
        .map(|step| step.parse().map_or_else(|_| Segment::from(step), Segment::Index))
        .collect::<Vec<_>>()
        .into_iter()
        .fold(JsonPath::root(), |path, segment| match segment {
            Segment::Field(name) => path.field(&name),
            Segment::Index(place) => path.index(place),
        })
}

#[test]
fn amounts_are_of_resources_and_within_what_kubernetes_counts() {
    let limited = |name: &str, amount: Value| {
        let mut pool = pool();
        pool["spec"]["limits"] = json!({ name: amount });
        texts(Kind::NodePool, &pool, &[])
    };
    for (name, amount) in [
        ("cpu", json!(1000)),
        ("memory", json!("100Gi")),
        ("nodes", json!("0")),
        ("nvidia.com/gpu", json!("8")),
        ("cpu", json!("1e18")),
        ("cpu", json!("9E")),
        ("memory", json!("16Ei")),
    ] {
        assert_eq!(limited(name, amount.clone()), [""; 0], "{name} = {amount}");
    }
    for (name, amount, place, words) in [
        ("", json!("1"), "spec.limits[\"\"]: ", "\"\" is no resource"),
        (
            "a b",
            json!("1"),
            "spec.limits[\"a b\"]: ",
            "\"a b\" is no resource",
        ),
        (
            "/gpu",
            json!("1"),
            "spec.limits[\"/gpu\"]: ",
            "before the '/' must be a DNS name",
        ),
        (
            "cpu",
            json!("1e999999"),
            "spec.limits.cpu: ",
            "1e999999 is beyond Kubernetes' largest quantity",
        ),
        ("cpu", json!("-1e999999"), "spec.limits.cpu: ", "beyond"),
        (
            "memory",
            json!("10E"),
            "spec.limits.memory: ",
            "leave it out where nothing is to be limited",
        ),
        // The CRD's pattern has an exponent with a fraction, and one longer than any number.
        (
            "cpu",
            json!("1e1.5"),
            "spec.limits.cpu: ",
            "\"1e1.5\" is no quantity",
        ),
        (
            "cpu",
            json!("1e99999999999999999999"),
            "spec.limits.cpu: ",
            "is no quantity",
        ),
    ] {
        let found = limited(name, amount.clone());
        let [text] = found.as_slice() else {
            panic!("{name} = {amount}: {found:?}");
        };
        assert!(text.starts_with(place) && text.contains(words), "{text}");
    }
    let overlay = json!({ "spec": {
        "requirements": [{ "key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"] }],
        "capacity": { "example.com/x": "1e999999" },
    } });
    let found = texts(Kind::NodeOverlay, &overlay, &[]);
    assert!(
        found[0].starts_with("spec.capacity[\"example.com/x\"]: 1e999999 is beyond"),
        "{found:?}"
    );
}

#[test]
fn messages_name_place_value_expectation_and_remedy() {
    let mut broken = pool();
    broken["spec"]["template"]["spec"]["requirements"][0]["operator"] = "Equals".into();
    broken["spec"]["template"]["spec"]["requirments"] = json!([]);
    broken["spec"]["template"]["spec"]["nodeClassRef"]
        .as_object_mut()
        .unwrap()
        .remove("name");
    broken["spec"]["template"]["spec"]["expireAfter"] = "30d".into();
    broken["spec"]["weight"] = 200.into();
    assert_eq!(
        texts(Kind::NodePool, &broken, &[]),
        [
            "spec.template.spec.expireAfter: \"30d\" is not allowed; expected a duration in h, m and s, for example 720h or 1h30m, or Never",
            "spec.template.spec.nodeClassRef.name: is required but not set. Name of the class.",
            "spec.template.spec.requirements[0].operator: \"Equals\" is not allowed; use one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte",
            "spec.template.spec.requirments: there is no field \"requirments\"; did you mean \"requirements\"?",
            "spec.weight: 200 is out of range; expected a whole number from 1 to 100",
        ]
    );
    let mut contradictory = pool();
    contradictory["spec"]["template"]["spec"]["requirements"][1] =
        json!({"key": "beta.kubernetes.io/arch", "operator": "In", "values": ["amd64"]});
    assert_eq!(
        texts(Kind::NodePool, &contradictory, &[]),
        [
            "spec.template.spec.requirements[1]: no node can meet \"kubernetes.io/arch In amd64\" together with \"In arm64\" (spec.template.spec.requirements[0]): remove or change one of them",
        ]
    );
    let mut mistyped = pool();
    mistyped["spec"]["template"]["spec"]["requirements"][0]["key"] =
        "karpenter.k8s.aws/instance-famly".into();
    assert_eq!(
        texts(Kind::NodePool, &mistyped, &[]),
        [
            "spec.template.spec.requirements[0].key: \"karpenter.k8s.aws/instance-famly\" lies in the reserved domain karpenter.k8s.aws and is none of its known labels; did you mean \"karpenter.k8s.aws/instance-family\"?",
        ]
    );
}

#[test]
fn what_is_unknown_is_not_judged_and_all_else_is() {
    /// What, kind, object, unknown paths, paths of the violations.
    type Row = (
        &'static str,
        Kind,
        fn() -> Value,
        &'static [&'static str],
        &'static [&'static str],
    );
    let cases: &[Row] = &[
        // A required value that is unknown is not missing.
        (
            "role unknown",
            Kind::EC2NodeClass,
            || {
                let mut class = class();
                class["spec"].as_object_mut().unwrap().remove("role");
                class
            },
            &["spec.role"],
            &[],
        ),
        (
            "role unknown and a bad tag",
            Kind::EC2NodeClass,
            || {
                let mut class = class();
                class["spec"]["role"] = Value::Null;
                class["spec"]["tags"] = json!({"karpenter.sh/nodepool": "x"});
                class
            },
            &["spec.role"],
            &["spec.tags"],
        ),
        // The family's rule does not look at the role.
        (
            "role unknown and a family that does not fit",
            Kind::EC2NodeClass,
            || {
                let mut class = class();
                class["spec"]["amiFamily"] = "Bottlerocket".into();
                class
            },
            &["spec.role"],
            &["spec"],
        ),
        // An unknown tag value says nothing about the key beside it.
        (
            "tag value unknown",
            Kind::EC2NodeClass,
            || {
                let mut class = class();
                class["spec"]["tags"] = json!({"kubernetes.io/cluster/x": null, "a": null});
                class
            },
            &["spec.tags.a", "spec.tags.kubernetes!io/cluster/x"],
            &["spec.tags"],
        ),
        (
            "one term unknown, the other bad",
            Kind::EC2NodeClass,
            || {
                let mut class = class();
                class["spec"]["subnetSelectorTerms"] = json!([{"id": null}, {}]);
                class
            },
            &["spec.subnetSelectorTerms.0.id"],
            &["spec.subnetSelectorTerms[1]"],
        ),
        (
            "a selector's tag value unknown, another empty",
            Kind::EC2NodeClass,
            || {
                let mut class = class();
                class["spec"]["securityGroupSelectorTerms"] = json!([{"tags": {"a": null, "b": ""}}]);
                class
            },
            &["spec.securityGroupSelectorTerms.0.tags.a"],
            &["spec.securityGroupSelectorTerms[0].tags.b"],
        ),
        (
            "values unknown",
            Kind::NodePool,
            || {
                let mut pool = pool();
                pool["spec"]["template"]["spec"]["requirements"][0]["values"] = Value::Null;
                pool
            },
            &["spec.template.spec.requirements.0.values"],
            &[],
        ),
        (
            "values unknown, the next requirement empty",
            Kind::NodePool,
            || {
                let mut pool = pool();
                pool["spec"]["template"]["spec"]["requirements"][1]["values"] = json!([]);
                pool
            },
            &["spec.template.spec.requirements.0.values"],
            &["spec.template.spec.requirements[1]"],
        ),
        (
            "one value unknown, no contradiction known",
            Kind::NodePool,
            || {
                let mut pool = pool();
                pool["spec"]["template"]["spec"]["requirements"][1] =
                    json!({"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64", null]});
                pool
            },
            &["spec.template.spec.requirements.1.values.1"],
            &[],
        ),
        (
            "all unknown",
            Kind::NodePool,
            || json!({"spec": null}),
            &["spec"],
            &[],
        ),
    ];
    for (what, kind, object, unknown, want) in cases {
        let unknown: UnknownPaths = unknown
            .iter()
            .map(|text| path(text))
            .map(|path| JsonPath(path.0.into_iter().map(dots).collect()))
            .collect();
        let found: Vec<String> = check(*kind, &object(), &unknown, None)
            .iter()
            .map(|violation| violation.path.to_string())
            .collect();
        assert_eq!(found, *want, "{what}");
    }
}

/// In the table above `!` stands for a dot inside a name.
fn dots(segment: Segment) -> Segment {
    match segment {
        Segment::Field(name) => Segment::Field(name.replace('!', ".")),
        index @ Segment::Index(_) => index,
    }
}

#[test]
fn changes_are_judged_only_with_the_object_before() {
    let (before, mut after) = (pool(), pool());
    after["spec"]["template"]["spec"]["nodeClassRef"]["group"] = "example.com".into();
    assert_eq!(check(Kind::NodePool, &after, &UnknownPaths::none(), None), []);
    let found = check(Kind::NodePool, &after, &UnknownPaths::none(), Some(&before));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].path.to_string(), "spec.template.spec.nodeClassRef");
    assert_eq!(found[0].source, Source::Cel);
    // The API server's defaults are not a change.
    let mut written = pool();
    written["spec"]["disruption"] = json!({"consolidateAfter": "0s"});
    assert_eq!(
        check(Kind::NodePool, &pool(), &UnknownPaths::none(), Some(&written)),
        []
    );
}

#[test]
fn another_kind_is_named() {
    let found = texts(
        Kind::NodePool,
        &json!({"kind": "NodeClaim", "spec": pool()["spec"]}),
        &[],
    );
    assert_eq!(
        found,
        ["kind: is \"NodeClaim\", but this is checked as a NodePool of karpenter.sh/v1"]
    );
}

#[test]
fn paths_print_as_kubectl_does() {
    for (path, want) in [
        (
            JsonPath::root().field("spec").field("terms").index(2).field("id"),
            "spec.terms[2].id",
        ),
        (
            JsonPath::root().field("metadata").field("labels").field("a.b/c"),
            "metadata.labels[\"a.b/c\"]",
        ),
        (JsonPath::root(), ""),
    ] {
        assert_eq!(path.to_string(), want);
    }
}

#[test]
fn every_pattern_has_words() {
    fn walk(schema: &Value) {
        if let Some(pattern) = schema["pattern"].as_str() {
            assert!(words::of_pattern(pattern).is_some(), "no words for {pattern}");
        }
        for child in schema["properties"]
            .as_object()
            .into_iter()
            .flat_map(|p| p.values())
        {
            walk(child);
        }
        for step in ["items", "additionalProperties"] {
            if schema[step].is_object() {
                walk(&schema[step]);
            }
        }
    }
    for crd in crate::crds() {
        walk(&serde_json::to_value(crd).unwrap()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]);
    }
}

/// A plan checks every pool of a configuration; a hundred must be far under a second even in a debug build. The
/// fastest of several tells what the work costs, however busy the machine is.
#[test]
fn a_hundred_pools_take_well_under_a_second() {
    let pool = pool();
    let fastest = (0..30).map(|_| {
        let start = Instant::now();
        assert_eq!(check(Kind::NodePool, &pool, &UnknownPaths::none(), None), []);
        start.elapsed()
    });
    let fastest = fastest.min().unwrap();
    assert!(fastest.as_millis() < 5, "{fastest:?} for one");
}

#[test]
fn tags_are_within_ec2s_limits() {
    let tagged = |tags: Value| {
        let mut class = class();
        class["spec"]["tags"] = tags;
        texts(Kind::EC2NodeClass, &class, &[])
    };
    let many = |count: usize, name: Option<&str>| {
        let keys = (0..count)
            .map(|number| format!("t{number}"))
            .chain(name.map(str::to_owned));
        keys.map(|key| (key, json!("x"))).collect::<Value>()
    };
    for (tags, words) in [
        (json!({ "é".repeat(128): "é".repeat(256) }), None),
        (json!({ "é".repeat(129): "x" }), Some("at most 128 characters")),
        (
            json!({ "a": "é".repeat(257) }),
            Some("spec.tags.a: a tag's value has at most 256 characters"),
        ),
        (json!({ "aws:x": "1" }), Some("AWS' own")),
        (json!({ "awsome": "1" }), None),
        (many(43, None), None),
        (many(43, Some("Name")), None),
        (
            many(44, None),
            Some(
                "spec.tags: 44 tags are too many: EC2 takes 50 on an instance, and the controller sets 7; leave at most 43",
            ),
        ),
        (
            many(44, Some("Name")),
            Some("the controller sets 6; leave at most 44"),
        ),
    ] {
        let found = tagged(tags.clone());
        match words {
            None => assert_eq!(found, [""; 0], "{tags}"),
            Some(words) => assert!(found.len() == 1 && found[0].contains(words), "{found:?}"),
        }
    }
}

#[test]
fn volumes_are_told_what_they_can_have() {
    for (ebs, want) in [
        (
            json!({ "volumeSize": "10Gi", "volumeType": "gp3", "iops": 16000 }),
            "ebs.iops: gp3 volumes have at most 500 IOPS a GiB, so one of 10Gi has 5000: lower it, or give a size of at least 32Gi",
        ),
        (
            json!({ "volumeSize": "100Gi", "volumeType": "gp3", "iops": 3000, "throughput": 1000 }),
            "ebs.throughput: gp3 volumes have at most 0.25 MiB a second for each IOPS, so 3000 IOPS give 750: lower it, or set 'iops' to at least 4000",
        ),
        (
            json!({ "volumeSize": "20Gi", "volumeType": "st1" }),
            "ebs.volumeSize: st1 volumes have from 125Gi to 16384Gi: give a size in between, or use another kind",
        ),
        (
            json!({ "volumeSize": "20Gi", "volumeType": "gp3", "iops": 100 }),
            "ebs.iops: gp3 volumes have from 3000 to 80000 IOPS: give a number in between, or leave it out",
        ),
    ] {
        let mut class = class();
        class["spec"]["blockDeviceMappings"] = json!([{ "deviceName": "/dev/xvda", "ebs": ebs }]);
        let found = texts(Kind::EC2NodeClass, &class, &[]);
        assert_eq!(found, [format!("spec.blockDeviceMappings[0].{want}")]);
    }
}
