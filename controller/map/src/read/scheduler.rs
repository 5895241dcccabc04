//! Cluster-wide default spread constraints, from the scheduler's own configuration.

use joiner_core::snapshot::{DefaultSpread, InclusionPolicy, Strength};
use serde::Deserialize;
use serde_json::Value;

use super::error::Fault;

/// One constraint as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Constraint {
    topology_key: String,
    max_skew: u32,
    when_unsatisfiable: String,
    min_domains: Option<u32>,
    node_affinity_policy: Option<String>,
    node_taints_policy: Option<String>,
}

/// The constraints of a `KubeSchedulerConfiguration`: those of the first profile's `PodTopologySpread` plugin.
pub(super) fn default_spread(configuration: &Value) -> Result<Vec<DefaultSpread>, Fault> {
    let path = "/profiles/0/pluginConfig";
    let plugins = configuration.pointer(path).and_then(Value::as_array);
    let plugin = plugins
        .into_iter()
        .flatten()
        .find(|plugin| plugin.get("name").and_then(Value::as_str) == Some("PodTopologySpread"));
    let Some(constraints) = plugin.and_then(|plugin| plugin.pointer("/args/defaultConstraints")) else {
        return Ok(Vec::new());
    };
    default_constraints(constraints).map_err(|error| {
        let field = format!(
            "profiles[0].pluginConfig[PodTopologySpread].args.defaultConstraints{}",
            error.path()
        );
        Fault::new(field, error.inner().to_string())
    })
}

/// The constraints alone, as `defaultConstraints` of the scheduler's `PodTopologySpread` plugin has them.
///
/// # Errors
/// Where a field is missing or of the wrong kind, with its path.
pub fn default_constraints(
    list: &Value,
) -> Result<Vec<DefaultSpread>, serde_path_to_error::Error<serde_json::Error>> {
    let written: Vec<Constraint> = serde_path_to_error::deserialize(list)?;
    Ok(written.into_iter().map(constraint).collect())
}

fn constraint(written: Constraint) -> DefaultSpread {
    let policy = |written: Option<&str>, absent| match written {
        Some("Honor") => InclusionPolicy::Honor,
        Some("Ignore") => InclusionPolicy::Ignore,
        _ => absent,
    };
    DefaultSpread {
        topology_key: joiner_core::well_known::normalise(written.topology_key.as_str().into()),
        max_skew: written.max_skew.max(1),
        strength: match written.when_unsatisfiable.as_str() {
            "ScheduleAnyway" => Strength::Preferred,
            _ => Strength::Required,
        },
        min_domains: written.min_domains,
        node_affinity_policy: policy(written.node_affinity_policy.as_deref(), InclusionPolicy::Honor),
        node_taints_policy: policy(written.node_taints_policy.as_deref(), InclusionPolicy::Ignore),
    }
}
