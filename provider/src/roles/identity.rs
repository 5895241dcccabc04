//! What tells one role from all others.

use super::attributes::RoleAttributes;
use tfplugin::{Field, Identity, Model};

/// A role by account and name.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct RoleIdentity {
    /// The role's name.
    #[tf(required)]
    pub name: Field<String>,
    /// The account that it is in, 12 digits; an import by it is refused in any other account.
    pub account_id: Field<String>,
}

impl Identity for RoleIdentity {}

impl RoleIdentity {
    /// The identity of a role that exists; `None` before.
    pub(crate) fn of(role: &RoleAttributes) -> Option<Self> {
        role.arn.as_str().map(|arn| Self {
            name: role.name.clone(),
            account_id: Field::from_option(account(arn).map(str::to_owned)),
        })
    }
}

/// The account in an ARN.
pub(crate) fn account(arn: &str) -> Option<&str> {
    arn.split(':').nth(4).filter(|account| !account.is_empty())
}

/// The partition in an ARN.
pub(crate) fn partition(arn: &str) -> Option<&str> {
    arn.split(':').nth(1).filter(|partition| !partition.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_tells_the_account() {
        let role = RoleAttributes {
            name: "r".into(),
            arn: "arn:aws-cn:iam::123456789012:role/path/r".into(),
            ..RoleAttributes::default()
        };
        let identity = RoleIdentity::of(&role).expect("it exists");
        assert_eq!(
            (identity.name.as_str(), identity.account_id.as_str()),
            (Some("r"), Some("123456789012"))
        );
        assert_eq!(RoleIdentity::of(&RoleAttributes::default()), None);
        assert_eq!((account("nonsense"), partition("nonsense")), (None, None));
        assert_eq!(partition("arn:aws-cn:iam::1:role/r"), Some("aws-cn"));
    }
}
