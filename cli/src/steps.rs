//! Showing steps while they run: a line with the running seconds on a terminal, plain lines elsewhere.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use joiner_sandbox::tools::{Event, Progress};

/// Steps on stderr.
pub(crate) struct Steps {
    screen: Option<MultiProgress>,
    running: Mutex<BTreeMap<String, ProgressBar>>,
}

impl Steps {
    /// For the stderr there is.
    pub(crate) fn new() -> Self {
        let screen = std::io::stderr().is_terminal().then(MultiProgress::new);
        Self {
            screen,
            running: Mutex::default(),
        }
    }

    fn line(&self, text: &str) {
        match &self.screen {
            Some(screen) => {
                // A terminal that went away is no reason to stop.
                let _ = screen.println(text);
            }
            None => eprintln!("{text}"),
        }
    }

    fn take(&self, step: &str) -> Option<ProgressBar> {
        self.running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(step)
    }
}

impl Progress for Steps {
    fn tell(&self, event: Event<'_>) {
        match event {
            Event::Started { step } => {
                let Some(screen) = &self.screen else { return };
                let bar = screen.add(
                    ProgressBar::new_spinner()
                        .with_style(style())
                        .with_message(step.to_owned()),
                );
                bar.enable_steady_tick(Duration::from_millis(100));
                self.running
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(step.to_owned(), bar);
            }
            Event::Finished { step, took } => {
                if let Some(bar) = self.take(step) {
                    bar.finish_and_clear();
                }
                self.line(&format!("  ✓ {step:<36} {:>6.1} s", took.as_secs_f64()));
            }
            Event::Failed { step } => {
                if let Some(bar) = self.take(step) {
                    bar.finish_and_clear();
                }
                self.line(&format!("  ✗ {step}"));
            }
        }
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("  {spinner} {msg:<36} {elapsed:>6}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}
