//! Why a step did not go through.

use std::fmt;

use tfplugin_proto::tfplugin6 as proto;

use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::path::AttributePath;
use crate::rules::Violation;

/// Why a step did not go through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The provider said so; for the user.
    Refused(Diagnostics),
    /// A core would refuse the provider's answer; the provider is wrong.
    Rule {
        /// The title of the core's message.
        title: &'static str,
        /// The broken rules.
        violations: Vec<Violation>,
    },
    /// The test asks for something that is not there.
    Test(String),
}

impl Failure {
    /// What the provider said; empty for the other kinds.
    #[must_use]
    pub fn diagnostics(&self) -> Diagnostics {
        match self {
            Self::Refused(diagnostics) => diagnostics.clone(),
            Self::Rule { .. } | Self::Test(_) => Diagnostics::new(),
        }
    }

    pub(super) fn rule(title: &'static str, violations: Vec<Violation>) -> Result<(), Self> {
        if violations.is_empty() {
            Ok(())
        } else {
            Err(Self::Rule { title, violations })
        }
    }

    pub(super) fn broken(title: &'static str, message: impl Into<String>) -> Self {
        Self::Rule {
            title,
            violations: vec![Violation::new(&AttributePath::root(), message)],
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(diagnostics) => write!(f, "the provider refused: {diagnostics}"),
            Self::Rule { title, violations } => {
                write!(f, "{title}")?;
                violations
                    .iter()
                    .try_for_each(|violation| write!(f, "\n- {violation}"))
            }
            Self::Test(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Failure {}

/// The messages of an answer: warnings, or a failure when one is an error.
pub(super) fn outcome(diagnostics: &[proto::Diagnostic]) -> Result<Diagnostics, Failure> {
    let diagnostics: Diagnostics = diagnostics.iter().map(from_proto).collect();
    if diagnostics.has_errors() {
        Err(Failure::Refused(diagnostics))
    } else {
        Ok(diagnostics)
    }
}

fn from_proto(diagnostic: &proto::Diagnostic) -> Diagnostic {
    let severity = match diagnostic.severity() {
        proto::diagnostic::Severity::Warning => Severity::Warning,
        _ => Severity::Error,
    };
    Diagnostic {
        severity,
        summary: diagnostic.summary.clone(),
        detail: diagnostic.detail.clone(),
        path: diagnostic.attribute.as_ref().map(AttributePath::from_proto),
    }
}
