//! A managed node group.

use serde_json::{Map, Value as Json, json};

use super::templates::Templates;
use super::{Pool, capacity, class, tags, words};
use crate::migrate::names::object_name;
use crate::migrate::piece::{Fields, Harvest};

/// Fields that only AWS writes. Versions follow the class' images.
const FACTS: [&str; 8] = [
    "nodegroupArn",
    "createdAt",
    "modifiedAt",
    "status",
    "resources",
    "health",
    "version",
    "releaseVersion",
];

/// A pool and a class.
pub(super) fn convert(file: &str, group: Json, templates: &Templates, cluster: Option<&str>) -> Harvest {
    let full_name = group["nodegroupName"].as_str().unwrap_or_default().to_owned();
    let (name, source) = (
        object_name(&full_name),
        format!("managed node group {full_name} ({file})"),
    );
    let mut fields = Fields::of("", Some(group));
    fields.forget(&FACTS);
    fields.forget(&["nodegroupName"]);
    let of_group = fields.text("clusterName");
    let cluster = cluster.map(str::to_owned).or(of_group);
    let mut pool = Pool::default();
    sizes(&mut fields, &mut pool);
    if let Some(Json::Object(labels)) = fields.take("labels") {
        pool.labels = labels;
    }
    for taint in fields
        .take("taints")
        .unwrap_or_default()
        .as_array()
        .into_iter()
        .flatten()
    {
        pool.taints.push(self::taint(taint));
    }
    let image = fields.text("amiType").unwrap_or_default();
    if image.contains("ARM_64") {
        pool.require("kubernetes.io/arch", &["arm64".to_owned()]);
    } else if image.contains("x86_64") {
        pool.require("kubernetes.io/arch", &["amd64".to_owned()]);
    }
    if image.starts_with("WINDOWS_") {
        pool.require("kubernetes.io/os", &["windows".to_owned()]);
    }
    let specification = fields.take("launchTemplate");
    let is_plain = specification.is_none();
    let mut data = templates.data(specification, &mut pool.remarks);
    let own = data.text("InstanceType");
    let mut types = words(fields.take("instanceTypes"));
    if types.is_empty() {
        types.extend(own);
    }
    capacity::types(&mut pool, &types);
    let spot = fields.text("capacityType").as_deref() == Some("SPOT");
    capacity::capacity_types(&mut pool, &[if spot { "spot" } else { "on-demand" }]);
    let mut parts = class::Parts {
        subnets: words(fields.take("subnets")),
        cluster,
        role: fields
            .text("nodeRole")
            .map(|arn| arn.rsplit('/').next().unwrap_or_default().to_owned()),
        tags: instance_tags(fields.take("tags")),
        family: family(&image),
        disk: fields.take("diskSize").and_then(|size| size.as_u64()),
        ..class::Parts::default()
    };
    if is_plain {
        // What EKS gives to instances whose template it writes itself.
        parts.spec.insert(
            "metadataOptions".to_owned(),
            json!({ "httpPutResponseHopLimit": 2 }),
        );
        parts.remarks.push(
            "metadata_options: EKS gave a hop limit of 2, which is written, so that pods reach instance metadata as before".to_owned(),
        );
    }
    parts.take(data, &mut pool);
    fields.left(&mut pool.remarks);
    Harvest {
        pieces: vec![parts.piece(&source, &name), pool.piece(&source, &name)],
        ..Harvest::default()
    }
}

fn sizes(fields: &mut Fields, pool: &mut Pool) {
    let mut scaling = fields.within("scalingConfig");
    scaling.forget(&["desiredSize"]);
    if let Some(least) = scaling
        .take("minSize")
        .and_then(|size| size.as_u64())
        .filter(|least| *least > 0)
    {
        pool.remarks.push(format!(
            "scalingConfig.minSize ({least}) has no counterpart: pods decide how many nodes there are; a fixed number of nodes is `replicas`"
        ));
    }
    pool.max_nodes = scaling.take("maxSize").and_then(|size| size.as_u64());
    scaling.left(&mut pool.remarks);
    let mut update = fields.within("updateConfig");
    pool.budget = match (
        update.take("maxUnavailablePercentage"),
        update.take("maxUnavailable"),
    ) {
        (Some(percentage), _) => Some(format!("{percentage}%")),
        (None, Some(number)) => Some(number.to_string()),
        (None, None) => None,
    };
    update.left(&mut pool.remarks);
}

/// Effects are written in capitals there.
fn taint(taint: &Json) -> Json {
    let effect = match taint["effect"].as_str().unwrap_or_default() {
        "NO_SCHEDULE" => "NoSchedule",
        "NO_EXECUTE" => "NoExecute",
        "PREFER_NO_SCHEDULE" => "PreferNoSchedule",
        other => other,
    };
    let mut new = json!({ "key": taint["key"], "effect": effect });
    if let Some(value) = taint["value"].as_str().filter(|value| !value.is_empty()) {
        new["value"] = json!(value);
    }
    new
}

fn instance_tags(tags: Option<Json>) -> Map<String, Json> {
    match tags {
        Some(Json::Object(tags)) => tags
            .into_iter()
            .filter(|(key, _)| !tags::is_the_controllers(key))
            .collect(),
        _ => Map::new(),
    }
}

/// The alias of a type of image, such as `AL2023_x86_64_STANDARD`; none for a custom one.
fn family(image: &str) -> Option<&'static str> {
    let known = [
        ("AL2023_", "al2023"),
        ("AL2_", "al2"),
        ("BOTTLEROCKET_", "bottlerocket"),
        ("WINDOWS_", "windows"),
    ];
    let (_, word) = known.into_iter().find(|(prefix, _)| image.starts_with(prefix))?;
    match word {
        "windows" => [
            ("2019", "windows2019"),
            ("2022", "windows2022"),
            ("2025", "windows2025"),
        ]
        .into_iter()
        .find(|(year, _)| image.contains(year))
        .map(|(_, word)| word),
        other => Some(other),
    }
}
