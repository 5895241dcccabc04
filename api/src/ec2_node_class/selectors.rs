//! How an EC2NodeClass picks subnets, security groups, images, reservations and a placement group.
//!
//! Terms of a list are alternatives; the fields of one term must all match.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema;

/// How user data is made and which image defaults apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum AmiFamily {
    /// Amazon Linux 2.
    AL2,
    /// Amazon Linux 2023.
    AL2023,
    /// Bottlerocket.
    Bottlerocket,
    /// User data is passed on untouched.
    Custom,
    /// Windows Server 2019.
    Windows2019,
    /// Windows Server 2022.
    Windows2022,
    /// Windows Server 2025.
    Windows2025,
}

impl AmiFamily {
    /// The families that an alias can name, with the alias' word.
    pub const ALIASES: [(&'static str, Self); 6] = [
        ("al2", Self::AL2),
        ("al2023", Self::AL2023),
        ("bottlerocket", Self::Bottlerocket),
        ("windows2019", Self::Windows2019),
        ("windows2022", Self::Windows2022),
        ("windows2025", Self::Windows2025),
    ];

    /// The text in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AL2 => "AL2",
            Self::AL2023 => "AL2023",
            Self::Bottlerocket => "Bottlerocket",
            Self::Custom => "Custom",
            Self::Windows2019 => "Windows2019",
            Self::Windows2022 => "Windows2022",
            Self::Windows2025 => "Windows2025",
        }
    }
}

impl fmt::Display for AmiFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Picks subnets: all given fields must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubnetSelectorTerm {
    /// A subnet's id; goes with no other field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "subnet-[0-9a-z]+"))]
    pub id: Option<String>,
    /// Tags; the value * matches every value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::selector_tags")]
    pub tags: Option<BTreeMap<String, String>>,
}

/// Picks security groups: all given fields must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecurityGroupSelectorTerm {
    /// A security group's id; goes with no other field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "sg-[0-9a-z]+"))]
    pub id: Option<String>,
    /// A security group's name; goes with no other field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Tags; the value * matches every value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::selector_tags")]
    pub tags: Option<BTreeMap<String, String>>,
}

/// Picks capacity reservations: all given fields must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapacityReservationSelectorTerm {
    /// A reservation's id; goes with no other field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^cr-[0-9a-z]+$"))]
    pub id: Option<String>,
    /// Which launches the reservation accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_match_criteria: Option<InstanceMatchCriteria>,
    /// The account that owns the reservation: 12 digits.
    #[serde(default, rename = "ownerID", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-9]{12}$"))]
    pub owner_id: Option<String>,
    /// Tags; the value * matches every value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::selector_tags")]
    pub tags: Option<BTreeMap<String, String>>,
}

/// Which launches a capacity reservation accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InstanceMatchCriteria {
    /// Any launch that fits.
    Open,
    /// Launches that name the reservation.
    Targeted,
}

/// Picks one placement group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = schema::cel(&[
    ("has(self.name) || has(self.id)", "say which placement group: set 'name' or 'id'"),
    ("!(has(self.name) && has(self.id))", "'name' and 'id' exclude each other: remove one"),
])))]
pub struct PlacementGroupSelector {
    /// The group's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^pg-[0-9a-z]+$"))]
    pub id: Option<String>,
    /// The group's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub name: Option<String>,
}

/// Picks images: all given fields must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AmiSelectorTerm {
    /// family@version: the EKS image of a family (al2, al2023, bottlerocket, windows2019, windows2022,
    /// windows2025), newest with version latest; Windows knows latest only. Must be the only term.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 30), extend("x-kubernetes-validations" = schema::cel(&[
        (
            "self.matches('^[a-zA-Z0-9]+@.+$')",
            "an alias is written family@version, for example al2023@latest",
        ),
        (
            "self.split('@')[0] in ['al2', 'al2023', 'bottlerocket', 'windows2019', 'windows2022', 'windows2025']",
            "unknown family: use al2, al2023, bottlerocket, windows2019, windows2022 or windows2025 before the @",
        ),
        (
            "!(self.split('@')[0] in ['windows2019', 'windows2022', 'windows2025']) || (self.contains('@') && self.split('@')[1] == 'latest')",
            "Windows images have no pinned versions: use the version latest",
        ),
    ])))]
    pub alias: Option<String>,
    /// An image's id; goes with no other field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "ami-[0-9a-z]+"))]
    pub id: Option<String>,
    /// An image's name; * and ? are wildcards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The image's owner: an account id, self, amazon or aws-marketplace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// An SSM parameter, by name or ARN, that holds the image's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssm_parameter: Option<String>,
    /// Tags; the value * matches every value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::selector_tags")]
    pub tags: Option<BTreeMap<String, String>>,
}

/// CEL rules across the fields of the spec.
pub(super) fn class_rules() -> Value {
    let mut rules = vec![
        rule(
            "has(self.role) != has(self.instanceProfile)",
            "nodes need one identity: set exactly one of 'role' and 'instanceProfile'",
        ),
        rule(
            "has(self.amiFamily) || self.amiSelectorTerms.exists(term, has(term.alias))",
            "no alias says which family the images are of: set 'amiFamily'",
        ),
    ];
    for (word, family) in AmiFamily::ALIASES {
        rules.push(rule(
            &format!(
                "!has(self.amiFamily) || self.amiFamily in ['{family}', 'Custom'] || \
                 !self.amiSelectorTerms.exists(term, has(term.alias) && term.alias.split('@')[0] == '{word}')"
            ),
            &format!(
                "an alias of {word} is an image of {family}: remove 'amiFamily', or set it to {family} or Custom"
            ),
        ));
    }
    rules.into()
}

/// CEL rules of the image terms.
pub(super) fn ami_rules() -> Value {
    schema::cel(&[
        (
            "self.all(term, has(term.alias) || has(term.id) || has(term.name) || has(term.ssmParameter) || has(term.tags))",
            "a term needs something to search by: set 'alias', 'id', 'name', 'ssmParameter' or 'tags'",
        ),
        (
            "self.all(term, !has(term.id) || !(has(term.alias) || has(term.tags) || has(term.name) || has(term.owner)))",
            "'id' names one image: remove the term's other fields, or put them into a term of their own",
        ),
        (
            "self.all(term, !has(term.alias) || !(has(term.id) || has(term.tags) || has(term.name) || has(term.owner)))",
            "'alias' names the images on its own: remove the term's other fields",
        ),
        (
            "size(self) == 1 || !self.exists(term, has(term.alias))",
            "a term with 'alias' must be the only term: remove the others",
        ),
    ])
}

/// CEL rules of the subnet terms.
pub(super) fn subnet_rules() -> Value {
    schema::cel(&[
        (
            "size(self) > 0",
            "no subnet can be found without a term: add one with 'id' or 'tags'",
        ),
        (
            "self.all(term, has(term.tags) || has(term.id))",
            "a term needs something to search by: set 'id' or 'tags'",
        ),
        (
            "size(self) == 0 || self.exists(term, !(has(term.id) && has(term.tags)))",
            "'id' names one subnet: remove 'tags' from the term, or put them into a term of their own",
        ),
    ])
}

/// CEL rules of the security group terms.
pub(super) fn security_group_rules() -> Value {
    schema::cel(&[
        (
            "size(self) > 0",
            "no security group can be found without a term: add one with 'id', 'name' or 'tags'",
        ),
        (
            "self.all(term, has(term.tags) || has(term.id) || has(term.name))",
            "a term needs something to search by: set 'id', 'name' or 'tags'",
        ),
        (
            "size(self) == 0 || self.exists(term, !has(term.id) || !(has(term.tags) || has(term.name)))",
            "'id' names one security group: remove the term's other fields, or put them into a term of their own",
        ),
        (
            "size(self) == 0 || self.exists(term, !has(term.name) || !(has(term.tags) || has(term.id)))",
            "'name' names one security group: remove the term's other fields, or put them into a term of their own",
        ),
    ])
}

/// CEL rules of the capacity reservation terms.
pub(super) fn reservation_rules() -> Value {
    schema::cel(&[
        (
            "self.all(term, has(term.tags) || has(term.id) || has(term.instanceMatchCriteria))",
            "a term needs something to search by: set 'id', 'instanceMatchCriteria' or 'tags'",
        ),
        (
            "size(self) == 0 || self.exists(term, !has(term.id) || !(has(term.tags) || has(term.ownerID) || has(term.instanceMatchCriteria)))",
            "'id' names one reservation: remove the term's other fields, or put them into a term of their own",
        ),
    ])
}

/// CEL rules of the instances' tags.
pub(super) fn tag_rules() -> Value {
    let mut rules = vec![
        rule(
            "self.all(key, size(key) > 0)",
            "a tag needs a key: remove the empty one",
        ),
        rule(
            "self.all(key, !key.startsWith('kubernetes.io/cluster'))",
            "tags that start with kubernetes.io/cluster mark who owns the instance and are set by the controller: remove it",
        ),
    ];
    for key in [
        "eks:eks-cluster-name",
        "karpenter.sh/nodepool",
        "karpenter.sh/nodeclaim",
        "karpenter.k8s.aws/ec2nodeclass",
    ] {
        rules.push(rule(
            &format!("!('{key}' in self)"),
            &format!("the tag {key} is set by the controller: remove it"),
        ));
    }
    rules.into()
}

fn rule(rule: &str, message: &str) -> Value {
    serde_json::json!({"rule": rule, "message": message})
}
