//! Who works on a release: written as a label of the revision, so that a later run knows whether that process still lives, or the
//! Helm that it started.

use sha2::{Digest as _, Sha256};
use std::fs;

/// The label on a revision's Secret.
pub(crate) const RUN_LABEL: &str = "joiner.dev/run";

/// One process on one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    machine: String,
    pid: u32,
    started: String,
}

impl Owner {
    /// This process.
    pub(crate) fn current() -> Self {
        let pid = std::process::id();
        Self {
            machine: machine(),
            pid,
            started: start_of(pid).unwrap_or_else(|| "0".to_owned()),
        }
    }

    /// As a label value: machine, process id and start time, separated by dots.
    pub(crate) fn label(&self) -> String {
        format!("{}.{}.{}", self.machine, self.pid, self.started)
    }

    /// Reads a label value.
    pub(crate) fn parse(label: &str) -> Option<Self> {
        let mut parts = label.splitn(3, '.');
        let (machine, pid, started) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
        Some(Self {
            machine: machine.to_owned(),
            pid,
            started: started.to_owned(),
        })
    }

    /// Whether that process has ended, and the Helm that it started; `None` when it ran elsewhere or the system does not say.
    pub(crate) fn has_ended(&self) -> Option<bool> {
        if self.machine != machine() || self.started == "0" || start_of(std::process::id()).is_none() {
            return None;
        }
        let works = start_of(self.pid).as_deref() == Some(&self.started);
        Some(!works && !is_word_of_a_process(&format!("{RUN_LABEL}={}", self.label())))
    }
}

/// Whether a running process was given this word: a Helm that has outlived its provider still carries the label.
fn is_word_of_a_process(word: &str) -> bool {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .into_iter()
        .any(|line| line.split(|byte| *byte == 0).any(|it| it == word.as_bytes()))
}

/// A short name of this machine that tells nothing about it.
fn machine() -> String {
    let id = fs::read_to_string("/etc/machine-id")
        .or_else(|_| fs::read_to_string("/proc/sys/kernel/random/boot_id"))
        .or_else(|_| fs::read_to_string("/etc/hostname"))
        .unwrap_or_default();
    hex::encode(&Sha256::digest(id.trim().as_bytes())[..6])
}

/// When a process started, in clock ticks since boot; `None` where there is no /proc or no such process.
fn start_of(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name may hold spaces; the fields after it do not. The start time is field 22, the 20th after the name.
    let after_name = stat.rsplit_once(')')?.1;
    after_name.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::BufRead as _;

    #[test]
    fn this_process_lives_and_a_later_one_with_its_id_is_another() {
        let me = Owner::current();
        assert_eq!(Owner::parse(&me.label()), Some(me.clone()));
        assert_eq!(me.has_ended(), Some(false));
        assert_eq!(
            Owner {
                started: "1".into(),
                ..me.clone()
            }
            .has_ended(),
            Some(true)
        );
        let orphan = Owner {
            started: "2".into(),
            ..me.clone()
        };
        let mut helm = std::process::Command::new("sh")
            .args(["-c", "echo started; read line", "helm"])
            .arg(format!("{RUN_LABEL}={}", orphan.label()))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("sh runs");
        // `spawn` comes back while the kernel still builds the new program: its command line is there once it speaks.
        let mut said = String::new();
        let mut output = std::io::BufReader::new(helm.stdout.take().expect("it is piped"));
        output.read_line(&mut said).expect("it speaks");
        assert_eq!(orphan.has_ended(), Some(false), "its Helm runs on");
        drop(helm.stdin.take());
        helm.wait().expect("it is ours");
        assert_eq!(orphan.has_ended(), Some(true));
        assert_eq!(
            Owner {
                machine: "elsewhere".into(),
                ..me.clone()
            }
            .has_ended(),
            None
        );
        assert!(me.label().len() <= 63, "a label value is at most 63 characters");
        assert_eq!(Owner::parse("x"), None);
    }
}
