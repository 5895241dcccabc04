//! What the data sources of objects share: finding them, and reading status.

use crate::cluster::{ClusterError, Kind, Objects};
use crate::provider::Joiner;
use crate::report;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use tfplugin::{Context, Diagnostics, Field};

/// The object of this name. One that is not there is an error at `name`.
pub(super) async fn get(ctx: &Context<Joiner>, kind: Kind, name: &str) -> Result<Json, Diagnostics> {
    let data = ctx.ready()?;
    let cluster = data.cluster()?;
    let word = kind.kind().to_owned();
    let failed = |error: ClusterError| report::cluster(&error);
    let found = Objects::all(cluster, kind)
        .await
        .map_err(failed)?
        .get(name)
        .await
        .map_err(failed)?;
    found.ok_or_else(|| {
        let mut missing = Diagnostics::new();
        missing.error_at(
            "name",
            format!("There is no {word}"),
            format!("{} has no {word} {name:?}.", cluster.label()),
        );
        missing
    })
}

/// The objects that have all these labels, by name.
pub(super) async fn list(
    ctx: &Context<Joiner>,
    kind: Kind,
    labels: &BTreeMap<String, String>,
) -> Result<Vec<Json>, Diagnostics> {
    let data = ctx.ready()?;
    let failed = |error: ClusterError| report::cluster(&error);
    let selector: Vec<String> = labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let selector = (!selector.is_empty()).then(|| selector.join(","));
    let objects = Objects::all(data.cluster()?, kind).await.map_err(failed)?;
    let mut found = objects.list(selector.as_deref()).await.map_err(failed)?;
    found.sort_by(|left, right| {
        left["metadata"]["name"]
            .as_str()
            .cmp(&right["metadata"]["name"].as_str())
    });
    Ok(found)
}

/// The conditions of a status: type and `True`, `False` or `Unknown`.
pub(super) fn conditions(object: &Json) -> BTreeMap<String, String> {
    let list = object["status"]["conditions"].as_array().into_iter().flatten();
    list.filter_map(|condition| {
        Some((
            condition["type"].as_str()?.to_owned(),
            condition["status"].as_str()?.to_owned(),
        ))
    })
    .collect()
}

/// A text, null where there is none.
pub(super) fn text(value: &Json) -> Field<String> {
    Field::from_option(value.as_str().filter(|text| !text.is_empty()).map(str::to_owned))
}

/// A map of texts; null where there is none.
pub(super) fn texts(value: &Json) -> Field<BTreeMap<String, String>> {
    match value.as_object() {
        Some(map) => Field::Known(
            map.iter()
                .map(|(key, value)| {
                    (
                        key.clone(),
                        value.as_str().map_or_else(|| value.to_string(), str::to_owned),
                    )
                })
                .collect(),
        ),
        None => Field::Null,
    }
}
