//! Whether the embedded chart, or one on this machine, can be rendered with the values, by Helm itself and without a cluster: what the chart
//! refuses is told in the plan, and not in the middle of the apply. A chart in a registry waits for the apply: a plan pulls nothing.

use super::documents::merged;
use super::schema::HelmRelease;
use super::validate::source;
use crate::helm::{ChartSource, Helm, HelmError, Template, Workspace};
use crate::provider::Joiner;
use serde_json::Value as Json;
use std::time::Duration;
use tfplugin::{CancellationToken, Configured, Context, Diagnostic, Diagnostics};

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
            let refused = refused(&chart, &message);
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

fn refused(chart: &ChartSource, message: &str) -> Diagnostic {
    let reason = reason(message);
    let ChartSource::Path(path) = chart else {
        return Diagnostic::error(
            "The chart does not take these values",
            format!(
                "The controller's chart cannot be rendered with them: {reason}. Set what it asks for in values, or in set."
            ),
        )
        .at("values");
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
        .at("values");
    }
    Diagnostic::error(
        "The chart cannot be rendered",
        format!(
            "{path} cannot be rendered with these values: {reason}. Set what it asks for in values, or in set, or correct the chart."
        ),
    )
    .at("values")
}

/// What the chart itself says, without where in it that is said.
fn reason(message: &str) -> String {
    let text = message.trim().trim_end_matches('.');
    let own = text.rsplit_once("error calling fail: ").map(|(_, own)| own);
    let own = own.or_else(|| Some(text.split_once("execution error at (")?.1.split_once("): ")?.1));
    own.unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_charts_own_words_are_told() {
        for (message, want) in [
            (
                "execution error at (joiner/templates/deployment.yaml:70:12): settings.clusterName is empty: set it to the name",
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
    fn only_a_chart_that_asks_the_cluster_may_still_be_right() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("Chart.yaml"), "name: x\nversion: 1.0.0\n").expect("written");
        let own = ChartSource::Path(dir.path().to_owned());
        assert!(refused(&ChartSource::Embedded, "x").is_error());
        let told = refused(&own, "x");
        let path = dir.path().display().to_string();
        assert!(told.is_error() && told.detail.contains(&path), "{}", told.detail);
        std::fs::write(
            dir.path().join("a.yaml"),
            "{{ lookup \"v1\" \"Secret\" \"n\" \"s\" }}",
        )
        .expect("written");
        assert!(!refused(&own, "x").is_error());
    }
}
