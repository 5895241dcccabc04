//! The Terraform cores on this machine, and a folder that one of them works in.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};
use joiner_sandbox::terraform::Core;
use joiner_sandbox::tools::Tools;
use serde_json::Value;

use crate::{Cloud, Ground, Watched};

/// A core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreKind {
    /// OpenTofu, which the tools bring.
    OpenTofu,
    /// Terraform, where the machine has it.
    Terraform,
}

impl CoreKind {
    /// Its program.
    ///
    /// # Errors
    /// When the machine has no Terraform.
    pub fn path(self, tools: &Tools) -> Result<PathBuf> {
        match self {
            Self::OpenTofu => Ok(tools.path("tofu")),
            Self::Terraform => terraform().context("Terraform is not on this machine"),
        }
    }
}

/// The cores to test with: OpenTofu always; Terraform when `JOINER_TERRAFORM` names it or it is in PATH.
pub fn cores() -> Vec<CoreKind> {
    let mut cores = vec![CoreKind::OpenTofu];
    if terraform().is_some() {
        cores.push(CoreKind::Terraform);
    } else {
        eprintln!("Terraform is not on this machine; testing with OpenTofu alone");
    }
    cores
}

fn terraform() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("JOINER_TERRAFORM") {
        return Some(PathBuf::from(path));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join("terraform"))
        .find(|file| file.is_file())
}

/// A copy of a configuration in a folder of its own, with one core working in it.
pub struct Workspace {
    core: Core,
    environment: Vec<(String, Option<String>)>,
}

impl Workspace {
    /// Copies `configuration` (a folder, relative to the repository's root) and runs `init`.
    ///
    /// # Errors
    /// What `init` says.
    pub fn of(cloud: &Cloud, kind: CoreKind, configuration: &str) -> Result<Self> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(configuration);
        let dir = cloud
            .folder()
            .join(format!("{kind:?}-{}", configuration.replace('/', "-")));
        fs::create_dir_all(&dir)?;
        for entry in fs::read_dir(&source).with_context(|| source.display().to_string())? {
            let entry = entry?;
            let name = entry.file_name();
            let plain = entry.file_type()?.is_file() && !name.to_string_lossy().contains("tfstate");
            if plain && name != ".terraform.lock.hcl" {
                fs::copy(entry.path(), dir.join(&name))?;
            }
        }
        Self::here(cloud.ground(), cloud.environment(), kind, &dir)
    }

    /// Writes `main` as `main.tf`, in place of the one there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn rewrite(&self, main: &str) -> Result<()> {
        let path = self.dir().join("main.tf");
        fs::write(&path, main).with_context(|| path.display().to_string())
    }

    /// Writes `main` as `main.tf` into a new folder called `name` and runs `init`.
    ///
    /// # Errors
    /// What `init` says.
    pub fn with(cloud: &Cloud, kind: CoreKind, name: &str, main: &str) -> Result<Self> {
        Self::written(cloud.ground(), cloud.environment(), kind, name, main)
    }

    /// As [`Workspace::with`], but with neither account nor cluster in reach.
    ///
    /// # Errors
    /// What `init` says.
    pub fn without_cloud(ground: &Ground, kind: CoreKind, name: &str, main: &str) -> Result<Self> {
        let nobody = [
            ("AWS_ACCESS_KEY_ID", "nobody"),
            ("AWS_SECRET_ACCESS_KEY", "nobody"),
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("AWS_REGION", joiner_sandbox::REGION),
            ("AWS_ENDPOINT_URL", "http://127.0.0.1:1"),
            ("KUBECONFIG", "/nonexistent"),
        ];
        let environment = nobody.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self::written(ground, environment.into(), kind, name, main)
    }

    fn written(
        ground: &Ground,
        environment: BTreeMap<String, String>,
        kind: CoreKind,
        name: &str,
        main: &str,
    ) -> Result<Self> {
        let dir = ground.folder().join(format!("{kind:?}-{name}"));
        fs::create_dir_all(&dir)?;
        fs::write(dir.join("main.tf"), main)?;
        Self::here(ground, environment, kind, &dir)
    }

    fn here(
        ground: &Ground,
        environment: BTreeMap<String, String>,
        kind: CoreKind,
        dir: &Path,
    ) -> Result<Self> {
        let binary = kind.path(&ground.tools)?;
        let workspace = Self {
            core: Core::new(binary, dir, ground.mirror()?, environment),
            environment: Vec::new(),
        };
        workspace.run(&["init", "-input=false", "-no-color"])?;
        Ok(workspace)
    }

    /// From now on the core runs with these variables besides its own; `None` takes one away.
    pub fn set_environment(&mut self, variables: &[(&str, Option<&str>)]) {
        let owned = |(name, value): &(&str, Option<&str>)| ((*name).to_owned(), value.map(str::to_owned));
        self.environment = variables.iter().map(owned).collect();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.core.command(arguments);
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// The core's folder.
    pub fn dir(&self) -> &Path {
        self.core.dir()
    }

    /// The path of one of the folder's files.
    pub fn file(&self, name: &str) -> String {
        self.dir().join(name).display().to_string()
    }

    /// The core, to run a command in another way.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// Runs a command of the core; answers what it printed.
    ///
    /// # Errors
    /// All that it printed, when it fails.
    pub fn run(&self, arguments: &[&str]) -> Result<String> {
        let output = self.output(arguments)?;
        let text = text(&output);
        if !output.status.success() {
            bail!("{} failed ({}):\n{text}", arguments.join(" "), output.status);
        }
        Ok(text)
    }

    /// Runs a command that must fail; answers what it printed.
    ///
    /// # Errors
    /// When it succeeds.
    pub fn fails(&self, arguments: &[&str]) -> Result<String> {
        let output = self.output(arguments)?;
        let text = text(&output);
        if output.status.success() {
            bail!("{} was to fail and did not:\n{text}", arguments.join(" "));
        }
        Ok(text)
    }

    /// Applies without asking.
    ///
    /// # Errors
    /// All that it printed, when it fails.
    pub fn apply(&self, more: &[&str]) -> Result<String> {
        self.run(&[&["apply", "-auto-approve", "-input=false", "-no-color"], more].concat())
    }

    /// Starts an apply that does not ask.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start_apply(&self) -> Result<Watched> {
        self.start("apply")
    }

    /// Starts a destroy that does not ask.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start_destroy(&self) -> Result<Watched> {
        self.start("destroy")
    }

    fn start(&self, verb: &str) -> Result<Watched> {
        let command = self.command(&[verb, "-auto-approve", "-input=false", "-no-color"]);
        Watched::start(command, verb, &self.dir().join(format!("{verb}.log")))
    }

    /// The addresses in the state, sorted: `TYPE.NAME` of resources without instances, which is all that tests have.
    ///
    /// # Errors
    /// When the state is there and cannot be read.
    pub fn state(&self) -> Result<Vec<String>> {
        let path = self.dir().join("terraform.tfstate");
        let bytes = match fs::read(&path) {
            // A core that has not come to write a state leaves none, or an empty file.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Ok(bytes) if bytes.is_empty() => return Ok(Vec::new()),
            other => other.with_context(|| path.display().to_string())?,
        };
        let state: Value = serde_json::from_slice(&bytes).with_context(|| path.display().to_string())?;
        Ok(addresses(&state))
    }

    /// Requires that a plan finds nothing to do.
    ///
    /// # Errors
    /// The plan, when it is not empty.
    pub fn plan_is_empty(&self) -> Result<()> {
        self.run(&["plan", "-detailed-exitcode", "-input=false", "-no-color"])
            .map(drop)
    }

    /// Looks for drift, and finds none.
    ///
    /// # Errors
    /// The plan, when something drifted.
    pub fn nothing_drifted(&self) -> Result<()> {
        self.run(&[
            "plan",
            "-refresh-only",
            "-detailed-exitcode",
            "-input=false",
            "-no-color",
        ])
        .map(drop)
    }

    /// Destroys without asking.
    ///
    /// # Errors
    /// All that it printed, when it fails.
    pub fn destroy(&self) -> Result<String> {
        self.run(&["destroy", "-auto-approve", "-input=false", "-no-color"])
    }

    fn output(&self, arguments: &[&str]) -> Result<Output> {
        Ok(self.command(arguments).output()?)
    }
}

fn text(output: &Output) -> String {
    unwrapped(&[&output.stdout[..], &output.stderr[..]].concat())
}

/// What a core printed, without the bar at the left of its diagnostics.
pub(crate) fn unwrapped(printed: &[u8]) -> String {
    String::from_utf8_lossy(printed).replace("\n\u{2502} ", "\n")
}

fn addresses(state: &Value) -> Vec<String> {
    let resources = state["resources"].as_array().into_iter().flatten();
    let address = |resource: &Value| {
        Some(format!(
            "{}.{}",
            resource["type"].as_str()?,
            resource["name"].as_str()?
        ))
    };
    let mut found: Vec<String> = resources
        .filter(|resource| resource["mode"] == "managed")
        .filter(|resource| {
            resource["instances"]
                .as_array()
                .is_some_and(|all| !all.is_empty())
        })
        .filter_map(address)
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_state_lists_what_there_is() {
        let instance = json!([{ "schema_version": 0 }]);
        let state = json!({ "version": 4, "resources": [
            { "mode": "managed", "type": "b", "name": "x", "instances": instance },
            { "mode": "managed", "type": "a", "name": "x", "instances": instance },
            { "mode": "managed", "type": "a", "name": "gone", "instances": [] },
            { "mode": "data", "type": "a", "name": "y", "instances": instance },
        ] });
        assert_eq!(addresses(&state), ["a.x", "b.x"]);
        assert!(addresses(&json!({ "version": 4 })).is_empty());
    }
}
