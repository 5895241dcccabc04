//! The command line and environment of a container's process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::{Container, Pod};

use super::context::Context;
use super::environment::{self, Sources};
use super::expand::expand;
use super::fields::Facts;
use super::mounts::{self, Mount};
use super::prepare::Prepared;
use super::{image, node};
use crate::process::spawn::{Output, Plan};

/// Why a container cannot be started: the kubelet's reason and message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// The plan of a container's process.
pub(super) fn plan(
    context: &Context,
    pod: &Pod,
    container: &Container,
    prepared: &Prepared,
    sources: &Sources,
) -> Result<Plan, Refusal> {
    let program = program(context, container)?;
    let ip = prepared.ip();
    let facts = Facts {
        pod,
        pod_ip: &ip,
        host_ip: node::HOST_IP,
        allocatable: &context.allocatable,
    };
    let config = |message| Refusal {
        reason: "CreateContainerConfigError",
        message,
    };
    let env = environment::build(container, &facts, sources, prepared.given.clone()).map_err(config)?;
    let mounts = mounts::of(container, |name| prepared.volumes.get(name).cloned());
    let finish = |text: &String| mounts::translate(&expand(text, &env), &mounts);

    let words: Vec<String> = container.command.iter().flatten().map(finish).collect();
    let args = container.args.iter().flatten().map(finish);
    let (program, first) = match words.split_first() {
        None => (program, Vec::new()),
        Some((word, rest)) => (resolve(context, word)?, rest.to_vec()),
    };
    let dir = container
        .working_dir
        .as_ref()
        .map(finish)
        .filter(|dir| Path::new(dir).is_dir());
    Ok(Plan {
        program,
        args: first.into_iter().chain(args).map(OsString::from).collect(),
        env: env
            .iter()
            .map(|(name, value)| (name.clone(), mounts::translate(value, &mounts)))
            .collect(),
        dir: dir.map_or_else(|| prepared.folder.clone(), PathBuf::from),
        output: Output::Piped,
    })
}

/// The same process with another command, for a probe.
pub(super) fn exec(
    context: &Context,
    base: &Plan,
    mounts: &[Mount],
    command: &[String],
) -> Result<Plan, String> {
    let words: Vec<String> = command
        .iter()
        .map(|word| mounts::translate(word, mounts))
        .collect();
    let (word, rest) = words.split_first().ok_or("an exec probe has no command")?;
    let program = resolve(context, word).map_err(|refusal| refusal.message)?;
    Ok(Plan {
        program,
        args: rest.iter().map(OsString::from).collect(),
        ..base.clone()
    })
}

fn program(context: &Context, container: &Container) -> Result<PathBuf, Refusal> {
    let name = container.image.as_deref().unwrap_or_default();
    let Some(program) = image::program(name) else {
        return Err(Refusal {
            reason: "ErrImagePull",
            message: image::refusal(name),
        });
    };
    let path = context.binaries.join(&program);
    if !path.is_file() {
        let folder = context.binaries.display();
        let message = format!(
            "image {name:?} is the program {program}, which is not in {folder}; build it, or start the sandbox with --controller-binaries"
        );
        return Err(Refusal {
            reason: "ErrImagePull",
            message,
        });
    }
    Ok(path)
}

/// A command's first word: one of our programs wherever its image has it, or a program of this machine.
fn resolve(context: &Context, word: &str) -> Result<PathBuf, Refusal> {
    let base = Path::new(word).file_name().unwrap_or_default();
    let ours = context.binaries.join(base);
    if base.to_string_lossy().starts_with("joiner-") && ours.is_file() {
        return Ok(ours);
    }
    let folders = [
        PathBuf::new(),
        "/usr/local/bin".into(),
        "/usr/bin".into(),
        "/bin".into(),
    ];
    let candidates = folders.iter().map(|folder| folder.join(word));
    candidates
        .into_iter()
        .find(|path| path.is_absolute() && path.is_file())
        .ok_or_else(|| Refusal {
            reason: "RunContainerError",
            message: format!("exec: {word:?}: executable file not found"),
        })
}
