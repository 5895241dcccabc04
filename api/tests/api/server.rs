//! The CRDs and the rules against a real API server, and upstream's CRDs beside them.

use std::collections::BTreeSet;

use joiner_api::rules::{self, Kind, Source, UnknownPaths};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use serde_json::Value;

use crate::{
    cases::{self, Case, Verdict},
    manifests,
    support::{control_plane::ControlPlane, crds, upstream},
};

/// Upstream's CRDs are served beside ours under another group.
const BESIDE: &str = "upstream.";

/// Where upstream's CRDs decide otherwise on purpose: (kind, a part of the case's name, why).
const OTHERWISE: &[(&str, &str, &str)] = &[
    (
        "EC2NodeClass",
        "an unnamed setting",
        "kubelet settings that upstream 1.14.3 does not know are kept",
    ),
    (
        "EC2NodeClass",
        "a misspelt setting",
        "likewise; the rules find the misspelt ones",
    ),
    (
        "EC2NodeClass",
        "taints of the kubelet",
        "likewise; the rules name the right place for taints",
    ),
    (
        "EC2NodeClass",
        "no reservation terms",
        "an empty list asks for no reservation, as leaving it out does",
    ),
    (
        "EC2NodeClass",
        "no spec",
        "upstream takes a class without a spec, which can never be used",
    ),
];

/// Upstream's examples that its own CRDs refuse: (manifest, why).
const BROKEN_UPSTREAM: &[(&str, &str)] = &[(
    "windows-custom-userdata.yaml NodePool",
    "its nodeClassRef.group has a version, which the pattern excludes",
)];

#[tokio::test]
async fn the_api_server_agrees() {
    let (server, client) = ControlPlane::start().await;
    crds::install(&client, joiner_api::crds()).await;
    crds::install(&client, upstreams_crds()).await;
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for case in cases::all() {
        if let Err(problem) = agrees(&client, &case, &mut used).await {
            wrong.push(format!("{} {}: {problem}", case.kind.as_str(), case.what));
        }
    }
    for kind in Kind::ALL {
        for (what, object) in cases::mixed(kind, 150) {
            if let Err(problem) = same_everywhere(&client, kind, &what, &object, &mut used).await {
                wrong.push(format!("{} {what}: {problem}\n  {object}", kind.as_str()));
            }
        }
    }
    for manifest in manifests::upstreams().into_iter().chain(manifests::ours()) {
        let said = create(&api(&client, manifest.kind, ""), &manifest.object)
            .await
            .err();
        let found = rules::check(manifest.kind, &manifest.object, &UnknownPaths::none(), None);
        let broken = BROKEN_UPSTREAM.iter().any(|(name, _)| *name == manifest.from);
        if broken != said.is_some() || broken == found.is_empty() {
            wrong.push(format!(
                "{}: API server {said:?}, rules {found:#?}",
                manifest.from
            ));
        }
    }
    for (place, (kind, what, _)) in OTHERWISE.iter().enumerate() {
        if !used.contains(&place) {
            wrong.push(format!(
                "{kind} {what}: listed as decided otherwise upstream, but it is not"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} disagreements:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    drop(server);
}

/// Upstream's CRDs under a group of their own.
fn upstreams_crds() -> Vec<CustomResourceDefinition> {
    let module = upstream::module("github.com/aws/karpenter-provider-aws");
    joiner_api::crds()
        .into_iter()
        .map(|ours| {
            let name = format!(
                "pkg/apis/crds/{}_{}.yaml",
                ours.spec.group, ours.spec.names.plural
            );
            let text =
                std::fs::read_to_string(module.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut crd: CustomResourceDefinition = serde_saphyr::from_str(&text).unwrap();
            crd.spec.group = format!("{BESIDE}{}", crd.spec.group);
            crd.metadata.name = Some(format!("{}.{}", crd.spec.names.plural, crd.spec.group));
            crd
        })
        .collect()
}

/// The API server decides on a case as the table says, and with the words of the rules.
async fn agrees(client: &Client, case: &Case, used: &mut BTreeSet<usize>) -> Result<(), String> {
    let Some(before) = &case.before else {
        same_everywhere(client, case.kind, case.what, &case.object, used).await?;
        let answer = create(&api(client, case.kind, ""), &case.object).await;
        return judge(case, answer.map(Some));
    };
    for group in ["", BESIDE] {
        let api = api(client, case.kind, group);
        let name = before["metadata"]["name"].as_str().unwrap_or_default();
        let object = parse(before, group)?;
        api.create(&PostParams::default(), &object)
            .await
            .map_err(|error| format!("before: {error}"))?;
        let answer = replace(&api, name, &case.object, group).await;
        api.delete(name, &DeleteParams::default())
            .await
            .map_err(|error| error.to_string())?;
        if group.is_empty() {
            judge(case, answer.map(|()| None))?;
        } else if answer.is_ok() == matches!(case.verdict, Verdict::Refused(_)) {
            return Err(format!("upstream's CRD decides otherwise: {answer:?}"));
        }
    }
    Ok(())
}

fn judge(case: &Case, answer: Result<Option<Value>, String>) -> Result<(), String> {
    match (case.verdict, answer) {
        (Verdict::Valid | Verdict::Unusable(_), Ok(stored)) => {
            let ours = rules::with_defaults(case.kind, &case.object, &UnknownPaths::none());
            match stored {
                Some(stored) if stored["spec"] != ours["spec"] => Err(format!(
                    "stored as {}, but the defaults give {}",
                    stored["spec"], ours["spec"]
                )),
                _ => Ok(()),
            }
        }
        (Verdict::Refused(_), Err(said)) => {
            // The same rule, in the same words, unless ours say more.
            let found = rules::check(
                case.kind,
                &case.object,
                &UnknownPaths::none(),
                case.before.as_ref(),
            );
            let cel: Vec<&str> = found
                .iter()
                .filter(|v| v.source == Source::Cel)
                .map(|v| v.message.as_str())
                .collect();
            let same = cel.is_empty()
                || cel.iter().any(|message| said.contains(message))
                || said.contains("reserved");
            if same {
                Ok(())
            } else {
                Err(format!("refused for another reason: {said}; ours: {cel:?}"))
            }
        }
        (Verdict::Refused(_), Ok(_)) => Err("accepted, but should be refused".to_owned()),
        (_, Err(said)) => Err(format!("refused, but should be accepted: {said}")),
    }
}

/// Our CRD, our rules and upstream's CRD agree on whether an object can be stored.
async fn same_everywhere(
    client: &Client,
    kind: Kind,
    what: &str,
    object: &Value,
    used: &mut BTreeSet<usize>,
) -> Result<(), String> {
    let ours = create(&api(client, kind, ""), object).await.map(drop);
    let theirs = create(&api(client, kind, BESIDE), object).await.map(drop);
    let found = rules::check(kind, object, &UnknownPaths::none(), None);
    let refused = found.iter().any(|violation| {
        // The syntax of metadata is the API server's own rule and in no CRD; that a pool's name is a label's value is ours.
        let path = violation.path.to_string();
        violation.source != Source::Runtime
            || violation.message.contains("is no object name")
            || ["metadata.labels", "metadata.annotations"]
                .iter()
                .any(|map| path.starts_with(map))
    });
    if refused == ours.is_ok() {
        return Err(format!("the API server says {ours:?}, the rules {found:#?}"));
    }
    if ours.is_ok() == theirs.is_ok() {
        return Ok(());
    }
    match OTHERWISE
        .iter()
        .position(|(k, part, _)| *k == kind.as_str() && what.contains(part))
    {
        Some(place) => drop(used.insert(place)),
        None => return Err(format!("ours: {ours:?}, upstream's CRD: {theirs:?}")),
    }
    Ok(())
}

fn api(client: &Client, kind: Kind, beside: &str) -> Api<DynamicObject> {
    let (group, version) = kind.api_version().split_once('/').expect("group and version");
    let plural = format!(
        "{}{}",
        kind.as_str().to_lowercase(),
        if kind == Kind::EC2NodeClass { "es" } else { "s" }
    );
    let kind = GroupVersionKind::gvk(&format!("{beside}{group}"), version, kind.as_str());
    Api::all_with(client.clone(), &ApiResource::from_gvk_with_plural(&kind, &plural))
}

fn parse(object: &Value, beside: &str) -> Result<DynamicObject, String> {
    serde_json::from_value(in_group(object, beside)).map_err(|error| error.to_string())
}

fn in_group(object: &Value, beside: &str) -> Value {
    let mut object = object.clone();
    object["apiVersion"] = format!("{beside}{}", object["apiVersion"].as_str().unwrap_or_default()).into();
    object
}

/// Server-side apply without storing, refusing unknown fields; what would be stored.
async fn create(api: &Api<DynamicObject>, object: &Value) -> Result<Value, String> {
    let beside = if api.resource_url().contains(BESIDE) {
        BESIDE
    } else {
        ""
    };
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let how = PatchParams {
        dry_run: true,
        ..PatchParams::apply("test")
    }
    .validation_strict();
    let stored = api
        .patch(name, &how, &Patch::Apply(in_group(object, beside)))
        .await;
    stored
        .map(|stored| stored.data)
        .map_err(|error| error.to_string())
}

async fn replace(api: &Api<DynamicObject>, name: &str, object: &Value, beside: &str) -> Result<(), String> {
    let stored = api.get(name).await.map_err(|error| error.to_string())?;
    let mut wanted = parse(object, beside)?;
    wanted.metadata.resource_version = stored.metadata.resource_version;
    let how = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    api.replace(name, &how, &wanted)
        .await
        .map(drop)
        .map_err(|error| error.to_string())
}
