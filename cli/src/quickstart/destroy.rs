//! Takes the quickstart down and proves that the emulator's account holds nothing of its cluster. What other clusters of the sandbox have is
//! theirs.

use anyhow::{Context as _, Result, bail};
use serde_json::Value as Json;

use super::setting::{CLUSTER, Setting};
use crate::output;

/// Destroys, then asks the account what is left.
pub(crate) async fn run(setting: &Setting) -> Result<()> {
    let clusters = clusters(&setting.ask(&["state", "pull"])?)?;
    setting
        .core("destroy", &["destroy", "-auto-approve", "-input=false"])
        .await?;
    let mut left = Vec::new();
    for cluster in &clusters {
        left.extend(setting.sandbox.leftovers_of(cluster).await?);
    }
    if !left.is_empty() {
        bail!("the account still holds:\n  {}", left.join("\n  "));
    }
    output::line(&format!(
        "the account holds no instance, launch template, role or instance profile of {}",
        clusters.join(" and ")
    ));
    Ok(())
}

/// The names of the clusters in a state; that of the example where the state has none.
fn clusters(state: &str) -> Result<Vec<String>> {
    let state: Json = match state.trim() {
        "" => Json::Null,
        text => serde_json::from_str(text).context("the state is not JSON")?,
    };
    let all = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let resources = all(&state["resources"]);
    let names: Vec<String> = resources
        .iter()
        .filter(|resource| resource["type"] == "sandbox_cluster")
        .flat_map(|resource| all(&resource["instances"]))
        .filter_map(|instance| instance["attributes"]["name"].as_str().map(str::to_owned))
        .collect();
    Ok(if names.is_empty() {
        vec![CLUSTER.to_owned()]
    } else {
        names
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_names_the_cluster() {
        let state = r#"{ "resources": [
            { "type": "joiner_node_pool", "instances": [{ "attributes": { "name": "default" } }] },
            { "type": "sandbox_cluster", "instances": [{ "attributes": { "name": "own" } }] }
        ] }"#;
        assert_eq!(clusters(state).expect("a state"), ["own"]);
        for empty in ["", "{\"resources\": []}"] {
            assert_eq!(clusters(empty).expect("no state"), [CLUSTER]);
        }
        assert!(clusters("x").is_err());
    }
}
