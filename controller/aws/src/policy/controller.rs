//! What the controller may do: launch and end what carries the cluster's tags, look around in its region, hand the node
//! role to EC2, keep instance profiles of the cluster, read its queue. The tag keys are those of [`crate::tags`].

use super::trust::ec2_service;
use super::{Document, Statement};
use crate::tags;
use serde_json::Value as Json;

/// The facts that the policy is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    /// `aws`, `aws-cn`, `aws-us-gov`, ...
    pub partition: String,
    /// Region of the cluster.
    pub region: String,
    /// Twelve digits.
    pub account: String,
    /// Name of the cluster.
    pub cluster: String,
    /// ARN of the queue of interruption events; none: no statement for it.
    pub queue_arn: Option<String>,
    /// ARNs of the roles that nodes may have.
    pub node_role_arns: Vec<String>,
    /// False where node classes name existing instance profiles only.
    pub manages_profiles: bool,
}

/// What a policy of the controller says of the facts that it was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    /// ARN of the queue of interruption events.
    pub queue_arn: Option<String>,
    /// ARNs of the roles that nodes may have.
    pub node_role_arns: Vec<String>,
    /// Whether instance profiles may be made.
    pub manages_profiles: bool,
    /// The region of the cluster.
    pub region: Option<String>,
}

const CLUSTER: &str = "Cluster";
const QUEUE: &str = "InterruptionQueue";
const PASS_ROLE: &str = "PassNodeRole";
const CREATE_PROFILES: &str = "CreateProfiles";

/// Reads a document that [`controller`] made, by the names of its statements; `None` for a text that is no policy.
pub fn granted(document: &str) -> Option<Granted> {
    let document: Json = serde_json::from_str(document).ok()?;
    let statements = document["Statement"].as_array()?;
    let named = |sid: &str| statements.iter().find(|statement| statement["Sid"] == sid);
    let resources = |sid: &str| -> Vec<String> {
        let resource = named(sid).map(|statement| &statement["Resource"]);
        let texts = match resource {
            Some(Json::Array(items)) => items.iter().collect(),
            other => Vec::from_iter(other),
        };
        texts
            .into_iter()
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect()
    };
    Some(Granted {
        queue_arn: resources(QUEUE).pop(),
        node_role_arns: resources(PASS_ROLE),
        manages_profiles: named(CREATE_PROFILES).is_some(),
        region: resources(CLUSTER)
            .pop()
            .and_then(|arn| arn.split(':').nth(3).map(str::to_owned)),
    })
}

/// The policy of the controller, least privilege by tag conditions.
pub fn controller(facts: &Controller) -> Document {
    let mut statements = launch(facts);
    statements.extend(terminate(facts));
    statements.extend(discover(facts));
    statements.extend(identity(facts));
    statements.push(Statement::allow(
        CLUSTER,
        &["eks:DescribeCluster"],
        vec![format!(
            "arn:{}:eks:{}:{}:cluster/{}",
            facts.partition, facts.region, facts.account, facts.cluster
        )],
    ));
    if let Some(queue) = &facts.queue_arn {
        statements.push(Statement::allow(
            QUEUE,
            &["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"],
            vec![queue.clone()],
        ));
    }
    Document::new(statements)
}

fn launch(facts: &Controller) -> Vec<Statement> {
    let created = [
        "fleet",
        "instance",
        "volume",
        "network-interface",
        "launch-template",
        "spot-instances-request",
    ];
    let created = ec2(facts, &facts.account, &created);
    let mut shared = ec2(facts, "", &["image", "snapshot"]);
    shared.extend(ec2(
        facts,
        "*",
        &[
            "security-group",
            "subnet",
            "capacity-reservation",
            "placement-group",
        ],
    ));
    vec![
        Statement::allow(
            "LaunchFromShared",
            &["ec2:RunInstances", "ec2:CreateFleet"],
            shared,
        ),
        owned(
            RESOURCE,
            facts,
            Statement::allow(
                "LaunchFromOwnTemplates",
                &["ec2:RunInstances", "ec2:CreateFleet"],
                ec2(facts, "*", &["launch-template"]),
            ),
        ),
        ours(
            facts,
            Statement::allow(
                "LaunchTagged",
                &["ec2:RunInstances", "ec2:CreateFleet", "ec2:CreateLaunchTemplate"],
                created.clone(),
            ),
        ),
        ours(
            facts,
            Statement::allow("TagAtLaunch", &["ec2:CreateTags"], created),
        )
        .when(
            "StringEquals",
            "ec2:CreateAction",
            &["CreateFleet", "CreateLaunchTemplate", "RunInstances"],
        ),
        owned(
            RESOURCE,
            facts,
            Statement::allow(
                "TagLater",
                &["ec2:CreateTags"],
                ec2(facts, &facts.account, &["instance"]),
            ),
        )
        .when(
            "StringEqualsIfExists",
            &tag(REQUEST, tags::CLUSTER),
            &[&facts.cluster],
        )
        .when(
            "ForAllValues:StringEquals",
            "aws:TagKeys",
            &[tags::CLUSTER, tags::NODE_CLAIM, tags::NAME],
        ),
    ]
}

fn terminate(facts: &Controller) -> Vec<Statement> {
    vec![owned(
        RESOURCE,
        facts,
        Statement::allow(
            "TerminateOwn",
            &["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
            ec2(facts, &facts.account, &["instance", "launch-template"]),
        ),
    )]
}

fn discover(facts: &Controller) -> Vec<Statement> {
    vec![
        Statement::allow(
            "LookAroundInRegion",
            &[
                "ec2:DescribeAvailabilityZones",
                "ec2:DescribeCapacityReservations",
                "ec2:DescribeImages",
                "ec2:DescribeInstanceStatus",
                "ec2:DescribeInstanceTypeOfferings",
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeInstances",
                "ec2:DescribeLaunchTemplates",
                "ec2:DescribePlacementGroups",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSpotPriceHistory",
                "ec2:DescribeSubnets",
            ],
            vec!["*".to_owned()],
        )
        .when("StringEquals", "aws:RequestedRegion", &[&facts.region]),
        Statement::allow(
            "PublicParameters",
            &["ssm:GetParameter"],
            vec![format!(
                "arn:{}:ssm:{}::parameter/aws/service/*",
                facts.partition, facts.region
            )],
        ),
        Statement::allow("Prices", &["pricing:GetProducts"], vec!["*".to_owned()]),
    ]
}

fn identity(facts: &Controller) -> Vec<Statement> {
    let Controller {
        partition,
        region,
        account,
        cluster,
        node_role_arns,
        manages_profiles,
        queue_arn: _,
    } = facts;
    let mut statements = Vec::new();
    if !node_role_arns.is_empty() {
        let mut roles = node_role_arns.clone();
        roles.sort();
        roles.dedup();
        statements.push(Statement::allow(PASS_ROLE, &["iam:PassRole"], roles).when(
            "StringEquals",
            "iam:PassedToService",
            &[ec2_service(partition)],
        ));
    }
    let profiles = || vec![format!("arn:{partition}:iam::{account}:instance-profile/*")];
    statements.push(Statement::allow(
        "ReadProfiles",
        &["iam:GetInstanceProfile"],
        profiles(),
    ));
    if !manages_profiles {
        return statements;
    }
    let of_class = |whose: &str, statement: Statement| {
        statement
            .when("StringEquals", &tag(whose, &tags::owned_key(cluster)), &["owned"])
            .when("StringEquals", &tag(whose, tags::REGION), &[region])
            .when("StringLike", &tag(whose, tags::NODE_CLASS), &["*"])
    };
    let request = |statement: Statement| {
        of_class(REQUEST, statement).when("StringEquals", &tag(REQUEST, tags::CLUSTER), &[cluster])
    };
    let resource = |statement: Statement| of_class(RESOURCE, statement);
    statements.push(Statement::allow(
        "ListProfiles",
        &["iam:ListInstanceProfiles"],
        vec!["*".to_owned()],
    ));
    statements.push(request(Statement::allow(
        CREATE_PROFILES,
        &["iam:CreateInstanceProfile"],
        profiles(),
    )));
    statements.push(request(resource(Statement::allow(
        "TagProfiles",
        &["iam:TagInstanceProfile"],
        profiles(),
    ))));
    statements.push(resource(Statement::allow(
        "ChangeProfiles",
        &[
            "iam:AddRoleToInstanceProfile",
            "iam:DeleteInstanceProfile",
            "iam:RemoveRoleFromInstanceProfile",
        ],
        profiles(),
    )));
    statements
}

/// The tags that a call sets.
const REQUEST: &str = "aws:RequestTag";
/// The tags of what a call is about.
const RESOURCE: &str = "aws:ResourceTag";

fn tag(whose: &str, key: &str) -> String {
    format!("{whose}/{key}")
}

/// Only with tags that say: it belongs to this cluster, and to a pool.
fn owned(whose: &str, facts: &Controller, statement: Statement) -> Statement {
    statement
        .when(
            "StringEquals",
            &tag(whose, &tags::owned_key(&facts.cluster)),
            &["owned"],
        )
        .when("StringLike", &tag(whose, tags::NODE_POOL), &["*"])
}

/// Only where the call sets those tags, and the cluster's name.
fn ours(facts: &Controller, statement: Statement) -> Statement {
    owned(REQUEST, facts, statement).when("StringEquals", &tag(REQUEST, tags::CLUSTER), &[&facts.cluster])
}

fn ec2(facts: &Controller, account: &str, kinds: &[&str]) -> Vec<String> {
    let Controller {
        partition, region, ..
    } = facts;
    kinds
        .iter()
        .map(|kind| format!("arn:{partition}:ec2:{region}:{account}:{kind}/*"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Controller {
        Controller {
            partition: "aws".to_owned(),
            region: "eu-central-1".to_owned(),
            account: "123456789012".to_owned(),
            cluster: "dev".to_owned(),
            queue_arn: Some("arn:aws:sqs:eu-central-1:123456789012:dev".to_owned()),
            node_role_arns: vec!["arn:aws:iam::123456789012:role/dev-node".to_owned()],
            manages_profiles: true,
        }
    }

    #[test]
    fn the_policy_stays_as_reviewed() {
        insta::assert_json_snapshot!(controller(&facts()));
    }

    #[test]
    fn it_fits_into_one_managed_policy() {
        let facts = Controller {
            cluster: "c".repeat(100),
            region: "ap-southeast-2".to_owned(),
            ..facts()
        };
        let length = controller(&facts).to_json().len();
        assert!(
            length <= 10_240,
            "{length} characters are too many for the inline policies of a role"
        );
    }

    #[test]
    fn a_policy_tells_what_it_was_made_for() {
        for (queue, roles, manages) in [(true, 2, true), (false, 0, false)] {
            let arn = "arn:aws:iam::123456789012:role/b".to_owned();
            let mut facts = facts();
            facts.node_role_arns.push(arn);
            facts.node_role_arns.truncate(roles);
            facts.queue_arn = facts.queue_arn.filter(|_| queue);
            facts.manages_profiles = manages;
            facts.node_role_arns.sort();
            let want = Granted {
                queue_arn: facts.queue_arn.clone(),
                node_role_arns: facts.node_role_arns.clone(),
                manages_profiles: manages,
                region: Some(facts.region.clone()),
            };
            assert_eq!(granted(&controller(&facts).to_json()), Some(want));
        }
        // Written by hand, with a text where a list may be.
        let by_hand = r#"{"Statement":[{"Sid":"PassNodeRole","Resource":"arn:aws:iam::1:role/a"}]}"#;
        assert_eq!(
            granted(by_hand).map(|granted| granted.node_role_arns),
            Some(vec!["arn:aws:iam::1:role/a".to_owned()])
        );
        assert_eq!(granted("x"), None);
    }

    #[test]
    fn statements_follow_the_facts() {
        let sids = |facts: &Controller| -> Vec<String> {
            controller(facts)
                .statements()
                .iter()
                .map(|statement| statement.sid.clone())
                .collect()
        };
        let all = sids(&facts());
        let without_queue = sids(&Controller {
            queue_arn: None,
            ..facts()
        });
        assert!(all.contains(&"InterruptionQueue".to_owned()));
        assert!(!without_queue.contains(&"InterruptionQueue".to_owned()));
        let own_profiles = sids(&Controller {
            manages_profiles: false,
            ..facts()
        });
        assert!(own_profiles.contains(&"ReadProfiles".to_owned()));
        assert!(!own_profiles.contains(&"CreateProfiles".to_owned()));
        let mut unique = all.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), all.len());
    }

    #[test]
    fn every_right_to_change_is_bound_to_tags_or_to_names() {
        for statement in controller(&facts()).statements() {
            let reads = statement.action.iter().all(|action| {
                let name = action.split(':').nth(1).unwrap_or_default();
                ["Describe", "Get", "List"]
                    .iter()
                    .any(|verb| name.starts_with(verb))
            });
            let named = !statement.resource.iter().any(|arn| arn == "*");
            assert!(reads || named, "{}", statement.sid);
            assert!(
                reads
                    || !statement.condition.is_empty()
                    || ["LaunchFromShared", "InterruptionQueue"].contains(&statement.sid.as_str()),
                "{}",
                statement.sid
            );
        }
    }
}
