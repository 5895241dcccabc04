//! etcd and kube-apiserver for one test, on free loopback ports, in a temporary folder, ended when dropped.

use std::{
    env, fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use kube::{Client, Config};

/// Good for nothing but this server, which listens on loopback while the test runs.
const TOKEN: &str = "test";

/// A running API server.
pub(crate) struct ControlPlane {
    etcd: Child,
    apiserver: Child,
    folder: tempfile::TempDir,
    url: String,
}

impl ControlPlane {
    /// Starts both and waits until the server answers.
    pub(crate) async fn start() -> (Self, Client) {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let mut last = String::new();
        // A port that was free a moment ago may be taken by another test.
        for _ in 0..3 {
            let mut started = Self::spawn();
            match started.ready().await {
                Ok(client) => return (started, client),
                Err(error) => last = format!("{error}\n{}", started.logs()),
            }
        }
        panic!("the API server did not come up: {last}");
    }

    fn spawn() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let dir = folder.path();
        let key = rcgen::KeyPair::generate().expect("a key");
        fs::write(dir.join("sa.key"), key.serialize_pem()).expect("writing the key");
        fs::write(dir.join("sa.pub"), key.public_key_pem()).expect("writing the key");
        fs::write(dir.join("tokens"), format!("{TOKEN},test,test,system:masters"))
            .expect("writing the token");
        let [client, peer, secure] = free_ports();
        let store = format!("http://127.0.0.1:{client}");
        let etcd = spawn(
            dir,
            "etcd",
            &[
                format!("--data-dir={}", dir.join("etcd").display()),
                format!("--listen-client-urls={store}"),
                format!("--advertise-client-urls={store}"),
                format!("--listen-peer-urls=http://127.0.0.1:{peer}"),
                format!("--initial-advertise-peer-urls=http://127.0.0.1:{peer}"),
                format!("--initial-cluster=default=http://127.0.0.1:{peer}"),
                "--unsafe-no-fsync".to_owned(),
            ],
        );
        let apiserver = spawn(
            dir,
            "kube-apiserver",
            &[
                format!("--etcd-servers={store}"),
                format!("--cert-dir={}", dir.join("certs").display()),
                format!("--secure-port={secure}"),
                "--bind-address=127.0.0.1".to_owned(),
                "--authorization-mode=AlwaysAllow".to_owned(),
                "--disable-admission-plugins=ServiceAccount".to_owned(),
                "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
                "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
                format!("--service-account-key-file={}", dir.join("sa.pub").display()),
                format!(
                    "--service-account-signing-key-file={}",
                    dir.join("sa.key").display()
                ),
                format!("--token-auth-file={}", dir.join("tokens").display()),
            ],
        );
        Self {
            etcd,
            apiserver,
            folder,
            url: format!("https://127.0.0.1:{secure}"),
        }
    }

    async fn ready(&mut self) -> Result<Client, String> {
        let mut config = Config::new(self.url.parse().map_err(|error| format!("{error}"))?);
        config.accept_invalid_certs = true;
        config.auth_info.token = Some(TOKEN.to_owned().into());
        let client = Client::try_from(config).map_err(|error| error.to_string())?;
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let request = http::Request::get("/readyz")
                .body(Vec::new())
                .map_err(|error| error.to_string())?;
            if let Ok(Some(status)) = self.apiserver.try_wait() {
                return Err(format!("kube-apiserver ended: {status}"));
            }
            match client.request_text(request).await {
                Ok(answer) if answer == "ok" => return Ok(client),
                _ if Instant::now() > deadline => return Err("not ready after 60 s".to_owned()),
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    fn logs(&self) -> String {
        ["etcd", "kube-apiserver"]
            .iter()
            .map(|name| {
                let text =
                    fs::read_to_string(self.folder.path().join(format!("{name}.log"))).unwrap_or_default();
                let lines: Vec<&str> = text.lines().collect();
                format!(
                    "--- {name}\n{}\n",
                    lines[lines.len().saturating_sub(8)..].join("\n")
                )
            })
            .collect()
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        for child in [&mut self.apiserver, &mut self.etcd] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn spawn(dir: &Path, name: &str, arguments: &[String]) -> Child {
    let log = fs::File::create(dir.join(format!("{name}.log"))).expect("a log file");
    let program = tool(name);
    Command::new(&program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a second handle"))
        .stderr(log)
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()))
}

/// A tool from the folder JOINER_TOOLS (or JOINER_TOOLS_DIR), or from the newest one that `joiner sandbox tools`
/// has filled.
fn tool(name: &str) -> PathBuf {
    if let Some(folder) = env::var_os("JOINER_TOOLS").or_else(|| env::var_os("JOINER_TOOLS_DIR")) {
        return PathBuf::from(folder).join(name);
    }
    let cache = env::var_os("JOINER_CACHE").map(PathBuf::from).or_else(|| {
        let general = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        Some(
            general
                .or_else(|| Some(env::home_dir()?.join(".cache")))?
                .join("joiner"),
        )
    });
    let folders = cache.and_then(|cache| fs::read_dir(cache.join("tools")).ok());
    let newest = folders
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin").join(name)))
        .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
        .max();
    match newest {
        Some((_, path)) => path,
        None => panic!(
            "{name} is needed; build it with `joiner sandbox tools`, or set JOINER_TOOLS to the folder that has it"
        ),
    }
}

fn free_ports<const N: usize>() -> [u16; N] {
    // All are held until all are known, so that they differ.
    let listeners: [TcpListener; N] =
        std::array::from_fn(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    std::array::from_fn(|place| listeners[place].local_addr().expect("an address").port())
}
