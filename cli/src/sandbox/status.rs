//! `joiner sandbox status`. Exit code 0 when all runs, 1 when a part failed or nothing runs.

use std::process::ExitCode;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use joiner_sandbox::{Layout, PartState, PartStatus, Result, Status, status};

use crate::arguments::Output;
use crate::output;

/// Prints how every part is.
pub(crate) async fn run(layout: &Layout, how: Output) -> Result<ExitCode> {
    let status = status(layout).await?;
    let printed = match how {
        Output::Json => output::json(&status),
        Output::Table => output::line(&text(&status)),
    };
    let healthy = !status.parts.is_empty() && status.failed().next().is_none();
    Ok(if healthy { printed } else { ExitCode::FAILURE })
}

fn text(status: &Status) -> String {
    if status.parts.is_empty() {
        return format!(
            "no sandbox is running in {}; start one with `joiner sandbox up`",
            status.dir.display()
        );
    }
    let mut text = table(&status.parts);
    for part in status.failed() {
        text.push_str(&format!("\n\n{} {}", part.name, indent(&part.message)));
        text.push_str(&format!("\n    (the whole log: {})", part.log.display()));
    }
    text
}

fn table(parts: &[PartStatus]) -> String {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_header(["PART", "STATE", "PID", "PORT", "UPTIME", "MEMORY"]);
    for part in parts {
        let number = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        table.add_row([
            part.name.clone(),
            state(part.state).to_owned(),
            number(part.pid.map(|pid| pid.to_string())),
            number(part.port.map(|port| port.to_string())),
            number(part.uptime_seconds.map(uptime)),
            number(part.memory_bytes.map(|bytes| format!("{} MB", bytes / 1_000_000))),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

fn state(state: PartState) -> &'static str {
    match state {
        PartState::Starting => "starting",
        PartState::Running => "running",
        PartState::Failed => "FAILED",
        PartState::Stopped => "stopped",
    }
}

fn uptime(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

fn indent(message: &str) -> String {
    message.replace('\n', "\n    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_part_is_named_with_its_last_lines() {
        let part = PartStatus {
            name: "sandbox/etcd".into(),
            state: PartState::Failed,
            pid: Some(7),
            port: Some(2379),
            uptime_seconds: None,
            memory_bytes: None,
            log: "/s/etcd.log".into(),
            message: "ended with exit code 1\nfatal: no".into(),
        };
        let status = Status {
            dir: "/s".into(),
            aws_endpoint: String::new(),
            kubeconfig: "/s/k".into(),
            clusters: vec![],
            parts: vec![part],
        };
        let text = text(&status);
        assert!(text.contains("FAILED"), "{text}");
        assert!(
            text.contains("sandbox/etcd ended with exit code 1\n    fatal: no"),
            "{text}"
        );
    }

    #[test]
    fn times_are_short() {
        for (seconds, want) in [(5, "5s"), (65, "1m05s"), (3700, "1h01m")] {
            assert_eq!(uptime(seconds), want);
        }
    }
}
