//! The sandbox's cloud as a child process, and its admin routes.

use joiner_aws::{Aws, Endpoints, Settings, StaticCredentials};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub(crate) const REGION: &str = "us-west-2";
pub(crate) const ACCOUNT: &str = "123456789012";
const START: Duration = Duration::from_secs(120);

/// A running cloud.
pub(crate) struct Cloud {
    port: u16,
    /// Ends when our end of its standard input is closed, which happens with this process.
    _shell: Child,
}

/// The cloud of this process; started at the first use, ended with the process.
pub(crate) fn cloud() -> &'static Cloud {
    static CLOUD: OnceLock<Cloud> = OnceLock::new();
    CLOUD.get_or_init(start)
}

/// A cloud of its own, for tests whose faults would hit others; ended when dropped.
pub(crate) fn start() -> Cloud {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sandbox/aws");
    let state = tempfile::tempdir().unwrap().keep();
    let log = std::fs::File::create(state.join("log")).unwrap();
    // The shell ends the cloud when our end of its standard input is closed, however this process ends.
    let script = "\"$0\" -m joiner_cloud --port 0 --state-dir \"$1\" </dev/null & pid=$!; cat >/dev/null; kill $pid; rm -r \"$1\"";
    let mut child = Command::new("sh")
        .args(["-c", script])
        .arg(python())
        .arg(&state)
        .env("PYTHONPATH", &package)
        .stdin(Stdio::piped())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    let begin = Instant::now();
    loop {
        let port = std::fs::read_to_string(state.join("port"))
            .ok()
            .and_then(|text| text.trim().parse().ok());
        if let Some(port) = port
            && let Some(Value::Object(health)) = call(port, "GET", "/_sandbox/health", "")
            && health.get("status") == Some(&json!("ok"))
        {
            return Cloud { port, _shell: child };
        }
        if begin.elapsed() > START || child.try_wait().unwrap().is_some() {
            let log = std::fs::read_to_string(state.join("log")).unwrap_or_default();
            panic!("the sandbox's cloud did not start:\n{log}");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

pub(crate) fn python() -> PathBuf {
    if let Some(set) = std::env::var_os("JOINER_EMULATOR_PYTHON") {
        return set.into();
    }
    let cache = cache().join("python");
    let installed = std::fs::read_dir(&cache)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin/python"));
    let mut installed: Vec<PathBuf> = installed.filter(|python| python.exists()).collect();
    installed.sort();
    installed.pop().unwrap_or_else(|| {
        panic!(
            "no Python with the sandbox's packages: set JOINER_EMULATOR_PYTHON to one that has those of \
             sandbox/aws/requirements.txt, or run `make tools`, which puts one under {}",
            cache.display()
        )
    })
}

/// Where `make tools` puts what it builds.
fn cache() -> PathBuf {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let home = || set("HOME").unwrap_or_default().join(".cache");
    set("JOINER_CACHE").unwrap_or_else(|| set("XDG_CACHE_HOME").unwrap_or_else(home).join("joiner"))
}

impl Cloud {
    /// Settings of the account's administrator.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            region: Some(REGION.to_owned()),
            credentials: Some(StaticCredentials {
                access_key_id: "AKIASANDBOXADMIN00000".to_owned(),
                secret_access_key: "sandbox-admin-secret".to_owned(),
                session_token: None,
            }),
            endpoints: Endpoints {
                all: Some(self.url()),
                ..Endpoints::default()
            },
            max_attempts: Some(1),
            ..Settings::default()
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The account's administrator.
    pub(crate) fn admin(&self) -> Aws {
        Aws::connect(self.settings()).unwrap()
    }

    /// Calls an admin route.
    pub(crate) fn admin_route(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        call(self.port, method, path, &body).unwrap()
    }

    /// Sends a request as written: path with query, and headers after the first line.
    pub(crate) fn raw(&self, target: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            stream,
            "GET {target} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// A cluster with network, security group, node role and images.
    pub(crate) fn cluster(&self, name: &str) -> Value {
        let body = json!({
            "name": name,
            "version": "1.34",
            "endpoint": format!("https://{name}.example"),
            "certificateAuthority": "Q0E=",
            "oidcIssuer": format!("https://oidc.example/id/{name}"),
        });
        let made = self.admin_route("POST", "/_sandbox/clusters", &body);
        assert_eq!(made["name"], name, "{made}");
        made
    }

    /// Injects a fault; it ends when the guard is dropped.
    pub(crate) fn fault(&self, fault: &Value) -> FaultGuard<'_> {
        let added = self.admin_route("POST", "/_sandbox/faults", fault);
        let id = added["faults"][0]["id"]
            .as_i64()
            .unwrap_or_else(|| panic!("{added}"));
        FaultGuard { cloud: self, id }
    }
}

pub(crate) struct FaultGuard<'a> {
    cloud: &'a Cloud,
    id: i64,
}

impl Drop for FaultGuard<'_> {
    fn drop(&mut self) {
        self.cloud
            .admin_route("DELETE", &format!("/_sandbox/faults/{}", self.id), &Value::Null);
    }
}

fn call(port: u16, method: &str, path: &str, body: &str) -> Option<Value> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: \
         {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    serde_json::from_str(body).ok()
}
