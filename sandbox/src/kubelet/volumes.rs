//! A pod's volumes as folders: what is to be written (pure), and writing it.
//!
//! Known: configMap, secret, projected (configMap, secret, downwardAPI, serviceAccountToken), downwardAPI, emptyDir,
//! hostPath. Others are named in the error, and the pod waits.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use k8s_openapi::api::core::v1::{
    Container, DownwardAPIVolumeFile, KeyToPath, Pod, Volume, VolumeProjection,
};

use super::environment::Sources;
use super::fields::{self, Facts};
use super::token;

/// What a volume needs on disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Content {
    /// Path below the volume's folder, and bytes.
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) tokens: Vec<token::Wanted>,
    /// The folder lies elsewhere on this machine.
    pub(super) elsewhere: Option<PathBuf>,
}

/// The config maps and secrets that a pod's volumes and environments name.
pub(super) fn references(pod: &Pod) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut maps, mut secrets) = (BTreeSet::new(), BTreeSet::new());
    let Some(spec) = &pod.spec else {
        return (maps, secrets);
    };
    for volume in spec.volumes.iter().flatten() {
        maps.extend(volume.config_map.iter().map(|source| source.name.clone()));
        secrets.extend(
            volume
                .secret
                .iter()
                .filter_map(|source| source.secret_name.clone()),
        );
        for source in volume
            .projected
            .iter()
            .flat_map(|projected| projected.sources.iter().flatten())
        {
            maps.extend(source.config_map.iter().map(|source| source.name.clone()));
            secrets.extend(source.secret.iter().map(|source| source.name.clone()));
        }
    }
    for container in spec
        .containers
        .iter()
        .chain(spec.init_containers.iter().flatten())
    {
        for from in container.env_from.iter().flatten() {
            maps.extend(from.config_map_ref.iter().map(|source| source.name.clone()));
            secrets.extend(from.secret_ref.iter().map(|source| source.name.clone()));
        }
        for from in container
            .env
            .iter()
            .flatten()
            .filter_map(|variable| variable.value_from.as_ref())
        {
            maps.extend(from.config_map_key_ref.iter().map(|source| source.name.clone()));
            secrets.extend(from.secret_key_ref.iter().map(|source| source.name.clone()));
        }
    }
    (maps, secrets)
}

/// What the volume needs; `folder` is where it will lie. The error is the text of a `FailedMount` event.
pub(super) fn content(
    volume: &Volume,
    folder: &Path,
    facts: &Facts<'_>,
    sources: &Sources,
) -> Result<Content, String> {
    let mut content = Content::default();
    if let Some(source) = &volume.config_map {
        let optional = source.optional == Some(true);
        content.files = keyed(
            "configmap",
            &sources.config_maps,
            &source.name,
            source.items.as_deref(),
            optional,
        )?;
    } else if let Some(source) = &volume.secret {
        let name = source.secret_name.as_deref().unwrap_or_default();
        let optional = source.optional == Some(true);
        content.files = keyed(
            "secret",
            &sources.secrets,
            name,
            source.items.as_deref(),
            optional,
        )?;
    } else if let Some(source) = &volume.downward_api {
        content.files = downward(source.items.as_deref().unwrap_or_default(), facts)?;
    } else if let Some(source) = &volume.projected {
        for projection in source.sources.iter().flatten() {
            project(projection, folder, facts, sources, &mut content)?;
        }
    } else if let Some(source) = &volume.host_path {
        content.elsewhere = Some(PathBuf::from(&source.path));
    } else if volume.empty_dir.is_none() {
        return Err(format!(
            "volume {:?} is of a kind that the sandbox's system node does not have (it has configMap, secret, projected, downwardAPI, emptyDir, hostPath)",
            volume.name
        ));
    }
    match content.files.keys().find(|path| !stays_below(path)) {
        Some(path) => Err(format!(
            "volume {:?} holds the path {path:?}, which leads out of it",
            volume.name
        )),
        None => Ok(content),
    }
}

fn project(
    projection: &VolumeProjection,
    folder: &Path,
    facts: &Facts<'_>,
    sources: &Sources,
    content: &mut Content,
) -> Result<(), String> {
    if let Some(source) = &projection.config_map {
        let optional = source.optional == Some(true);
        content.files.extend(keyed(
            "configmap",
            &sources.config_maps,
            &source.name,
            source.items.as_deref(),
            optional,
        )?);
    }
    if let Some(source) = &projection.secret {
        let optional = source.optional == Some(true);
        content.files.extend(keyed(
            "secret",
            &sources.secrets,
            &source.name,
            source.items.as_deref(),
            optional,
        )?);
    }
    if let Some(source) = &projection.downward_api {
        content
            .files
            .extend(downward(source.items.as_deref().unwrap_or_default(), facts)?);
    }
    if let Some(source) = &projection.service_account_token {
        if !stays_below(&source.path) {
            return Err(format!(
                "the token's path {:?} leads out of its volume",
                source.path
            ));
        }
        content.tokens.push(token::Wanted {
            audience: source.audience.clone().filter(|audience| !audience.is_empty()),
            expiration: source.expiration_seconds.unwrap_or(3600),
            file: token::file(folder, &source.path),
        });
    }
    Ok(())
}

fn keyed(
    kind: &str,
    sources: &BTreeMap<String, BTreeMap<String, Vec<u8>>>,
    name: &str,
    items: Option<&[KeyToPath]>,
    optional: bool,
) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let Some(found) = sources.get(name) else {
        return if optional {
            Ok(BTreeMap::new())
        } else {
            Err(format!("{kind} {name:?} not found"))
        };
    };
    let Some(items) = items.filter(|items| !items.is_empty()) else {
        return Ok(found.clone());
    };
    let mut files = BTreeMap::new();
    for item in items {
        match found.get(&item.key) {
            Some(bytes) => {
                files.insert(item.path.clone(), bytes.clone());
            }
            None if optional => {}
            None => return Err(format!("{kind} {name:?} has no key {:?}", item.key)),
        }
    }
    Ok(files)
}

fn downward(items: &[DownwardAPIVolumeFile], facts: &Facts<'_>) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let nobody = Container::default();
    let value = |item: &DownwardAPIVolumeFile| match (&item.field_ref, &item.resource_field_ref) {
        (Some(selector), _) => fields::field(facts, &selector.field_path),
        (None, Some(selector)) => fields::resource(facts, &nobody, selector),
        (None, None) => Ok(String::new()),
    };
    items
        .iter()
        .map(|item| Ok((item.path.clone(), value(item)?.into_bytes())))
        .collect()
}

/// True for a relative path without `..`.
fn stays_below(path: &str) -> bool {
    !path.is_empty()
        && Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Writes a volume's files.
pub(super) fn write(folder: &Path, content: &Content) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (path, bytes) in &content.files {
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(file, bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn made(volume: serde_json::Value) -> Result<Content, String> {
        let volume: Volume = serde_json::from_value(volume).unwrap();
        let pod = serde_json::from_value(json!({
            "metadata": { "name": "p", "namespace": "n" }, "spec": { "containers": [] },
        }))
        .unwrap();
        let allocatable = BTreeMap::new();
        let facts = Facts {
            pod: &pod,
            pod_ip: "127.1.0.1",
            host_ip: "127.0.0.1",
            allocatable: &allocatable,
        };
        let map = BTreeMap::from([("k".to_owned(), b"v".to_vec()), ("l".to_owned(), b"w".to_vec())]);
        let sources = Sources {
            config_maps: BTreeMap::from([("m".to_owned(), map)]),
            secrets: BTreeMap::new(),
        };
        content(&volume, Path::new("/vol"), &facts, &sources)
    }

    #[test]
    fn the_usual_token_volume() {
        let content = made(json!({ "name": "kube-api-access", "projected": { "sources": [
            { "serviceAccountToken": { "expirationSeconds": 3607, "path": "token" } },
            { "configMap": { "name": "m", "items": [{ "key": "k", "path": "ca.crt" }] } },
            { "downwardAPI": { "items": [{ "path": "namespace", "fieldRef": { "fieldPath": "metadata.namespace" } }] } },
        ] } }))
        .unwrap();
        assert_eq!(content.files["ca.crt"], b"v");
        assert_eq!(content.files["namespace"], b"n");
        let want = token::Wanted {
            audience: None,
            expiration: 3607,
            file: "/vol/token".into(),
        };
        assert_eq!(content.tokens, [want]);
    }

    #[test]
    fn whole_maps_optional_ones_and_bad_ones() {
        let all = made(json!({ "name": "v", "configMap": { "name": "m" } })).unwrap();
        assert_eq!(
            all.files.keys().map(String::as_str).collect::<Vec<_>>(),
            ["k", "l"]
        );
        let none = made(json!({ "name": "v", "secret": { "secretName": "no", "optional": true } })).unwrap();
        assert_eq!(none, Content::default());
        for (volume, want) in [
            (
                json!({ "name": "v", "secret": { "secretName": "no" } }),
                "secret \"no\" not found",
            ),
            (json!({ "name": "v", "csi": { "driver": "x" } }), "of a kind"),
            (
                json!({ "name": "v", "configMap": { "name": "m", "items": [{ "key": "k", "path": "../x" }] } }),
                "leads out",
            ),
            (
                json!({ "name": "v", "configMap": { "name": "m", "items": [{ "key": "z", "path": "x" }] } }),
                "no key \"z\"",
            ),
        ] {
            let error = made(volume).unwrap_err();
            assert!(error.contains(want), "{error}");
        }
    }
}
