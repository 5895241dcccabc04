//! Where instance types come from: a document among the objects, the built-in catalogue, or the account.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use jiff::Timestamp;
use joiner_api::{AmiFamily, EC2NodeClass, Subnet};
use joiner_aws::Aws;
use joiner_aws::catalogue::{Facts, Settings, builtin, instance_types, load_facts};
use joiner_aws::node_class::for_catalogue;
use joiner_aws::unavailable::Unavailable;
use joiner_core::catalogue::{Catalogue, InstanceType};
use joiner_core::text::Text;
use joiner_map::Parts;

use super::arguments::Source;

/// The source of instance types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Types {
    /// An InstanceTypeCatalog among the objects.
    Document,
    /// The built-in catalogue of a region.
    Region(String),
    /// The account.
    Account { profile: Option<String> },
    /// There are no pools that need any.
    None,
}

impl Types {
    /// What the arguments say, else the document.
    ///
    /// # Errors
    /// There is neither.
    pub(crate) fn choose(source: &Source, parts: &Parts) -> Result<Types> {
        if source.from_account {
            return Ok(Types::Account {
                profile: source.profile.clone(),
            });
        }
        match (&source.region, &parts.catalog) {
            (Some(region), _) => Ok(Types::Region(region.clone())),
            (None, Some(_)) => Ok(Types::Document),
            (None, None) if parts.snapshot.pools.is_empty() => Ok(Types::None),
            (None, None) => bail!(
                "there are no instance types: add an InstanceTypeCatalog to the objects, or name a region of the built-in \
                 catalogue by --region ({}), or ask the account by --from-account",
                builtin::regions().join(", ")
            ),
        }
    }
}

/// The catalogue of every pool.
pub(crate) async fn catalogue(parts: &Parts, types: Types, now: Timestamp) -> Result<Catalogue> {
    let pools = parts.snapshot.pools.iter();
    match types {
        Types::None => Ok(Catalogue::default()),
        Types::Document => {
            let document = parts.catalog.clone().unwrap_or_default();
            Ok(document.catalogue(pools.map(|pool| &pool.name)))
        }
        Types::Region(region) => {
            let facts = builtin::facts(&region)?;
            of_classes(parts, &facts, now)
        }
        Types::Account { profile } => {
            let aws = Aws::connect(joiner_aws::Settings {
                profile,
                ..joiner_aws::Settings::default()
            })?;
            let facts = load_facts(&aws).await.context("the account was asked")?;
            of_classes(parts, &facts, now)
        }
    }
}

/// The types of every pool's class; pools with the same class share them.
fn of_classes(parts: &Parts, facts: &Facts, now: Timestamp) -> Result<Catalogue> {
    let mut made: BTreeMap<&Text, Arc<[InstanceType]>> = BTreeMap::new();
    let mut catalogue = Catalogue::default();
    for pool in &parts.snapshot.pools {
        let types = match made.get(&pool.class.name) {
            Some(types) => Arc::clone(types),
            None => {
                let class = match parts.classes.get(&pool.class.name) {
                    Some(class) => EC2NodeClass::clone(class),
                    None => bare(&pool.class.name)?,
                };
                let types = of_class(usable(class, facts), facts, now);
                made.insert(&pool.class.name, Arc::clone(&types));
                types
            }
        };
        catalogue.pools.insert(pool.name.clone(), types);
    }
    Ok(catalogue)
}

fn of_class(class: EC2NodeClass, facts: &Facts, now: Timestamp) -> Arc<[InstanceType]> {
    match for_catalogue(&class) {
        Ok(class) => instance_types(facts, &class, &Settings::default(), &Unavailable::default(), now).into(),
        Err(_) => Arc::new([]),
    }
}

/// A class that knows its subnets and its family: one that does not has a subnet in every zone and runs Amazon Linux 2023.
fn usable(mut class: EC2NodeClass, facts: &Facts) -> EC2NodeClass {
    if joiner_aws::node_class::family(&class.spec).is_none() {
        class.spec.ami_family = Some(AmiFamily::AL2023);
    }
    let status = class.status.get_or_insert_default();
    if status.subnets.is_empty() {
        let subnets = facts.zones.iter().map(|(zone, id)| Subnet {
            id: format!("subnet-{id}"),
            zone: zone.to_string(),
            zone_id: Some(id.to_string()),
        });
        status.subnets = subnets.collect();
    }
    class
}

/// A class of which nothing is known.
fn bare(name: &str) -> Result<EC2NodeClass, serde_json::Error> {
    serde_json::from_value(serde_json::json!({
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": name},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "subnetSelectorTerms": [],
            "securityGroupSelectorTerms": [],
        },
    }))
}
