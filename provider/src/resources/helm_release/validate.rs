//! Checks of a configuration, without a cluster or a registry.

use super::documents::merged;
use super::schema::{HelmRelease, SetEntry};
use crate::helm::{ChartSource, HelmError, check_name};
use std::path::Path;
use tfplugin::{AttributePath, Diagnostics, Field};

/// What is wrong, each with its attribute.
pub(super) fn validate(config: &HelmRelease) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new();
    check_source(config, &mut found);
    check_set_names(config, &mut found);
    if found.is_empty()
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
    found.into_result(())
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

fn is_dns_label(name: &str, most: usize) -> bool {
    let inner = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-';
    !name.is_empty()
        && name.len() <= most
        && name.chars().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// The chart's source; `None` while it is unknown. [`validate`] has told what is wrong with it.
pub(super) fn source(release: &HelmRelease) -> Option<Result<ChartSource, HelmError>> {
    let text = |field: &Field<String>| field.decided().map(|value| value.cloned());
    let (chart, version) = (text(&release.chart)?, text(&release.version)?);
    Some(ChartSource::parse(chart.as_deref(), version.as_deref()).map_err(HelmError::Chart))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tfplugin::json::dynamic_from_json;

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
        let unknown = HelmRelease {
            chart: Field::Unknown,
            version: "1".into(),
            values: Field::Unknown,
            name: Field::Unknown,
            ..fine()
        };
        assert!(validate(&unknown).is_ok());
    }
}
