//! A folder with a configuration, and a core to run in it.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const SOURCE: &str = "example.com/test/folder";

/// A core's executable.
#[derive(Clone, Debug)]
pub(crate) struct Core(PathBuf);

/// Every core that is found; says so when there is none.
pub(crate) fn cores() -> Vec<Core> {
    let found: Vec<Core> = [("JOINER_TOFU", "tofu"), ("JOINER_TERRAFORM", "terraform")]
        .into_iter()
        .filter_map(|(variable, name)| {
            std::env::var_os(variable)
                .map(PathBuf::from)
                .or_else(|| in_path(name))
        })
        .map(Core)
        .collect();
    if found.is_empty() {
        eprintln!(
            "NOT TESTED: no core is there. Set JOINER_TOFU or JOINER_TERRAFORM to an executable, or put one into PATH."
        );
    }
    found
}

fn in_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// The example provider, which `cargo test` builds beside the tests.
pub(crate) fn provider() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let file = tests.parent().unwrap().parent().unwrap().join("examples/folder");
    assert!(
        file.is_file(),
        "{} is not there; build it: cargo build -p tfplugin --example folder",
        file.display()
    );
    file
}

/// A folder with a configuration.
pub(crate) struct Workspace {
    folder: TempDir,
    core: Core,
    variables: Vec<(String, String)>,
}

/// How a core ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
}

impl Ran {
    pub(crate) fn succeeded(self, what: &str) -> String {
        assert_eq!(self.code, Some(0), "{what}: {}", self.text);
        self.text
    }

    pub(crate) fn failed_with(self, want: &str) {
        assert_eq!(self.code, Some(1), "{}", self.text);
        assert!(
            one_line(&self.text).contains(want),
            "{want:?} is not in: {}",
            self.text
        );
    }
}

/// Messages are wrapped and framed for a terminal.
fn one_line(text: &str) -> String {
    text.replace(['│', '╷', '╵'], " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

impl Workspace {
    /// A workspace whose core finds the provider by a development override.
    pub(crate) fn new(core: &Core, configuration: &str) -> Self {
        let mut workspace = Self::without_override(core, configuration);
        let plugins = workspace.path("plugins");
        std::fs::create_dir(&plugins).unwrap();
        std::os::unix::fs::symlink(provider(), plugins.join("terraform-provider-folder")).unwrap();
        let settings = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"{SOURCE}\" = {plugins:?}\n  }}\n  direct {{}}\n}}\n"
        );
        std::fs::write(workspace.path("settings"), settings).unwrap();
        let file = workspace.path("settings").display().to_string();
        workspace.set("TF_CLI_CONFIG_FILE", &file);
        workspace
    }

    /// A workspace in which the core would look for the provider elsewhere.
    pub(crate) fn without_override(core: &Core, configuration: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Self {
            folder,
            core: core.clone(),
            variables: Vec::new(),
        };
        workspace.write(configuration);
        workspace
    }

    /// Replaces the configuration; `DATA` in it is a folder for things, and the provider's source is added.
    pub(crate) fn write(&self, configuration: &str) {
        let head = format!(
            "terraform {{\n  required_providers {{\n    folder = {{ source = \"{SOURCE}\" }}\n  }}\n}}\n"
        );
        let data = self.path("data").display().to_string();
        std::fs::write(self.path("main.tf"), head + &configuration.replace("DATA", &data)).unwrap();
    }

    pub(crate) fn set(&mut self, variable: &str, value: &str) {
        self.variables.push((variable.to_owned(), value.to_owned()));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The things in the data folder and its subfolders, by name.
    pub(crate) fn things(&self) -> Vec<String> {
        fn collect(folder: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.path() {
                    path if path.is_dir() => collect(&path, found),
                    path => found.extend(path.file_stem().and_then(OsStr::to_str).map(str::to_owned)),
                }
            }
        }
        let mut found = Vec::new();
        for entry in std::fs::read_dir(self.folder.path()).unwrap().flatten() {
            if entry.file_name().to_string_lossy().starts_with("data") {
                collect(&entry.path(), &mut found);
            }
        }
        found.sort();
        found
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.core.0);
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("CHECKPOINT_DISABLE", "1");
        command
            .env_remove("TF_REATTACH_PROVIDERS")
            .env_remove("TF_CLI_CONFIG_FILE")
            .env_remove("TF_LOG");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let Output {
            status,
            stdout,
            stderr,
        } = self.command(arguments).output().unwrap();
        let mut text = String::from_utf8_lossy(&stdout).into_owned();
        let _ = write!(text, "{}", String::from_utf8_lossy(&stderr));
        Ran {
            code: status.code(),
            text,
        }
    }

    pub(crate) fn apply(&self) -> Ran {
        self.run(&["apply", "-auto-approve", "-no-color"])
    }

    pub(crate) fn destroy(&self) -> Ran {
        self.run(&["destroy", "-auto-approve", "-no-color"])
    }

    /// The plan's exit code: 0 no changes, 2 changes.
    pub(crate) fn plan(&self) -> Ran {
        self.run(&["plan", "-detailed-exitcode", "-no-color"])
    }

    /// The exit code of a plan that looks for drift alone: 0 none, 2 some.
    pub(crate) fn refresh_only(&self) -> Ran {
        self.run(&["plan", "-refresh-only", "-detailed-exitcode", "-no-color"])
    }

    /// The attributes of the one folder_thing in the state.
    pub(crate) fn thing(&self) -> serde_json::Value {
        let shown = self.run(&["show", "-json"]).succeeded("show");
        let json = shown
            .lines()
            .find(|line| line.starts_with('{'))
            .unwrap_or_default();
        let state: serde_json::Value =
            serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {shown}"));
        let resources = state["values"]["root_module"]["resources"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let thing = resources
            .into_iter()
            .find(|resource| resource["type"] == "folder_thing" && resource["mode"] == "managed");
        thing.map_or(serde_json::Value::Null, |thing| thing["values"].clone())
    }
}
