//! Whether the embedded chart, or one on this machine, can be rendered with the values, by Helm itself and without a cluster: what the chart
//! refuses is told in the plan, and not in the middle of the apply. A chart in a registry waits for the apply: a plan pulls nothing.

use super::documents::merged;
use super::refusal::{Refusal, refusals};
use super::schema::HelmRelease;
use super::validate::source;
use crate::helm::{ChartSource, Helm, HelmError, Template, Workspace};
use crate::provider::Joiner;
use serde_json::Value as Json;
use std::time::Duration;
use tfplugin::{AttributePath, CancellationToken, Configured, Context, Diagnostic, Diagnostics};

/// How long Helm gets.
const PATIENCE: Duration = Duration::from_secs(20);

/// Renders a release whose values are all known. What Helm cannot tell here, the apply will.
pub(super) async fn check(
    ctx: &Context<Joiner>,
    config: &HelmRelease,
    planned: &HelmRelease,
) -> Result<(), Diagnostics> {
    let Configured::Ready(data) = ctx.provider() else {
        return Ok(());
    };
    let release = planned.with_secrets(config);
    let (Some(Ok(chart)), Some(Ok(values))) = (source(&release), merged(&release)) else {
        return Ok(());
    };
    if matches!(chart, ChartSource::Oci { .. }) {
        return Ok(());
    }
    let (Some(name), Some(namespace)) = (release.name.as_str(), release.namespace.as_str()) else {
        return Ok(());
    };
    let rendered = render(data, &chart, name, namespace, &values, ctx.cancellation());
    match tokio::time::timeout(PATIENCE, rendered).await {
        Ok(Err(HelmError::Failed { message, .. })) => {
            let refused = refused(&chart, &message, &release);
            if refused.is_error() {
                return Err(refused.into());
            }
            ctx.report(refused);
            Ok(())
        }
        Ok(Err(error)) => {
            tracing::info!(%error, "the chart was not rendered in the plan");
            Ok(())
        }
        Ok(Ok(())) => Ok(()),
        Err(_) => {
            tracing::info!("the chart was not rendered in time for the plan");
            Ok(())
        }
    }
}

async fn render(
    data: &Joiner,
    source: &ChartSource,
    name: &str,
    namespace: &str,
    values: &Json,
    cancel: &CancellationToken,
) -> Result<(), HelmError> {
    let workspace = Workspace::new()?;
    let helm = Helm::open(data.helm()?, &workspace, cancel).await?;
    let chart = source.fetch(&helm, data.registries()?, PATIENCE).await?;
    let template = Template {
        name: name.to_owned(),
        namespace: namespace.to_owned(),
        chart,
        values: workspace.write_values(values)?,
    };
    helm.run(&template.args()).await.map(drop)
}

fn refused(chart: &ChartSource, message: &str, release: &HelmRelease) -> Diagnostic {
    let refusals = refusals(message, chart.schema().as_ref());
    let at = attribute(release, &refusals);
    let reason = if refusals.is_empty() {
        reason(message)
    } else {
        let sentences: Vec<String> = refusals.iter().map(Refusal::sentence).collect();
        sentences.join("; ")
    };
    let ChartSource::Path(path) = chart else {
        return Diagnostic::error(
            "The chart does not take these values",
            format!(
                "The controller's chart cannot be rendered with them: {reason}. Set what it asks for in values, or in set."
            ),
        )
        .at(at);
    };
    let path = path.display();
    if chart.asks_the_cluster() {
        return Diagnostic::warning(
            "The chart may not take these values",
            format!(
                "{path} cannot be rendered without a cluster: {reason}. It asks for what a cluster can do, so the apply may find that it can \
                 be. If not, set what it asks for in values, or in set, or correct the chart."
            ),
        )
        .at(at);
    }
    Diagnostic::error(
        "The chart cannot be rendered",
        format!(
            "{path} cannot be rendered with these values: {reason}. Set what it asks for in values, or in set, or correct the chart."
        ),
    )
    .at(at)
}

/// The entry of `set` that gives what is refused, or `values`.
fn attribute(release: &HelmRelease, refusals: &[Refusal]) -> AttributePath {
    let entries = release.set.known().into_iter().flatten();
    let names: Vec<Option<&str>> = entries.map(|entry| entry.name.as_str()).collect();
    let refused = names.iter().position(|name| {
        refusals
            .iter()
            .any(|refusal| Some(refusal.path.as_str()) == *name)
    });
    match refused {
        Some(index) => AttributePath::from("set").index(index),
        None => "values".into(),
    }
}

/// What the chart itself says, without where in it that is said.
fn reason(message: &str) -> String {
    // Helm's advice how to debug a chart is none for who writes values.
    let text = message.split("\nUse --debug").next().unwrap_or(message);
    let text = text.trim().trim_end_matches('.');
    let own = text.rsplit_once("error calling fail: ").map(|(_, own)| own);
    let own = own.or_else(|| Some(text.split_once("execution error at (")?.1.split_once("): ")?.1));
    own.unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::schema::SetEntry;
    use super::*;
    use tfplugin::Field;

    #[test]
    fn the_charts_own_words_are_told() {
        for (message, want) in [
            (
                "execution error at (joiner/templates/deployment.yaml:70:12): settings.clusterName is empty: set it to the name\nUse --debug flag \
                 to render out invalid YAML",
                "settings.clusterName is empty: set it to the name",
            ),
            (
                "template: joiner/templates/x.yaml:1:2: executing \"x\" at <fail \"no\">: error calling fail: no",
                "no",
            ),
            (
                "values don't meet the specifications",
                "values don't meet the specifications",
            ),
        ] {
            assert_eq!(reason(message), want);
        }
    }

    #[test]
    fn a_refused_value_is_told_where_it_is_set() {
        let entry = |name: &str| SetEntry {
            name: name.into(),
            ..SetEntry::default()
        };
        let release = HelmRelease {
            set: Field::Known(vec![entry("replicas"), entry("settings.nope")]),
            ..HelmRelease::default()
        };
        let at = |message: &str| {
            let told: Diagnostics = refused(&ChartSource::Embedded, message, &release).into();
            (told.paths(), told.to_string())
        };
        let (paths, text) = at("- at '/settings': additional properties 'nope' not allowed");
        assert_eq!(paths, ["set[1]"]);
        assert!(
            text.contains("settings.nope: the chart has no such value"),
            "{text}"
        );
        assert_eq!(
            at("- at '': additional properties 'nope' not allowed").0,
            ["values"]
        );
    }

    #[test]
    fn only_a_chart_that_asks_the_cluster_may_still_be_right() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("Chart.yaml"), "name: x\nversion: 1.0.0\n").expect("written");
        let own = ChartSource::Path(dir.path().to_owned());
        assert!(refused(&ChartSource::Embedded, "x", &HelmRelease::default()).is_error());
        let told = refused(&own, "x", &HelmRelease::default());
        let path = dir.path().display().to_string();
        assert!(told.is_error() && told.detail.contains(&path), "{}", told.detail);
        std::fs::write(
            dir.path().join("a.yaml"),
            "{{ lookup \"v1\" \"Secret\" \"n\" \"s\" }}",
        )
        .expect("written");
        assert!(!refused(&own, "x", &HelmRelease::default()).is_error());
    }
}
