//! What the changed selectors of a class find in the account, where it may be asked.

use super::subject::{Change, typed};
use crate::cluster::Cluster;
use jiff::Timestamp;
use joiner_api::{Ami, EC2NodeClassSpec, SecurityGroup, Subnet};
use joiner_aws::selectors::{images, security_groups, subnets};
use joiner_aws::{Aws, Error};
use serde_json::{Value as Json, json};

/// Puts what the changed selectors find into the status of `class`, or nothing where that is not known; nodes are then not compared
/// with it. Returns what was not found out, in words.
pub(super) async fn selectors(
    aws: Option<&Aws>,
    cluster: &Cluster,
    change: &Change,
    class: &mut Json,
) -> Vec<String> {
    let Some(spec) = typed::<EC2NodeClassSpec>(&class["spec"]) else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    for (field, status, what) in [
        ("amiSelectorTerms", "amis", "images"),
        ("subnetSelectorTerms", "subnets", "subnets"),
        ("securityGroupSelectorTerms", "securityGroups", "security groups"),
    ] {
        if !change.changes(&[field]) {
            continue;
        }
        let found = match aws {
            None => Err("there are no AWS credentials at hand".to_owned()),
            Some(aws) => {
                let asked = match status {
                    "amis" => of_images(aws, cluster, &spec).await,
                    "subnets" => of_subnets(aws, &spec).await,
                    _ => of_groups(aws, &spec).await,
                };
                asked.map_err(|error| error.to_string())
            }
        };
        if found.is_ok() && status != "amis" {
            // A claim names its image alone; the rest its instance would have to be asked for.
            notes.push(format!(
                "which nodes have other {what} than the changed terms find"
            ));
        }
        class["status"][status] = found.unwrap_or_else(|why| {
            notes.push(format!("which {what} the changed terms find is not known: {why}"));
            json!([])
        });
    }
    notes
}

async fn of_images(aws: &Aws, cluster: &Cluster, spec: &EC2NodeClassSpec) -> Result<Json, Error> {
    let version = cluster.version().await.unwrap_or_default();
    let found = images(aws, spec, &version, Timestamp::now()).await?.found;
    let status: Vec<Ami> = found.into_iter().map(Ami::from).collect();
    Ok(json!(status))
}

async fn of_subnets(aws: &Aws, spec: &EC2NodeClassSpec) -> Result<Json, Error> {
    let found = subnets(aws, &spec.subnet_selector_terms).await?.found;
    let status: Vec<Subnet> = found.into_iter().map(Subnet::from).collect();
    Ok(json!(status))
}

async fn of_groups(aws: &Aws, spec: &EC2NodeClassSpec) -> Result<Json, Error> {
    let found = security_groups(aws, &spec.security_group_selector_terms)
        .await?
        .found;
    let status: Vec<SecurityGroup> = found.into_iter().map(SecurityGroup::from).collect();
    Ok(json!(status))
}
