//! The arguments, as clap reads them; the doc comments are the help texts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Joiner: one apply brings up a cluster that gives its own pods their nodes.
#[derive(Debug, Parser)]
#[command(
    name = "joiner",
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
pub(crate) struct Joiner {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What the controller would do with a set of objects, and what it would cost
    Simulate(Box<crate::simulate::Simulate>),
    /// Why a pod has a node, or has none, and what would help
    Explain(Box<crate::explain::Explain>),
    /// Write what exists as a configuration, with import blocks
    Migrate(crate::migrate::Migrate),
    /// A whole cloud on this machine, from real parts
    Sandbox(Sandbox),
    /// Print the version
    Version {
        /// How to print it
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

impl Command {
    /// What to tell whoever interrupts the command: how to go on.
    pub(crate) fn when_interrupted(&self) -> Option<&'static str> {
        match self {
            Command::Sandbox(Sandbox {
                command: SandboxCommand::Quickstart(_),
                ..
            }) => Some("nothing is lost: the same command again goes on from here"),
            _ => None,
        }
    }
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people
    #[default]
    Table,
    /// For programs
    Json,
}

#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Sandbox {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(subcommand)]
    pub(crate) command: SandboxCommand,
}

/// Which sandbox is meant.
#[derive(Debug, Clone, Args)]
pub(crate) struct Which {
    /// The sandbox's folder [env: JOINER_SANDBOX] [default: ~/.local/share/joiner/<NAME>]
    #[arg(long, global = true, value_name = "DIR", conflicts_with = "name")]
    pub(crate) dir: Option<PathBuf>,
    /// The sandbox's name, when several run side by side [default: sandbox]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SandboxCommand {
    /// Start the sandbox, or add what the running one lacks
    Up(Up),
    /// Show every part: state, process, port, uptime, memory
    Status {
        /// How to print it
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// End the sandbox; its cloud ends with it, so the next start is empty
    Down,
    /// End the sandbox, remove its state, start it anew
    Reset(Up),
    /// Build the tools that a sandbox runs, into the cache
    Tools(Tools),
    /// Print the settings that point other tools here, for `eval "$(joiner sandbox env)"`
    Env {
        /// How to print them
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Print the log of a part, as `status` names it
    Logs(Logs),
    /// Run kubectl against the sandbox
    Kubectl {
        /// kubectl's arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
        arguments: Vec<String>,
    },
    /// Show, create or delete clusters
    Cluster(Cluster),
    /// One apply of an example, then pending pods that get nodes, watched live
    Quickstart(crate::quickstart::Quickstart),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Up {
    /// The time between an instance's launch and its node, such as 5s, 500ms, 0
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub(crate) boot_time: std::time::Duration,
    /// Start no cluster; the resource sandbox_cluster will
    #[arg(long)]
    pub(crate) no_cluster: bool,
    /// The cluster's name
    #[arg(
        long,
        value_name = "NAME",
        default_value = "sandbox",
        conflicts_with = "no_cluster"
    )]
    pub(crate) cluster: String,
    /// The API server's port [default: a free one]
    #[arg(long, value_name = "PORT", conflicts_with = "no_cluster")]
    pub(crate) api_port: Option<u16>,
    /// The region of the emulated account
    #[arg(long, value_name = "REGION", default_value = joiner_sandbox::REGION)]
    pub(crate) region: String,
    /// The AWS emulator's port [default: a free one]
    #[arg(long, value_name = "PORT")]
    pub(crate) aws_port: Option<u16>,
    /// Where the programs of joiner/NAME images lie, as joiner-NAME [default: beside this program]
    #[arg(long, value_name = "DIR")]
    pub(crate) controller_binaries: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Tools {
    /// Only these tools (etcd, kube-apiserver, .. kubectl, helm, tofu) [default: all]
    #[arg(value_name = "TOOL")]
    pub(crate) tools: Vec<String>,
    /// Build nothing; print the folder that holds the tools, or will
    #[arg(long)]
    pub(crate) path: bool,
    /// Build nothing; print the Python interpreter that has the emulator's requirements, or will
    #[arg(long, conflicts_with = "path")]
    pub(crate) python: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Logs {
    /// The part: supervisor, emulator, or CLUSTER/PART
    pub(crate) part: String,
    /// Go on printing what is added
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only the last lines
    #[arg(long, value_name = "LINES")]
    pub(crate) tail: Option<usize>,
}

#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Cluster {
    #[command(subcommand)]
    pub(crate) command: ClusterCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Show the clusters
    List {
        /// How to print them
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Bring up a cluster
    Create {
        /// Its name
        #[arg(value_name = "NAME")]
        cluster: String,
        /// The API server's port [default: a free one]
        #[arg(long, value_name = "PORT")]
        api_port: Option<u16>,
    },
    /// Take a cluster down with all it holds
    Delete {
        /// Its name
        #[arg(value_name = "NAME")]
        cluster: String,
    },
}

/// Reads `5s`, `500ms`, `1m30s`, or a number of seconds.
pub(crate) fn duration(text: &str) -> Result<std::time::Duration, String> {
    joiner_sandbox::parse_duration(text)
        .ok_or_else(|| format!("{text:?} is not a time; write 5s, 500ms, 1m30s or 0"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Joiner::command().debug_assert();
    }

    #[test]
    fn times_are_read() {
        use std::time::Duration;
        for (text, want) in [
            ("5s", Some(Duration::from_secs(5))),
            ("0", Some(Duration::ZERO)),
            ("500ms", Some(Duration::from_millis(500))),
            ("1m30s", Some(Duration::from_secs(90))),
            ("soon", None),
            ("-1s", None),
            ("", None),
        ] {
            assert_eq!(duration(text).ok(), want, "{text}");
        }
    }

    #[test]
    fn a_clusters_name_is_not_the_sandboxs() {
        let words = ["joiner", "sandbox", "cluster", "create", "b", "--dir", "/x"];
        let joiner = Joiner::try_parse_from(words).unwrap();
        let Command::Sandbox(sandbox) = joiner.command else {
            panic!("another command")
        };
        assert_eq!(
            (sandbox.which.dir, sandbox.which.name),
            (Some(PathBuf::from("/x")), None)
        );
    }

    #[test]
    fn kubectl_gets_its_arguments_untouched() {
        let joiner =
            Joiner::try_parse_from(["joiner", "sandbox", "kubectl", "--", "get", "pods", "-A"]).unwrap();
        let Command::Sandbox(Sandbox {
            command: SandboxCommand::Kubectl { arguments },
            ..
        }) = joiner.command
        else {
            panic!("another command");
        };
        assert_eq!(arguments, ["get", "pods", "-A"]);
    }
}
