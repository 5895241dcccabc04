//! Releases with the real Helm: chart sources, values, drift, history, atomic, and what others left.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use joiner_tests::{Cloud, CoreKind, Workspace, cores, is_told};
use serde_json::json;

use crate::registry;
use crate::support::{HEAD, attributes, chart, run_with};

const ADDRESS: &str = "joiner_helm_release.map";

/// A configuration with one release `map` in the namespace `team`.
fn configuration(provider: &str, attributes: &str) -> String {
    format!(
        r#"{HEAD}
provider "joiner" {{
  eks = {{ cluster_name = "releases" }}
{provider}
}}

resource "joiner_helm_release" "map" {{
  name             = "map"
  namespace        = "team"
  create_namespace = true
{attributes}
}}
"#
    )
}

fn rewrite(workspace: &Workspace, provider: &str, attributes: &str) -> Result<()> {
    Ok(fs::write(
        workspace.file("main.tf"),
        configuration(provider, attributes),
    )?)
}

fn helm(cloud: &Cloud, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(cloud.tools.path("helm"));
    let output = command.args(arguments).envs(cloud.environment()).output()?;
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    ensure!(output.status.success(), "helm {arguments:?}: {err}");
    Ok(out.into_owned())
}

fn text_in(cloud: &Cloud) -> Result<String> {
    cloud.kubectl(&[
        "get",
        "configmap",
        "map",
        "-n",
        "team",
        "-o",
        "jsonpath={.data.text}",
    ])
}

fn ours(chart: &Path, more: &str) -> String {
    format!("  chart = {:?}\n{more}", chart.display().to_string())
}

#[tokio::test]
async fn a_local_chart_through_its_life() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    cloud.cluster("releases").await?;
    for kind in cores() {
        let chart = chart(&cloud.folder().join(format!("{kind:?}")), "map", "1.0.0")?;
        let values = |text: &str| {
            ours(
                &chart,
                &format!("  values      = {{ text = {text:?} }}\n  history_max = 3\n"),
            )
        };
        let workspace = Workspace::with(&cloud, kind, "local", &configuration("", &values("one")))?;
        workspace.apply(&[])?;
        ensure!(text_in(&cloud)? == "one");
        workspace.plan_is_empty()?;
        // A chart whose content changed, without another version.
        let template = chart.join("templates/map.yaml");
        fs::write(
            &template,
            fs::read_to_string(&template)?.replace("\ndata:\n", "\ndata:\n  more: \"1\"\n"),
        )?;
        let plan = workspace.run(&["plan", "-no-color"])?;
        ensure!(
            is_told(&plan, "1 to change"),
            "{kind:?}: a changed chart is a change: {plan}"
        );
        workspace.apply(&[])?;
        // CRDs are installed with the release, upgraded with it, and outlive it.
        let crd = |column: &str| {
            json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": "things.example.com" },
                "spec": {
                    "group": "example.com", "scope": "Cluster", "names": { "kind": "Thing", "plural": "things" },
                    "versions": [{
                        "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": { "type": "object" } },
                        "additionalPrinterColumns": [{ "name": column, "type": "string", "jsonPath": ".kind" }],
                    }],
                },
            })
        };
        let column = || {
            cloud.kubectl(&[
                "get",
                "crd",
                "things.example.com",
                "-o",
                "jsonpath={.spec.versions[0].additionalPrinterColumns[0].name}",
            ])
        };
        fs::create_dir_all(chart.join("crds"))?;
        for name in ["First", "Second"] {
            fs::write(chart.join("crds/things.yaml"), crd(name).to_string())?;
            workspace.apply(&[])?;
            ensure!(column()? == name, "{kind:?}: {}", column()?);
            ensure!(attributes(&workspace, ADDRESS)?["crds"] == json!(["things.example.com"]));
            workspace.plan_is_empty()?;
        }
        // Drift: a changed field, then a deleted object.
        cloud.kubectl(&[
            "patch",
            "configmap",
            "map",
            "-n",
            "team",
            "-p",
            r#"{"data":{"text":"theirs"}}"#,
        ])?;
        let plan = workspace.run(&["plan", "-no-color"])?;
        ensure!(
            is_told(&plan, "data.text: (content), not (content)") && is_told(&plan, "1 to change"),
            "{kind:?}: {plan}"
        );
        // Someone else set it: not taken back unless that is asked for.
        let text = workspace.fails(&["apply", "-auto-approve", "-input=false", "-no-color"])?;
        ensure!(
            is_told(&text, "kubectl-patch") && is_told(&text, "force_conflicts = true"),
            "{kind:?}: {text}"
        );
        ensure!(text_in(&cloud)? == "theirs");
        rewrite(
            &workspace,
            "",
            &format!("{}  force_conflicts = true\n", values("one")),
        )?;
        workspace.apply(&[])?;
        ensure!(text_in(&cloud)? == "one");
        cloud.kubectl(&["delete", "configmap", "map", "-n", "team"])?;
        workspace.apply(&[])?;
        ensure!(text_in(&cloud)? == "one");
        // What someone did with Helm itself.
        helm(
            &cloud,
            &[
                "upgrade",
                "map",
                &chart.display().to_string(),
                "-n",
                "team",
                "--set",
                "text=helm",
                "--force-conflicts",
            ],
        )?;
        let plan = workspace.run(&["plan", "-no-color"])?;
        ensure!(is_told(&plan, "other values: text"), "{kind:?}: {plan}");
        rewrite(
            &workspace,
            "",
            &format!("{}  force_conflicts = true\n", values("two")),
        )?;
        workspace.apply(&[])?;
        ensure!(text_in(&cloud)? == "two");
        workspace.plan_is_empty()?;
        let history = helm(&cloud, &["history", "map", "-n", "team", "-o", "json"])?;
        let revisions: Vec<serde_json::Value> = serde_json::from_str(&history)?;
        ensure!(revisions.len() == 3, "{kind:?}: history_max: {history}");
        // A release that was left pending by a killed run, long ago.
        let newest = attributes(&workspace, ADDRESS)?["revision"].to_string();
        let secret = format!("sh.helm.release.v1.map.v{newest}");
        let labels = [
            "status=pending-upgrade",
            "modifiedAt=1000000000",
            "joiner.dev/run-",
        ];
        cloud.kubectl(
            &[
                &["label", "secret", secret.as_str(), "-n", "team", "--overwrite"][..],
                &labels[..],
            ]
            .concat(),
        )?;
        rewrite(
            &workspace,
            "",
            &format!("{}  force_conflicts = true\n", values("three")),
        )?;
        let text = workspace.apply(&[])?;
        ensure!(is_told(&text, "marked as failed"), "{kind:?}: {text}");
        ensure!(text_in(&cloud)? == "three");
        workspace.plan_is_empty()?;
        workspace.destroy()?;
        ensure!(helm(&cloud, &["list", "-n", "team", "-q"])?.trim().is_empty());
        ensure!(column()? == "Second", "{kind:?}: the CRDs stay");
        cloud.kubectl(&["delete", "crd", "things.example.com"])?;
    }
    Ok(())
}

#[tokio::test]
async fn atomic_and_failed_installs() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    cloud.cluster("releases").await?;
    let chart = chart(cloud.folder(), "map", "1.0.0")?;
    // A name that no API server takes, when asked for.
    let template = chart.join("templates/map.yaml");
    let bad = fs::read_to_string(&template)?.replace(
        "name: {{ .Release.Name }}",
        "name: {{ .Values.name | default .Release.Name }}",
    );
    fs::write(&template, bad)?;
    let values = |text: &str, name: &str, atomic: bool| {
        ours(
            &chart,
            &format!(
                "  values  = {{ text = {text:?}, name = {name:?} }}\n  atomic  = {atomic}\n  timeout = \"20s\"\n"
            ),
        )
    };
    let apply = ["apply", "-auto-approve", "-input=false", "-no-color"];
    let workspace = Workspace::with(
        &cloud,
        CoreKind::OpenTofu,
        "atomic",
        &configuration("", &values("one", "No_Name", true)),
    )?;
    let text = workspace.fails(&apply)?;
    ensure!(is_told(&text, "removed again"), "{text}");
    let records = cloud.kubectl(&["get", "secrets", "-n", "team", "-l", "owner=helm", "-o", "name"])?;
    ensure!(records.trim().is_empty(), "nothing is left of it: {records}");
    rewrite(&workspace, "", &values("one", "map", true))?;
    workspace.apply(&[])?;
    rewrite(&workspace, "", &values("two", "No_Name", true))?;
    let text = workspace.fails(&apply)?;
    ensure!(is_told(&text, "rolled back to revision 1"), "{text}");
    ensure!(text_in(&cloud)? == "one");
    // Without atomic the release stays as far as Helm got, and the next apply goes on from there.
    rewrite(&workspace, "", &values("three", "No_Name", false))?;
    let text = workspace.fails(&apply)?;
    ensure!(is_told(&text, "helm upgrade failed"), "{text}");
    ensure!(attributes(&workspace, ADDRESS)?["status"] == "failed");
    rewrite(&workspace, "", &values("three", "map", false))?;
    let text = workspace.apply(&[])?;
    ensure!(is_told(&text, "0 added, 1 changed, 0 destroyed"), "{text}");
    ensure!(text_in(&cloud)? == "three");
    workspace.plan_is_empty()
}

// The registry answers while the test waits for a core.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn charts_from_a_registry() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    cloud.cluster("releases").await?;
    let folder = chart(cloud.folder(), "map", "1.0.0")?;
    let address = registry::serve(
        &cloud.tools.path("helm"),
        &[(&folder, "1.0.0"), (&folder, "1.2.0")],
    )
    .await?;
    let (user, password) = registry::LOGIN;
    let registries = |more: &str| format!("  registries = [{{ url = \"oci://{address}\"{more} }}]");
    let login = registries(&format!(
        ", username = {user:?}, password = {password:?}, plain_http = true"
    ));
    let release =
        |version: &str, more: &str| format!("  chart = \"oci://{address}/charts/map\"\n{version}\n{more}");
    let apply = ["apply", "-auto-approve", "-input=false", "-no-color"];
    let secrets = |text: &str| {
        let wo = if text == "none" {
            String::new()
        } else {
            format!(
                "  set_wo         = [{{ name = \"hidden\", value = {text:?} }}]\n  set_wo_version = {}\n",
                text.len()
            )
        };
        format!("  set_sensitive = [{{ name = \"text\", value = \"s3nsitive\" }}]\n{wo}")
    };
    for kind in cores() {
        let fixed = "  version = \"1.0.0\"";
        let anonymous = configuration(&registries(", plain_http = true"), &release(fixed, ""));
        let workspace = Workspace::with(&cloud, kind, "oci", &anonymous)?;
        let text = workspace.fails(&apply)?;
        ensure!(is_told(&text, "username and password"), "{kind:?}: {text}");

        rewrite(&workspace, &login, &release(fixed, &secrets("hidd3n")))?;
        let log = workspace.file("trace.log");
        let traced = [("TF_LOG", "trace"), ("TF_LOG_PATH", log.as_str())];
        let said = run_with(&workspace, &apply, &traced)?;
        ensure!(attributes(&workspace, ADDRESS)?["chart_version"] == "1.0.0");
        ensure!(text_in(&cloud)? == "s3nsitive");
        let values = helm(&cloud, &["get", "values", "map", "-n", "team", "-o", "json"])?;
        ensure!(values.contains("hidd3n"), "{kind:?}: {values}");
        let log = fs::read_to_string(&log)?;
        let state = fs::read_to_string(workspace.file("terraform.tfstate"))?;
        for (what, secret) in [
            ("the password", password),
            ("a write-only value", "hidd3n"),
            ("a sensitive value", "s3nsitive"),
        ] {
            ensure!(!log.contains(secret), "{kind:?}: {what} is in the log");
            ensure!(!said.contains(secret), "{kind:?}: {what} was printed");
            ensure!(
                secret == "s3nsitive" || !state.contains(secret),
                "{kind:?}: {what} is in the state"
            );
        }
        workspace.plan_is_empty()?;
        // The newest version, and another value without its version.
        rewrite(&workspace, &login, &release("", &secrets("hidd3n")))?;
        workspace.apply(&[])?;
        ensure!(
            attributes(&workspace, ADDRESS)?["chart_version"] == "1.2.0",
            "{kind:?}"
        );
        workspace.plan_is_empty()?;
        rewrite(&workspace, &login, &release("", &secrets("longer-hidd3n")))?;
        workspace.apply(&[])?;
        let values = helm(&cloud, &["get", "values", "map", "-n", "team", "-o", "json"])?;
        ensure!(values.contains("longer-hidd3n"), "{kind:?}: {values}");
        rewrite(
            &workspace,
            &login,
            &release("  version = \"9.9.9\"", &secrets("longer-hidd3n")),
        )?;
        let text = workspace.fails(&apply)?;
        ensure!(is_told(&text, "9.9.9"), "{kind:?}: {text}");
        rewrite(&workspace, &login, &release(fixed, &secrets("none")))?;
        workspace.destroy()?;
    }
    // A file with logins, as helm itself writes it.
    let file = cloud.folder().join("logins.json");
    let auth = json!({ "auths": { (address.as_str()): { "auth": base64(&format!("{user}:{password}")) } } });
    fs::write(&file, auth.to_string())?;
    let provider = format!(
        "{}\n  registry_config_path = {:?}",
        registries(", plain_http = true"),
        file.display().to_string()
    );
    let workspace = Workspace::with(
        &cloud,
        CoreKind::OpenTofu,
        "file",
        &configuration(&provider, &release("", "")),
    )?;
    workspace.apply(&[])?;
    workspace.plan_is_empty()
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}
