//! `joiner migrate`: what it writes of a live cluster is imported without a change; what it writes of older manifests and of Auto Scaling
//! groups is valid; all of it is formatted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use joiner_tests::{Cloud, CoreKind, Workspace, cores, is_told};

/// Manifests as `kubectl` applies them; the second class has what only a careful writer gets right.
const APPLIED: &str = r#"
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: applied
spec:
  role: node
  amiFamily: Bottlerocket
  amiSelectorTerms:
    - alias: bottlerocket@latest
  subnetSelectorTerms:
    - tags: { team: a, "kubernetes.io/role/elb": "1" }
    - id: subnet-0123456789abcdef0
  securityGroupSelectorTerms:
    - name: nodes
  tags:
    Größe: klein
    "odd key": "${x} \"quoted\""
  userData: |
    [settings.kernel]
    lockdown = "${INTEGRITY}"

      indented = true
  kubelet:
    maxPods: 42
    evictionHard: { memory.available: 5% }
    registryPullQPS: 10
  blockDeviceMappings:
    - deviceName: /dev/xvda
      ebs: { volumeSize: 4Gi, volumeType: gp3, encrypted: true }
    - deviceName: /dev/xvdb
      rootVolume: true
      ebs: { volumeSize: 100Gi, encrypted: true, kmsKeyID: "alias/x", throughput: 250 }
  metadataOptions:
    httpEndpoint: enabled
    httpProtocolIPv6: enabled
    httpPutResponseHopLimit: 2
    httpTokens: required
  associatePublicIPAddress: false
  detailedMonitoring: true
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: applied.pool
  labels: { team: a }
  annotations: { kubernetes.io/description: General, mine: "yes" }
spec:
  template:
    metadata:
      labels: { team: a, "example.com/x": "1" }
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: applied }
      requirements:
        - { key: kubernetes.io/arch, operator: In, values: [arm64, amd64] }
        - { key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ["3"] }
        - { key: karpenter.sh/capacity-type, operator: Exists }
      taints:
        - { key: dedicated, value: a, effect: NoSchedule }
      startupTaints:
        - { key: node.cilium.io/agent-not-ready, effect: NoExecute }
      expireAfter: 168h
      terminationGracePeriod: 24h
  disruption:
    consolidationPolicy: WhenEmpty
    consolidateAfter: 30s
    budgets:
      - nodes: "0"
        schedule: "0 9 * * mon-fri"
        duration: 8h
        reasons: [Underutilized]
      - nodes: 10%
  limits: { cpu: 1000, memory: 1000Gi }
  weight: 10
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: plain
spec:
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: elsewhere }
      requirements: []
  disruption: { consolidateAfter: 0s }
---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata:
  name: applied
spec:
  requirements:
    - { key: karpenter.k8s.aws/instance-family, operator: In, values: [m7i] }
  priceAdjustment: "-10%"
  weight: 5
"#;

/// What a workspace of ours makes.
const MADE: &str = r#"
terraform {
  required_providers {
    joiner = { source = "joiner-dev/joiner" }
  }
}

provider "joiner" {
  eks = { cluster_name = "migrate" }
}

resource "joiner_ec2_node_class" "made" {
  name                          = "made"
  role                          = "node"
  ami_selector_terms            = [{ alias = "al2023@latest" }]
  subnet_selector_terms         = [{ tags = { team = "a" } }]
  security_group_selector_terms = [{ tags = { team = "a" } }]
  wait                          = { ready = false }
}

resource "joiner_node_pool" "made" {
  name = "made"
  template = {
    spec = {
      node_class_ref = { name = joiner_ec2_node_class.made.name }
      requirements   = [{ key = "kubernetes.io/arch", operator = "In", values = ["arm64"] }]
    }
  }
  limits = { cpu = "16" }
  wait   = { ready = false }
}
"#;

/// Of every older version one, with most of what they could say.
const OLDER: &str = r#"
apiVersion: v1
kind: List
items:
  - apiVersion: karpenter.sh/v1beta1
    kind: NodePool
    metadata: { name: beta }
    spec:
      template:
        spec:
          nodeClassRef: { apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: beta }
          requirements:
            - { key: karpenter.sh/capacity-type, operator: In, values: [spot] }
          kubelet: { maxPods: 110, systemReserved: { cpu: 100m }, evictionSoft: { memory.available: 5% }, evictionSoftGracePeriod: { memory.available: 1m } }
      disruption: { consolidationPolicy: WhenUnderutilized, expireAfter: 720h }
      limits: { cpu: 1000 }
  - apiVersion: karpenter.k8s.aws/v1beta1
    kind: EC2NodeClass
    metadata: { name: beta }
    spec:
      amiFamily: AL2023
      role: node
      subnetSelectorTerms: [{ tags: { team: a } }]
      securityGroupSelectorTerms: [{ tags: { team: a } }]
  - apiVersion: karpenter.sh/v1alpha5
    kind: Provisioner
    metadata: { name: alpha }
    spec:
      providerRef: { name: alpha }
      ttlSecondsAfterEmpty: 30
      ttlSecondsUntilExpired: 2592000
      limits: { resources: { cpu: 100 } }
      labels: { team: a }
      taints: [{ key: dedicated, value: a, effect: NoSchedule }]
      kubeletConfiguration: { containerRuntime: containerd, maxPods: 20 }
  - apiVersion: karpenter.k8s.aws/v1alpha1
    kind: AWSNodeTemplate
    metadata: { name: alpha }
    spec:
      amiFamily: Bottlerocket
      instanceProfile: nodes
      subnetSelector: { "karpenter.sh/discovery": production }
      securityGroupSelector: { "aws-ids": "sg-0123456789abcdef0, sg-0123456789abcdef1" }
      launchTemplate: custom
  - apiVersion: v1
    kind: Namespace
    metadata: { name: x }
"#;

const GROUPS: &str = r#"{ "AutoScalingGroups": [{
  "AutoScalingGroupName": "workers", "MinSize": 1, "MaxSize": 10, "VPCZoneIdentifier": "subnet-0123456789abcdef0",
  "MixedInstancesPolicy": {
    "LaunchTemplate": {
      "LaunchTemplateSpecification": { "LaunchTemplateId": "lt-0123456789abcdef0", "Version": "$Latest" },
      "Overrides": [{ "InstanceType": "m5.large" }, { "InstanceType": "m5a.large" }]
    },
    "InstancesDistribution": { "OnDemandPercentageAboveBaseCapacity": 0, "OnDemandBaseCapacity": 0 }
  },
  "Tags": [{ "Key": "kubernetes.io/cluster/migrate", "Value": "owned", "PropagateAtLaunch": true }]
}] }"#;

const TEMPLATES: &str = r#"{ "LaunchTemplateVersions": [{
  "LaunchTemplateId": "lt-0123456789abcdef0", "VersionNumber": 1, "DefaultVersion": true,
  "LaunchTemplateData": {
    "ImageId": "ami-0123456789abcdef0", "IamInstanceProfile": { "Name": "nodes" },
    "BlockDeviceMappings": [{ "DeviceName": "/dev/xvda", "Ebs": { "VolumeSize": 50, "VolumeType": "gp3" } }]
  }
}] }"#;

const NODE_GROUP: &str = r#"{ "nodegroup": {
  "nodegroupName": "general", "clusterName": "migrate", "scalingConfig": { "minSize": 0, "maxSize": 5, "desiredSize": 2 },
  "instanceTypes": ["m7g.large"], "subnets": ["subnet-0123456789abcdef0"], "amiType": "AL2023_ARM_64_STANDARD",
  "nodeRole": "arn:aws:iam::123456789012:role/nodes", "capacityType": "ON_DEMAND", "diskSize": 30
} }"#;

/// What the command prints; what it says goes to `said`.
struct Answer {
    text: String,
    said: String,
}

fn migrate(cloud: &Cloud, arguments: &[&str]) -> Result<Answer> {
    let output = Command::new(cloud.binaries().join("joiner"))
        .arg("migrate")
        .args(arguments)
        .envs(cloud.environment())
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{arguments:?}: {said}");
    Ok(Answer {
        text: String::from_utf8(output.stdout)?,
        said,
    })
}

fn file(folder: &Path, name: &str, text: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    fs::write(&path, text)?;
    Ok(path)
}

/// The formatter finds nothing to change.
fn is_formatted(workspace: &Workspace, folder: &Path) -> Result<()> {
    let folder = folder.display().to_string();
    workspace
        .run(&["fmt", "-check", "-diff", "-recursive", &folder])
        .map(drop)
}

#[tokio::test]
async fn what_a_live_cluster_has_is_imported_without_a_change() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("migrate").await?;
    cloud.crds(&cluster)?;
    cloud.kubectl_apply(APPLIED)?;
    let made = Workspace::with(&cloud, CoreKind::OpenTofu, "made", MADE)?;
    made.apply(&[])?;
    let folder = cloud.folder().join("adopted");
    let into = folder.display().to_string();
    let said = migrate(&cloud, &["-o", &into])?.said;
    ensure!(said.contains("kubernetes.io/description"), "{said}");
    let text = migrate(&cloud, &[])?.text;
    for core in cores() {
        let workspace = Workspace::with(&cloud, core, "adopted", &text).with_context(|| text.clone())?;
        is_formatted(&workspace, &folder)?;
        let plan = workspace
            .run(&["plan", "-no-color", "-input=false"])
            .with_context(|| text.clone())?;
        ensure!(
            is_told(&plan, "6 to import, 0 to add, 0 to change, 0 to destroy"),
            "{core:?}: {plan}\n{text}"
        );
        workspace.apply(&[])?;
        workspace.plan_is_empty()?;
    }
    // Once written, files are not overwritten unless asked for.
    let again = Command::new(cloud.binaries().join("joiner"))
        .args(["migrate", "-o", &into])
        .envs(cloud.environment())
        .output()?;
    ensure!(!again.status.success() && String::from_utf8_lossy(&again.stderr).contains("--force"));
    migrate(&cloud, &["-o", &into, "--force", "--no-import"])?;
    Ok(())
}

#[tokio::test]
async fn what_others_had_becomes_valid_configurations() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let inputs = cloud.folder().join("inputs");
    fs::create_dir_all(&inputs)?;
    let paths = |files: &[(&str, &str)]| -> Result<Vec<String>> {
        let write = |(name, text): &(&str, &str)| Ok(file(&inputs, name, text)?.display().to_string());
        files.iter().map(write).collect()
    };
    let cases = [
        (
            "applied",
            paths(&[("applied.yaml", APPLIED)])?,
            vec!["kubernetes.io/description"],
        ),
        (
            "older",
            paths(&[("older.yaml", OLDER)])?,
            vec![
                "containerRuntime",
                "spec.launchTemplate",
                "httpPutResponseHopLimit",
                "Namespace x",
            ],
        ),
        (
            "groups",
            paths(&[
                ("groups.json", GROUPS),
                ("templates.json", TEMPLATES),
                ("group.json", NODE_GROUP),
            ])?,
            vec!["MinSize (1)"],
        ),
    ];
    for (name, files, parts) in &cases {
        let folder = cloud.folder().join(format!("from-{name}"));
        let into = folder.display().to_string();
        let mut arguments: Vec<&str> = files.iter().map(String::as_str).collect();
        let text = migrate(&cloud, &arguments)?.text;
        arguments.extend(["-o", &into]);
        let said = migrate(&cloud, &arguments)?.said;
        for part in parts {
            ensure!(said.contains(part), "{name}: {said}\nlacks {part}");
        }
        for core in cores() {
            let workspace = Workspace::with(&cloud, core, name, &text).with_context(|| text.clone())?;
            workspace
                .run(&["validate", "-no-color"])
                .with_context(|| format!("{core:?} {name}: {text}"))?;
            is_formatted(&workspace, &folder)?;
        }
    }
    Ok(())
}
