//! Reading: what is there, in the words of the state where it means the same.

use super::custom::{Custom, object_of};
use super::identity::ObjectIdentity;
use super::live::{Target, is_ready};
use super::respell::{Extent, respell};
use crate::cluster::{ADDRESS, Cluster, uid};
use crate::provider::Joiner;
use crate::{forecast, report};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use tfplugin::json::from_json;
use tfplugin::{Context, Diagnostic, Diagnostics, Field, State};

/// The state of the object now; `None` when it is gone. While the cluster is unknown the state stays as it is.
pub(crate) async fn read<M: Custom>(
    ctx: &Context<Joiner>,
    state: State<M, ObjectIdentity>,
) -> Result<Option<State<M, ObjectIdentity>>, Diagnostics> {
    let data = ctx.ready()?;
    if data.cluster.is_unknown() {
        return Ok(Some(state));
    }
    let cluster = data.cluster()?;
    let name = state.model.common().name().to_owned();
    if let Some(warning) = other_cluster(cluster, &state).await? {
        data.saw(&M::kind(), &name, None);
        ctx.report(warning);
        return Ok(None);
    }
    let target = Target {
        cluster,
        kind: M::kind(),
        name: &name,
    };
    let live = target.get().await.map_err(|error| report::cluster(&error))?;
    data.saw(&M::kind(), &name, live.as_ref().and_then(uid));
    let Some(live) = live else { return Ok(None) };
    if !live["metadata"]["deletionTimestamp"].is_null() {
        ctx.report(Diagnostic::warning(
            format!("{} {name} is being deleted", M::kind().kind()),
            "Someone deleted it, and it goes when nothing holds it any more. The next plan after that creates it again.",
        ));
    }
    let cluster_uid = cluster.uid().await.map_err(|error| report::cluster(&error))?;
    let mut model = merge(&state.model, &live, cluster_uid)?;
    let address = cluster.address().await.map_err(|error| report::cluster(&error))?;
    let mut private = state.private;
    private.set(ADDRESS, &address)?;
    forecast::refresh(data.as_ref(), cluster, &live, &mut model).await;
    Ok(Some(State {
        identity: ObjectIdentity::of(&model.common().name),
        model,
        private,
    }))
}

/// A warning when the state's cluster was replaced by the one that the provider reaches; an error when it is another one.
pub(super) async fn other_cluster<M: Custom>(
    cluster: &Cluster,
    state: &State<M, ObjectIdentity>,
) -> Result<Option<Diagnostic>, Diagnostics> {
    let common = state.model.common();
    let address = state.private.get::<String>(ADDRESS);
    let compared = cluster
        .compare(common.cluster_uid.as_str(), address.as_deref())
        .await
        .map_err(|error| report::cluster(&error))?;
    report::elsewhere(&format!("{} {:?}", M::kind().kind(), common.name()), compared)
}

/// The live object as a model, in the words of `prior`.
pub(super) fn merge<M: Custom>(prior: &M, live: &Json, cluster_uid: Option<&str>) -> Result<M, Diagnostics> {
    let imported = prior.common().uid.as_str().is_none();
    let extent = if imported {
        Extent::Everything
    } else {
        Extent::Configured
    };
    let before = object_of(prior)?;
    let mut prior_spec = M::from_spec(before.json["spec"].clone());
    if imported {
        prior_spec = Json::Null;
    }
    let live_spec = M::from_spec(live["spec"].clone());
    let spec = respell("", &prior_spec, &live_spec, extent);
    let mut model = from_json::<M>(&without_nulls(spec))?.model;
    let metadata = &live["metadata"];
    let labels = names(&prior.common().labels, &metadata["labels"], extent);
    let annotations = names(&prior.common().annotations, &metadata["annotations"], extent);
    let (wait, timeouts) = (prior.common().wait.clone(), prior.common().timeouts.clone());
    let (adopt, force_conflicts) = (prior.common().adopt, prior.common().force_conflicts);
    let name = prior.common().name.clone();
    let merged = model.common_mut();
    merged.labels = labels;
    merged.annotations = annotations;
    merged.wait = wait;
    merged.timeouts = timeouts;
    merged.adopt = if adopt.is_null() {
        Field::Known(false)
    } else {
        adopt
    };
    merged.force_conflicts = force_conflicts;
    merged.id = name.clone();
    merged.name = name;
    merged.uid = Field::from_option(uid(live).map(str::to_owned));
    merged.cluster_uid = Field::from_option(cluster_uid.map(str::to_owned));
    merged.ready = Field::Known(is_ready(live));
    forecast::kept(prior, &mut model);
    Ok(model)
}

/// Labels or annotations: the keys that the state has, or on import all but those that controllers write.
fn names(
    prior: &Field<BTreeMap<String, String>>,
    live: &Json,
    extent: Extent,
) -> Field<BTreeMap<String, String>> {
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let live: BTreeMap<String, String> = live
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), text(value)?)))
        .collect();
    match (prior.known(), extent) {
        (Some(prior), Extent::Configured) => Field::Known(
            live.into_iter()
                .filter(|(key, _)| prior.contains_key(key))
                .collect(),
        ),
        (None, Extent::Configured) => Field::Null,
        (_, Extent::Everything) => {
            let kept: BTreeMap<String, String> =
                live.into_iter().filter(|(key, _)| !is_foreign(key)).collect();
            if kept.is_empty() {
                Field::Null
            } else {
                Field::Known(kept)
            }
        }
    }
}

/// Keys that a controller or a tool writes, and no user.
fn is_foreign(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    ["karpenter.sh", "karpenter.k8s.aws", "kubernetes.io", "k8s.io"]
        .iter()
        .any(|own| domain == *own || domain.strip_suffix(own).is_some_and(|head| head.ends_with('.')))
}

/// Nulls say that a field is absent; a model has null for it either way.
pub(crate) fn without_nulls(value: Json) -> Json {
    match value {
        Json::Object(map) => Json::Object(
            map.into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, without_nulls(value)))
                .collect(),
        ),
        Json::Array(items) => Json::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}
