//! What the provider costs at every command: its start and a plan of many pools without a cluster.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use joiner_tests::{Cloud, CoreKind, Workspace, cores};

/// How many pools are planned.
pub(crate) const POOLS: usize = 100;
/// How often each is measured; the median counts.
const TIMES: usize = 9;

/// What is reported of the provider, in seconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProviderFigures {
    /// From the start of the process to its handshake line.
    pub(crate) start: f64,
    /// A first plan of [`POOLS`] pools with no cluster reachable, for each core.
    pub(crate) plans: Vec<(CoreKind, f64)>,
}

/// Measures both.
pub(crate) async fn figures() -> Result<ProviderFigures> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let mut plans = Vec::new();
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "many", &configuration())?;
        let plan = || {
            let begin = Instant::now();
            let text = workspace.run(&["plan", "-input=false", "-no-color"])?;
            ensure!(text.contains(&format!("{POOLS} to add")), "{text}");
            Ok(begin.elapsed())
        };
        plans.push((kind, median(plan)?));
    }
    let start = median(|| start(&cloud))?;
    Ok(ProviderFigures { start, plans })
}

fn start(cloud: &Cloud) -> Result<Duration> {
    let begin = Instant::now();
    let mut process = Command::new(cloud.binaries().join("terraform-provider-joiner"))
        .env(
            "TF_PLUGIN_MAGIC_COOKIE",
            "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
        )
        .env("PLUGIN_PROTOCOL_VERSIONS", "6")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut line = String::new();
    if let Some(output) = process.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    let took = begin.elapsed();
    process.kill()?;
    process.wait()?;
    ensure!(line.starts_with("1|6|unix|"), "no handshake line but {line:?}");
    Ok(took)
}

fn median(mut once: impl FnMut() -> Result<Duration>) -> Result<f64> {
    let mut all = (0..TIMES).map(|_| once()).collect::<Result<Vec<_>>>()?;
    all.sort();
    Ok(all[TIMES / 2].as_secs_f64())
}

/// Pools of a cluster that nobody can reach.
fn configuration() -> String {
    let mut text = String::from(
        r#"
terraform {
  required_providers {
    joiner = { source = "joiner-dev/joiner" }
  }
}
provider "joiner" {
  kubernetes = { host = "https://127.0.0.1:1", token = "none" }
}
resource "joiner_ec2_node_class" "default" {
  name = "default"
  role = "node"
  ami_selector_terms            = [{ alias = "al2023@latest" }]
  subnet_selector_terms         = [{ tags = { "karpenter.sh/discovery" = "many" } }]
  security_group_selector_terms = [{ tags = { "karpenter.sh/discovery" = "many" } }]
}
"#,
    );
    for number in 1..POOLS {
        let _ = write!(
            text,
            r#"
resource "joiner_node_pool" "pool{number}" {{
  name = "pool-{number}"
  template = {{
    spec = {{
      node_class_ref = {{ name = joiner_ec2_node_class.default.name }}
      requirements = [
        {{ key = "kubernetes.io/arch", operator = "In", values = ["amd64"] }},
        {{ key = "karpenter.sh/capacity-type", operator = "In", values = ["spot", "on-demand"] }},
        {{ key = "karpenter.k8s.aws/instance-category", operator = "In", values = ["c", "m", "r"] }},
        {{ key = "karpenter.k8s.aws/instance-generation", operator = "Gt", values = ["4"] }},
      ]
      expire_after = "720h"
    }}
  }}
  disruption = {{
    consolidation_policy = "WhenEmptyOrUnderutilized"
    consolidate_after    = "30s"
    budgets              = [{{ nodes = "10%" }}]
  }}
  limits = {{ cpu = "1000" }}
}}
"#
        );
    }
    text
}
