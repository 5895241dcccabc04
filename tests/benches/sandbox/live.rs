//! What a refresh of many live pools takes, in time and in the provider's memory: ours, and `kubernetes_manifest` for the same objects.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use joiner_sandbox::Cluster;
use joiner_sandbox::terraform::Core;
use joiner_tests::configuration::by_kubeconfig;
use joiner_tests::{Cloud, CoreKind, Workspace, cores, processes};

/// How many pools there are.
pub(crate) const POOLS: usize = 100;
/// How often each is measured; the median counts.
const TIMES: usize = 5;
const REFRESH: [&str; 4] = ["plan", "-refresh-only", "-input=false", "-no-color"];

/// What one refresh took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Refresh {
    /// From the command's start to its end.
    pub(crate) seconds: f64,
    /// The most that a process of the provider had resident.
    pub(crate) peak_mib: f64,
}

/// What a core's refresh takes with each provider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Live {
    /// With ours.
    pub(crate) ours: Refresh,
    /// With `kubernetes_manifest`; none without its provider.
    pub(crate) manifest: Option<Refresh>,
}

/// Measures with each core.
pub(crate) async fn figures() -> Result<Vec<(CoreKind, Live)>> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("live").await?;
    cloud.crds(&cluster)?;
    let peer = peer();
    let mut all = Vec::new();
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "live", &pools(&cluster))?;
        workspace.apply(&["-parallelism=20"])?;
        let ours = refresh(&|| workspace.core().command(REFRESH), workspace.dir())?;
        workspace.destroy()?;
        let manifest = match &peer {
            Some(peer) => Some(with_manifests(&cloud, &cluster, kind, peer)?),
            None => None,
        };
        all.push((kind, Live { ours, manifest }));
    }
    Ok(all)
}

/// The rows that end the provider's table.
pub(crate) fn rows(all: &[(CoreKind, Live)]) -> String {
    let mut text = String::new();
    for (core, Live { ours, manifest }) in all {
        let what = format!("refresh of {POOLS} live pools, {core:?}");
        let _ = writeln!(text, "| {what} | {:.2} s |", ours.seconds);
        let _ = writeln!(
            text,
            "| {what}: the provider's memory at most | {:.0} MiB |",
            ours.peak_mib
        );
        if let Some(manifest) = manifest {
            let (seconds, ratio) = (manifest.seconds, manifest.seconds / ours.seconds);
            let _ = writeln!(
                text,
                "| the same as `kubernetes_manifest` | {seconds:.2} s, {ratio:.1} times |"
            );
            let _ = writeln!(
                text,
                "| its provider's memory at most | {:.0} MiB |",
                manifest.peak_mib
            );
        }
    }
    text
}

fn with_manifests(cloud: &Cloud, cluster: &Cluster, kind: CoreKind, peer: &Path) -> Result<Refresh> {
    let dir = cloud.folder().join(format!("{kind:?}-manifests"));
    fs::create_dir_all(&dir)?;
    fs::write(dir.join("main.tf"), manifests(cluster))?;
    let folder = peer.parent().context("a program is in a folder")?;
    let config = dir.join("overrides.tfrc");
    let hosts = ["registry.opentofu.org", "registry.terraform.io"];
    let overrides: String = hosts
        .iter()
        .map(|host| {
            format!(
                "    \"{host}/hashicorp/kubernetes\" = {:?}\n",
                folder.display().to_string()
            )
        })
        .collect();
    fs::write(
        &config,
        format!("provider_installation {{\n  dev_overrides {{\n{overrides}  }}\n}}\n"),
    )?;
    let core = Core::new(
        kind.path(&cloud.tools)?,
        &dir,
        cloud.ground().mirror()?,
        cloud.environment(),
    );
    let command = |arguments: &[&str]| {
        let mut command = core.command(arguments);
        command.env("TF_CLI_CONFIG_FILE", &config);
        command
    };
    let run = |arguments: &[&str]| -> Result<()> {
        let output = command(arguments).output()?;
        let said = [&output.stdout[..], &output.stderr[..]]
            .map(String::from_utf8_lossy)
            .concat();
        ensure!(output.status.success(), "{arguments:?}: {said}");
        Ok(())
    };
    run(&["apply", "-auto-approve", "-input=false", "-no-color"])?;
    let refresh = refresh(&|| command(&REFRESH), &dir)?;
    run(&["destroy", "-auto-approve", "-input=false", "-no-color"])?;
    Ok(refresh)
}

/// The median by time, with the most memory of all.
fn refresh(command: &dyn Fn() -> Command, dir: &Path) -> Result<Refresh> {
    let mut all = (0..TIMES)
        .map(|_| once(command(), &dir.join("refresh.log")))
        .collect::<Result<Vec<_>>>()?;
    all.sort_by(|left, right| left.seconds.total_cmp(&right.seconds));
    let peak_mib = all.iter().map(|one| one.peak_mib).fold(0.0, f64::max);
    Ok(Refresh {
        peak_mib,
        ..all[TIMES / 2]
    })
}

fn once(mut command: Command, log: &Path) -> Result<Refresh> {
    let file = File::create(log).with_context(|| log.display().to_string())?;
    let begin = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .spawn()?;
    let core = processes::of(child.id()).context("the core ended at once")?.id;
    let mut peak_mib: f64 = 0.0;
    let status = loop {
        for process in processes::below(core) {
            if process.program().starts_with("terraform-provider-") {
                peak_mib = peak_mib.max(peak(process.id.pid).unwrap_or_default());
            }
        }
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(30));
    };
    let seconds = begin.elapsed().as_secs_f64();
    let said = fs::read_to_string(log)?;
    ensure!(status.success(), "{said}");
    Ok(Refresh { seconds, peak_mib })
}

/// The most that a running process ever had resident, in MiB.
fn peak(pid: i32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib / 1024.0)
}

/// The program of the provider of `kubernetes_manifest`, which `JOINER_MANIFEST_PEER` names, called `terraform-provider-kubernetes`.
/// It is in no registry of Go modules, so nothing here can build it.
fn peer() -> Option<PathBuf> {
    std::env::var_os("JOINER_MANIFEST_PEER").map(PathBuf::from)
}

fn pools(cluster: &Cluster) -> String {
    let mut text = by_kubeconfig(cluster);
    let _ = write!(
        text,
        r#"
resource "joiner_node_pool" "this" {{
  count = {POOLS}
  name  = "pool-${{count.index}}"
  wait  = {{ ready = false }}
  template = {{
    spec = {{
      node_class_ref = {{ name = "default" }}
      requirements = [
        {{ key = "kubernetes.io/arch", operator = "In", values = ["amd64"] }},
        {{ key = "karpenter.sh/capacity-type", operator = "In", values = ["spot", "on-demand"] }},
      ]
      expire_after = "720h"
    }}
  }}
  limits = {{ cpu = "1000" }}
}}
"#
    );
    text
}

fn manifests(cluster: &Cluster) -> String {
    format!(
        r#"
provider "kubernetes" {{
  config_path = "{}"
}}

resource "kubernetes_manifest" "this" {{
  count = {POOLS}
  manifest = {{
    apiVersion = "karpenter.sh/v1"
    kind       = "NodePool"
    metadata   = {{ name = "pool-${{count.index}}" }}
    spec = {{
      template = {{
        spec = {{
          nodeClassRef = {{ group = "karpenter.k8s.aws", kind = "EC2NodeClass", name = "default" }}
          requirements = [
            {{ key = "kubernetes.io/arch", operator = "In", values = ["amd64"] }},
            {{ key = "karpenter.sh/capacity-type", operator = "In", values = ["spot", "on-demand"] }},
          ]
          expireAfter = "720h"
        }}
      }}
      limits = {{ cpu = "1000" }}
    }}
  }}
}}
"#,
        cluster.kubeconfig.display()
    )
}
