//! The placement group that a class names.

use crate::connect::Aws;
use crate::error::{Error, Named, found as if_found};
use aws_sdk_ec2::types as ec2;
use joiner_api::PlacementGroupSelector;

const DESCRIBE: &str = "ec2:DescribePlacementGroups";

/// How a placement group spreads its instances.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strategy {
    /// Near each other, in one zone.
    Cluster,
    /// On other hardware each, at most seven in a zone.
    Spread,
    /// In so many partitions that share no hardware.
    Partition {
        /// In each zone.
        count: u32,
    },
    /// A newer one, in EC2's word.
    Other(String),
}

impl Strategy {
    /// EC2's word for it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Cluster => "cluster",
            Self::Spread => "spread",
            Self::Partition { .. } => "partition",
            Self::Other(word) => word,
        }
    }
}

/// A placement group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPlacementGroup {
    /// Such as `pg-0123`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// How it spreads instances.
    pub strategy: Strategy,
    /// In EC2's words: `available`, `pending`, `deleting`, `deleted`.
    pub state: String,
}

impl FoundPlacementGroup {
    /// Whether instances may be launched into it.
    pub fn is_usable(&self) -> bool {
        self.state == "available"
    }
}

/// The group that the selector names; `None` if the account has none such.
pub async fn placement_group(
    aws: &Aws,
    selector: &PlacementGroupSelector,
) -> Result<Option<FoundPlacementGroup>, Error> {
    let call = aws.ec2().await?.describe_placement_groups();
    let call = match (&selector.id, &selector.name) {
        (Some(id), _) => call.group_ids(id),
        (None, Some(name)) => call.group_names(name),
        (None, None) => return Ok(None),
    };
    let answer = if_found(call.send().await.named(DESCRIBE))?;
    let groups = answer
        .as_ref()
        .map(|it| it.placement_groups())
        .unwrap_or_default();
    Ok(groups.iter().find_map(group))
}

fn group(answer: &ec2::PlacementGroup) -> Option<FoundPlacementGroup> {
    let strategy = match answer.strategy()? {
        ec2::PlacementStrategy::Cluster => Strategy::Cluster,
        ec2::PlacementStrategy::Spread => Strategy::Spread,
        ec2::PlacementStrategy::Partition => Strategy::Partition {
            count: answer
                .partition_count()
                .and_then(|count| u32::try_from(count).ok())
                .unwrap_or(0),
        },
        other => Strategy::Other(other.as_str().to_owned()),
    };
    Some(FoundPlacementGroup {
        id: answer.group_id()?.to_owned(),
        name: answer.group_name().unwrap_or_default().to_owned(),
        strategy,
        state: answer.state().map_or("", |state| state.as_str()).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_are_ec2s() {
        let answer = |strategy, partitions| {
            ec2::PlacementGroup::builder()
                .group_id("pg-1")
                .strategy(strategy)
                .state(ec2::PlacementGroupState::Available)
                .set_partition_count(partitions)
                .build()
        };
        for (answer, word) in [
            (answer(ec2::PlacementStrategy::Cluster, None), "cluster"),
            (answer(ec2::PlacementStrategy::Spread, None), "spread"),
            (answer(ec2::PlacementStrategy::Partition, Some(5)), "partition"),
        ] {
            let found = group(&answer).unwrap();
            assert_eq!(found.strategy.as_str(), word);
            assert!(found.is_usable());
        }
        assert_eq!(group(&ec2::PlacementGroup::builder().build()), None);
    }
}
