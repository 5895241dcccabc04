//! Bringing up the programs of a control plane, each when what it needs is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use k8s_openapi::api::core::v1::ServiceAccount;
use kube::{Api, Client};

use super::flags::{self, Ports};
use super::{client, kubeconfig, pki};
use crate::embedded;
use crate::error::{Error, Result};
use crate::http::{self, Ask};
use crate::layout::ClusterLayout;
use crate::process::spawn::{Output, Plan};
use crate::supervisor::{Parts, write_whole};

/// How long a program may take to answer; generous, since a busy machine is slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// What it takes to bring up a control plane.
#[derive(Debug, Clone)]
pub(crate) struct ControlPlane<'a> {
    /// The cluster's name, the prefix of its parts.
    pub(crate) name: &'a str,
    pub(crate) layout: &'a ClusterLayout,
    pub(crate) ports: Ports,
    /// The folder of the Go tools.
    pub(crate) tools: &'a Path,
    pub(crate) parts: &'a Parts,
    /// The URL of the token webhook.
    pub(crate) webhook: &'a str,
}

impl ControlPlane<'_> {
    /// Brings everything up; answers the administrator's client.
    pub(crate) async fn start(&self) -> Result<Client> {
        self.write_files()?;
        self.run(
            "etcd",
            flags::etcd(self.layout, self.ports),
            Some(self.ports.etcd),
        )
        .await?;
        let etcd = format!("127.0.0.1:{}", self.ports.etcd);
        self.ready("etcd", || is_healthy(&etcd)).await?;

        let webhook = self.layout.pki("webhook.kubeconfig");
        self.run(
            "kube-apiserver",
            flags::api_server(self.layout, self.ports, &webhook),
            Some(self.ports.api),
        )
        .await?;
        let client = client::from_file(&flags::kubeconfig(self.layout, pki::ADMIN))
            .await
            .map_err(|error| {
                Error::Refused(format!(
                    "cannot make a client for cluster {:?}: {error:#}",
                    self.name
                ))
            })?;
        self.ready("kube-apiserver", || is_ready(&client)).await?;

        self.run(
            "kube-controller-manager",
            flags::controller_manager(self.layout),
            None,
        )
        .await?;
        self.run("kube-scheduler", flags::scheduler(self.layout), None)
            .await?;
        self.run(
            "kwok",
            flags::kwok(self.layout, &self.layout.pki("kwok.yaml")),
            None,
        )
        .await?;
        // These two answer no health question of their own; they run as long as they have not ended.
        self.ready("kube-scheduler", || async { true }).await?;
        self.ready("kwok", || async { true }).await?;
        self.ready("kube-controller-manager", || has_accounts(&client))
            .await?;
        Ok(client)
    }

    fn write_files(&self) -> Result<()> {
        pki::create(self.layout)?;
        let endpoint = self.ports.endpoint();
        for identity in [pki::ADMIN, pki::CONTROLLER_MANAGER, pki::SCHEDULER, pki::KWOK] {
            let file = |extension: &str| self.layout.pki(&format!("{}.{extension}", identity.file));
            let text =
                kubeconfig::with_files(&endpoint, &self.layout.pki("ca.crt"), &file("crt"), &file("key"));
            write_whole(&flags::kubeconfig(self.layout, identity), text.as_bytes())?;
        }
        write_whole(
            &self.layout.pki("webhook.kubeconfig"),
            kubeconfig::for_webhook(self.webhook).as_bytes(),
        )?;
        let stages = embedded::file("src/control_plane/stages/kwok.yaml").unwrap_or_default();
        write_whole(&self.layout.pki("kwok.yaml"), stages)
    }

    async fn run(&self, program: &str, args: Vec<String>, port: Option<u16>) -> Result<()> {
        let plan = Plan {
            program: self.tools.join(program),
            args: args.into_iter().map(Into::into).collect(),
            env: environment(self.layout.dir()),
            dir: self.layout.dir().to_path_buf(),
            output: Output::File(self.layout.log(program)),
        };
        self.parts.start(&self.part(program), plan, port).await
    }

    async fn ready<F: Future<Output = bool>>(&self, program: &str, probe: impl Fn() -> F) -> Result<()> {
        self.parts.wait_ready(&self.part(program), PATIENCE, probe).await
    }

    fn part(&self, program: &str) -> String {
        format!("{}/{program}", self.name)
    }
}

/// Go programs need a home for their caches; the collector's setting trades a little time for a third of the memory.
fn environment(home: &Path) -> BTreeMap<String, String> {
    let home: PathBuf = home.to_path_buf();
    [
        ("HOME", home.display().to_string()),
        ("GOGC", "60".into()),
        ("PATH", "/usr/bin:/bin".into()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

async fn is_healthy(etcd: &str) -> bool {
    let ask = Ask {
        path: "/health",
        patience: Some(Duration::from_secs(1)),
        ..Ask::default()
    };
    http::tcp(etcd, ask)
        .await
        .is_ok_and(|answer| answer.status.is_success())
}

async fn is_ready(client: &Client) -> bool {
    client::text(client, "/readyz")
        .await
        .is_some_and(|text| text == "ok")
}

/// The controller manager has made the first service accounts: it works.
async fn has_accounts(client: &Client) -> bool {
    let accounts = Api::<ServiceAccount>::namespaced(client.clone(), "kube-system");
    accounts
        .get_opt("default")
        .await
        .is_ok_and(|account| account.is_some())
}
