//! The processes of this machine, from `/proc` (proc(5)).

use std::collections::BTreeMap;
use std::fs;

use joiner_sandbox::process::identity::ProcessId;

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id and start time.
    pub id: ProcessId,
    /// The process that started it, or that took it over.
    pub parent: i32,
    /// Its words, the program first.
    pub command: Vec<String>,
}

impl Process {
    /// The program's file name, such as `helm`.
    pub fn program(&self) -> &str {
        self.command
            .first()
            .map_or("", |path| path.rsplit('/').next().unwrap_or_default())
    }
}

/// One running process; `None` when there is none with this id.
pub fn of(pid: u32) -> Option<Process> {
    let id = ProcessId::of(i32::try_from(pid).ok()?)?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name in field 2 may itself hold spaces and parentheses; the parent is field 4.
    let parent = stat
        .rsplit_once(')')?
        .1
        .split_ascii_whitespace()
        .nth(1)?
        .parse()
        .ok()?;
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    Some(Process {
        id,
        parent,
        command: words
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect(),
    })
}

/// All running processes.
pub fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(of)
        .filter(|process| process.id.is_alive())
        .collect()
}

/// The processes that `root` started, and those that these started, and so on.
pub fn below(root: ProcessId) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for process in all() {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut parents = vec![root.pid];
    while let Some(parent) = parents.pop() {
        let next = children.remove(&parent).unwrap_or_default();
        parents.extend(next.iter().map(|process| process.id.pid));
        found.extend(next);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_is_found_below_the_one_that_started_it() {
        let own = of(std::process::id()).unwrap();
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        let found = of(child.id()).unwrap();
        assert_eq!(found.parent, own.id.pid);
        assert!(below(own.id).iter().any(|it| it.id == found.id));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!found.id.is_alive());
    }
}
