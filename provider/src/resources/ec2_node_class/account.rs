//! What the account tells of a node class: whether its terms find anything, and what is odd about what they find.
//!
//! Only where credentials are at hand and the cluster is known: while it is still to be made, so are its network and its roles. What the
//! account does not tell, for want of permission or in time, is no finding.

use super::reserved;
use crate::feasible::{Finding, Weight};
use crate::objects::Foreseen;
use crate::provider::{Joiner, Part};
use jiff::Timestamp;
use joiner_api::EC2NodeClass;
use joiner_api::rules::{JsonPath, Segment};
use joiner_aws::selectors::{FoundGroup, FoundSubnet, Matches, images, security_groups, subnets};
use joiner_aws::tags::OWNED_PREFIX;
use joiner_aws::{Aws, Error, iam, profiles};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long the account gets to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Fewer free addresses than this are soon used up.
const FEW_ADDRESSES: u32 = 16;

/// Asks the account.
pub(super) async fn check(data: &Joiner, object: &Foreseen) -> Vec<Finding> {
    let (Part::Known(_), Part::Known(aws)) = (&data.cluster, &data.aws) else {
        return Vec::new();
    };
    if !aws.has_credentials_at_hand() {
        return Vec::new();
    }
    let Ok(class) = serde_json::from_value::<EC2NodeClass>(object.json.clone()) else {
        return Vec::new();
    };
    let ask = async {
        let (subnets, groups, images, role, reservations, group) = futures::join!(
            check_subnets(data, aws, &class, object),
            check_groups(aws, &class, object),
            check_images(data, aws, &class, object),
            check_role(aws, &class, object),
            reserved::check_reservations(data, aws, &class, object),
            reserved::check_group(aws, &class, object),
        );
        [subnets, groups, images, role, reservations, group]
    };
    let answers = match tokio::time::timeout(PATIENCE, ask).await {
        Ok(answers) => answers,
        Err(_) => {
            tracing::warn!("the account did not answer in time; the node class was not checked against it");
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for answer in answers {
        match answer {
            Ok(findings) => found.extend(findings),
            Err(error) => {
                tracing::warn!(%error, "a part of the node class was not checked against the account")
            }
        }
    }
    found.extend(reserved::without_subnet(data, &class));
    found
}

pub(super) fn at(field: &str) -> JsonPath {
    JsonPath(vec![
        Segment::Field("spec".to_owned()),
        Segment::Field(field.to_owned()),
    ])
}

fn term(list: &str, index: usize) -> JsonPath {
    let mut path = at(list);
    path.0.push(Segment::Index(index));
    path
}

pub(super) fn finding(path: JsonPath, weight: Weight, summary: &'static str, detail: String) -> Finding {
    Finding {
        path,
        weight,
        summary,
        detail,
    }
}

pub(super) fn unmatched<T>(matches: &Matches<T>) -> Vec<Finding> {
    matches
        .unmatched
        .iter()
        .map(|missing| {
            finding(
                term(missing.list, missing.term),
                Weight::Wrong,
                "The account has nothing that matches",
                format!("{} matches nothing: {}.", missing.wanted, missing.instead),
            )
        })
        .collect()
}

async fn check_subnets(
    data: &Joiner,
    aws: &Aws,
    class: &EC2NodeClass,
    object: &Foreseen,
) -> Result<Vec<Finding>, Error> {
    const LIST: &str = "subnetSelectorTerms";
    if object.is_unknown(&["spec", LIST]) {
        return Ok(Vec::new());
    }
    let matches = subnets(aws, &class.spec.subnet_selector_terms).await?;
    if let Some(name) = class.metadata.name.as_deref()
        && !matches.is_empty()
    {
        let zones = matches.found.iter().map(|subnet| subnet.zone.clone());
        data.found_zones(name, zones.collect());
    }
    let mut found = unmatched(&matches);
    found.extend(odd_subnets(&matches.found, at(LIST)));
    Ok(found)
}

fn odd_subnets(subnets: &[FoundSubnet], path: JsonPath) -> Vec<Finding> {
    let mut found = Vec::new();
    let networks: BTreeSet<&str> = subnets.iter().map(|subnet| subnet.vpc_id.as_str()).collect();
    if networks.len() > 1 {
        found.push(finding(
            path.clone(),
            Weight::Wrong,
            "The subnets lie in several networks",
            format!(
                "They are in {}, and security groups and the cluster are in one. Narrow the terms to the cluster's VPC.",
                networks.into_iter().collect::<Vec<_>>().join(", ")
            ),
        ));
    }
    let public: Vec<&str> = subnets
        .iter()
        .filter(|subnet| subnet.tags.contains_key("kubernetes.io/role/elb"))
        .map(|subnet| subnet.id.as_str())
        .collect();
    if !public.is_empty() && public.len() < subnets.len() {
        found.push(finding(
            path.clone(),
            Weight::Doubtful,
            "Public and private subnets are mixed",
            format!(
                "{} carry the tag kubernetes.io/role/elb, as public subnets do, and the others do not: whether a node gets a way out depends on \
                 the subnet it lands in. Let the terms find the private ones alone.",
                public.join(", ")
            ),
        ));
    }
    let full: Vec<String> = subnets
        .iter()
        .filter(|subnet| subnet.free_addresses < FEW_ADDRESSES)
        .map(|subnet| format!("{} ({} left)", subnet.id, subnet.free_addresses))
        .collect();
    if !full.is_empty() {
        found.push(finding(
            path,
            Weight::Doubtful,
            "Few addresses are free",
            format!(
                "Nodes and pods need addresses, and these subnets have hardly any: {}. Add larger subnets.",
                full.join(", ")
            ),
        ));
    }
    found
}

async fn check_groups(aws: &Aws, class: &EC2NodeClass, object: &Foreseen) -> Result<Vec<Finding>, Error> {
    const LIST: &str = "securityGroupSelectorTerms";
    if object.is_unknown(&["spec", LIST]) {
        return Ok(Vec::new());
    }
    let matches = security_groups(aws, &class.spec.security_group_selector_terms).await?;
    let mut found = unmatched(&matches);
    found.extend(owned_twice(&matches.found, at(LIST)));
    Ok(found)
}

/// The AWS load balancer controller wants exactly one group with the cluster's tag on a node, and does nothing with two.
fn owned_twice(groups: &[FoundGroup], path: JsonPath) -> Option<Finding> {
    let owned: Vec<&FoundGroup> = groups
        .iter()
        .filter(|group| group.tags.keys().any(|key| key.starts_with(OWNED_PREFIX)))
        .collect();
    let keys: BTreeSet<&str> = owned
        .iter()
        .flat_map(|group| group.tags.keys())
        .filter(|key| key.starts_with(OWNED_PREFIX))
        .map(String::as_str)
        .collect();
    let shared = keys
        .into_iter()
        .find(|key| owned.iter().filter(|group| group.tags.contains_key(*key)).count() > 1)?;
    let names: Vec<String> = owned
        .iter()
        .map(|group| format!("{} ({})", group.id, group.name))
        .collect();
    Some(finding(
        path,
        Weight::Doubtful,
        "Two security groups carry the cluster's tag",
        format!(
            "{} both carry {shared}, and nodes would have both: the AWS load balancer controller expects exactly one and otherwise registers no \
             target. Take the tag from one of them, or select one alone.",
            names.join(" and ")
        ),
    ))
}

async fn check_images(
    data: &Joiner,
    aws: &Aws,
    class: &EC2NodeClass,
    object: &Foreseen,
) -> Result<Vec<Finding>, Error> {
    const LIST: &str = "amiSelectorTerms";
    if object.is_unknown(&["spec", LIST]) {
        return Ok(Vec::new());
    }
    // An alias names images for the cluster's version of Kubernetes.
    let by_alias = class
        .spec
        .ami_selector_terms
        .iter()
        .any(|term| term.alias.is_some());
    let version = match &data.cluster {
        Part::Known(cluster) if by_alias => match cluster.version().await {
            Ok(version) => version,
            Err(error) => {
                tracing::warn!(%error, "the images of the alias were not looked for");
                return Ok(Vec::new());
            }
        },
        _ => String::new(),
    };
    let matches = images(aws, &class.spec, &version, Timestamp::now()).await?;
    let mut found = unmatched(&matches);
    let deprecated: Vec<&str> = matches
        .found
        .iter()
        .filter(|image| image.deprecated)
        .map(|image| image.id.as_str())
        .collect();
    if !deprecated.is_empty() {
        found.push(finding(
            at(LIST),
            Weight::Doubtful,
            "Images are deprecated",
            format!(
                "Their owner has marked {} as deprecated. Choose newer ones.",
                deprecated.join(", ")
            ),
        ));
    }
    Ok(found)
}

/// Whether role or instance profile are there. Both may be made in the same apply, so that they are not is a doubt.
async fn check_role(aws: &Aws, class: &EC2NodeClass, object: &Foreseen) -> Result<Vec<Finding>, Error> {
    const REMEDY: &str = "If this apply makes it, all is well; if not, correct the name.";
    if object.is_unknown(&["spec", "role"]) || object.is_unknown(&["spec", "instanceProfile"]) {
        return Ok(Vec::new());
    }
    if let Some(name) = class.spec.instance_profile.as_deref() {
        return Ok(match profiles::get(aws, name).await? {
            None => vec![finding(
                at("instanceProfile"),
                Weight::Doubtful,
                "There is no such instance profile",
                format!("The account has no instance profile {name:?}. {REMEDY}"),
            )],
            Some(profile) if profile.role.is_none() => vec![finding(
                at("instanceProfile"),
                Weight::Wrong,
                "The instance profile has no role",
                format!(
                    "{} holds no role, so nodes could do nothing. Add the nodes' role to it.",
                    profile.arn
                ),
            )],
            Some(_) => Vec::new(),
        });
    }
    let Some(name) = class.spec.role.as_deref() else {
        return Ok(Vec::new());
    };
    let name = name.rsplit('/').next().unwrap_or(name);
    Ok(match iam::get_role(aws, name).await? {
        None => vec![finding(
            at("role"),
            Weight::Doubtful,
            "There is no such role",
            format!("The account has no role {name:?}. {REMEDY}"),
        )],
        Some(role) if !role.trust.contains("ec2.amazonaws.com") => vec![finding(
            at("role"),
            Weight::Wrong,
            "The role is not for instances",
            format!(
                "The trust policy of {} does not let ec2.amazonaws.com take it on, so no instance can have it. Name the nodes' role, not the \
                 controller's.",
                role.arn
            ),
        )],
        Some(_) => Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use joiner_aws::tags::Tags;

    fn subnet(id: &str, vpc: &str, free: u32, tag: Option<&str>) -> FoundSubnet {
        FoundSubnet {
            id: id.into(),
            zone: "a".into(),
            zone_id: "z".into(),
            vpc_id: vpc.into(),
            free_addresses: free,
            tags: tag
                .map(|tag| (tag.to_owned(), "1".to_owned()))
                .into_iter()
                .collect(),
        }
    }

    #[test]
    fn odd_subnets_are_told() {
        let odd = |subnets: &[FoundSubnet]| -> Vec<&'static str> {
            odd_subnets(subnets, at("subnetSelectorTerms"))
                .iter()
                .map(|it| it.summary)
                .collect()
        };
        assert!(odd(&[subnet("a", "v", 100, None), subnet("b", "v", 100, None)]).is_empty());
        assert_eq!(
            odd(&[subnet("a", "v", 100, None), subnet("b", "w", 100, None)]),
            ["The subnets lie in several networks"]
        );
        assert_eq!(
            odd(&[
                subnet("a", "v", 100, Some("kubernetes.io/role/elb")),
                subnet("b", "v", 3, None)
            ]),
            ["Public and private subnets are mixed", "Few addresses are free"]
        );
    }

    #[test]
    fn two_groups_with_the_clusters_tag_are_told() {
        let group = |id: &str, tag: Option<&str>| FoundGroup {
            id: id.into(),
            name: id.into(),
            vpc_id: "v".into(),
            tags: tag
                .map(|tag| (tag.to_owned(), "owned".to_owned()))
                .into_iter()
                .collect::<Tags>(),
        };
        let own = Some("kubernetes.io/cluster/c");
        let path = || at("securityGroupSelectorTerms");
        assert_eq!(owned_twice(&[group("a", own), group("b", None)], path()), None);
        let found = owned_twice(&[group("a", own), group("b", own)], path()).expect("two");
        assert!(found.detail.contains("a (a) and b (b)"), "{}", found.detail);
    }
}
