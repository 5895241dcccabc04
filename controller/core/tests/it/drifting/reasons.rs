//! What a node drifts by.

use super::*;

/// What a claim is compared with.
struct Case {
    claim: Claim,
    machine: Machine,
    pool: Pool,
    class: Option<Class>,
}

fn case(change: impl FnOnce(&mut Case)) -> Case {
    let mut case = Case {
        claim: made(),
        machine: machine(),
        pool: hashed(pool("default")),
        class: Some(class()),
    };
    change(&mut case);
    case
}

fn with_class(change: impl FnOnce(&mut Class)) -> Case {
    case(|case| change(case.class.as_mut().unwrap()))
}

#[test]
fn a_node_drifts_by_what_has_changed_and_by_nothing_else() {
    let old = |case: &mut Case| case.claim.created = ago(3601);
    let rows: Vec<(&str, Case, &str)> = vec![
        ("as it was", case(|_| {}), ""),
        (
            "an expiry",
            case(|case| {
                case.pool.hash = hash("2");
                case.claim.expire_after = Some(SignedDuration::from_hours(720));
                case.pool.expire_after = Some(SignedDuration::from_hours(24));
            }),
            "NodePoolDrifted: NodePool default has changed since the node was made: expireAfter was 720h, is 24h",
        ),
        (
            "a taint, a label and another class",
            case(|case| {
                case.pool.hash = hash("2");
                case.pool.taints = vec![Taint::new("team", "a", Effect::NoSchedule)];
                case.pool.labels.insert("team".into(), "a".into());
                case.pool.class.name = "gpu".into();
            }),
            "NodePoolDrifted: NodePool default has changed since the node was made: nodeClassRef was EC2NodeClass default, is \
             EC2NodeClass gpu; label team was absent, is a; taints was [], is [team=a:NoSchedule]",
        ),
        (
            "a label that is gone",
            case(|case| case.pool.hash = hash("2")),
            "NodePoolDrifted: NodePool default has changed since the node was made: a label or an annotation of its template is gone",
        ),
        (
            "a hash by another rule",
            case(|case| {
                case.pool.hash = PoolHash {
                    version: "w".into(),
                    ..hash("2")
                };
                case.class.as_mut().unwrap().hash = case.pool.hash.clone();
            }),
            "",
        ),
        (
            "a claim without a hash",
            case(|case| {
                case.claim.annotations.clear();
                case.pool.hash = hash("2");
            }),
            "",
        ),
        (
            "a requirement",
            case(|case| {
                let family = Requirement::is_in("karpenter.k8s.aws/instance-family", ["c5", "r5"]);
                case.pool.requirements.add(family);
            }),
            "RequirementsDrifted: the node has karpenter.k8s.aws/instance-family=m5; NodePool default now asks for \
             karpenter.k8s.aws/instance-family In [c5, r5]",
        ),
        (
            "a requirement on a label that it does not have",
            case(|case| case.pool.requirements.add(Requirement::exists("team"))),
            "RequirementsDrifted: the node has no label team; NodePool default now asks for team Exists",
        ),
        (
            "a bound, as it was written",
            case(|case| {
                let cores = Requirement::new("example.com/cores", Operator::Gt, ["500"]);
                case.pool.requirements.add(cores.unwrap());
            }),
            "RequirementsDrifted: the node has no label example.com/cores; NodePool default now asks for example.com/cores Gt 500",
        ),
        (
            "a requirement that it satisfies",
            case(|case| {
                let kinds = Requirement::is_not_in("karpenter.k8s.aws/instance-family", ["c5"]);
                case.pool.requirements.add(kinds);
            }),
            "",
        ),
        (
            "a type that is not sold any more",
            case(|case| {
                old(case);
                case.claim
                    .labels
                    .insert("node.kubernetes.io/instance-type".into(), "m1.large".into());
            }),
            "InstanceTypeNotFound: instance type m1.large is not among those of the node's pool any more",
        ),
        (
            "the same within its first hour",
            case(|case| {
                case.claim
                    .labels
                    .insert("node.kubernetes.io/instance-type".into(), "m1.large".into());
            }),
            "",
        ),
        (
            "a zone without an offering",
            case(|case| {
                old(case);
                case.claim
                    .labels
                    .insert("topology.kubernetes.io/zone".into(), "us-west-2d".into());
            }),
            "InstanceTypeNotFound: m5.large is not offered as on-demand in us-west-2d any more",
        ),
        (
            "a reservation that has ended",
            case(|case| {
                old(case);
                case.claim
                    .labels
                    .insert("karpenter.sh/capacity-type".into(), "reserved".into());
            }),
            "",
        ),
        (
            "user data and a new field of the class",
            with_class(|class| {
                class.hash = hash("2");
                class.fields =
                    joiner_core::text::labels([("role", "cc"), ("tags", "aa"), ("userData", "dd")]);
            }),
            "NodeClassDrift: EC2NodeClass default has changed since the node was launched: role, userData",
        ),
        (
            "a class of which the claim noted no fields",
            case(|case| {
                case.claim.annotations.remove("joiner.dev/ec2nodeclass-fields");
                case.class.as_mut().unwrap().hash = hash("2");
            }),
            "NodeClassDrift: EC2NodeClass default has changed since the node was launched",
        ),
        (
            "a newer image",
            with_class(|class| {
                let mut newer = class.images[1].clone();
                newer.id = "ami-new".into();
                class.images.insert(0, newer);
            }),
            "AMIDrift: the image was ami-amd; EC2NodeClass default now has ami-new for m5.large",
        ),
        (
            "no image for the type",
            with_class(|class| {
                class.images.remove(1);
            }),
            "AMIDrift: the image was ami-amd; EC2NodeClass default now has none for m5.large",
        ),
        (
            "a newer image for other types",
            with_class(|class| class.images[0].id = "ami-arm-new".into()),
            "",
        ),
        ("no image resolved", with_class(|class| class.images.clear()), ""),
        (
            "a security group less",
            with_class(|class| drop(class.security_groups.pop())),
            "SecurityGroupDrift: the security groups were sg-1, sg-2; EC2NodeClass default now finds sg-1",
        ),
        (
            "no security group resolved",
            with_class(|class| class.security_groups.clear()),
            "",
        ),
        (
            "other subnets",
            with_class(|class| class.subnets = vec!["subnet-1".into()]),
            "SubnetDrift: subnet subnet-2 is not among those that EC2NodeClass default now finds: subnet-1",
        ),
        (
            "an instance of which nothing is known",
            case(|case| {
                case.machine = Machine::default();
                case.class.as_mut().unwrap().subnets = vec!["subnet-9".into()];
                case.class.as_mut().unwrap().images[1].id = "ami-new".into();
            }),
            "",
        ),
        (
            "a reservation that is not chosen any more",
            case(|case| case.machine.reservation = Some("cr-1".into())),
            "CapacityReservationDrift: capacity reservation cr-1 is none of EC2NodeClass default any more",
        ),
        (
            "another placement group",
            case(|case| {
                case.class.as_mut().unwrap().placement_group = Some("pg-2".into());
                let group = ("karpenter.k8s.aws/placement-group-id".into(), "pg-1".into());
                case.claim.labels.extend([group]);
            }),
            "PlacementGroupDrift: the placement group was pg-1; EC2NodeClass default now has pg-2",
        ),
        (
            "a placement group that is new",
            with_class(|class| class.placement_group = Some("pg-2".into())),
            "PlacementGroupDrift: the placement group was none; EC2NodeClass default now has pg-2",
        ),
        (
            "no placement group",
            with_class(|class| class.placement_group = Some("".into())),
            "",
        ),
        ("no class", case(|case| case.class = None), ""),
    ];
    for (name, case, want) in rows {
        let drift = drift_of(
            &case.claim,
            &case.machine,
            &case.pool,
            case.class.as_ref(),
            &types(),
            now(),
        );
        let got = drift.map_or_else(String::new, |drift| {
            format!("{}: {}", drift.reason, drift.message)
        });
        assert_eq!(got, want, "{name}");
    }
}
