//! The selector terms of an EC2NodeClass.

use std::collections::BTreeMap;
use tfplugin::{Field, Model};

/// A term without a tag would select all that the account has; the API takes it.
fn some_tags(tags: &BTreeMap<String, String>) -> Result<(), String> {
    match tags.is_empty() {
        true => Err("The term names no tag, so it would match everything in the account; name one, or leave tags out and select by id.".to_owned()),
        false => Ok(()),
    }
}

/// Selects subnets: all that is given in a term must match.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct SubnetTerm {
    /// Tags that the subnet carries; `*` stands for any value.
    #[tf(validate = some_tags)]
    pub tags: Field<BTreeMap<String, String>>,
    /// The subnet's ID; stands alone in its term.
    pub id: Field<String>,
}

/// Selects security groups: all that is given in a term must match.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct SecurityGroupTerm {
    /// Tags that the group carries; `*` stands for any value.
    #[tf(validate = some_tags)]
    pub tags: Field<BTreeMap<String, String>>,
    /// The group's ID; stands alone in its term.
    pub id: Field<String>,
    /// The group's name (not its tag `Name`); stands alone in its term.
    pub name: Field<String>,
}

/// Selects images: all that is given in a term must match.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct AmiTerm {
    /// An EKS optimised image as `family@version`, such as `al2023@latest` or `bottlerocket@v1.40.0`; stands alone. `latest` replaces
    /// nodes whenever a new image comes out.
    pub alias: Field<String>,
    /// Tags that the image carries; `*` stands for any value.
    #[tf(validate = some_tags)]
    pub tags: Field<BTreeMap<String, String>>,
    /// The image's ID; stands alone in its term.
    pub id: Field<String>,
    /// The image's name; `*` and `?` are wildcards.
    pub name: Field<String>,
    /// The image's owner: an account ID, `self`, `amazon` or `aws-marketplace`.
    pub owner: Field<String>,
    /// Name or ARN of the SSM parameter that holds the image's ID.
    pub ssm_parameter: Field<String>,
}

/// Selects capacity reservations: all that is given in a term must match.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct CapacityReservationTerm {
    /// Tags that the reservation carries; `*` stands for any value.
    #[tf(validate = some_tags)]
    pub tags: Field<BTreeMap<String, String>>,
    /// The reservation's ID; stands alone in its term.
    pub id: Field<String>,
    /// Account that owns the reservation, 12 digits.
    #[tf(json = "ownerID")]
    pub owner_id: Field<String>,
    /// Which instances may use the reservation: `open` or `targeted`.
    pub instance_match_criteria: Field<String>,
}

/// Selects a placement group, by name or by ID.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct PlacementGroupSelector {
    /// The group's name.
    pub name: Field<String>,
    /// The group's ID.
    pub id: Field<String>,
}
