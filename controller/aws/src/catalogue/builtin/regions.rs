//! How dear a region is beside us-east-1. One factor a region, near what AWS asks for its usual families; no price list.

use joiner_core::money::Price;

/// Percent of the price in us-east-1.
const PERCENT: [(&str, u64); 29] = [
    ("us-east-1", 100),
    ("us-east-2", 100),
    ("us-west-2", 100),
    ("us-west-1", 117),
    ("ca-central-1", 111),
    ("ca-west-1", 111),
    ("eu-north-1", 106),
    ("eu-west-1", 111),
    ("eu-west-2", 116),
    ("eu-west-3", 117),
    ("eu-central-1", 119),
    ("eu-central-2", 131),
    ("eu-south-1", 117),
    ("eu-south-2", 111),
    ("ap-south-1", 105),
    ("ap-south-2", 105),
    ("ap-southeast-1", 125),
    ("ap-southeast-2", 125),
    ("ap-southeast-3", 125),
    ("ap-southeast-4", 125),
    ("ap-southeast-5", 113),
    ("ap-northeast-1", 129),
    ("ap-northeast-2", 123),
    ("ap-northeast-3", 129),
    ("ap-east-1", 138),
    ("me-south-1", 122),
    ("me-central-1", 122),
    ("il-central-1", 117),
    ("sa-east-1", 159),
];

/// For a region that is not listed.
const ELSEWHERE: u64 = 120;

pub(super) fn scaled(price: Price, region: &str) -> Price {
    let percent = PERCENT
        .iter()
        .find(|(name, _)| *name == region)
        .map_or(ELSEWHERE, |(_, percent)| *percent);
    Price::from_micros(price.micros() * percent / 100)
}
