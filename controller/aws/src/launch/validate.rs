//! Whether a launch with a node class would be allowed, without one: the template is made (and used by the first real
//! launch), CreateFleet and RunInstances are asked as dry runs.

use super::error::LaunchError;
use super::group::{Group, groups};
use super::launcher::{CREATE_FLEET, Launcher};
use super::order::Order;
use super::request::{create_fleet, tagged};
use crate::error::{Error, Named};
use crate::tags::Tags;
use crate::unavailable::Unavailable;
use aws_sdk_ec2::types as ec2;
use jiff::Timestamp;

const RUN_INSTANCES: &str = "ec2:RunInstances";

/// Outcome of a validation.
#[derive(Debug)]
pub enum Validity {
    /// A launch is allowed.
    Valid,
    /// A launch would be refused; reason and message as they stand in the node class' condition ValidationSucceeded.
    Invalid {
        /// In Karpenter's words, such as `CreateFleetAuthCheckFailed`.
        reason: &'static str,
        /// Which call, and AWS' words.
        message: String,
    },
    /// AWS could not say; ask again later.
    Unknown {
        /// Why not.
        cause: LaunchError,
    },
}

impl Launcher {
    /// Validates an order that is never carried out; its claim may be made up. The first of the plan's choices counts.
    pub async fn validate(&self, order: &Order<'_>, now: Timestamp) -> Validity {
        let subnets = self.addresses().choose(order.class, &Unavailable::default(), now);
        let group = match groups(order, &subnets) {
            Ok(mut groups) => groups.swap_remove(0),
            Err(cause) => return refused_early(cause),
        };
        if let Err(error) = self.templates.ensure(&self.aws, &group.template, now).await {
            return judge(error, "CreateLaunchTemplateAuthCheckFailed");
        }
        let tags = self.aws.with_default_tags(&order.tags());
        if let Err(error) = self.try_fleet(order, &group, &tags).await {
            return judge(error, "CreateFleetAuthCheckFailed");
        }
        match self.try_instances(order, &group, &tags).await {
            Ok(()) => Validity::Valid,
            Err(error) => judge(error, "RunInstancesAuthCheckFailed"),
        }
    }

    async fn try_fleet(&self, order: &Order<'_>, group: &Group, tags: &Tags) -> Result<(), Error> {
        let client = self.aws.ec2().await?;
        let call = create_fleet(client, order, std::slice::from_ref(group), tags, 0).dry_run(true);
        dry(call.send().await.named(CREATE_FLEET))
    }

    async fn try_instances(&self, order: &Order<'_>, group: &Group, tags: &Tags) -> Result<(), Error> {
        let client = self.aws.ec2().await?;
        let kind = group
            .overrides
            .first()
            .map(|choice| choice.instance_type.as_str())
            .unwrap_or_default();
        let mut first = Ok(());
        for (index, subnet) in order.class.subnets.iter().enumerate() {
            let call = client
                .run_instances()
                .dry_run(true)
                .min_count(1)
                .max_count(1)
                .instance_type(kind.into())
                .launch_template(
                    ec2::LaunchTemplateSpecification::builder()
                        .launch_template_name(group.template.name())
                        .version("$Latest")
                        .build(),
                )
                .network_interfaces(
                    ec2::InstanceNetworkInterfaceSpecification::builder()
                        .device_index(0)
                        .subnet_id(&subnet.id)
                        .set_groups(Some(order.class.security_groups.clone()))
                        .build(),
                )
                .tag_specifications(tagged(ec2::ResourceType::Instance, tags))
                .tag_specifications(tagged(ec2::ResourceType::Volume, tags))
                .tag_specifications(tagged(ec2::ResourceType::NetworkInterface, tags));
            let result = dry(call.send().await.named(RUN_INSTANCES));
            if result.is_ok() {
                return Ok(());
            }
            if index == 0 {
                first = result;
            }
        }
        first
    }
}

fn dry<T>(result: Result<T, Error>) -> Result<(), Error> {
    match result {
        Ok(_) | Err(Error::DryRun(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

fn judge(error: Error, reason: &'static str) -> Validity {
    match &error {
        Error::Unauthorized(answer) => Validity::Invalid {
            reason,
            message: answer.to_string(),
        },
        Error::Refused(answer) if answer.message.contains("User data is limited to") => Validity::Invalid {
            reason: "UserDataSizeLimitExceeded",
            message: answer.to_string(),
        },
        _ => Validity::Unknown {
            cause: LaunchError::of(error),
        },
    }
}

fn refused_early(cause: LaunchError) -> Validity {
    use crate::userdata::UserDataError;
    let reason = match &cause {
        LaunchError::UserData { cause, .. } => match cause {
            UserDataError::TooLong { .. } => "UserDataSizeLimitExceeded",
            UserDataError::NoServiceCidr => "ClusterCIDRResolutionFailed",
            UserDataError::Kubelet { .. } => "UnsupportedKubeletConfiguration",
            UserDataError::Custom { .. } | UserDataError::Family { .. } => "DependenciesNotReady",
        },
        _ => "DependenciesNotReady",
    };
    let detail = match &cause {
        LaunchError::UserData { cause, .. } => format!(": {cause}"),
        _ => String::new(),
    };
    Validity::Invalid {
        reason,
        message: format!("{cause}{detail}"),
    }
}
