//! Images by alias, id, name, tags, owner or parameter; which one is used for which instance types.

use super::Matches;
use super::explain::Unmatched;
use super::query::Query;
use super::ssm::parameter;
use crate::connect::Aws;
use crate::error::{Error, Named};
use crate::instances::filter;
use crate::node_class::alias;
use aws_sdk_ec2::types as ec2;
use jiff::Timestamp;
use joiner_api::labels::{ARCH, INSTANCE_ACCELERATOR_COUNT, INSTANCE_GPU_COUNT};
use joiner_api::{Ami, AmiFamily, AmiSelectorTerm, EC2NodeClassSpec, Operator, SelectorRequirement};
use std::collections::BTreeMap;

const DESCRIBE: &str = "ec2:DescribeImages";
const LIST: &str = "amiSelectorTerms";

/// An image that was found, with the instance types that shall use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundImage {
    /// Such as `ami-0123`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whether its owner has marked it as deprecated.
    pub deprecated: bool,
    /// When it was made; none: not told.
    pub created: Option<Timestamp>,
    /// What an instance type must be: architecture, and for an EKS image the devices it is made for.
    pub requirements: Vec<SelectorRequirement>,
}

/// As a class' status has it.
impl From<FoundImage> for Ami {
    fn from(it: FoundImage) -> Self {
        Self {
            deprecated: it.deprecated.then_some(true),
            id: it.id,
            name: (!it.name.is_empty()).then_some(it.name),
            requirements: it.requirements,
        }
    }
}

/// Which devices an EKS image drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// None.
    Standard,
    /// NVIDIA's graphics processors.
    Nvidia,
    /// AWS' inference and training chips.
    Neuron,
}

impl Variant {
    fn requirements(self) -> Vec<SelectorRequirement> {
        let need = |key: &str, operator| SelectorRequirement {
            key: key.to_owned(),
            operator,
            values: Vec::new(),
        };
        match self {
            Self::Standard => vec![
                need(INSTANCE_ACCELERATOR_COUNT, Operator::DoesNotExist),
                need(INSTANCE_GPU_COUNT, Operator::DoesNotExist),
            ],
            Self::Nvidia => vec![need(INSTANCE_GPU_COUNT, Operator::Exists)],
            Self::Neuron => vec![need(INSTANCE_ACCELERATOR_COUNT, Operator::Exists)],
        }
    }
}

/// The parameters that hold the images of an alias, with what each image is for. `kubernetes` such as `1.34`.
pub fn parameter_paths(family: AmiFamily, version: &str, kubernetes: &str) -> Vec<(String, Vec<Variant>)> {
    use Variant::{Neuron, Nvidia, Standard};
    let latest = version == "latest";
    match family {
        AmiFamily::AL2023 => [
            ("x86_64", "standard", Standard),
            ("x86_64", "nvidia", Nvidia),
            ("x86_64", "neuron", Neuron),
            ("arm64", "standard", Standard),
            ("arm64", "nvidia", Nvidia),
        ]
        .into_iter()
        .map(|(arch, word, variant)| {
            let name = if latest {
                "recommended".to_owned()
            } else {
                format!("amazon-eks-node-al2023-{arch}-{word}-{kubernetes}-{version}")
            };
            let root = format!("/aws/service/eks/optimized-ami/{kubernetes}/amazon-linux-2023");
            (format!("{root}/{arch}/{word}/{name}/image_id"), vec![variant])
        })
        .collect(),
        AmiFamily::AL2 => [
            ("amazon-linux-2", "amazon-eks-node", vec![Standard]),
            ("amazon-linux-2-arm64", "amazon-eks-arm64-node", vec![Standard]),
            ("amazon-linux-2-gpu", "amazon-eks-gpu-node", vec![Nvidia, Neuron]),
        ]
        .into_iter()
        .map(|(folder, image, variants)| {
            let name = if latest {
                "recommended".to_owned()
            } else {
                format!("{image}-{kubernetes}-{version}")
            };
            (
                format!("/aws/service/eks/optimized-ami/{kubernetes}/{folder}/{name}/image_id"),
                variants,
            )
        })
        .collect(),
        AmiFamily::Bottlerocket => {
            // Versions are written with and without the v; the parameters have none.
            let version = version.trim_start_matches('v');
            [
                ("", "x86_64", vec![Standard, Neuron]),
                ("", "arm64", vec![Standard]),
                ("-nvidia", "x86_64", vec![Nvidia]),
                ("-nvidia", "arm64", vec![Nvidia]),
            ]
            .into_iter()
            .map(|(suffix, arch, variants)| {
                let root = format!("/aws/service/bottlerocket/aws-k8s-{kubernetes}{suffix}");
                (format!("{root}/{arch}/{version}/image_id"), variants)
            })
            .collect()
        }
        AmiFamily::Windows2019 | AmiFamily::Windows2022 | AmiFamily::Windows2025 => {
            let year = family.as_str().trim_start_matches("Windows");
            let image = format!("Windows_Server-{year}-English-Core-EKS_Optimized-{kubernetes}");
            vec![(
                format!("/aws/service/ami-windows-latest/{image}/image_id"),
                vec![Standard],
            )]
        }
        AmiFamily::Custom => Vec::new(),
    }
}

/// The images that the terms of a node class find, best first: of several for the same instance types the one that is not
/// deprecated and newest. `kubernetes` is the cluster's version, such as `1.34`.
pub async fn images(
    aws: &Aws,
    spec: &EC2NodeClassSpec,
    kubernetes: &str,
    now: Timestamp,
) -> Result<Matches<FoundImage>, Error> {
    if let Some((family, version)) = alias(spec) {
        return by_alias(aws, family, version, kubernetes, now).await;
    }
    let region = aws.region().await?;
    let mut candidates = Vec::new();
    let mut unmatched = Vec::new();
    for (term, written) in spec.ami_selector_terms.iter().enumerate() {
        let query = match resolve(aws, term, written).await? {
            Ok(query) => query,
            Err(reason) => {
                unmatched.push(reason);
                continue;
            }
        };
        let found = describe(aws, &query, now).await?;
        if found.is_empty() {
            unmatched.push(Unmatched {
                list: LIST,
                term,
                wanted: query.describe(),
                instead: format!(
                    "no available image for amd64 or arm64 in region {region}; check the value, the owner and the region"
                ),
            });
        }
        candidates.extend(found);
    }
    Ok(Matches {
        found: choose(candidates),
        unmatched,
    })
}

async fn by_alias(
    aws: &Aws,
    family: AmiFamily,
    version: &str,
    kubernetes: &str,
    now: Timestamp,
) -> Result<Matches<FoundImage>, Error> {
    let paths = parameter_paths(family, version, kubernetes);
    let ids = futures::future::try_join_all(paths.iter().map(|(path, _)| parameter(aws, path))).await?;
    let known: BTreeMap<String, Vec<Variant>> = ids
        .into_iter()
        .zip(&paths)
        .filter_map(|(id, (_, variants))| Some((id?, variants.clone())))
        .collect();
    let wanted = format!("alias {}@{version}", family.as_str().to_lowercase());
    let none = |instead: String| {
        let unmatched = vec![Unmatched {
            list: LIST,
            term: 0,
            wanted: wanted.clone(),
            instead,
        }];
        Matches {
            found: Vec::new(),
            unmatched,
        }
    };
    if known.is_empty() {
        let newest = match version {
            "latest" => None,
            _ => newest_version(aws, family, kubernetes).await?,
        };
        let remedy = match newest {
            Some(newest) => format!("the newest is {newest}: use that, or latest"),
            None => "correct the version or use latest".to_owned(),
        };
        return Ok(none(format!(
            "AWS publishes no such image for Kubernetes {kubernetes}; {remedy}"
        )));
    }
    let ids: Vec<&str> = known.keys().map(String::as_str).collect();
    let mut found = Vec::new();
    for (image, arch) in describe_images(aws, vec![filter("image-id", &ids)], &[]).await? {
        let variants = image
            .image_id()
            .and_then(|id| known.get(id))
            .into_iter()
            .flatten();
        found.extend(variants.filter_map(|variant| found_image(&image, arch, variant.requirements(), now)));
    }
    if found.is_empty() {
        return Ok(none(format!(
            "the images {} are not available in this region",
            ids.join(", ")
        )));
    }
    Ok(Matches {
        found: choose(found),
        unmatched: Vec::new(),
    })
}

/// The version of the newest image of a family; `None` where there is none, or its name does not say.
async fn newest_version(aws: &Aws, family: AmiFamily, kubernetes: &str) -> Result<Option<String>, Error> {
    for (path, _) in parameter_paths(family, "latest", kubernetes) {
        if let Some(id) = parameter(aws, &path).await? {
            let images = describe_images(aws, vec![filter("image-id", &[&id])], &[]).await?;
            let name = images.first().and_then(|(image, _)| image.name());
            return Ok(name.and_then(version_in_name).map(str::to_owned));
        }
    }
    Ok(None)
}

/// `v20260101` of `amazon-eks-node-al2023-x86_64-standard-1.34-v20260101`, `v1.46.0` of
/// `bottlerocket-aws-k8s-1.33-x86_64-v1.46.0-431fe75a`.
fn version_in_name(name: &str) -> Option<&str> {
    let is_version = |part: &&str| {
        part.strip_prefix('v')
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    name.rsplit('-').find(is_version)
}

/// The query of a term; a parameter is looked up, and one that does not lead to an image is the reason for no match.
async fn resolve(
    aws: &Aws,
    term: usize,
    written: &AmiSelectorTerm,
) -> Result<Result<Query, Unmatched>, Error> {
    let AmiSelectorTerm {
        alias: _,
        id,
        name,
        owner,
        ssm_parameter,
        tags,
    } = written;
    let by_id = |id: &str| {
        Query {
            term,
            ..Query::default()
        }
        .and("image-id", id)
    };
    if let Some(id) = id {
        return Ok(Ok(by_id(id)));
    }
    if let Some(path) = ssm_parameter {
        let no = |instead: String| Unmatched {
            list: LIST,
            term,
            wanted: format!("parameter {path}"),
            instead,
        };
        return Ok(match parameter(aws, path).await? {
            Some(id) if id.starts_with("ami-") => Ok(by_id(&id)),
            Some(value) => Err(no(format!(
                "its value {value:?} is no image id; expected ami-..."
            ))),
            None => Err(no("there is no such parameter; check name and region".to_owned())),
        });
    }
    let mut query = Query::of_tags(term, tags.as_ref());
    if let Some(name) = name {
        query = query.and("name", name);
        // Public images of strangers are found only where the owner is named.
        query.owners = vec!["self".to_owned(), "amazon".to_owned()];
    }
    if let Some(owner) = owner {
        query.owners = vec![owner.clone()];
    }
    Ok(Ok(query))
}

async fn describe(aws: &Aws, query: &Query, now: Timestamp) -> Result<Vec<FoundImage>, Error> {
    let filters = query
        .filters()
        .iter()
        .map(|(name, value)| filter(name, &[value]))
        .collect();
    let images = describe_images(aws, filters, &query.owners).await?;
    Ok(images
        .iter()
        .filter_map(|(image, arch)| found_image(image, arch, Vec::new(), now))
        .collect())
}

async fn describe_images(
    aws: &Aws,
    mut filters: Vec<ec2::Filter>,
    owners: &[String],
) -> Result<Vec<(ec2::Image, &'static str)>, Error> {
    filters.push(filter("state", &["available"]));
    let mut pages = aws
        .ec2()
        .await?
        .describe_images()
        .set_filters(Some(filters))
        .set_owners((!owners.is_empty()).then(|| owners.to_vec()))
        .include_deprecated(true)
        .into_paginator()
        .page_size(1000)
        .send();
    let mut images = Vec::new();
    while let Some(page) = pages.next().await {
        for image in page.named(DESCRIBE)?.images.unwrap_or_default() {
            match image.architecture().map(|arch| arch.as_str()) {
                Some("x86_64") => images.push((image, "amd64")),
                Some("arm64") => images.push((image, "arm64")),
                _ => {}
            }
        }
    }
    Ok(images)
}

fn found_image(
    image: &ec2::Image,
    arch: &str,
    mut requirements: Vec<SelectorRequirement>,
    now: Timestamp,
) -> Option<FoundImage> {
    requirements.insert(
        0,
        SelectorRequirement {
            key: ARCH.to_owned(),
            operator: Operator::In,
            values: vec![arch.to_owned()],
        },
    );
    let time = |text: Option<&str>| text.and_then(|text| text.parse::<Timestamp>().ok());
    Some(FoundImage {
        id: image.image_id()?.to_owned(),
        name: image.name().unwrap_or_default().to_owned(),
        deprecated: time(image.deprecation_time()).is_some_and(|end| end <= now),
        created: time(image.creation_date()),
        requirements,
    })
}

/// Of the images for the same instance types the best; the result newest first, then by id.
fn choose(candidates: Vec<FoundImage>) -> Vec<FoundImage> {
    let mut best: Vec<FoundImage> = Vec::new();
    for candidate in candidates {
        match best
            .iter_mut()
            .find(|known| known.requirements == candidate.requirements)
        {
            Some(known) => {
                if rank(&candidate) > rank(known) {
                    *known = candidate;
                }
            }
            None => best.push(candidate),
        }
    }
    best.sort_by(|a, b| b.created.cmp(&a.created).then_with(|| a.id.cmp(&b.id)));
    best
}

fn rank(image: &FoundImage) -> (bool, Option<Timestamp>, &str, &str) {
    (!image.deprecated, image.created, &image.name, &image.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(id: &str, arch: &str, deprecated: bool, second: i64) -> FoundImage {
        let requirement = SelectorRequirement {
            key: ARCH.to_owned(),
            operator: Operator::In,
            values: vec![arch.to_owned()],
        };
        FoundImage {
            id: id.to_owned(),
            name: id.to_owned(),
            deprecated,
            created: Timestamp::from_second(second).ok(),
            requirements: vec![requirement],
        }
    }

    #[test]
    fn the_newest_image_that_is_not_deprecated_wins() {
        let chosen = choose(vec![
            image("old", "amd64", false, 1),
            image("new", "amd64", false, 3),
            image("newest but deprecated", "amd64", true, 9),
            image("arm", "arm64", true, 2),
        ]);
        assert_eq!(
            chosen.iter().map(|image| image.id.as_str()).collect::<Vec<_>>(),
            ["new", "arm"]
        );
    }

    #[test]
    fn a_name_says_its_version() {
        for (name, want) in [
            (
                "amazon-eks-node-al2023-x86_64-standard-1.34-v20260101",
                Some("v20260101"),
            ),
            (
                "bottlerocket-aws-k8s-1.33-x86_64-v1.46.0-431fe75a",
                Some("v1.46.0"),
            ),
            (
                "Windows_Server-2022-English-Core-EKS_Optimized-1.34-2026.01.13",
                None,
            ),
        ] {
            assert_eq!(version_in_name(name), want, "{name}");
        }
    }

    #[test]
    fn an_alias_leads_to_its_parameters() {
        for (family, version, want) in [
            (
                AmiFamily::AL2023,
                "latest",
                "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id",
            ),
            (
                AmiFamily::AL2023,
                "v20260101",
                "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/\
                 amazon-eks-node-al2023-x86_64-standard-1.34-v20260101/image_id",
            ),
            (
                AmiFamily::AL2,
                "latest",
                "/aws/service/eks/optimized-ami/1.34/amazon-linux-2/recommended/image_id",
            ),
            (
                AmiFamily::Bottlerocket,
                "v1.46.0",
                "/aws/service/bottlerocket/aws-k8s-1.34/x86_64/1.46.0/image_id",
            ),
            (
                AmiFamily::Bottlerocket,
                "latest",
                "/aws/service/bottlerocket/aws-k8s-1.34/x86_64/latest/image_id",
            ),
            (
                AmiFamily::Windows2022,
                "latest",
                "/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.34/image_id",
            ),
        ] {
            assert_eq!(parameter_paths(family, version, "1.34")[0].0, want);
        }
        assert!(parameter_paths(AmiFamily::Custom, "latest", "1.34").is_empty());
    }
}
