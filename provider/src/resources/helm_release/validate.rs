//! Checks of a configuration, without a cluster or a registry.

use super::documents::merged;
use super::schema::{HelmRelease, SetEntry};
use crate::helm::{ChartSource, HelmError, check_name};
use crate::provider::Joiner;
use joiner_api::rules::is_dns_label;
use std::collections::BTreeMap;
use std::path::Path;
use tfplugin::{AttributePath, Configured, Context, Diagnostic, Diagnostics, Field};

/// What is wrong, each with its attribute.
pub(super) fn validate(config: &HelmRelease) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new();
    check_source(config, &mut found);
    check_set_names(config, &mut found);
    check_repeated(config, &mut found);
    check_pairs(config, &mut found);
    if !found.has_errors()
        && let Some(Err(HelmError::Values(problem))) = merged(config)
    {
        found.error_at("values", "The values cannot be used", format!("{problem}."));
    }
    for (attribute, field, most) in [("name", &config.name, 53), ("namespace", &config.namespace, 63)] {
        if let Some(name) = field.as_str().filter(|name| !is_dns_label(name, most)) {
            found.error_at(
                attribute,
                "Not a name",
                format!(
                    "{name:?}: expected at most {most} lower-case letters, digits and dashes that begin and end with a letter or digit."
                ),
            );
        }
    }
    found.told()
}

fn check_set_names(config: &HelmRelease, found: &mut Diagnostics) {
    let name_of = |entry: &SetEntry| entry.name.clone();
    let names = |list: &Field<Vec<SetEntry>>| list.known().into_iter().flatten().map(name_of).collect();
    let secret = config.set_wo.known().into_iter().flatten();
    let lists: [(&str, Vec<Field<String>>); 3] = [
        ("set", names(&config.set)),
        ("set_sensitive", names(&config.set_sensitive)),
        ("set_wo", secret.map(|entry| entry.name.clone()).collect()),
    ];
    for (attribute, names) in lists {
        for (index, name) in names.iter().enumerate() {
            if let Some(Err(problem)) = name.as_str().map(check_name) {
                found.error_at(
                    AttributePath::from(attribute).index(index).attribute("name"),
                    "Not a place in the values",
                    format!(
                        "{:?}: {problem}. Expected keys with dots between, such as controller.env[0].name; write \\. for a dot within a key.",
                        name.as_str().unwrap_or_default()
                    ),
                );
            }
        }
    }
}

/// A place that is set twice has the later value.
fn check_repeated(config: &HelmRelease, found: &mut Diagnostics) {
    for (attribute, list) in [("set", &config.set), ("set_sensitive", &config.set_sensitive)] {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        let entries = list.known().into_iter().flatten();
        for (index, entry) in entries.enumerate() {
            let Some(name) = entry.name.as_str() else { continue };
            if let Some(before) = first.insert(name, index) {
                found.warn_at(
                    AttributePath::from(attribute).index(index).attribute("name"),
                    "A value is set twice",
                    format!("{attribute}[{before}] sets {name:?}, too, and {attribute}[{index}] wins over it. Remove one of them."),
                );
            }
        }
    }
}

/// Attributes of which one says nothing without the other.
fn check_pairs(config: &HelmRelease, found: &mut Diagnostics) {
    let has_secrets = config.set_wo.known().is_some_and(|entries| !entries.is_empty());
    if has_secrets && config.set_wo_version.is_null() {
        found.warn_at(
            "set_wo",
            "Nothing tells of a new value",
            "A value of set_wo is stored nowhere, so a new one is no change that a plan could see. Set set_wo_version, to 1 for a start, and give \
             it another number with each new value.",
        );
    }
    if config.set_wo.is_null() && config.set_wo_version.is_known() {
        found.warn_at(
            "set_wo_version",
            "A version of nothing",
            "set_wo_version tells when the values of set_wo are new, and there is no set_wo. Set it, or remove set_wo_version.",
        );
    }
    if config.atomic.known() == Some(&true) && config.wait.known() == Some(&false) {
        found.warn_at(
            "atomic",
            "It does not wait for workloads",
            "atomic goes back when workloads do not get ready in time, and with wait = false nobody waits for that: it goes back only when Helm \
             itself fails. Leave wait out, or remove atomic.",
        );
    }
}

/// Warns of a release that this plan has twice: each would change what the other made. Called once for each resource in a plan.
pub(super) fn count(ctx: &Context<Joiner>, config: &HelmRelease) {
    let (Configured::Ready(data), Some(name), Some(namespace)) =
        (ctx.provider(), config.name.as_str(), config.namespace.as_str())
    else {
        return;
    };
    if data.has_release_twice(&format!("{namespace}/{name}")) {
        let told = Diagnostic::warning(
            format!("Release {namespace}/{name} is here twice"),
            format!(
                "Another joiner_helm_release of this configuration has the name {name:?} in the namespace {namespace:?}, too: the one would be \
                 refused, or change what the other made. Give one of them another name, or remove it."
            ),
        );
        ctx.report(told.at("name"));
    }
}

fn check_source(config: &HelmRelease, found: &mut Diagnostics) {
    if config.chart.is_unknown() || config.version.is_unknown() {
        return;
    }
    match ChartSource::parse(config.chart.as_str(), config.version.as_str()) {
        Err(problem) => {
            let attribute = if problem.starts_with("version") { "version" } else { "chart" };
            found.error_at(attribute, "The chart cannot be used", format!("{problem}."));
        }
        Ok(ChartSource::Path(path)) if !is_chart(&path) => found.error_at(
            "chart",
            "There is no chart",
            format!(
                "{} is neither a directory with a Chart.yaml nor an archive. Paths are relative to the working directory; use \
                 \"${{path.module}}/...\" for a chart beside the configuration.",
                path.display()
            ),
        ),
        Ok(_) => {}
    }
}

fn is_chart(path: &Path) -> bool {
    path.is_file() || path.join("Chart.yaml").is_file()
}

/// The chart's source; `None` while it is unknown. [`validate`] has told what is wrong with it.
pub(super) fn source(release: &HelmRelease) -> Option<Result<ChartSource, HelmError>> {
    let text = |field: &Field<String>| field.decided().map(|value| value.cloned());
    let (chart, version) = (text(&release.chart)?, text(&release.version)?);
    Some(ChartSource::parse(chart.as_deref(), version.as_deref()).map_err(HelmError::Chart))
}

#[cfg(test)]
mod tests {
    use super::super::schema::SecretEntry;
    use super::*;
    use crate::provider::JoinerProvider;
    use serde_json::json;
    use tfplugin::json::dynamic_from_json;
    use tfplugin::testing::Core;

    #[test]
    fn wrong_attributes_are_named() {
        let fine = || HelmRelease {
            name: "joiner".into(),
            namespace: "kube-system".into(),
            ..HelmRelease::default()
        };
        for (config, path) in [
            (
                HelmRelease {
                    chart: "/nonexistent".into(),
                    ..fine()
                },
                "chart",
            ),
            (
                HelmRelease {
                    chart: "https://x".into(),
                    ..fine()
                },
                "chart",
            ),
            (
                HelmRelease {
                    version: "1".into(),
                    ..fine()
                },
                "version",
            ),
            (
                HelmRelease {
                    values: Field::Known(dynamic_from_json(&json!(["a: ["]))),
                    ..fine()
                },
                "values",
            ),
            (
                HelmRelease {
                    values: Field::Known(dynamic_from_json(&json!([["x"]]))),
                    ..fine()
                },
                "values",
            ),
            (
                HelmRelease {
                    set: Field::Known(vec![SetEntry {
                        name: "a..b".into(),
                        value: "1".into(),
                        r#type: "auto".into(),
                    }]),
                    ..fine()
                },
                "set[0].name",
            ),
            (
                HelmRelease {
                    name: "Joiner".into(),
                    ..fine()
                },
                "name",
            ),
            (
                HelmRelease {
                    namespace: "-x".into(),
                    ..fine()
                },
                "namespace",
            ),
        ] {
            let found = validate(&config).expect_err(path);
            assert_eq!(found.paths(), [path], "{found}");
        }
        assert!(validate(&fine()).is_ok());
        let entry = |name: &str| SetEntry {
            name: name.into(),
            value: "1".into(),
            r#type: "auto".into(),
        };
        let secret = SecretEntry {
            name: "a".into(),
            value: "b".into(),
            ..SecretEntry::default()
        };
        for (config, path) in [
            (
                HelmRelease {
                    set: Field::Known(vec![entry("replicas"), entry("a"), entry("replicas")]),
                    ..fine()
                },
                "set[2].name",
            ),
            (
                HelmRelease {
                    set_wo: Field::Known(vec![secret.clone()]),
                    ..fine()
                },
                "set_wo",
            ),
            (
                HelmRelease {
                    set_wo_version: Field::Known(1),
                    ..fine()
                },
                "set_wo_version",
            ),
            (
                HelmRelease {
                    atomic: Field::Known(true),
                    wait: Field::Known(false),
                    ..fine()
                },
                "atomic",
            ),
        ] {
            let found = validate(&config).expect_err(path);
            assert!(!found.has_errors(), "{found}");
            assert_eq!(found.paths(), [path], "{found}");
        }
        let paired = HelmRelease {
            set_wo: Field::Known(vec![secret]),
            set_wo_version: Field::Known(1),
            atomic: Field::Known(true),
            ..fine()
        };
        assert!(validate(&paired).is_ok());
        let unknown = HelmRelease {
            chart: Field::Unknown,
            version: "1".into(),
            values: Field::Unknown,
            name: Field::Unknown,
            ..fine()
        };
        assert!(validate(&unknown).is_ok());
    }

    #[tokio::test]
    async fn a_release_that_is_there_twice_is_told() {
        let core = Core::new(JoinerProvider::new())
            .await
            .expect("the schemas are valid");
        let told = async |name: &str| {
            let session = core.resource("joiner_helm_release").expect("the type exists");
            let config = json!({ "name": name, "namespace": "kube-system" });
            session.validate(config).await.expect("valid").paths()
        };
        assert!(
            told("a").await.is_empty() && told("a").await.is_empty(),
            "a mere validation has no plan"
        );
        core.configure(json!({})).await.expect("configured");
        assert!(told("a").await.is_empty() && told("b").await.is_empty());
        assert_eq!(told("a").await, ["name"]);
        core.configure(json!({})).await.expect("configured");
        assert!(told("a").await.is_empty(), "another plan");
    }
}
