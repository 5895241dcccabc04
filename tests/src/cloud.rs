//! A sandbox of a test's own, ended when the test ends.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use joiner_sandbox::process::identity::ProcessId;
use joiner_sandbox::tools::{Tools, progress::Quiet};
use joiner_sandbox::{Cluster, ClusterSpec, Layout, Sandbox, UpOptions};
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::Value;

use crate::Ground;
use crate::processes::{self, Process};

/// A running sandbox in the folder of its [`Ground`].
pub struct Cloud {
    /// The handle to it.
    pub sandbox: Sandbox,
    /// The tools it runs.
    pub tools: Tools,
    ground: Ground,
}

impl Cloud {
    /// Starts a sandbox without a cluster, whose instances become nodes `boot_time` after their launch.
    ///
    /// # Errors
    /// What kept it from starting.
    pub async fn start(boot_time: Duration) -> Result<Self> {
        let ground = Ground::take().await?;
        let options = UpOptions {
            layout: Layout::new(ground.folder().join("sandbox")),
            boot_time,
            cluster: None,
            region: joiner_sandbox::REGION.to_owned(),
            aws_port: None,
            executable: ground.binaries().join("joiner"),
            binaries: ground.binaries().to_path_buf(),
            tools: ground.tools.clone(),
            // Whoever stops the tests, stops this.
            owner: ProcessId::own(),
        };
        let sandbox = joiner_sandbox::up(options, &Quiet).await?;
        Ok(Self {
            sandbox,
            tools: ground.tools.clone(),
            ground,
        })
    }

    /// What it stands on.
    pub fn ground(&self) -> &Ground {
        &self.ground
    }

    /// A folder that lives as long as the sandbox.
    pub fn folder(&self) -> &Path {
        self.ground.folder()
    }

    /// The folder of the binaries under test.
    pub fn binaries(&self) -> &Path {
        self.ground.binaries()
    }

    /// The environment that points ordinary tools at the sandbox.
    pub fn environment(&self) -> BTreeMap<String, String> {
        self.sandbox.environment()
    }

    /// Brings a cluster up without a Terraform core.
    ///
    /// # Errors
    /// What the supervisor says.
    pub async fn cluster(&self, name: &str) -> Result<Cluster> {
        Ok(self
            .sandbox
            .create_cluster(&ClusterSpec {
                name: name.to_owned(),
                port: None,
            })
            .await?)
    }

    /// A client of the current cluster.
    ///
    /// # Errors
    /// When there is no cluster.
    pub async fn client(&self) -> Result<kube::Client> {
        let path = self.sandbox.layout().kubeconfig();
        let kubeconfig = Kubeconfig::read_from(&path).with_context(|| path.display().to_string())?;
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        Ok(kube::Client::try_from(config)?)
    }

    /// A client of one cluster.
    ///
    /// # Errors
    /// When its kubeconfig cannot be used.
    pub async fn client_of(&self, cluster: &Cluster) -> Result<kube::Client> {
        let kubeconfig = Kubeconfig::read_from(&cluster.kubeconfig)?;
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        Ok(kube::Client::try_from(config)?)
    }

    /// Runs `kubectl` against the newest cluster and answers its output.
    ///
    /// # Errors
    /// Its standard error when it fails.
    pub fn kubectl(&self, arguments: &[&str]) -> Result<String> {
        self.kubectl_in(None, arguments, "")
    }

    /// Runs `kubectl` against one cluster and answers its output.
    ///
    /// # Errors
    /// Its standard error when it fails.
    pub fn kubectl_of(&self, cluster: &Cluster, arguments: &[&str]) -> Result<String> {
        self.kubectl_in(Some(cluster), arguments, "")
    }

    /// `kubectl apply` of a text of manifests.
    ///
    /// # Errors
    /// Its standard error when it fails.
    pub fn kubectl_apply(&self, manifests: &str) -> Result<String> {
        self.kubectl_in(None, &["apply", "-f", "-"], manifests)
    }

    /// Applies our CRDs to a cluster that gets no controller.
    ///
    /// # Errors
    /// What kubectl says.
    pub fn crds(&self, cluster: &Cluster) -> Result<()> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../controller/chart/crds");
        self.kubectl_of(cluster, &["apply", "--server-side", "-f", folder])?;
        self.kubectl_of(
            cluster,
            &[
                "wait",
                "--for=condition=Established",
                "--timeout=120s",
                "crd",
                "--all",
            ],
        )
        .map(drop)
    }

    fn kubectl_in(&self, cluster: Option<&Cluster>, arguments: &[&str], input: &str) -> Result<String> {
        let mut command = Command::new(self.tools.path("kubectl"));
        command.args(arguments).envs(self.environment());
        if let Some(cluster) = cluster {
            command.env("KUBECONFIG", &cluster.kubeconfig);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            bail!(
                "kubectl {}: {}",
                arguments.join(" "),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The process of a part, as `joiner sandbox status` names it, such as `CLUSTER/kube-apiserver`.
    ///
    /// # Errors
    /// When there is no such part, or it does not run.
    pub async fn part(&self, name: &str) -> Result<Process> {
        let status = self.sandbox.status().await?;
        let part = status.parts.iter().find(|part| part.name == name);
        let pid = part
            .and_then(|part| part.pid)
            .and_then(|pid| u32::try_from(pid).ok());
        pid.and_then(processes::of)
            .with_context(|| format!("no part {name} runs: {part:?}"))
    }

    /// The running processes of pods on the system node whose program is `program`, such as `joiner-controller`.
    pub fn pod_processes(&self, program: &str) -> Vec<Process> {
        let mut found = processes::below(self.sandbox.record().supervisor);
        found.retain(|process| process.program() == program);
        found
    }

    /// One call to the account as its administrator, by boto3: `operation` and `parameters` are boto3's, such as `create_role`.
    ///
    /// # Errors
    /// What AWS answers.
    pub fn aws(&self, service: &str, operation: &str, parameters: &Value) -> Result<Value> {
        const CALL: &str = "import boto3, json, sys\n\
            answer = getattr(boto3.client(sys.argv[1]), sys.argv[2])(**json.loads(sys.argv[3]))\n\
            print(json.dumps(answer, default=str))";
        let output = Command::new(&self.tools.python)
            .args(["-c", CALL, service, operation, &parameters.to_string()])
            .envs(self.environment())
            .output()?;
        if !output.status.success() {
            bail!(
                "{service} {operation}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Makes the account misbehave until the fault is used up or [`Cloud::mend`] is called. The emulator's README lists the
    /// faults.
    ///
    /// # Errors
    /// When the emulator does not take the fault.
    pub async fn fault(&self, fault: &Value) -> Result<()> {
        self.sandbox.emulator("POST", "faults", Some(fault)).await?;
        Ok(())
    }

    /// How often each standing fault has been met, by kind. One that is used up is gone.
    ///
    /// # Errors
    /// When the emulator does not answer.
    pub async fn faults(&self) -> Result<BTreeMap<String, u64>> {
        let answer = self.sandbox.emulator("GET", "faults", None).await?;
        let faults = answer["faults"].as_array().into_iter().flatten();
        Ok(faults
            .map(|fault| {
                let kind = fault["kind"].as_str().unwrap_or_default().to_owned();
                (kind, fault["used"].as_u64().unwrap_or_default())
            })
            .collect())
    }

    /// Takes all faults away.
    ///
    /// # Errors
    /// When the emulator does not answer.
    pub async fn mend(&self) -> Result<()> {
        self.sandbox.emulator("DELETE", "faults", None).await?;
        Ok(())
    }

    /// The instances that are not terminated.
    ///
    /// # Errors
    /// When the emulator does not answer.
    pub async fn instances(&self) -> Result<Vec<Value>> {
        let answer = self.sandbox.emulator("GET", "instances", None).await?;
        let mut instances = answer["instances"].as_array().cloned().unwrap_or_default();
        instances.retain(|instance| {
            !["terminated", "shutting-down"].contains(&instance["state"].as_str().unwrap_or_default())
        });
        Ok(instances)
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        let output = Command::new(self.binaries().join("joiner"))
            .args(["sandbox", "down", "--dir"])
            .arg(self.sandbox.layout().dir())
            .output();
        if !output.as_ref().is_ok_and(|output| output.status.success()) {
            let folder = self.folder().display();
            eprintln!("the sandbox in {folder} was not ended: {output:?}");
        }
    }
}
