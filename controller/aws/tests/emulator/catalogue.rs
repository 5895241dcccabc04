//! Facts of a region and the instance types made of them.

use crate::cloud::cloud;
use crate::launches::resolved_class;
use jiff::Timestamp;
use joiner_aws::catalogue::{Facts, Settings, instance_types, load_facts};
use joiner_aws::unavailable::Unavailable;
use joiner_core::catalogue::{CapacityType, InstanceType};
use joiner_core::resources::ResourceName;
use tokio::sync::OnceCell;

/// Loaded once for all tests.
pub(crate) async fn facts() -> &'static Facts {
    static FACTS: OnceCell<Facts> = OnceCell::const_new();
    FACTS
        .get_or_init(|| async { load_facts(&cloud().admin()).await.unwrap() })
        .await
}

#[tokio::test]
async fn a_region_has_types_zones_and_prices() {
    let facts = facts().await;
    assert!(facts.types.len() > 700, "{} types", facts.types.len());
    assert_eq!(facts.zones.get("us-west-2a").map(|id| &**id), Some("usw2-az2"));
    let m5 = &facts.types["m5.large"];
    assert_eq!(
        (
            m5.vcpus,
            m5.memory_mib,
            m5.network.interfaces,
            m5.network.addresses
        ),
        (2, 8192, 3, 10)
    );
    assert!(facts.prices.on_demand("m5.large").is_some());
    let priced = facts
        .types
        .values()
        .filter(|kind| facts.prices.on_demand(&kind.name).is_some())
        .count();
    assert!(
        priced * 10 > facts.types.len() * 9,
        "{priced} of {} types have a price",
        facts.types.len()
    );
}

#[tokio::test]
async fn types_of_a_class_can_be_bought_in_its_zones() {
    let cluster = cloud().cluster("catalogue");
    let class = resolved_class(cloud(), &cluster, "al2023@latest").await;
    let types = instance_types(
        facts().await,
        &class,
        &Settings::default(),
        &Unavailable::default(),
        Timestamp::now(),
    );
    let find = |name: &str| -> &InstanceType { types.iter().find(|kind| &*kind.name == name).unwrap() };
    let m5 = find("m5.large");
    let zones: std::collections::BTreeSet<&str> =
        m5.offerings.iter().map(|offering| &*offering.zone).collect();
    assert_eq!(
        zones.into_iter().collect::<Vec<_>>(),
        ["us-west-2a", "us-west-2b", "us-west-2c"]
    );
    assert!(
        m5.offerings.iter().all(|offering| offering.available),
        "{:?}",
        m5.offerings
    );
    let price = |capacity_type: CapacityType| {
        m5.offerings
            .iter()
            .filter(|offering| offering.capacity_type == capacity_type)
            .map(|o| o.price)
            .min()
            .unwrap()
    };
    assert!(price(CapacityType::Spot) < price(CapacityType::OnDemand));
    assert_eq!(m5.capacity.get(&ResourceName::Pods), 29);
    assert!(
        !types.iter().any(|kind| kind.name.starts_with("a1.")),
        "AL2023 does not run on a1"
    );
    assert!(find("p4d.24xlarge").capacity.get(&"nvidia.com/gpu".into()) == 8);
    let mut names: Vec<&str> = types.iter().map(|kind| &*kind.name).collect();
    let sorted = names.clone();
    names.sort_unstable();
    assert_eq!(names, sorted);
}
