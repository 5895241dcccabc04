//! Importing by `NAMESPACE/NAME`, or by both as an identity.

use super::identity::ReleaseIdentity;
use super::schema::HelmRelease;
use crate::helm::{ChartSource, Storage};
use crate::provider::Joiner;
use crate::report;
use tfplugin::{Context, Diagnostic, Diagnostics, Field, ImportBy, State};

/// The release; the core reads the rest.
pub(super) async fn import(
    ctx: &Context<Joiner>,
    by: ImportBy<ReleaseIdentity>,
) -> Result<Vec<State<HelmRelease, ReleaseIdentity>>, Diagnostics> {
    let (namespace, name) = names(by)?;
    let data = ctx.ready()?;
    let cluster = data.cluster()?;
    let newest = async { Storage::open(cluster, &namespace, &name).await?.newest().await };
    let Some(record) = newest.await.map_err(|error| report::helm(&error))? else {
        return Err(Diagnostics::error(
            format!("There is no release \"{namespace}/{name}\""),
            format!(
                "{} has no Helm release {name:?} in the namespace {namespace:?}.",
                cluster.label()
            ),
        ));
    };
    if ChartSource::Embedded.known_name().as_deref() != Some(record.chart_name()) {
        ctx.report(Diagnostic::warning(
            "The release is of another chart",
            format!(
                "Release {namespace}/{name} is of the chart {:?}, version {}. A release does not tell where its chart comes from: set chart, and \
                 version for one in a registry. Without chart, the next change would make it a release of Joiner's controller.",
                record.chart_name(),
                record.chart_version()
            ),
        ));
    }
    let model = HelmRelease {
        id: Field::Known(format!("{namespace}/{name}")),
        name: name.into(),
        namespace: namespace.into(),
        set_sensitive: Field::Known(Vec::new()),
        create_namespace: Field::Known(false),
        install_crds: Field::Known(true),
        wait: Field::Known(true),
        timeout: "5m".into(),
        atomic: Field::Known(false),
        history_max: Field::Known(10),
        take_ownership: Field::Known(false),
        adopt: Field::Known(false),
        detect_drift: Field::Known(true),
        allow_orphans: Field::Known(false),
        ..HelmRelease::default()
    };
    Ok(vec![State {
        identity: ReleaseIdentity::of(&model),
        ..State::new(model)
    }])
}

/// Namespace and name.
fn names(by: ImportBy<ReleaseIdentity>) -> Result<(String, String), Diagnostics> {
    let id = match by {
        ImportBy::Id(id) => id,
        ImportBy::Identity(ReleaseIdentity { namespace, name }) => {
            format!("{}/{}", namespace.known_or_default(), name.known_or_default())
        }
    };
    id.split_once('/')
        .filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty() && !name.contains('/'))
        .map(|(namespace, name)| (namespace.to_owned(), name.to_owned()))
        .ok_or_else(|| {
            Diagnostics::error(
                "Not an ID",
                format!("{id:?}: expected NAMESPACE/NAME, such as kube-system/joiner."),
            )
        })
}
