//! Whether the embedded chart can be rendered with the values, by Helm itself and without a cluster: what the chart refuses is told in the
//! plan, at the values, and not in the middle of the apply.

use super::documents::merged;
use super::schema::HelmRelease;
use super::validate::source;
use crate::helm::{ChartSource, Helm, HelmError, Template, Workspace};
use crate::provider::Joiner;
use serde_json::Value as Json;
use std::time::Duration;
use tfplugin::{CancellationToken, Configured, Context, Diagnostics};

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
    // What is write-only is in the configuration alone.
    let release = HelmRelease {
        set_wo: config.set_wo.clone(),
        ..planned.clone()
    };
    let (Some(Ok(ChartSource::Embedded)), Some(Ok(values))) = (source(&release), merged(&release)) else {
        return Ok(());
    };
    let (Some(name), Some(namespace)) = (release.name.as_str(), release.namespace.as_str()) else {
        return Ok(());
    };
    let rendered = render(data, name, namespace, &values, ctx.cancellation());
    match tokio::time::timeout(PATIENCE, rendered).await {
        Ok(Err(HelmError::Failed { message, .. })) => Err(refused(&message)),
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
    name: &str,
    namespace: &str,
    values: &Json,
    cancel: &CancellationToken,
) -> Result<(), HelmError> {
    let workspace = Workspace::new()?;
    let helm = Helm::open(data.helm()?, &workspace, cancel).await?;
    let chart = ChartSource::Embedded
        .fetch(&helm, data.registries()?, PATIENCE)
        .await?;
    let template = Template {
        name: name.to_owned(),
        namespace: namespace.to_owned(),
        chart,
        values: workspace.write_values(values)?,
    };
    helm.run(&template.args()).await.map(drop)
}

fn refused(message: &str) -> Diagnostics {
    let mut found = Diagnostics::new();
    found.error_at(
        "values",
        "The chart does not take these values",
        format!(
            "The controller's chart cannot be rendered with them: {}. Set what it asks for in values, or in set.",
            reason(message)
        ),
    );
    found
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
        assert_eq!(refused("x").paths(), ["values"]);
    }
}
