//! Karpenter's own published example manifests, applied with kubectl to a cluster with our CRDs and our controller. They are read
//! from upstream's Go module; only what they ask their reader to put in is put in.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use joiner_api::labels;
use joiner_tests::{Quickstart, cluster, eventually, tells, upstream};
use kube::ResourceExt;
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(240);

/// The example that upstream's own CRD refuses, and what about it.
const BROKEN_UPSTREAM: (&str, &str) = ("windows-custom-userdata", "nodeClassRef.group");

/// Examples whose class selects images that the account does not have, with what the class's condition says.
const NO_IMAGES: [(&str, &str); 8] = [
    ("al2-custom-ami", "ami-123"),
    ("custom-family", "ami-123"),
    ("min-values-family", "al2023@v20240625"),
    ("min-values-multiple-keys", "al2023@v20240625"),
    ("windows-2019", "windows2019@latest"),
    ("windows-2022", "windows2022@latest"),
    ("windows-2025", "windows2025@latest"),
    ("windows-custom-userdata", "windows2022@latest"),
];

/// The example whose user data is for its reader's own images: it starts no node from Bottlerocket's.
const NO_NODE: &str = "custom-family-with-alias";

/// An example: its objects.
type Example = Vec<Value>;

/// The examples by file name, with the reader's own names put in: as text, and as objects.
fn examples(quickstart: &Quickstart) -> Result<BTreeMap<String, (String, Example)>> {
    let folder = upstream::module("github.com/aws/karpenter-provider-aws")?.join("examples/v1");
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&path)?
            .replace(
                "KarpenterNodeRole-${CLUSTER_NAME}",
                &quickstart.cluster.aws.node_role_name,
            )
            .replace("${CLUSTER_NAME}", &quickstart.cluster.name);
        let objects = serde_saphyr::from_multiple(&text).with_context(|| name.clone())?;
        found.insert(name, (text, objects));
    }
    ensure!(
        found.len() > 15,
        "only {} examples are in {}",
        found.len(),
        folder.display()
    );
    Ok(found)
}

/// The example under names of its own: most are called `default`, and all are to stand beside each other. Answers its objects
/// and its pools' names.
fn renamed(example: &str, objects: &Example) -> (Example, Vec<String>) {
    let pools = objects
        .iter()
        .filter(|object| object["kind"] == "NodePool")
        .count();
    let mut names = Vec::new();
    let mut objects = objects.clone();
    for object in &mut objects {
        let own = object["metadata"]["name"].as_str().unwrap_or_default();
        let name = if object["kind"] == "NodePool" && pools > 1 {
            format!("{example}-{own}")
        } else {
            example.to_owned()
        };
        if object["kind"] == "NodePool" {
            object["spec"]["template"]["spec"]["nodeClassRef"]["name"] = example.into();
            names.push(name.clone());
        }
        object["metadata"]["name"] = name.into();
    }
    (objects, names)
}

#[tokio::test]
async fn every_published_example_is_taken_and_serves_pods() -> Result<()> {
    let quickstart = Quickstart::apply().await?;
    let cloud = &quickstart.cloud;
    let examples = examples(&quickstart)?;
    let all = ["delete", "nodepools,ec2nodeclasses", "--all", "--timeout=240s"];

    // As they are, one after the other, as a reader tries them.
    cloud.kubectl(&all)?;
    for (name, (text, _)) in &examples {
        match cloud.kubectl_apply(text) {
            Err(error) if *name == BROKEN_UPSTREAM.0 => tells(&format!("{error:#}"), &[BROKEN_UPSTREAM.1])?,
            other => drop(other.with_context(|| name.clone())?),
        }
    }
    cloud.kubectl(&all)?;

    // Beside each other, with a pod for each pool.
    let mut serving = Vec::new();
    for (name, (_, objects)) in &examples {
        let (mut objects, pools) = renamed(name, objects);
        if *name == BROKEN_UPSTREAM.0 {
            objects.retain(|object| object["kind"] != "NodePool");
        }
        let documents: Vec<String> = objects.iter().map(Value::to_string).collect();
        cloud
            .kubectl_apply(&documents.join("\n---\n"))
            .with_context(|| name.clone())?;
        if *name != NO_NODE && NO_IMAGES.iter().all(|(without, _)| without != name) {
            serving.extend(pools);
        }
    }
    let pods = serving
        .iter()
        .map(|pool| cluster::deployment(pool, &format!("karpenter.sh/nodepool: {pool}"), 1, "100m", ""));
    cloud.kubectl_apply(&pods.collect::<String>())?;
    for pool in &serving {
        serves(&quickstart, pool).await?;
    }
    for (name, words) in NO_IMAGES {
        said_by_class(&quickstart, name, "AMIsReady", "False", words).await?;
    }
    said_by_class(&quickstart, NO_NODE, "Ready", "True", "").await
}

/// Waits until the pool's pod runs on a node of its own.
async fn serves(quickstart: &Quickstart, pool: &str) -> Result<()> {
    if let Err(error) = cluster::pods_of(&quickstart.client, pool, 1, PATIENCE).await {
        let kinds = "nodepools,ec2nodeclasses,nodeclaims,pods";
        let objects = quickstart.cloud.kubectl(&["get", kinds, "-o", "wide"])?;
        let warnings = ["get", "events", "--field-selector=type=Warning", "-o", "wide"];
        let events = quickstart.cloud.kubectl(&warnings)?;
        bail!("{pool}: {error:#}\n{objects}\n{events}");
    }
    let mut claims = cluster::claims(&quickstart.client).await?;
    claims.retain(|claim| claim.labels().get(labels::NODEPOOL).is_some_and(|it| it == pool));
    ensure!(claims.len() == 1, "{pool} has {} NodeClaims", claims.len());
    Ok(())
}

async fn said_by_class(
    quickstart: &Quickstart,
    class: &str,
    condition: &str,
    status: &str,
    words: &str,
) -> Result<()> {
    let path = format!("jsonpath={{.status.conditions[?(@.type==\"{condition}\")]}}");
    eventually(&format!("class {class} tells {condition}"), PATIENCE, || async {
        let said = quickstart
            .cloud
            .kubectl(&["get", "ec2nodeclass", class, "-o", &path])?;
        let row: Value = serde_json::from_str(&said)?;
        ensure!(row["status"] == status && said.contains(words), "{said}");
        Ok(())
    })
    .await
}
