//! A launch template's data as an EC2NodeClass.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};

use super::{Pool, tags, words};
use crate::migrate::manifest;
use crate::migrate::piece::{Fields, Piece, put, says_something};

/// What a class is made from.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// IDs.
    pub(super) subnets: Vec<String>,
    /// For the selector of security groups, where none is named.
    pub(super) cluster: Option<String>,
    /// Name of the nodes' role.
    pub(super) role: Option<String>,
    /// Tags of instances.
    pub(super) tags: Map<String, Json>,
    /// Word of the alias of images.
    pub(super) family: Option<&'static str>,
    /// Size of the root volume in GiB.
    pub(super) disk: Option<u64>,
    /// Name of the placement group.
    pub(super) placement_group: Option<String>,
    /// The group's own word on reservations.
    pub(super) reservations: Option<Json>,
    /// What is in the spec already.
    pub(super) spec: Map<String, Json>,
    /// What is to be said.
    pub(super) remarks: Vec<String>,
}

impl Parts {
    /// Takes a launch template's data; what is to be required of instances goes to the pool.
    pub(super) fn take(&mut self, mut data: Fields, pool: &mut Pool) {
        self.groups(&mut data);
        let mut profile = data.within("IamInstanceProfile");
        let arn = profile
            .text("Arn")
            .map(|arn| arn.rsplit('/').next().unwrap_or_default().to_owned());
        if let Some(name) = profile.text("Name").or(arn) {
            self.spec.insert("instanceProfile".to_owned(), json!(name));
        }
        profile.left(&mut self.remarks);
        self.image(&mut data);
        if let Some(disks) = data.take("BlockDeviceMappings") {
            self.disks(&disks);
        }
        let mut monitoring = data.within("Monitoring");
        if let Some(enabled) = monitoring.take("Enabled") {
            self.spec.insert("detailedMonitoring".to_owned(), enabled);
        }
        monitoring.left(&mut self.remarks);
        self.metadata(&mut data);
        self.placement(&mut data, pool);
        for specification in data
            .take("TagSpecifications")
            .unwrap_or_default()
            .as_array()
            .into_iter()
            .flatten()
        {
            for tag in specification["Tags"].as_array().into_iter().flatten() {
                if let Some(key) = tag["Key"].as_str().filter(|key| !tags::is_the_controllers(key)) {
                    self.tags.insert(key.to_owned(), tag["Value"].clone());
                }
            }
        }
        for reservation in [
            data.take("CapacityReservationSpecification"),
            self.reservations.take(),
        ]
        .into_iter()
        .flatten()
        {
            self.reservation(&reservation);
        }
        data.left(&mut self.remarks);
    }

    fn groups(&mut self, data: &mut Fields) {
        let mut ids = words(data.take("SecurityGroupIds"));
        let interfaces = data.take("NetworkInterfaces").unwrap_or_default();
        for (index, interface) in interfaces.as_array().into_iter().flatten().enumerate() {
            let mut fields = Fields::of(
                format!("LaunchTemplateData.NetworkInterfaces[{index}]"),
                Some(interface.clone()),
            );
            ids.extend(words(fields.take("Groups")));
            if let Some(public) = fields.take("AssociatePublicIpAddress") {
                self.spec.insert("associatePublicIPAddress".to_owned(), public);
            }
            // The primary interface is there anyway, and goes with its instance.
            fields.forget(&["DeleteOnTermination"]);
            if index == 0 {
                fields.forget(&["DeviceIndex", "NetworkCardIndex"]);
            }
            fields.left(&mut self.remarks);
        }
        ids.dedup();
        let mut terms: Vec<Json> = ids.into_iter().map(|id| json!({ "id": id })).collect();
        terms.extend(
            words(data.take("SecurityGroups"))
                .into_iter()
                .map(|name| json!({ "name": name })),
        );
        if terms.is_empty() {
            match &self.cluster {
                Some(cluster) => terms.push(json!({ "tags": { "aws:eks:cluster-name": cluster } })),
                None => self.remarks.push(
                    "no security group is named: say which in security_group_selector_terms, or give --cluster-name".to_owned(),
                ),
            }
        }
        self.spec
            .insert("securityGroupSelectorTerms".to_owned(), json!(terms));
    }

    fn image(&mut self, data: &mut Fields) {
        let (image, user_data) = (data.text("ImageId"), data.text("UserData"));
        let decoded = user_data
            .as_deref()
            .and_then(|text| STANDARD.decode(text.trim()).ok());
        let decoded = decoded
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default();
        if user_data.is_some() {
            self.remarks.push(
                "LaunchTemplateData.UserData is not taken over: the controller writes what joins a node to the cluster; put what else it \
                 does into user_data, in the form of the image's family"
                    .to_owned(),
            );
        }
        let terms = match (&image, self.family) {
            (Some(id), _) => {
                self.remarks.push(format!(
                    "the image {id} is fixed: nodes are never replaced for a newer one; an alias such as al2023@latest follows releases"
                ));
                self.spec
                    .insert("amiFamily".to_owned(), json!(family_of(&decoded)));
                json!([{ "id": id }])
            }
            (None, Some(word)) => json!([{ "alias": format!("{word}@latest") }]),
            (None, None) => {
                self.remarks
                    .push("no image is named: al2023@latest is written".to_owned());
                json!([{ "alias": "al2023@latest" }])
            }
        };
        self.spec.insert("amiSelectorTerms".to_owned(), terms);
    }

    fn disks(&mut self, list: &Json) {
        let mut found = Vec::new();
        for (index, item) in list.as_array().into_iter().flatten().enumerate() {
            let mut fields = Fields::of(
                format!("LaunchTemplateData.BlockDeviceMappings[{index}]"),
                Some(item.clone()),
            );
            let mut disk = json!({});
            put(&mut disk, "deviceName", fields.take("DeviceName"));
            let mut ebs = fields.within("Ebs");
            let mut new = json!({});
            let size = ebs.take("VolumeSize").map(|size| json!(format!("{size}Gi")));
            put(&mut new, "volumeSize", size);
            for (old, name) in [
                ("VolumeType", "volumeType"),
                ("Iops", "iops"),
                ("Throughput", "throughput"),
                ("Encrypted", "encrypted"),
                ("KmsKeyId", "kmsKeyID"),
                ("SnapshotId", "snapshotID"),
                ("DeleteOnTermination", "deleteOnTermination"),
                ("VolumeInitializationRate", "volumeInitializationRate"),
            ] {
                put(&mut new, name, ebs.take(old));
            }
            ebs.left(&mut self.remarks);
            put(&mut disk, "ebs", Some(new).filter(says_something));
            fields.left(&mut self.remarks);
            found.push(disk);
        }
        self.spec.insert("blockDeviceMappings".to_owned(), json!(found));
    }

    fn metadata(&mut self, data: &mut Fields) {
        let mut options = data.within("MetadataOptions");
        let mut new = json!({});
        for (old, name) in [
            ("HttpEndpoint", "httpEndpoint"),
            ("HttpProtocolIpv6", "httpProtocolIPv6"),
            ("HttpPutResponseHopLimit", "httpPutResponseHopLimit"),
            ("HttpTokens", "httpTokens"),
        ] {
            put(&mut new, name, options.take(old));
        }
        options.left(&mut self.remarks);
        if says_something(&new) {
            self.spec.insert("metadataOptions".to_owned(), new);
        }
    }

    fn placement(&mut self, data: &mut Fields, pool: &mut Pool) {
        let mut placement = data.within("Placement");
        if let Some(name) = placement.text("GroupName").or(self.placement_group.take()) {
            self.spec
                .insert("placementGroupSelector".to_owned(), json!({ "name": name }));
        }
        if let Some(tenancy) = placement.text("Tenancy") {
            match tenancy.as_str() {
                "default" => {}
                "dedicated" => pool.require("karpenter.k8s.aws/instance-tenancy", &[tenancy]),
                other => self
                    .remarks
                    .push(format!("Placement.Tenancy ({other}) has no counterpart")),
            }
        }
        placement.left(&mut self.remarks);
    }

    fn reservation(&mut self, specification: &Json) {
        let mut fields = Fields::of("CapacityReservationSpecification", Some(specification.clone()));
        let mut target = fields.within("CapacityReservationTarget");
        let mut ids: Vec<String> = target.text("CapacityReservationId").into_iter().collect();
        ids.extend(words(target.take("CapacityReservationIds")));
        target.left(&mut self.remarks);
        // The controller uses what the terms select, and nothing else.
        fields.forget(&["CapacityReservationPreference"]);
        fields.left(&mut self.remarks);
        if !ids.is_empty() {
            let terms: Vec<Json> = ids.into_iter().map(|id| json!({ "id": id })).collect();
            self.spec
                .insert("capacityReservationSelectorTerms".to_owned(), json!(terms));
        }
    }

    /// The class.
    pub(super) fn piece(mut self, source: &str, name: &str) -> Piece {
        let subnets: Vec<Json> = self.subnets.iter().map(|id| json!({ "id": id })).collect();
        if subnets.is_empty() {
            self.remarks
                .push("no subnet is named: say which in subnet_selector_terms".to_owned());
        }
        self.spec.insert("subnetSelectorTerms".to_owned(), json!(subnets));
        if let Some(role) = self.role.filter(|_| !self.spec.contains_key("instanceProfile")) {
            self.spec.insert("role".to_owned(), json!(role));
        }
        if !self.tags.is_empty() {
            self.spec.insert("tags".to_owned(), Json::Object(self.tags));
        }
        if let (Some(size), false) = (self.disk, self.spec.contains_key("blockDeviceMappings")) {
            // Bottlerocket keeps pods and images on its second volume.
            let device = match self.family {
                Some("bottlerocket") => "/dev/xvdb",
                Some(word) if word.starts_with("windows") => "/dev/sda1",
                _ => "/dev/xvda",
            };
            let disk = json!({ "deviceName": device, "ebs": { "volumeSize": format!("{size}Gi"), "volumeType": "gp3" } });
            self.spec.insert("blockDeviceMappings".to_owned(), json!([disk]));
        }
        if !self.spec.contains_key("role") && !self.spec.contains_key("instanceProfile") {
            self.remarks
                .push("no role of the nodes is named: say which in role".to_owned());
        }
        let manifest = manifest("EC2NodeClass", &json!({ "name": name }), Json::Object(self.spec));
        Piece {
            remarks: self.remarks,
            ..Piece::new(source, manifest)
        }
    }
}

/// The family whose user data this is.
fn family_of(user_data: &str) -> &'static str {
    if user_data.contains("bootstrap.sh") {
        "AL2"
    } else if user_data.contains("[settings") {
        "Bottlerocket"
    } else {
        "AL2023"
    }
}
