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
    /// Whether a terminated instance is gone at once.
    pub lingering: bool,
}

pub(super) fn answer(account: &Account, action: &str, form: &Form) -> Answer {
    let mut ec2 = account.ec2();
    let field = |name: &str| form.get(name).cloned().unwrap_or_default();
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
                         <tagSet><item><key>karpenter.sh/nodeclaim</key><value>claim-{id}</value></item></tagSet>"
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
                format!("<networkInterfaceId>{id}</networkInterfaceId><subnetId>subnet-a</subnetId><status>{status}</status>")
            });
            items("networkInterfaceSet", interfaces.collect())
        }
        "DeleteNetworkInterface" => {
            ec2.interfaces.remove(&field("NetworkInterfaceId"));
            "<return>true</return>".to_owned()
        }
        "DescribeLaunchTemplates" => {
            let templates = ec2.templates.iter();
            let templates = templates.map(|name| format!("<launchTemplateName>{name}</launchTemplateName>"));
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
