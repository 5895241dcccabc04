//! Whether the apply left a Helm release whose pods are not ready: without a controller no pod gets a node, however long one waits.
//!
//! Input: the core's state, and what its plan says of a release, both as JSON. Output: the reasons. Pure but for [`check`].

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::setting::Setting;

/// Refuses to go on without a ready release. One that has got ready since the apply is no reason to end.
///
/// # Errors
/// The releases that are not ready, with what keeps each.
pub(crate) fn check(setting: &Setting) -> Result<()> {
    let state = setting.ask(&["show", "-json"])?;
    let state: Value = serde_json::from_str(&state).context("the core's state is not JSON")?;
    let unready = releases(&state);
    if unready.is_empty() {
        return Ok(());
    }
    let told = reasons(&setting.ask(&["plan", "-json", "-input=false"])?, &unready);
    if told.is_empty() {
        return Ok(());
    }
    bail!(
        "the apply left a release that is not ready, and without it no pod gets a node:\n  {}\nPut that right and run the quickstart again; \
         `joiner sandbox kubectl -- describe pods -A` tells more",
        told.join("\n  ")
    )
}

/// The addresses of releases that were not ready when they were last looked at.
fn releases(state: &Value) -> Vec<String> {
    let resources = state["values"]["root_module"]["resources"].as_array();
    resources
        .into_iter()
        .flatten()
        .filter(|resource| resource["type"] == "joiner_helm_release" && resource["values"]["ready"] == false)
        .filter_map(|resource| resource["address"].as_str().map(str::to_owned))
        .collect()
}

/// What the lines of a plan warn of at these addresses.
fn reasons(lines: &str, addresses: &[String]) -> Vec<String> {
    lines
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|line| {
            let told = &line["diagnostic"];
            let address = told["address"].as_str()?;
            addresses.iter().any(|one| one == address).then(|| {
                let part = |name: &str| told[name].as_str().unwrap_or_default();
                format!("{address}: {}. {}", part("summary"), part("detail"))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_release_that_is_still_not_ready_ends_the_quickstart() {
        let release = |name: &str, ready: bool| json!({ "address": format!("joiner_helm_release.{name}"), "type": "joiner_helm_release", "values": { "ready": ready } });
        let pool = json!({ "address": "joiner_node_pool.p", "type": "joiner_node_pool", "values": { "ready": false } });
        let state = |resources: Value| json!({ "values": { "root_module": { "resources": resources } } });
        assert!(releases(&json!({})).is_empty());
        assert!(releases(&state(json!([release("fine", true), pool]))).is_empty());
        let unready = releases(&state(json!([release("fine", true), release("bad", false)])));
        assert_eq!(unready, ["joiner_helm_release.bad"]);

        let warning = |address: &str| {
            json!({ "@level": "warn", "type": "diagnostic", "diagnostic": {
                "address": address, "summary": "Release x is not ready", "detail": "ErrImagePull",
            } })
            .to_string()
        };
        let of_others = format!("{}\nno JSON\n{{}}", warning("joiner_node_pool.p"));
        assert!(reasons(&of_others, &unready).is_empty(), "it has got ready");
        assert_eq!(
            reasons(&warning("joiner_helm_release.bad"), &unready),
            ["joiner_helm_release.bad: Release x is not ready. ErrImagePull"]
        );
    }
}
