//! Whether what a resource names is all in one partition, and in the region that it is for.

use super::identity::partition;
use crate::provider::check_region;
use joiner_api::rules::nearest;
use joiner_aws::catalogue::builtin;
use joiner_aws::sts::partition_of;
use tfplugin::{AttributePath, Diagnostics, Field};

/// Where everything must be that a resource names.
#[derive(Clone, Debug)]
pub(crate) struct Anchor {
    /// What tells it, such as `oidc_provider_arn`.
    by: String,
    partition: String,
}

impl Anchor {
    /// The partition of an ARN in an attribute.
    pub(crate) fn of_arn(attribute: &str, arn: &str) -> Option<Self> {
        Some(Self {
            by: attribute.to_owned(),
            partition: partition_in(arn)?.to_owned(),
        })
    }

    /// The partition of a region in an attribute.
    pub(crate) fn of_region(attribute: &str, region: &str) -> Self {
        Self {
            by: attribute.to_owned(),
            partition: partition_of(region).to_owned(),
        }
    }

    /// Checks that these ARNs, each with its attribute, are all in the partition of `anchor`, or else in that of the first of them; answers
    /// that.
    pub(super) fn check_all<'a>(
        anchor: Option<Self>,
        named: impl Iterator<Item = (&'a str, &'a str)>,
        found: &mut Diagnostics,
    ) -> Option<Self> {
        named.fold(anchor, |anchor, (attribute, arn)| {
            if let Some(anchor) = &anchor {
                anchor.check(attribute, arn, found);
            }
            anchor.or_else(|| Self::of_arn(attribute, arn))
        })
    }

    /// Checks that an ARN in an attribute is in the same partition; no other is known there.
    fn check(&self, attribute: &str, arn: &str, found: &mut Diagnostics) {
        let Some(other) = partition_in(arn).filter(|other| *other != self.partition) else {
            return;
        };
        let fitting = arn.replacen(other, &self.partition, 1);
        found.error_at(
            attribute,
            "Another partition",
            format!(
                "{arn:?} is in the partition {other}, and {} is in {}: nothing in one partition can name what is in another. Write \
                 {fitting:?} if that is meant, or set right what {} says.",
                self.by, self.partition, self.by
            ),
        );
    }
}

/// The partition of what is an ARN; what is none is told elsewhere.
fn partition_in(arn: &str) -> Option<&str> {
    partition(arn).filter(|_| arn.starts_with("arn:aws"))
}

/// Checks an account in an attribute.
pub(crate) fn check_account(attribute: &str, account: &str, found: &mut Diagnostics) {
    if account.len() != 12 || !account.chars().all(|char| char.is_ascii_digit()) {
        found.error_at(
            attribute,
            "Not an account",
            format!("{account:?}: an account of AWS has 12 digits, such as 123456789012; zeros in front count. Write all of them."),
        );
    }
}

/// Checks the form of a region in an attribute, and whether it is one that is known: of another one a warning tells the nearest.
pub(crate) fn check_region_at(attribute: &str, region: &Field<String>, found: &mut Diagnostics) {
    let Some(region) = region.as_str() else { return };
    if let Err(problem) = check_region(region) {
        found.error_at(attribute, "Not a region", problem);
        return;
    }
    let known = builtin::regions();
    // The catalogue has those of the usual partition.
    let is_elsewhere = partition_of(region) != "aws";
    if known.contains(&region) || (is_elsewhere && has_form(region)) {
        return;
    }
    let meant = match nearest(region, known.iter().copied()) {
        Some(near) => format!(" Did you mean {near:?}?"),
        None => String::new(),
    };
    if has_form(region) {
        found.warn_at(
            attribute,
            "No region that is known",
            format!(
                "{region:?} is none of the {} regions that were there on {}.{meant} In a newer one all is well.",
                known.len(),
                builtin::date()
            ),
        );
    } else {
        found.error_at(
            attribute,
            "Not a region",
            format!("{region:?}: a region is written like eu-central-1 or us-gov-west-1.{meant}"),
        );
    }
}

/// Words with dashes between, a number last.
fn has_form(region: &str) -> bool {
    let parts: Vec<&str> = region.split('-').collect();
    let Some((number, words)) = parts.split_last() else {
        return false;
    };
    let is_word = |word: &&str| !word.is_empty() && word.chars().all(|char| char.is_ascii_lowercase());
    words.len() >= 2
        && words.iter().all(is_word)
        && !number.is_empty()
        && number.chars().all(|char| char.is_ascii_digit())
}

/// Warns of a queue in another region than that of the cluster, which `by` tells.
pub(crate) fn check_queue_region(arn: &Field<String>, by: &str, region: &str, found: &mut Diagnostics) {
    let Some(arn) = arn.as_str() else { return };
    if let Some(other) = arn.split(':').nth(3).filter(|other| *other != region) {
        found.warn_at(
            AttributePath::from("interruption_queue_arn"),
            "A queue in another region",
            format!(
                "{arn:?} is in {other}, and the cluster is in {region}, as {by} says. A controller reads its queue in its own region, and \
                 the events of {region} come to queues there. Name the queue of {region}."
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(check: impl FnOnce(&mut Diagnostics)) -> Vec<(bool, String)> {
        let mut found = Diagnostics::new();
        check(&mut found);
        found
            .iter()
            .map(|it| (it.is_error(), it.detail.clone()))
            .collect()
    }

    #[test]
    fn a_region_is_known_or_told() {
        for (region, error, words) in [
            ("eu-central1", true, "Did you mean \"eu-central-1\"?"),
            ("nowhere", true, "like eu-central-1"),
            ("us_west_2", true, "lower-case"),
            ("eu-centrall-1", false, "Did you mean \"eu-central-1\"?"),
            ("xx-moon-1", false, "In a newer one"),
        ] {
            let told = found(|found| check_region_at("region", &region.into(), found));
            assert!(
                told.len() == 1 && told[0].0 == error && told[0].1.contains(words),
                "{region}: {told:?}"
            );
        }
        for region in builtin::regions() {
            assert!(has_form(region), "{region}");
            assert!(found(|found| check_region_at("region", &region.into(), found)).is_empty());
        }
        for region in ["us-gov-west-1", "eusc-de-east-1", "cn-north-1"] {
            assert!(found(|found| check_region_at("region", &region.into(), found)).is_empty());
        }
    }

    #[test]
    fn partitions_accounts_and_regions_fit() {
        let cn = Anchor::of_arn("oidc_provider_arn", "arn:aws-cn:iam::1:oidc-provider/x").expect("an ARN");
        let told = found(|found| cn.check("policy_arns", "arn:aws:iam::aws:policy/X", found));
        assert!(told[0].1.contains("\"arn:aws-cn:iam::aws:policy/X\""), "{told:?}");
        assert!(found(|found| cn.check("policy_arns", "arn:aws-cn:iam::aws:policy/X", found)).is_empty());
        let gov = Anchor::of_region("region", "us-gov-west-1");
        assert_eq!(
            found(|found| gov.check("node_role_arns", "arn:aws:iam::1:role/x", found)).len(),
            1
        );
        for (account, fine) in [("123456789012", true), ("123", false), ("12345678901x", false)] {
            assert_eq!(
                found(|found| check_account("account_id", account, found)).is_empty(),
                fine
            );
        }
        let queue = || "arn:aws:sqs:eu-central-1:1:q".into();
        assert!(found(|found| check_queue_region(&queue(), "region", "eu-central-1", found)).is_empty());
        let told = found(|found| check_queue_region(&queue(), "region", "us-west-2", found));
        assert!(!told[0].0 && told[0].1.contains("as region says"), "{told:?}");
    }
}
