//! Cases of EC2NodeClass.

use super::{
    Row,
    Verdict::{Refused, Unusable, Valid},
};

const AMI: &str = "/spec/amiSelectorTerms";
const AT_AMI: &str = "spec.amiSelectorTerms";
const SUBNETS: &str = "/spec/subnetSelectorTerms";
const AT_SUBNETS: &str = "spec.subnetSelectorTerms";
const GROUPS: &str = "/spec/securityGroupSelectorTerms";
const AT_GROUPS: &str = "spec.securityGroupSelectorTerms";
const RESERVATIONS: &str = "/spec/capacityReservationSelectorTerms";
const AT_RESERVATIONS: &str = "spec.capacityReservationSelectorTerms";
const DISKS: &str = "/spec/blockDeviceMappings";
const AT_EBS: &str = "spec.blockDeviceMappings[0].ebs";
const NICS: &str = "/spec/networkInterfaces";
const KUBELET: &str = "/spec/kubelet";

pub(super) const ROWS: &[Row] = &[
    ("the least", &[], Valid),
    (
        "everything set",
        &[
            ("/spec/amiFamily", "\"AL2023\""),
            ("/spec/associatePublicIPAddress", "true"),
            (
                DISKS,
                r#"[{"deviceName": "/dev/xvda", "rootVolume": true, "ebs": {"volumeSize": "20Gi", "volumeType": "gp3", "iops": 3000,
                "throughput": 125, "encrypted": true, "deleteOnTermination": true, "kmsKeyID": "alias/x", "snapshotID": "snap-1",
                "volumeInitializationRate": 100}}, {"deviceName": "/dev/xvdb", "rootVolume": false, "ebs": {"snapshotID": "snap-2"}}]"#,
            ),
            (
                RESERVATIONS,
                r#"[{"id": "cr-1a"}, {"tags": {"a": "b"}, "ownerID": "123456789012", "instanceMatchCriteria": "open"}]"#,
            ),
            (
                "/spec/connectionTracking",
                r#"{"tcpEstablishedTimeout": 60, "udpStreamTimeout": 180, "udpTimeout": 30}"#,
            ),
            ("/spec/context", "\"c\""),
            ("/spec/cpuOptions", r#"{"nestedVirtualization": "enabled"}"#),
            ("/spec/detailedMonitoring", "true"),
            ("/spec/instanceStorePolicy", "\"RAID0\""),
            ("/spec/ipPrefixCount", "0"),
            (
                KUBELET,
                r#"{"clusterDNS": ["10.100.0.10", "fd00::a"], "cpuCFSQuota": true, "evictionHard": {"memory.available": "5%", "nodefs.available": "1Gi"},
                "evictionSoft": {"memory.available": "10%"}, "evictionSoftGracePeriod": {"memory.available": "1m30s"},
                "evictionMaxPodGracePeriod": 60, "imageGCHighThresholdPercent": 85, "imageGCLowThresholdPercent": 80,
                "kubeReserved": {"cpu": "200m", "memory": "1Gi", "ephemeral-storage": "1Gi", "pid": "100"}, "systemReserved": {"cpu": "100m"},
                "maxPods": 110, "podsPerCore": 0}"#,
            ),
            (
                "/spec/metadataOptions",
                r#"{"httpEndpoint": "enabled", "httpProtocolIPv6": "enabled", "httpPutResponseHopLimit": 64, "httpTokens": "optional"}"#,
            ),
            (
                NICS,
                r#"[{"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
                {"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"},
                {"networkCardIndex": 1, "deviceIndex": 1, "interfaceType": "efa-only"}]"#,
            ),
            ("/spec/placementGroupSelector", r#"{"name": "group"}"#),
            (
                GROUPS,
                r#"[{"id": "sg-1"}, {"name": "nodes"}, {"tags": {"a": "*"}}]"#,
            ),
            (SUBNETS, r#"[{"id": "subnet-1"}, {"tags": {"a": "*", "b": "c"}}]"#),
            (
                "/spec/tags",
                r#"{"team": "a", "empty": "", "karpenter.sh/discovery": "x"}"#,
            ),
            ("/spec/userData", "\"#!/bin/sh\""),
        ],
        Valid,
    ),
    ("null kubelet", &[(KUBELET, "null")], Refused("spec.kubelet")),
    (
        "null metadata options",
        &[("/spec/metadataOptions", "null")],
        Valid,
    ),
    ("no spec", &[("/spec", "")], Refused("spec")),
    // identity
    (
        "instance profile",
        &[("/spec/role", ""), ("/spec/instanceProfile", "\"p\"")],
        Valid,
    ),
    ("neither role nor profile", &[("/spec/role", "")], Refused("spec")),
    (
        "role and profile",
        &[("/spec/instanceProfile", "\"p\"")],
        Refused("spec"),
    ),
    ("empty role", &[("/spec/role", "\"\"")], Refused("spec.role")),
    (
        "empty profile",
        &[("/spec/role", ""), ("/spec/instanceProfile", "\"\"")],
        Refused("spec.instanceProfile"),
    ),
    // images
    ("no terms", &[(AMI, "[]")], Refused(AT_AMI)),
    (
        "terms missing",
        &[(AMI, ""), ("/spec/amiFamily", "\"AL2023\"")],
        Refused(AT_AMI),
    ),
    (
        "empty term",
        &[(AMI, "[{}]"), ("/spec/amiFamily", "\"AL2023\"")],
        Refused("spec.amiSelectorTerms[0]"),
    ),
    (
        "owner alone",
        &[(AMI, r#"[{"owner": "self"}]"#), ("/spec/amiFamily", "\"AL2023\"")],
        Refused("spec.amiSelectorTerms[0]"),
    ),
    (
        "no image's id",
        &[(AMI, r#"[{"id": "ami-xyz"}]"#), ("/spec/amiFamily", "\"AL2023\"")],
        Unusable("spec.amiSelectorTerms[0].id"),
    ),
    (
        "tags",
        &[
            (AMI, r#"[{"tags": {"a": "*"}}]"#),
            ("/spec/amiFamily", "\"AL2023\""),
        ],
        Valid,
    ),
    (
        "name and owner",
        &[
            (AMI, r#"[{"name": "x*", "owner": "self"}]"#),
            ("/spec/amiFamily", "\"AL2023\""),
        ],
        Valid,
    ),
    (
        "id",
        &[
            (AMI, r#"[{"id": "ami-1"}]"#),
            ("/spec/amiFamily", "\"Bottlerocket\""),
        ],
        Valid,
    ),
    (
        "parameter",
        &[
            (AMI, r#"[{"ssmParameter": "/a/b"}]"#),
            ("/spec/amiFamily", "\"Custom\""),
        ],
        Valid,
    ),
    (
        "bad id",
        &[
            (AMI, r#"[{"id": "i-1"}]"#),
            ("/spec/amiFamily", "\"Bottlerocket\""),
        ],
        Refused("spec.amiSelectorTerms[0].id"),
    ),
    (
        "id without family",
        &[(AMI, r#"[{"id": "ami-1"}]"#)],
        Refused("spec"),
    ),
    (
        "unknown family",
        &[("/spec/amiFamily", "\"Ubuntu\"")],
        Refused("spec.amiFamily"),
    ),
    (
        "id and tags",
        &[
            (AMI, r#"[{"id": "ami-1", "tags": {"a": "b"}}]"#),
            ("/spec/amiFamily", "\"AL2023\""),
        ],
        Refused("spec.amiSelectorTerms[0]"),
    ),
    (
        "id and name in the second term",
        &[
            (AMI, r#"[{"id": "ami-1"}, {"id": "ami-2", "name": "x"}]"#),
            ("/spec/amiFamily", "\"AL2023\""),
        ],
        Refused("spec.amiSelectorTerms[1]"),
    ),
    (
        "alias and id",
        &[(AMI, r#"[{"alias": "al2023@latest", "id": "ami-1"}]"#)],
        Refused("spec.amiSelectorTerms[0]"),
    ),
    (
        "alias and owner",
        &[(AMI, r#"[{"alias": "al2023@latest", "owner": "self"}]"#)],
        Refused("spec.amiSelectorTerms[0]"),
    ),
    (
        "alias and another term",
        &[(AMI, r#"[{"alias": "al2023@latest"}, {"id": "ami-1"}]"#)],
        Refused(AT_AMI),
    ),
    (
        "two aliases",
        &[(AMI, r#"[{"alias": "al2023@latest"}, {"alias": "al2023@v1"}]"#)],
        Refused(AT_AMI),
    ),
    (
        "alias without version",
        &[(AMI, r#"[{"alias": "al2023"}]"#)],
        Refused("spec.amiSelectorTerms[0].alias"),
    ),
    (
        "alias with empty version",
        &[(AMI, r#"[{"alias": "al2023@"}]"#)],
        Refused("spec.amiSelectorTerms[0].alias"),
    ),
    (
        "alias of an unknown family",
        &[(AMI, r#"[{"alias": "ubuntu@latest"}]"#)],
        Refused("spec.amiSelectorTerms[0].alias"),
    ),
    (
        "alias in capitals",
        &[(AMI, r#"[{"alias": "AL2023@latest"}]"#)],
        Refused("spec.amiSelectorTerms[0].alias"),
    ),
    (
        "alias too long",
        &[(AMI, r#"[{"alias": "bottlerocket@v1.20.0-123456789012345"}]"#)],
        Refused("spec.amiSelectorTerms[0].alias"),
    ),
    (
        "pinned alias",
        &[(AMI, r#"[{"alias": "bottlerocket@v1.20.0"}]"#)],
        Valid,
    ),
    (
        "windows latest",
        &[(AMI, r#"[{"alias": "windows2022@latest"}]"#)],
        Valid,
    ),
    (
        "windows pinned",
        &[(AMI, r#"[{"alias": "windows2022@v1"}]"#)],
        Refused("spec.amiSelectorTerms[0].alias"),
    ),
    (
        "windows without version",
        &[(AMI, r#"[{"alias": "windows2019"}]"#)],
        Refused("spec.amiSelectorTerms[0].alias"),
    ),
    (
        "windows at latest, twice",
        &[(AMI, r#"[{"alias": "windows2022@latest@x"}]"#)],
        Valid,
    ),
    (
        "empty tag value",
        &[
            (AMI, r#"[{"tags": {"a": ""}}]"#),
            ("/spec/amiFamily", "\"AL2023\""),
        ],
        Refused("spec.amiSelectorTerms[0].tags.a"),
    ),
    (
        "alias and the custom family",
        &[("/spec/amiFamily", "\"Custom\"")],
        Valid,
    ),
    (
        "al2023 as AL2",
        &[("/spec/amiFamily", "\"AL2\"")],
        Refused("spec"),
    ),
    (
        "al2 as AL2023",
        &[
            (AMI, r#"[{"alias": "al2@latest"}]"#),
            ("/spec/amiFamily", "\"AL2023\""),
        ],
        Refused("spec"),
    ),
    (
        "al2 as AL2",
        &[
            (AMI, r#"[{"alias": "al2@latest"}]"#),
            ("/spec/amiFamily", "\"AL2\""),
        ],
        Valid,
    ),
    (
        "bottlerocket as AL2023",
        &[
            (AMI, r#"[{"alias": "bottlerocket@latest"}]"#),
            ("/spec/amiFamily", "\"AL2023\""),
        ],
        Refused("spec"),
    ),
    (
        "windows2019 as 2022",
        &[
            (AMI, r#"[{"alias": "windows2019@latest"}]"#),
            ("/spec/amiFamily", "\"Windows2022\""),
        ],
        Refused("spec"),
    ),
    (
        "windows2022 as 2025",
        &[
            (AMI, r#"[{"alias": "windows2022@latest"}]"#),
            ("/spec/amiFamily", "\"Windows2025\""),
        ],
        Refused("spec"),
    ),
    (
        "windows2025 as 2019",
        &[
            (AMI, r#"[{"alias": "windows2025@latest"}]"#),
            ("/spec/amiFamily", "\"Windows2019\""),
        ],
        Refused("spec"),
    ),
    // subnets
    ("no subnet terms", &[(SUBNETS, "[]")], Refused(AT_SUBNETS)),
    ("subnet terms missing", &[(SUBNETS, "")], Refused(AT_SUBNETS)),
    (
        "empty subnet term",
        &[(SUBNETS, "[{}]")],
        Refused("spec.subnetSelectorTerms[0]"),
    ),
    (
        "subnet id and tags",
        &[(SUBNETS, r#"[{"id": "subnet-1", "tags": {"a": "b"}}]"#)],
        Refused(AT_SUBNETS),
    ),
    (
        "subnet id and tags in one of two terms",
        &[(
            SUBNETS,
            r#"[{"id": "subnet-1", "tags": {"a": "b"}}, {"id": "subnet-2"}]"#,
        )],
        Valid,
    ),
    (
        "bad subnet id",
        &[(SUBNETS, r#"[{"id": "net-1"}]"#)],
        Refused("spec.subnetSelectorTerms[0].id"),
    ),
    (
        "empty subnet tag key",
        &[(SUBNETS, r#"[{"tags": {"": "b"}}]"#)],
        Refused("spec.subnetSelectorTerms[0].tags[\"\"]"),
    ),
    // security groups
    ("no group terms", &[(GROUPS, "[]")], Refused(AT_GROUPS)),
    ("group terms missing", &[(GROUPS, "")], Refused(AT_GROUPS)),
    (
        "empty group term",
        &[(GROUPS, "[{}]")],
        Refused("spec.securityGroupSelectorTerms[0]"),
    ),
    (
        "group id and tags",
        &[(GROUPS, r#"[{"id": "sg-1", "tags": {"a": "b"}}]"#)],
        Refused(AT_GROUPS),
    ),
    (
        "group name and tags",
        &[(GROUPS, r#"[{"name": "x", "tags": {"a": "b"}}]"#)],
        Refused(AT_GROUPS),
    ),
    (
        "group id and name",
        &[(GROUPS, r#"[{"name": "x", "id": "sg-1"}]"#)],
        Refused(AT_GROUPS),
    ),
    (
        "bad group id",
        &[(GROUPS, r#"[{"id": "group-1"}]"#)],
        Refused("spec.securityGroupSelectorTerms[0].id"),
    ),
    (
        "empty group tag value",
        &[(GROUPS, r#"[{"tags": {"a": ""}}]"#)],
        Refused("spec.securityGroupSelectorTerms[0].tags.a"),
    ),
    // reservations
    ("no reservation terms", &[(RESERVATIONS, "[]")], Valid),
    (
        "empty reservation term",
        &[(RESERVATIONS, "[{}]")],
        Refused("spec.capacityReservationSelectorTerms[0]"),
    ),
    (
        "reservation owner alone",
        &[(RESERVATIONS, r#"[{"ownerID": "123456789012"}]"#)],
        Refused("spec.capacityReservationSelectorTerms[0]"),
    ),
    (
        "reservation id and tags",
        &[(RESERVATIONS, r#"[{"id": "cr-1", "tags": {"a": "b"}}]"#)],
        Refused(AT_RESERVATIONS),
    ),
    (
        "bad reservation id",
        &[(RESERVATIONS, r#"[{"id": "x-1"}]"#)],
        Refused("spec.capacityReservationSelectorTerms[0].id"),
    ),
    (
        "bad owner",
        &[(RESERVATIONS, r#"[{"ownerID": "1234", "tags": {"a": "b"}}]"#)],
        Refused("spec.capacityReservationSelectorTerms[0].ownerID"),
    ),
    (
        "unknown criteria",
        &[(RESERVATIONS, r#"[{"instanceMatchCriteria": "any"}]"#)],
        Refused("spec.capacityReservationSelectorTerms[0].instanceMatchCriteria"),
    ),
    (
        "empty reservation tag",
        &[(RESERVATIONS, r#"[{"tags": {"a": ""}}]"#)],
        Refused("spec.capacityReservationSelectorTerms[0].tags.a"),
    ),
    // placement group
    (
        "placement group by id",
        &[("/spec/placementGroupSelector", r#"{"id": "pg-1"}"#)],
        Valid,
    ),
    (
        "no placement group",
        &[("/spec/placementGroupSelector", "{}")],
        Refused("spec.placementGroupSelector"),
    ),
    (
        "placement group twice",
        &[("/spec/placementGroupSelector", r#"{"id": "pg-1", "name": "x"}"#)],
        Refused("spec.placementGroupSelector"),
    ),
    (
        "empty placement group name",
        &[("/spec/placementGroupSelector", r#"{"name": ""}"#)],
        Refused("spec.placementGroupSelector.name"),
    ),
    // disks
    (
        "two root volumes",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "rootVolume": true, "ebs": {"volumeSize": "1Gi"}}, {"deviceName": "b", "rootVolume": true, "ebs": {"volumeSize": "1Gi"}}]"#,
        )],
        Refused("spec.blockDeviceMappings"),
    ),
    (
        "disk without size",
        &[(DISKS, r#"[{"deviceName": "a", "ebs": {"volumeType": "gp3"}}]"#)],
        Refused(AT_EBS),
    ),
    (
        "disk of terabytes",
        &[(DISKS, r#"[{"deviceName": "a", "ebs": {"volumeSize": "58Ti"}}]"#)],
        Valid,
    ),
    (
        "disk too big",
        &[(DISKS, r#"[{"deviceName": "a", "ebs": {"volumeSize": "59Ti"}}]"#)],
        Refused("spec.blockDeviceMappings[0].ebs.volumeSize"),
    ),
    (
        "disk in megabytes",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "20480Mi"}}]"#,
        )],
        Refused("spec.blockDeviceMappings[0].ebs.volumeSize"),
    ),
    (
        "disk without unit",
        &[(DISKS, r#"[{"deviceName": "a", "ebs": {"volumeSize": "20"}}]"#)],
        Refused("spec.blockDeviceMappings[0].ebs.volumeSize"),
    ),
    (
        "unknown kind of volume",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "2Gi", "volumeType": "gp4"}}]"#,
        )],
        Refused("spec.blockDeviceMappings[0].ebs.volumeType"),
    ),
    (
        "rate without snapshot",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "2Gi", "volumeInitializationRate": 200}}]"#,
        )],
        Refused(AT_EBS),
    ),
    (
        "rate with empty snapshot",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "2Gi", "snapshotID": "", "volumeInitializationRate": 200}}]"#,
        )],
        Refused(AT_EBS),
    ),
    (
        "rate too low",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"snapshotID": "s", "volumeInitializationRate": 99}}]"#,
        )],
        Refused("spec.blockDeviceMappings[0].ebs.volumeInitializationRate"),
    ),
    (
        "IOPS of gp2",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "2Gi", "volumeType": "gp2", "iops": 3000}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.iops"),
    ),
    (
        "IOPS below what gp3 volumes have",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "2Gi", "volumeType": "gp3", "iops": -5}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.iops"),
    ),
    (
        "throughput below what gp3 volumes have",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "2Gi", "volumeType": "gp3", "throughput": 124}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.throughput"),
    ),
    (
        "throughput of io2",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "2Gi", "volumeType": "io2", "iops": 3000, "throughput": 200}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.throughput"),
    ),
    (
        "io1 without IOPS",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "2Gi", "volumeType": "io1"}}]"#,
        )],
        Unusable(AT_EBS),
    ),
    (
        "one device twice",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "1Gi"}}, {"deviceName": "a", "ebs": {"volumeSize": "1Gi"}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[1].deviceName"),
    ),
    (
        "throughput beyond gp3",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "1Ti", "volumeType": "gp3", "iops": 80000, "throughput": 2001}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.throughput"),
    ),
    (
        "the most of gp3",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "1Ti", "volumeType": "gp3", "iops": 80000, "throughput": 2000}}]"#,
        )],
        Valid,
    ),
    (
        "throughput beyond the IOPS",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "1Ti", "volumeType": "gp3", "iops": 4000, "throughput": 1001}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.throughput"),
    ),
    (
        "throughput beyond the IOPS that come without asking",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "1Ti", "volumeType": "gp3", "throughput": 751}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.throughput"),
    ),
    (
        "the most throughput without IOPS",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "1Ti", "volumeType": "gp3", "throughput": 750}}]"#,
        )],
        Valid,
    ),
    (
        "IOPS beyond gp3",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "1Ti", "volumeType": "gp3", "iops": 80001}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.iops"),
    ),
    (
        "IOPS beyond the size of gp3",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "10Gi", "volumeType": "gp3", "iops": 5001}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.iops"),
    ),
    (
        "IOPS of a tiny gp3",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "1Gi", "volumeType": "gp3", "iops": 3000}}]"#,
        )],
        Valid,
    ),
    (
        "IOPS beyond io1",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "16Ti", "volumeType": "io1", "iops": 64001}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.iops"),
    ),
    (
        "IOPS beyond the size of io1",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "10Gi", "volumeType": "io1", "iops": 501}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.iops"),
    ),
    (
        "IOPS beyond io2",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "16Ti", "volumeType": "io2", "iops": 256001}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.iops"),
    ),
    (
        "IOPS beyond the size of io2",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "10Gi", "volumeType": "io2", "iops": 10001}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.iops"),
    ),
    (
        "IOPS of a snapshot's size",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"snapshotID": "snap-1", "volumeType": "io2", "iops": 100000}}]"#,
        )],
        Valid,
    ),
    (
        "a small st1",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "124Gi", "volumeType": "st1"}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.volumeSize"),
    ),
    (
        "a small sc1",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "124Gi", "volumeType": "sc1"}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.volumeSize"),
    ),
    (
        "the smallest st1",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "125Gi", "volumeType": "st1"}}]"#,
        )],
        Valid,
    ),
    (
        "a large gp2",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "16385Gi", "volumeType": "gp2"}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.volumeSize"),
    ),
    (
        "a key without encryption",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "2Gi", "kmsKeyID": "alias/x"}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.kmsKeyID"),
    ),
    (
        "a key and no encryption",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"volumeSize": "2Gi", "kmsKeyID": "alias/x", "encrypted": false}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.kmsKeyID"),
    ),
    (
        "no snapshot's id",
        &[(
            DISKS,
            r#"[{"deviceName": "a", "ebs": {"snapshotID": "snapshot-1"}}]"#,
        )],
        Unusable("spec.blockDeviceMappings[0].ebs.snapshotID"),
    ),
    (
        "a disk without a device",
        &[(DISKS, r#"[{"ebs": {"volumeSize": "2Gi"}}]"#)],
        Unusable("spec.blockDeviceMappings[0]"),
    ),
    (
        "a disk with an empty device",
        &[(DISKS, r#"[{"deviceName": "", "ebs": {"volumeSize": "2Gi"}}]"#)],
        Unusable("spec.blockDeviceMappings[0].deviceName"),
    ),
    // network
    (
        "no primary interface",
        &[(
            NICS,
            r#"[{"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "interface"}]"#,
        )],
        Refused("spec.networkInterfaces"),
    ),
    (
        "primary for efa only",
        &[(
            NICS,
            r#"[{"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "efa-only"}]"#,
        )],
        Refused("spec.networkInterfaces"),
    ),
    ("no interfaces", &[(NICS, "[]")], Valid),
    (
        "an interface twice",
        &[(
            NICS,
            r#"[{"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}, {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}]"#,
        )],
        Refused("spec.networkInterfaces"),
    ),
    (
        "two efa on a card",
        &[(
            NICS,
            r#"[{"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}, {"networkCardIndex": 1, "deviceIndex": 0, "interfaceType": "efa-only"}, {"networkCardIndex": 1, "deviceIndex": 1, "interfaceType": "efa-only"}]"#,
        )],
        Refused("spec.networkInterfaces"),
    ),
    (
        "negative card",
        &[(
            NICS,
            r#"[{"networkCardIndex": -1, "deviceIndex": 0, "interfaceType": "interface"}]"#,
        )],
        Refused("spec.networkInterfaces[0].networkCardIndex"),
    ),
    (
        "unknown interface",
        &[(
            NICS,
            r#"[{"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "efa"}]"#,
        )],
        Refused("spec.networkInterfaces[0].interfaceType"),
    ),
    (
        "no timeouts",
        &[("/spec/connectionTracking", "{}")],
        Refused("spec.connectionTracking"),
    ),
    (
        "timeout too short",
        &[("/spec/connectionTracking", r#"{"tcpEstablishedTimeout": 59}"#)],
        Refused("spec.connectionTracking.tcpEstablishedTimeout"),
    ),
    (
        "timeout too long",
        &[("/spec/connectionTracking", r#"{"udpTimeout": 61}"#)],
        Refused("spec.connectionTracking.udpTimeout"),
    ),
    (
        "hops 0",
        &[("/spec/metadataOptions", r#"{"httpPutResponseHopLimit": 0}"#)],
        Refused("spec.metadataOptions.httpPutResponseHopLimit"),
    ),
    (
        "hops 65",
        &[("/spec/metadataOptions", r#"{"httpPutResponseHopLimit": 65}"#)],
        Refused("spec.metadataOptions.httpPutResponseHopLimit"),
    ),
    (
        "unknown token state",
        &[("/spec/metadataOptions", r#"{"httpTokens": "yes"}"#)],
        Refused("spec.metadataOptions.httpTokens"),
    ),
    (
        "no metadata options set",
        &[("/spec/metadataOptions", "{}")],
        Valid,
    ),
    (
        "negative prefixes",
        &[("/spec/ipPrefixCount", "-1")],
        Refused("spec.ipPrefixCount"),
    ),
    (
        "too many prefixes",
        &[("/spec/ipPrefixCount", "3000000000")],
        Refused("spec.ipPrefixCount"),
    ),
    (
        "address as text",
        &[("/spec/associatePublicIPAddress", "\"true\"")],
        Refused("spec.associatePublicIPAddress"),
    ),
    (
        "unknown virtualization",
        &[("/spec/cpuOptions", r#"{"nestedVirtualization": "on"}"#)],
        Refused("spec.cpuOptions.nestedVirtualization"),
    ),
    (
        "unknown disk policy",
        &[("/spec/instanceStorePolicy", "\"RAID1\"")],
        Refused("spec.instanceStorePolicy"),
    ),
    // tags
    (
        "empty tag key",
        &[("/spec/tags", r#"{"": "x"}"#)],
        Refused("spec.tags[\"\"]"),
    ),
    (
        "tag of the cluster's name",
        &[("/spec/tags", r#"{"eks:eks-cluster-name": "x"}"#)],
        Refused("spec.tags"),
    ),
    (
        "tag of the cluster",
        &[("/spec/tags", r#"{"kubernetes.io/cluster/x": "owned"}"#)],
        Refused("spec.tags[\"kubernetes.io/cluster/x\"]"),
    ),
    (
        "tag of the pool",
        &[("/spec/tags", r#"{"karpenter.sh/nodepool": "x"}"#)],
        Refused("spec.tags"),
    ),
    (
        "tag of the claim",
        &[("/spec/tags", r#"{"karpenter.sh/nodeclaim": "x"}"#)],
        Refused("spec.tags"),
    ),
    (
        "tag of the class",
        &[("/spec/tags", r#"{"karpenter.k8s.aws/ec2nodeclass": "x"}"#)],
        Refused("spec.tags"),
    ),
    (
        "a tag of AWS' own",
        &[("/spec/tags", r#"{"aws:x": "1"}"#)],
        Unusable("spec.tags[\"aws:x\"]"),
    ),
    // kubelet
    (
        "an unnamed setting, a text for a number",
        &[(KUBELET, r#"{"registryPullQPS": "ten"}"#)],
        Unusable("spec.kubelet.registryPullQPS"),
    ),
    (
        "an unnamed setting, a number for a duration",
        &[(KUBELET, r#"{"syncFrequency": 60}"#)],
        Unusable("spec.kubelet.syncFrequency"),
    ),
    (
        "an unnamed setting, a duration in milliseconds",
        &[(KUBELET, r#"{"cpuCFSQuotaPeriod": "50ms"}"#)],
        Valid,
    ),
    (
        "an unnamed setting, a text for a switch",
        &[(KUBELET, r#"{"serializeImagePulls": "false"}"#)],
        Unusable("spec.kubelet.serializeImagePulls"),
    ),
    (
        "an unnamed setting",
        &[(KUBELET, r#"{"maxOpenFiles": 1000, "featureGates": {"A": true}}"#)],
        Valid,
    ),
    (
        "a misspelt setting",
        &[(KUBELET, r#"{"maxPod": 10}"#)],
        Unusable("spec.kubelet.maxPod"),
    ),
    (
        "taints of the kubelet",
        &[(KUBELET, r#"{"registerWithTaints": []}"#)],
        Unusable("spec.kubelet.registerWithTaints"),
    ),
    (
        "negative pods",
        &[(KUBELET, r#"{"maxPods": -1}"#)],
        Refused("spec.kubelet.maxPods"),
    ),
    (
        "thresholds the wrong way",
        &[(
            KUBELET,
            r#"{"imageGCHighThresholdPercent": 50, "imageGCLowThresholdPercent": 50}"#,
        )],
        Refused("spec.kubelet"),
    ),
    (
        "threshold above 100",
        &[(KUBELET, r#"{"imageGCHighThresholdPercent": 101}"#)],
        Refused("spec.kubelet.imageGCHighThresholdPercent"),
    ),
    (
        "one threshold",
        &[(KUBELET, r#"{"imageGCHighThresholdPercent": 50}"#)],
        Valid,
    ),
    (
        "soft signal without grace",
        &[(KUBELET, r#"{"evictionSoft": {"memory.available": "5%"}}"#)],
        Refused("spec.kubelet"),
    ),
    (
        "grace without signal",
        &[(
            KUBELET,
            r#"{"evictionSoftGracePeriod": {"memory.available": "1m"}}"#,
        )],
        Refused("spec.kubelet"),
    ),
    (
        "another signal's grace",
        &[(
            KUBELET,
            r#"{"evictionSoft": {"memory.available": "5%"}, "evictionSoftGracePeriod": {"pid.available": "1m"}}"#,
        )],
        Refused("spec.kubelet"),
    ),
    (
        "unknown hard signal",
        &[(KUBELET, r#"{"evictionHard": {"memory": "5%"}}"#)],
        Refused("spec.kubelet.evictionHard.memory"),
    ),
    (
        "unknown soft signal",
        &[(
            KUBELET,
            r#"{"evictionSoft": {"memory": "5%"}, "evictionSoftGracePeriod": {"memory": "1m"}}"#,
        )],
        Refused("spec.kubelet.evictionSoft.memory"),
    ),
    (
        "bad threshold",
        &[(KUBELET, r#"{"evictionHard": {"memory.available": "101%"}}"#)],
        Refused("spec.kubelet.evictionHard[\"memory.available\"]"),
    ),
    (
        "bad grace",
        &[(
            KUBELET,
            r#"{"evictionSoft": {"memory.available": "5%"}, "evictionSoftGracePeriod": {"memory.available": "soon"}}"#,
        )],
        Unusable("spec.kubelet.evictionSoftGracePeriod[\"memory.available\"]"),
    ),
    (
        "unknown reserved resource",
        &[(KUBELET, r#"{"kubeReserved": {"gpu": "1"}}"#)],
        Refused("spec.kubelet.kubeReserved.gpu"),
    ),
    (
        "unknown system resource",
        &[(KUBELET, r#"{"systemReserved": {"gpu": "1"}}"#)],
        Refused("spec.kubelet.systemReserved.gpu"),
    ),
    (
        "negative reservation",
        &[(KUBELET, r#"{"kubeReserved": {"cpu": "-1"}}"#)],
        Refused("spec.kubelet.kubeReserved.cpu"),
    ),
    (
        "negative system reservation",
        &[(KUBELET, r#"{"systemReserved": {"cpu": "-1"}}"#)],
        Refused("spec.kubelet.systemReserved.cpu"),
    ),
    (
        "reservation as number",
        &[(KUBELET, r#"{"kubeReserved": {"cpu": 1}}"#)],
        Refused("spec.kubelet.kubeReserved.cpu"),
    ),
    (
        "no address",
        &[(KUBELET, r#"{"clusterDNS": ["dns"]}"#)],
        Unusable("spec.kubelet.clusterDNS[0]"),
    ),
];
