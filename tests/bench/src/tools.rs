//! The two programs that are compared, as command lines.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cases::Preferences;
use crate::generate::Files;

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// Karpenter's scheduler.
    Peer,
    /// `joiner simulate --strategy first-fit`.
    FirstFit,
    /// `joiner simulate --strategy price`.
    Price,
}

impl Tool {
    /// Every tool, the peer first.
    pub const ALL: [Tool; 3] = [Tool::Peer, Tool::FirstFit, Tool::Price];

    /// Its name on the page.
    pub fn title(self) -> &'static str {
        match self {
            Tool::Peer => "Karpenter",
            Tool::FirstFit => "Joiner, first-fit",
            Tool::Price => "Joiner, price",
        }
    }

    /// Its name in files.
    pub fn word(self) -> &'static str {
        match self {
            Tool::Peer => "peer",
            Tool::FirstFit => "first-fit",
            Tool::Price => "price",
        }
    }
}

/// Where the programs are.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The peer, built from tests/peers/schedule.
    pub peer: PathBuf,
    /// `joiner`, a release build.
    pub joiner: PathBuf,
}

impl Programs {
    /// The command that answers a snapshot.
    pub fn command(&self, tool: Tool, files: &Files, preferences: Preferences) -> Vec<String> {
        let text = |path: &Path| path.display().to_string();
        let (snapshot, catalogue) = (text(&files.snapshot), text(&files.catalogue));
        match tool {
            Tool::Peer => vec![
                text(&self.peer),
                "--catalog".into(),
                catalogue,
                "--preferences".into(),
                preferences.as_str().into(),
                snapshot,
            ],
            Tool::FirstFit | Tool::Price => vec![
                text(&self.joiner),
                "simulate".into(),
                "-o".into(),
                "json".into(),
                "--strategy".into(),
                tool.word().into(),
                "--preferences".into(),
                preferences.as_str().into(),
                catalogue,
                snapshot,
            ],
        }
    }
}
