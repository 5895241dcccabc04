//! Where instance types come from: a document among the objects, the built-in catalogue, or the account.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use jiff::Timestamp;
use joiner_aws::Aws;
use joiner_aws::catalogue::{Facts, Settings, add_devices, builtin, load_facts, unresolved_types};
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
            Ok(of_classes(parts, &facts, now))
        }
        Types::Account { profile } => {
            let aws = Aws::connect(joiner_aws::Settings {
                profile,
                ..joiner_aws::Settings::default()
            })?;
            let facts = load_facts(&aws).await.context("the account was asked")?;
            Ok(of_classes(parts, &facts, now))
        }
    }
}

/// The types of every pool's class; pools with the same class share them.
fn of_classes(parts: &Parts, facts: &Facts, now: Timestamp) -> Catalogue {
    let mut made: BTreeMap<&Text, Arc<[InstanceType]>> = BTreeMap::new();
    let mut catalogue = Catalogue::default();
    for pool in &parts.snapshot.pools {
        let class = &pool.class.name;
        let types = made.entry(class).or_insert_with(|| {
            let class = parts.classes.get(class);
            let types = unresolved_types(facts, class.map(AsRef::as_ref), &Settings::default(), now);
            if !parts.snapshot.settings.gates.dynamic_resources {
                return types;
            }
            let mut types = types.to_vec();
            add_devices(&mut types, facts, &BTreeMap::new());
            types.into()
        });
        catalogue.pools.insert(pool.name.clone(), Arc::clone(types));
    }
    catalogue
}
