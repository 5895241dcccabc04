//! Takes the quickstart down and proves that the emulator's account holds nothing of it.

use anyhow::{Result, bail};
use serde_json::Value;

use super::setting::Setting;
use crate::output;

/// Destroys, then asks the account what is left.
pub(crate) async fn run(setting: &Setting) -> Result<()> {
    setting.core("destroy", &["destroy", "-auto-approve", "-input=false"])?;
    let left = setting.sandbox.emulator("GET", "leftovers", None).await?;
    let found = leftovers(&left);
    if !found.is_empty() {
        bail!("the account still holds:\n  {}", found.join("\n  "));
    }
    output::line("the account holds no instance, launch template, role or instance profile of ours");
    Ok(())
}

/// Every resource in the emulator's answer, as `kind: name`.
fn leftovers(answer: &Value) -> Vec<String> {
    let kinds = answer.as_object().into_iter().flatten();
    kinds
        .flat_map(|(kind, items)| {
            let items = items.as_array().map(Vec::as_slice).unwrap_or_default();
            items.iter().map(move |item| match item.as_str() {
                Some(name) => format!("{kind}: {name}"),
                None => format!("{kind}: {item}"),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::leftovers;

    #[test]
    fn every_item_of_every_kind_counts() {
        let clean = json!({"instances": [], "roles": []});
        assert!(leftovers(&clean).is_empty());
        let dirty = json!({"instances": ["i-1"], "roles": [{"name": "r"}]});
        assert_eq!(leftovers(&dirty), ["instances: i-1", "roles: {\"name\":\"r\"}"]);
    }
}
