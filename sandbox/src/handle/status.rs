//! How a sandbox is, also when its supervisor has died.

use crate::error::Result;
use crate::layout::Layout;
use crate::model::{PartState, PartStatus, Status};
use crate::process::tail::last_lines;
use crate::supervisor;

use super::Sandbox;

/// The status of the sandbox in `layout`'s folder. One that was never started, or was ended, has no parts; one whose
/// supervisor died by itself has the supervisor as a failed part.
///
/// # Errors
/// [`crate::Error::Silent`] when a living supervisor does not answer.
pub async fn status(layout: &Layout) -> Result<Status> {
    if let Ok(sandbox) = Sandbox::open(layout.clone()) {
        return sandbox.status().await;
    }
    let mut status = Status {
        dir: layout.dir().to_path_buf(),
        aws_endpoint: String::new(),
        kubeconfig: layout.kubeconfig(),
        clusters: Vec::new(),
        parts: Vec::new(),
    };
    if let Some(record) = supervisor::read_record(&layout.record()) {
        let log = layout.log("supervisor");
        status.parts.push(PartStatus {
            name: "supervisor".into(),
            state: PartState::Failed,
            pid: Some(record.supervisor.pid),
            port: None,
            uptime_seconds: None,
            memory_bytes: None,
            message: format!("ended by itself, and all parts with it\n{}", last_lines(&log, 8))
                .trim_end()
                .to_owned(),
            log,
        });
    }
    Ok(status)
}
