//! A controller under measurement, with its class and its pool ready, on a sandbox of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use joiner_api::NodePool;
use joiner_tests::{Cloud, CoreKind, Workspace, eventually};
use kube::{Api, Client};
use serde_json::json;

/// Whose controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// joiner-controller from its chart, installed by one apply of the quickstart.
    Ours,
    /// Upstream's controller a process with the administrator's key.
    Peer,
}

/// A running controller.
pub(crate) struct Contender {
    /// Its sandbox.
    pub(crate) cloud: Cloud,
    /// A client of its cluster.
    pub(crate) client: Client,
    /// Its replicas.
    pids: Vec<u32>,
    process: Option<Child>,
}

impl Contender {
    /// Starts one on a fresh sandbox whose instances boot in `boot_time`, and waits until the pool is ready.
    pub(crate) async fn start(who: Who, boot_time: Duration) -> Result<Self> {
        let cloud = Cloud::start(boot_time).await?;
        let process = match who {
            Who::Ours => {
                Workspace::of(&cloud, CoreKind::OpenTofu, "examples/quickstart")?.apply(&[])?;
                None
            }
            Who::Peer => Some(start_peer(&cloud).await?),
        };
        let client = cloud.client().await?;
        let pools: Api<NodePool> = Api::all(client.clone());
        eventually("the pool is ready", Duration::from_secs(120), || async {
            let pool = pools.get("default").await?;
            let conditions = pool.status.unwrap_or_default().conditions;
            ensure!(
                serde_json::to_value(&conditions)?
                    .as_array()
                    .into_iter()
                    .flatten()
                    .any(|condition| condition["type"] == "Ready" && condition["status"] == "True"),
                "{conditions:?}"
            );
            Ok(())
        })
        .await?;
        let pids = match &process {
            Some(process) => vec![process.id()],
            None => running(&cloud.binaries().join("joiner-controller"))?,
        };
        Ok(Self {
            cloud,
            client,
            pids,
            process,
        })
    }

    /// Its resident memory in MiB now; that of the larger one, the leader, where there are replicas.
    pub(crate) fn resident(&self) -> Result<f64> {
        let each = self.pids.iter().map(|pid| resident(*pid));
        each.reduce(|most, one| Ok(f64::max(most?, one?)))
            .context("no process")?
    }

    /// Its resident memory after it has had nothing to do for a while.
    pub(crate) async fn resident_after_rest(&self) -> Result<f64> {
        tokio::time::sleep(Duration::from_secs(10)).await;
        self.resident()
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The resident memory of a process in MiB.
fn resident(pid: u32) -> Result<f64> {
    let path = format!("/proc/{pid}/status");
    let status = fs::read_to_string(&path).with_context(|| path.clone())?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .context("no VmRSS")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib / 1024.0)
}

/// The processes that run `executable`.
fn running(executable: &Path) -> Result<Vec<u32>> {
    let executable = executable.canonicalize()?;
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let pid = entry.file_name().to_string_lossy().parse();
        if let (Ok(pid), Ok(target)) = (pid, fs::read_link(entry.path().join("exe")))
            && target == executable
        {
            found.push(pid);
        }
    }
    ensure!(!found.is_empty(), "no process runs {}", executable.display());
    Ok(found)
}

const CLUSTER: &str = "peer";

async fn start_peer(cloud: &Cloud) -> Result<Child> {
    let binary = peer()?;
    let cluster = cloud.cluster(CLUSTER).await?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crds = root.join("controller/chart/crds");
    cloud.kubectl(&["apply", "--server-side", "-f", &crds.display().to_string()])?;
    cloud.kubectl(&["wait", "--for=condition=Established", "crd", "--all"])?;
    let objects = cloud.folder().join("peer.json");
    fs::write(&objects, class_and_pool(CLUSTER).to_string())?;
    cloud.kubectl(&["apply", "--server-side", "-f", &objects.display().to_string()])?;
    let log = fs::File::create(cloud.folder().join("peer.log"))?;
    Command::new(binary)
        .envs(cloud.environment())
        .envs([
            ("CLUSTER_NAME", CLUSTER),
            ("CLUSTER_ENDPOINT", &cluster.endpoint),
            ("ISOLATED_VPC", "true"),
            ("DISABLE_LEADER_ELECTION", "true"),
            ("INTERRUPTION_QUEUE", ""),
            ("METRICS_PORT", "0"),
            ("HEALTH_PROBE_PORT", "0"),
        ])
        .stdout(Stdio::from(log.try_clone()?))
        .stderr(Stdio::from(log))
        .spawn()
        .context("upstream's controller")
}

/// The class and the pool of the quickstart, as manifests.
fn class_and_pool(cluster: &str) -> serde_json::Value {
    let discovery = json!([{"tags": {"karpenter.sh/discovery": cluster}}]);
    let is_one_of = |key: &str, values: &[&str]| json!({"key": key, "operator": "In", "values": values});
    json!({"apiVersion": "v1", "kind": "List", "items": [
        {
            "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
            "spec": {
                "role": format!("{cluster}-node"),
                "amiSelectorTerms": [{"alias": "al2023@latest"}],
                "subnetSelectorTerms": discovery, "securityGroupSelectorTerms": discovery,
            },
        },
        {
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"},
            "spec": {
                "template": {"spec": {
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                    "expireAfter": "720h",
                    "requirements": [
                        is_one_of("kubernetes.io/arch", &["amd64"]),
                        is_one_of("karpenter.sh/capacity-type", &["spot", "on-demand"]),
                        is_one_of("karpenter.k8s.aws/instance-category", &["c", "m", "r"]),
                        {"key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": ["4"]},
                    ],
                }},
                "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "30s"},
                "limits": {"cpu": "1000"},
            },
        },
    ]})
}

/// Upstream's controller, built once into the cache from the lock file in `tests/peers`. `JOINER_PEER` names one that is
/// ready.
fn peer() -> Result<PathBuf> {
    if let Some(ready) = std::env::var_os("JOINER_PEER") {
        return Ok(PathBuf::from(ready));
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    let version = fs::read_to_string(source.join("go.mod"))?
        .lines()
        .find_map(|line| {
            line.trim()
                .strip_prefix("github.com/aws/karpenter-provider-aws v")
        })
        .map(|rest| rest.split_whitespace().next().unwrap_or_default().to_owned())
        .context("tests/peers/go.mod names no karpenter-provider-aws")?;
    let binary = joiner_sandbox::layout::cache().join(format!("peers/karpenter-{version}"));
    if !binary.is_file() {
        eprintln!("==> building upstream's controller {version} (once, minutes)");
        let status = Command::new("go")
            .args(["build", "-mod=readonly", "-ldflags", "-s -w", "-o"])
            .arg(&binary)
            .arg("github.com/aws/karpenter-provider-aws/cmd/controller")
            .current_dir(source)
            .env("GOTOOLCHAIN", "auto")
            .env("GOWORK", "off")
            .status()?;
        ensure!(status.success(), "upstream's controller does not build");
    }
    Ok(binary)
}
