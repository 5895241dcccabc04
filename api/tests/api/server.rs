//! The CRDs and the rules against a real API server.

use std::{fs, time::Duration};

use joiner_api::rules::{self, Kind, Source, UnknownPaths};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams, ValidationDirective},
    core::GroupVersionKind,
};
use serde_json::Value;

use crate::{
    cases::{self, Case, Verdict},
    support::{control_plane::ControlPlane, upstream},
};

#[tokio::test]
async fn the_api_server_agrees() {
    let (server, client) = ControlPlane::start().await;
    install(&client).await;
    let mut wrong = Vec::new();
    for case in cases::all() {
        if let Err(problem) = agrees(&client, &case).await {
            wrong.push(format!("{} {}: {problem}", case.kind.as_str(), case.what));
        }
    }
    wrong.extend(examples(&client).await);
    assert!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
    drop(server);
}

/// The CRDs are accepted as they are and served.
async fn install(client: &Client) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in joiner_api::crds() {
        api.create(&PostParams::default(), &crd).await.expect("the API server accepts the CRD");
        let name = crd.metadata.name.expect("a CRD has a name");
        for attempt in 0.. {
            let conditions = api.get(&name).await.expect("the CRD is there").status.and_then(|s| s.conditions);
            let conditions = conditions.unwrap_or_default();
            if conditions.iter().any(|c| c.type_ == "Established" && c.status == "True") {
                let bad: Vec<_> =
                    conditions.iter().filter(|c| c.type_ == "NonStructuralSchema" && c.status == "True").collect();
                assert!(bad.is_empty(), "{bad:?}");
                break;
            }
            assert!(attempt < 200, "{name} is not served: {conditions:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

async fn agrees(client: &Client, case: &Case) -> Result<(), String> {
    let api = api(client, case.kind);
    let answer = match &case.before {
        None => create(&api, &case.object).await,
        Some(before) => {
            let name = before["metadata"]["name"].as_str().unwrap_or_default();
            let object: DynamicObject = parse(before)?;
            api.create(&PostParams::default(), &object).await.map_err(|error| format!("before: {error}"))?;
            let answer = replace(&api, name, &case.object).await;
            api.delete(name, &kube::api::DeleteParams::default()).await.map_err(|error| error.to_string())?;
            answer
        }
    };
    let found = rules::check(case.kind, &case.object, &UnknownPaths::none(), case.before.as_ref());
    match (case.verdict, answer) {
        (Verdict::Valid | Verdict::Unusable(_), Ok(())) => Ok(()),
        (Verdict::Refused(_), Err(said)) => {
            // The same rule, in the same words, unless ours say more.
            let cel: Vec<&str> =
                found.iter().filter(|v| v.source == Source::Cel).map(|v| v.message.as_str()).collect();
            let same = cel.is_empty() || cel.iter().any(|message| said.contains(message)) || said.contains("reserved");
            if same { Ok(()) } else { Err(format!("refused for another reason: {said}; ours: {cel:?}")) }
        }
        (Verdict::Refused(_), Ok(())) => Err("accepted, but should be refused".to_owned()),
        (_, Err(said)) => Err(format!("refused, but should be accepted: {said}")),
    }
}

/// Karpenter's own published examples work with our CRDs.
async fn examples(client: &Client) -> Vec<String> {
    let folder = upstream::module("github.com/aws/karpenter-provider-aws").join("examples/v1");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 15, "upstream's examples are gone");
    let mut wrong = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        for document in documents.into_iter().filter(|document| !document.is_null()) {
            let name = format!("{} {}", file.file_name().unwrap().to_string_lossy(), document["kind"]);
            let Some(kind) = Kind::ALL.into_iter().find(|kind| document["kind"] == kind.as_str()) else { continue };
            if let Err(said) = create(&api(client, kind), &document).await {
                wrong.push(format!("{name}: refused: {said}"));
            }
            for violation in rules::check(kind, &document, &UnknownPaths::none(), None) {
                wrong.push(format!("{name}: {violation}"));
            }
        }
    }
    wrong
}

fn api(client: &Client, kind: Kind) -> Api<DynamicObject> {
    let (group, version) = kind.api_version().split_once('/').expect("group and version");
    let resource = ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk(group, version, kind.as_str()),
        match kind {
            Kind::NodePool => "nodepools",
            Kind::NodeClaim => "nodeclaims",
            Kind::NodeOverlay => "nodeoverlays",
            Kind::EC2NodeClass => "ec2nodeclasses",
        },
    );
    Api::all_with(client.clone(), &resource)
}

fn parse(object: &Value) -> Result<DynamicObject, String> {
    serde_json::from_value(object.clone()).map_err(|error| error.to_string())
}

/// Server-side apply without storing, refusing unknown fields.
async fn create(api: &Api<DynamicObject>, object: &Value) -> Result<(), String> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let how = PatchParams { dry_run: true, ..PatchParams::apply("test") }.validation_strict();
    debug_assert!(matches!(how.field_validation, Some(ValidationDirective::Strict)));
    api.patch(name, &how, &Patch::Apply(object)).await.map(drop).map_err(|error| error.to_string())
}

async fn replace(api: &Api<DynamicObject>, name: &str, object: &Value) -> Result<(), String> {
    let stored = api.get(name).await.map_err(|error| error.to_string())?;
    let mut wanted = parse(object)?;
    wanted.metadata.resource_version = stored.metadata.resource_version;
    api.replace(name, &PostParams { dry_run: true, ..PostParams::default() }, &wanted)
        .await
        .map(drop)
        .map_err(|error| error.to_string())
}
