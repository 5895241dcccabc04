//! Importing by `NAMESPACE/NAME`.

use super::schema::HelmRelease;
use crate::helm::Storage;
use crate::provider::Joiner;
use crate::report;
use tfplugin::{Context, Diagnostics, Field, ImportBy, NoIdentity, State};

/// The release with the ID; the core reads the rest.
pub(super) async fn import(
    ctx: &Context<Joiner>,
    by: ImportBy<NoIdentity>,
) -> Result<Vec<State<HelmRelease, NoIdentity>>, Diagnostics> {
    let id = match &by {
        ImportBy::Id(id) => id.as_str(),
        ImportBy::Identity(_) => "",
    };
    let Some((namespace, name)) = id
        .split_once('/')
        .filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty())
    else {
        return Err(Diagnostics::error(
            "Not an ID",
            format!("{id:?}: expected NAMESPACE/NAME, such as kube-system/joiner."),
        ));
    };
    let data = ctx.ready()?;
    let cluster = data.cluster()?;
    let newest = async { Storage::open(cluster, namespace, name).await?.newest().await };
    if newest.await.map_err(|error| report::helm(&error))?.is_none() {
        return Err(Diagnostics::error(
            format!("There is no release {id:?}"),
            format!(
                "{} has no Helm release {name:?} in the namespace {namespace:?}.",
                cluster.label()
            ),
        ));
    }
    let model = HelmRelease {
        name: name.into(),
        namespace: namespace.into(),
        id: id.into(),
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
    Ok(vec![State::new(model)])
}
