//! A node class that is not there.
//!
//! The cluster is asked only where it is known, and only about a class that was not planned before the pool, as one is that the pool refers
//! to. What the cluster does not tell, or not in time, is no finding.

use super::super::ec2_node_class::Ec2NodeClass;
use crate::cluster::{ClusterError, Objects};
use crate::feasible::{Finding, Weight};
use crate::objects::{Custom, Foreseen};
use crate::provider::{Joiner, Part};
use joiner_api::labels::AWS_GROUP;
use std::time::Duration;

/// How long the cluster gets to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Looks for the pool's class.
pub(super) async fn check(data: &Joiner, object: &Foreseen) -> Option<Finding> {
    let reference = ["spec", "template", "spec", "nodeClassRef"];
    let Part::Known(cluster) = &data.cluster else {
        return None;
    };
    if object.is_unknown(&reference) || data.found.brings_definitions() {
        return None;
    }
    let class = &object.json["spec"]["template"]["spec"]["nodeClassRef"];
    let name = class["name"].as_str()?;
    if class["group"] != AWS_GROUP || data.is_class_planned(name) {
        return None;
    }
    let asked = async { Objects::all(cluster, Ec2NodeClass::kind()).await?.get(name).await };
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(None)) => {}
        Ok(Err(ClusterError::KindMissing { .. })) | Ok(Ok(Some(_))) => return None,
        Ok(Err(error)) => {
            tracing::info!(%error, "the pool's node class was not looked for");
            return None;
        }
        Err(_) => {
            tracing::info!("the cluster did not tell of the pool's node class in time");
            return None;
        }
    }
    Some(Finding {
        path: reference.into_iter().chain(["name"]).collect(),
        weight: Weight::Doubtful,
        summary: "There is no such node class",
        detail: format!(
            "The cluster has no EC2NodeClass {name:?}, and none was planned before this pool. If this apply makes it, refer to its name instead \
             of writing it, so that it is made first; if not, correct the name."
        ),
    })
}
