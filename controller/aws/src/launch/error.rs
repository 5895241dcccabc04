//! Why an order gave no instance, by what the caller does next.

use crate::error::Error;
use crate::unavailable::Shortage;
use crate::userdata::UserDataError;

/// An order that gave no instance.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// EC2 has none of what was asked for. Mark the shortages, drop the claim and decide again.
    #[error("EC2 has no capacity for any of the offerings: {detail}")]
    InsufficientCapacity {
        /// What is short and EC2's code for it.
        shortages: Vec<(Shortage, String)>,
        /// EC2's words, each once.
        detail: String,
    },
    /// The node class does not allow a launch as it is.
    #[error("EC2NodeClass {name} does not allow a launch: {reason}")]
    NodeClassNotReady {
        /// Name of the node class.
        name: String,
        /// What is wrong and what would help.
        reason: String,
    },
    /// The user data cannot be made.
    #[error("the user data of EC2NodeClass {name} cannot be made")]
    UserData {
        /// Name of the node class.
        name: String,
        /// Why.
        #[source]
        cause: UserDataError,
    },
    /// Too many calls. Try again later, nothing was launched.
    #[error("the launch was throttled")]
    Throttled {
        /// EC2's answer.
        #[source]
        cause: Error,
    },
    /// The controller may not do this, or its credentials are not accepted.
    #[error("the launch is not authorised")]
    Unauthorized {
        /// EC2's answer.
        #[source]
        cause: Error,
    },
    /// A launch template that was there a moment ago is gone, twice in a row.
    #[error("a launch template is gone though it was just made; does another controller delete it?")]
    LaunchTemplateNotFound {
        /// EC2's answer.
        #[source]
        cause: Error,
    },
    /// Anything else. Try again later.
    #[error("the launch failed")]
    Other {
        /// EC2's answer.
        #[source]
        cause: Error,
    },
    /// CreateFleet answered with errors that are no shortage.
    #[error("the launch failed: {detail}")]
    Fleet {
        /// A code of the first error.
        code: String,
        /// EC2's words, each once.
        detail: String,
    },
}

impl LaunchError {
    /// Sorts the error of a call.
    pub(super) fn of(cause: Error) -> Self {
        match cause {
            Error::Throttled(_) => Self::Throttled { cause },
            Error::Unauthorized(_)
            | Error::NoCredentials { .. }
            | Error::CredentialsRejected(_)
            | Error::CredentialsExpired(_) => Self::Unauthorized { cause },
            Error::NotFound(ref answer) if answer.code.starts_with("InvalidLaunchTemplate") => {
                Self::LaunchTemplateNotFound { cause }
            }
            _ => Self::Other { cause },
        }
    }

    /// The reason as it stands in a NodeClaim's condition, in Karpenter's words.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::InsufficientCapacity { .. } => "InsufficientCapacityError",
            Self::NodeClassNotReady { .. } => "NodeClassNotReady",
            Self::UserData {
                cause: UserDataError::TooLong { .. },
                ..
            } => "UserDataSizeLimitExceeded",
            Self::UserData { .. } => "NodeClassNotReady",
            Self::Throttled { .. } => "RequestLimitExceeded",
            Self::Unauthorized { .. } => "Unauthorized",
            Self::LaunchTemplateNotFound { .. } => "LaunchTemplateNotFound",
            Self::Other { cause } => reason_of(cause.code(), &cause.to_string()),
            Self::Fleet { code, detail } => reason_of(code, detail),
        }
    }
}

fn reason_of(code: &str, message: &str) -> &'static str {
    match code {
        "AuthFailure.ServiceLinkedRoleCreationNotPermitted" => "SpotSLRCreationFailed",
        "UnauthorizedOperation" | "AccessDenied" | "AuthFailure" => "Unauthorized",
        "InvalidAMIID.Malformed" => "InvalidAMIID",
        "InvalidAMIID.NotFound" => "AMINotFound",
        "InternalError" => "InternalError",
        "PendingVerification" => "AccountPendingVerification",
        _ if message.contains("belong to different networks") => "SecurityGroupSubnetVPCMismatch",
        _ if message.contains("iamInstanceProfile.name is invalid")
            || message.contains("Invalid IAM Instance Profile") =>
        {
            "InstanceProfileNameInvalid"
        }
        _ if message.contains("User data is limited to") => "UserDataSizeLimitExceeded",
        _ if message.contains("not eligible for Free Tier") => "FreeTierIneligible",
        _ => "LaunchFailed",
    }
}
