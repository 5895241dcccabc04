//! Who a process is: its id and the time it started, so that a reused id is never taken for it, nor signalled.
//!
//! Source: `/proc/<pid>/stat` and `/proc/<pid>/status` (proc(5)).

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// A process that cannot be mistaken for a later one with the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    /// The process id.
    pub pid: i32,
    /// When it started, in clock ticks since boot.
    pub started: u64,
}

impl ProcessId {
    /// The running process with this id, if there is one.
    pub fn of(pid: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some(Self {
            pid,
            started: parse_stat(&stat)?.started,
        })
    }

    /// The calling process.
    pub fn own() -> Option<Self> {
        Self::of(std::process::id().cast_signed())
    }

    /// True while this very process runs; a zombie has ended.
    pub fn is_alive(self) -> bool {
        let Ok(stat) = fs::read_to_string(format!("/proc/{}/stat", self.pid)) else {
            return false;
        };
        parse_stat(&stat).is_some_and(|stat| stat.started == self.started && !stat.ended)
    }

    /// Sends a signal to this very process; false when it has ended.
    pub fn signal(self, signal: Signal) -> bool {
        self.is_alive() && kill(Pid::from_raw(self.pid), signal).is_ok()
    }

    /// Sends a signal to the process group that this very process leads; false when it has ended.
    pub fn signal_group(self, signal: Signal) -> bool {
        self.is_alive() && killpg(Pid::from_raw(self.pid), signal).is_ok()
    }

    /// Resident memory in bytes; `None` when the process has ended.
    pub fn memory(self) -> Option<u64> {
        if !self.is_alive() {
            return None;
        }
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib * 1024)
    }

    /// How long it has been running; `None` when it has ended.
    pub fn uptime(self) -> Option<Duration> {
        if !self.is_alive() {
            return None;
        }
        let uptime = fs::read_to_string("/proc/uptime").ok()?;
        let seconds: f64 = uptime.split(' ').next()?.parse().ok()?;
        let started = self.started as f64 / CLOCK_TICKS;
        Some(Duration::from_secs_f64((seconds - started).max(0.0)))
    }

    /// Asks the process to end, and makes it after `patience`; returns when it has ended.
    pub fn end(self, patience: Duration) {
        self.signal(Signal::SIGTERM);
        if !self.wait(patience) {
            self.signal(Signal::SIGKILL);
            self.wait(Duration::from_secs(5));
        }
    }

    /// Waits for the end of the process (which need not be a child); false when `patience` ran out.
    pub fn wait(self, patience: Duration) -> bool {
        let begin = Instant::now();
        while self.is_alive() {
            if begin.elapsed() >= patience {
                return false;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        true
    }
}

/// Linux reports start times in hundredths of a second on every architecture (`USER_HZ`).
const CLOCK_TICKS: f64 = 100.0;

#[derive(Debug, PartialEq, Eq)]
struct Stat {
    ended: bool,
    started: u64,
}

/// Reads state (field 3) and start time (field 22); the command in field 2 may itself hold spaces and parentheses.
fn parse_stat(text: &str) -> Option<Stat> {
    let rest = &text[text.rfind(')')? + 1..];
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let started = fields.nth(18)?.parse().ok()?;
    Some(Stat {
        ended: matches!(state, "Z" | "X"),
        started,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines_are_read_whatever_the_command() {
        let tail = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20 21";
        for (text, want) in [
            (
                format!("12 (etcd) S {tail}"),
                Some(Stat {
                    ended: false,
                    started: 777,
                }),
            ),
            (
                format!("12 (a) b) Z {tail}"),
                Some(Stat {
                    ended: true,
                    started: 777,
                }),
            ),
            ("12 (etcd) S 1 2".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(parse_stat(&text), want, "{text}");
        }
    }

    #[test]
    fn another_start_time_is_another_process() {
        let me = ProcessId::own().unwrap();
        assert!(me.is_alive());
        assert!(me.memory().unwrap() > 0);
        let reused = ProcessId {
            started: me.started + 1,
            ..me
        };
        assert!(!reused.is_alive());
        assert!(!reused.signal(Signal::SIGKILL), "never signalled");
        assert_eq!(reused.memory(), None);
    }
}
