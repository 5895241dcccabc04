//! EC2: instances, interfaces and launch templates of one cluster, as far as a search for leftovers sees them.

use super::{Account, Answer, Form, refused};
use axum::http::StatusCode;
use std::collections::BTreeMap;

/// What EC2 has of the cluster; filters are not looked at.
#[derive(Default)]
pub(crate) struct Ec2 {
    /// By ID: the state.
    pub instances: BTreeMap<String, &'static str>,
    /// By ID: the status.
    pub interfaces: BTreeMap<String, &'static str>,
    /// By name.
    pub templates: Vec<String>,
    /// By ID or name: when it was made, where that matters.
    pub made: BTreeMap<String, &'static str>,
    /// Whether a terminated instance is gone at once.
    pub lingering: bool,
}

pub(super) fn answer(account: &Account, action: &str, form: &Form) -> Answer {
    let mut ec2 = account.ec2();
    let field = |name: &str| form.get(name).cloned().unwrap_or_default();
    let made = ec2.made.clone();
    let made = |element: &str, id: &str| match made.get(id) {
        Some(time) => format!("<{element}>{time}</{element}>"),
        None => String::new(),
    };
    let items = |name: &str, items: Vec<String>| {
        let items: String = items
            .into_iter()
            .map(|item| format!("<item>{item}</item>"))
            .collect();
        format!("<{name}>{items}</{name}>")
    };
    Ok(match action {
        "DescribeInstances" => {
            let instances: Vec<String> = ec2
                .instances
                .iter()
                .map(|(id, state)| {
                    format!(
                        "<instanceId>{id}</instanceId><instanceState><code>0</code><name>{state}</name></instanceState>\
                         {}<tagSet><item><key>karpenter.sh/nodeclaim</key><value>claim-{id}</value></item></tagSet>",
                        made("launchTime", id)
                    )
                })
                .collect();
            items("reservationSet", vec![items("instancesSet", instances)])
        }
        "TerminateInstances" => {
            for n in 1.. {
                let Some(id) = form.get(&format!("InstanceId.{n}")) else {
                    break;
                };
                if ec2.lingering {
                    ec2.instances.insert(id.clone(), "shutting-down");
                } else {
                    ec2.instances.remove(id);
                }
            }
            items("instancesSet", Vec::new())
        }
        "DescribeNetworkInterfaces" => {
            let interfaces = ec2.interfaces.iter().map(|(id, status)| {
                let tagged = match ec2.made.get(id) {
                    Some(time) => format!(
                        "<tagSet><item><key>node.k8s.amazonaws.com/createdAt</key><value>{time}</value></item></tagSet>"
                    ),
                    None => String::new(),
                };
                format!(
                    "<networkInterfaceId>{id}</networkInterfaceId><subnetId>subnet-a</subnetId><status>{status}</status>{tagged}"
                )
            });
            items("networkInterfaceSet", interfaces.collect())
        }
        "DeleteNetworkInterface" => {
            ec2.interfaces.remove(&field("NetworkInterfaceId"));
            "<return>true</return>".to_owned()
        }
        "DescribeLaunchTemplates" => {
            let templates = ec2.templates.iter();
            let templates = templates.map(|name| {
                let made = made("createTime", name);
                format!("<launchTemplateName>{name}</launchTemplateName>{made}")
            });
            items("launchTemplates", templates.collect())
        }
        "DeleteLaunchTemplate" => {
            let gone = field("LaunchTemplateName");
            ec2.templates.retain(|name| *name != gone);
            String::new()
        }
        _ => return Err(refused(StatusCode::BAD_REQUEST, "InvalidAction")),
    })
}
