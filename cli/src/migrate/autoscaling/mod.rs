//! Auto Scaling groups and managed node groups, as Cluster Autoscaler scales them, as pools and classes.
//!
//! Input: what the AWS command line prints. Output: a NodePool and an EC2NodeClass for each group. Invariant: each field of a group and of
//! its launch template has a place, is a fact that AWS alone writes, or is said to have no counterpart.

mod capacity;
mod class;
mod group;
mod node_group;
mod tags;
mod templates;

use serde_json::{Value as Json, json};

use super::manifest;
use super::piece::{Harvest, Piece, put};
use templates::Templates;

/// Documents of the AWS command line, gathered until all of them are there: a group may come before its launch template.
#[derive(Debug, Default)]
pub(super) struct Account {
    groups: Vec<(String, Json)>,
    node_groups: Vec<(String, Json)>,
    templates: Templates,
}

impl Account {
    /// Takes a document of `aws`; false when it is none.
    pub(super) fn take(&mut self, file: &str, document: &Json) -> bool {
        let list = |key: &str| document[key].as_array().cloned();
        if let Some(groups) = list("AutoScalingGroups") {
            self.groups
                .extend(groups.into_iter().map(|group| (file.to_owned(), group)));
        } else if document["nodegroup"].is_object() {
            self.node_groups
                .push((file.to_owned(), document["nodegroup"].clone()));
        } else if let Some(versions) = list("LaunchTemplateVersions") {
            self.templates.add(versions);
        } else if document["AutoScalingGroupName"].is_string() {
            self.groups.push((file.to_owned(), document.clone()));
        } else if document["nodegroupName"].is_string() {
            self.node_groups.push((file.to_owned(), document.clone()));
        } else if document["LaunchTemplateData"].is_object() {
            self.templates.add(vec![document.clone()]);
        } else {
            return false;
        }
        true
    }

    /// The pools and classes.
    pub(super) fn harvest(self, cluster: Option<&str>) -> Harvest {
        let mut harvest = Harvest::default();
        let managed: Vec<String> = self
            .node_groups
            .iter()
            .filter_map(|(_, group)| group["nodegroupName"].as_str().map(str::to_owned))
            .collect();
        for (file, group) in self.groups {
            match tags::managed_by(&group).filter(|name| managed.contains(name)) {
                Some(name) => harvest.skipped.push(format!(
                    "Auto Scaling group {} is that of the managed node group {name}, which was read",
                    group["AutoScalingGroupName"].as_str().unwrap_or_default()
                )),
                None => harvest.append(group::convert(&file, group, &self.templates, cluster)),
            }
        }
        for (file, group) in self.node_groups {
            harvest.append(node_group::convert(&file, group, &self.templates, cluster));
        }
        harvest
    }
}

/// What a pool is made from.
#[derive(Debug, Default)]
struct Pool {
    requirements: Vec<Json>,
    labels: serde_json::Map<String, Json>,
    taints: Vec<Json>,
    max_nodes: Option<u64>,
    expire_after: Option<String>,
    budget: Option<String>,
    remarks: Vec<String>,
}

impl Pool {
    /// Requires one of `values`, where there are some.
    fn require(&mut self, key: &str, values: &[String]) {
        if !values.is_empty() {
            self.requirements
                .push(json!({ "key": key, "operator": "In", "values": values }));
        }
    }

    /// The pool, of a class of the same name.
    fn piece(self, source: &str, name: &str) -> Piece {
        let mut template = json!({ "spec": {
            "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": name },
            "requirements": self.requirements,
        } });
        if !self.labels.is_empty() {
            template["metadata"] = json!({ "labels": self.labels });
        }
        let spec = &mut template["spec"];
        put(
            spec,
            "taints",
            (!self.taints.is_empty()).then(|| json!(self.taints)),
        );
        let lifetime = self.expire_after.unwrap_or_else(|| "Never".to_owned());
        put(spec, "expireAfter", Some(json!(lifetime)));
        // Cluster Autoscaler gives a node back that was not needed for ten minutes.
        let mut disruption =
            json!({ "consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "10m" });
        put(
            &mut disruption,
            "budgets",
            self.budget.map(|nodes| json!([{ "nodes": nodes }])),
        );
        let mut new = json!({ "template": template, "disruption": disruption });
        let limits = self.max_nodes.map(|nodes| json!({ "nodes": nodes.to_string() }));
        put(&mut new, "limits", limits);
        Piece {
            remarks: self.remarks,
            ..Piece::new(source, manifest("NodePool", &json!({ "name": name }), new))
        }
    }
}

/// The texts of a list.
fn words(list: Option<Json>) -> Vec<String> {
    let list = list.unwrap_or_default();
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::current::settle;

    fn account(documents: &[Json]) -> Harvest {
        let mut account = Account::default();
        for document in documents {
            assert!(account.take("f.json", document), "{document}");
        }
        account.harvest(Some("prod"))
    }

    fn spec<'a>(harvest: &'a Harvest, kind: &str) -> &'a Json {
        let piece = harvest
            .pieces
            .iter()
            .find(|piece| piece.kind() == kind)
            .expect(kind);
        &piece.manifest["spec"]
    }

    fn said(harvest: &Harvest) -> String {
        harvest
            .pieces
            .iter()
            .flat_map(|piece| piece.remarks.clone())
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn template() -> Json {
        json!({ "LaunchTemplateVersions": [{
            "LaunchTemplateId": "lt-1", "LaunchTemplateName": "workers", "VersionNumber": 3, "DefaultVersion": true,
            "LaunchTemplateData": {
                "ImageId": "ami-1", "InstanceType": "m5.large", "KeyName": "ops", "SecurityGroupIds": ["sg-1"],
                "IamInstanceProfile": { "Arn": "arn:aws:iam::123456789012:instance-profile/path/workers" },
                "UserData": "IyEvYmluL2Jhc2gKL2V0Yy9la3MvYm9vdHN0cmFwLnNoIHByb2QK",
                "BlockDeviceMappings": [{ "DeviceName": "/dev/xvda", "Ebs": { "VolumeSize": 50, "VolumeType": "gp3", "Encrypted": true } }],
                "MetadataOptions": { "HttpTokens": "required", "HttpPutResponseHopLimit": 2 }, "Monitoring": { "Enabled": true },
                "TagSpecifications": [{ "ResourceType": "instance", "Tags": [{ "Key": "team", "Value": "a" }] }],
                "HibernationOptions": { "Configured": true },
            },
        }] })
    }

    #[test]
    fn a_mixed_group_becomes_a_pool_and_a_class() {
        let group = json!({ "AutoScalingGroups": [{
            "AutoScalingGroupName": "Workers_1", "MinSize": 2, "MaxSize": 10, "DesiredCapacity": 3, "AvailabilityZones": ["a", "b"],
            "VPCZoneIdentifier": "subnet-1,subnet-2", "MaxInstanceLifetime": 86400, "Status": "", "Instances": [{}],
            "MixedInstancesPolicy": {
                "LaunchTemplate": {
                    "LaunchTemplateSpecification": { "LaunchTemplateId": "lt-1", "Version": "$Default" },
                    "Overrides": [{ "InstanceType": "m5.large" }, { "InstanceType": "m5a.large", "WeightedCapacity": "2" }],
                },
                "InstancesDistribution": { "OnDemandBaseCapacity": 1, "OnDemandPercentageAboveBaseCapacity": 20, "SpotMaxPrice": "0.1" },
            },
            "TargetGroupARNs": ["arn:x"],
            "Tags": [
                { "Key": "k8s.io/cluster-autoscaler/node-template/label/team", "Value": "a" },
                { "Key": "k8s.io/cluster-autoscaler/node-template/taint/dedicated", "Value": "x:NoSchedule" },
                { "Key": "k8s.io/cluster-autoscaler/node-template/resources/fuse", "Value": "1" },
                { "Key": "kubernetes.io/cluster/prod", "Value": "owned", "PropagateAtLaunch": true },
                { "Key": "cost", "Value": "b", "PropagateAtLaunch": true },
            ],
        }] });
        let harvest = account(&[group, template()]);
        let pool = spec(&harvest, "NodePool");
        let inner = &pool["template"]["spec"];
        let requirements = inner["requirements"].as_array().expect("a list");
        assert_eq!(requirements[0]["values"], json!(["m5.large", "m5a.large"]));
        assert_eq!(requirements[1]["values"], json!(["spot", "on-demand"]));
        assert_eq!(
            inner["taints"],
            json!([{ "key": "dedicated", "value": "x", "effect": "NoSchedule" }])
        );
        assert_eq!(inner["expireAfter"], "24h");
        assert_eq!(pool["template"]["metadata"]["labels"], json!({ "team": "a" }));
        assert_eq!(pool["limits"], json!({ "nodes": "10" }));
        let class = spec(&harvest, "EC2NodeClass");
        assert_eq!(
            class["subnetSelectorTerms"],
            json!([{ "id": "subnet-1" }, { "id": "subnet-2" }])
        );
        assert_eq!(class["securityGroupSelectorTerms"], json!([{ "id": "sg-1" }]));
        assert_eq!(
            (&class["amiSelectorTerms"], &class["amiFamily"]),
            (&json!([{ "id": "ami-1" }]), &json!("AL2"))
        );
        assert_eq!(class["instanceProfile"], "workers");
        assert_eq!(class["blockDeviceMappings"][0]["ebs"]["volumeSize"], "50Gi");
        assert_eq!(
            class["metadataOptions"],
            json!({ "httpTokens": "required", "httpPutResponseHopLimit": 2 })
        );
        assert_eq!(class["tags"], json!({ "team": "a", "cost": "b" }));
        let said = said(&harvest);
        for part in [
            "MinSize (2)",
            "SpotMaxPrice",
            "OnDemandBaseCapacity",
            "WeightedCapacity",
            "TargetGroupARNs",
            "KeyName",
            "UserData",
            "HibernationOptions",
            "resources/fuse",
        ] {
            assert!(said.contains(part), "{said}\nlacks {part}");
        }
        for piece in &harvest.pieces {
            assert_eq!(piece.name(), "workers-1");
            settle(piece).unwrap_or_else(|error| panic!("{error:#}"));
        }
    }

    #[test]
    fn a_managed_node_group_becomes_a_pool_and_a_class() {
        let node_group = json!({ "nodegroup": {
            "nodegroupName": "general", "nodegroupArn": "arn:x", "clusterName": "prod", "version": "1.31", "status": "ACTIVE",
            "scalingConfig": { "minSize": 1, "maxSize": 4, "desiredSize": 2 }, "instanceTypes": ["m7g.large"],
            "subnets": ["subnet-1"], "amiType": "AL2023_ARM_64_STANDARD", "nodeRole": "arn:aws:iam::123456789012:role/eks/nodes",
            "labels": { "team": "a" }, "taints": [{ "key": "t", "value": "v", "effect": "NO_EXECUTE" }], "diskSize": 40,
            "capacityType": "SPOT", "updateConfig": { "maxUnavailablePercentage": 33 }, "remoteAccess": { "ec2SshKey": "ops" },
            "tags": { "cost": "b" },
        } });
        let its_group = json!({ "AutoScalingGroups": [{
            "AutoScalingGroupName": "eks-general-1", "Tags": [{ "Key": "eks:nodegroup-name", "Value": "general" }],
        }] });
        let harvest = account(&[its_group, node_group]);
        assert_eq!(harvest.pieces.len(), 2);
        assert!(
            harvest.skipped[0].contains("eks-general-1"),
            "{:?}",
            harvest.skipped
        );
        let pool = spec(&harvest, "NodePool");
        assert_eq!(pool["disruption"]["budgets"], json!([{ "nodes": "33%" }]));
        assert_eq!(
            pool["template"]["spec"]["taints"],
            json!([{ "key": "t", "value": "v", "effect": "NoExecute" }])
        );
        let class = spec(&harvest, "EC2NodeClass");
        assert_eq!(class["amiSelectorTerms"], json!([{ "alias": "al2023@latest" }]));
        assert_eq!(class["role"], "nodes");
        assert_eq!(class["metadataOptions"], json!({ "httpPutResponseHopLimit": 2 }));
        assert_eq!(
            class["securityGroupSelectorTerms"],
            json!([{ "tags": { "aws:eks:cluster-name": "prod" } }])
        );
        assert_eq!(class["blockDeviceMappings"][0]["ebs"]["volumeSize"], "40Gi");
        let said = said(&harvest);
        assert!(
            said.contains("minSize (1)") && said.contains("remoteAccess"),
            "{said}"
        );
        for piece in &harvest.pieces {
            settle(piece).unwrap_or_else(|error| panic!("{error:#}"));
        }
    }

    #[test]
    fn a_group_without_its_template_says_so() {
        let group = json!({ "AutoScalingGroups": [{
            "AutoScalingGroupName": "g", "MaxSize": 1, "LaunchTemplate": { "LaunchTemplateId": "lt-9", "Version": "1" },
        }] });
        let said = said(&account(&[group]));
        assert!(
            said.contains("lt-9") && said.contains("describe-launch-template-versions"),
            "{said}"
        );
        assert!(!Account::default().take("f", &json!({ "kind": "Pod" })));
    }
}
