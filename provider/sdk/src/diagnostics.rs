//! What the user is told: errors and warnings, each with the attribute it is about.

use std::fmt;

use tfplugin_proto::tfplugin6 as proto;

use crate::path::AttributePath;

/// Whether a diagnostic stops the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The operation failed.
    Error,
    /// The operation goes on; the user should know.
    Warning,
}

/// One message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// One line without a full stop: what is wrong.
    pub summary: String,
    /// What was found, what was expected and what to do.
    pub detail: String,
    /// The attribute it is about; `None` when it is about the whole.
    pub path: Option<AttributePath>,
}

impl Diagnostic {
    /// An error about the whole operation.
    #[must_use]
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            summary: summary.into(),
            detail: detail.into(),
            path: None,
        }
    }

    /// A warning about the whole operation.
    #[must_use]
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            summary: summary.into(),
            detail: detail.into(),
            path: None,
        }
    }

    /// The same message, about one attribute.
    #[must_use]
    pub fn at(mut self, path: impl Into<AttributePath>) -> Self {
        let path = path.into();
        self.path = (!path.is_root()).then_some(path);
        self
    }

    /// Whether it is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    pub(crate) fn to_proto(&self) -> proto::Diagnostic {
        let severity = match self.severity {
            Severity::Error => proto::diagnostic::Severity::Error,
            Severity::Warning => proto::diagnostic::Severity::Warning,
        };
        proto::Diagnostic {
            severity: severity as i32,
            summary: self.summary.clone(),
            detail: self.detail.clone(),
            attribute: self.path.as_ref().map(AttributePath::to_proto),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}")?;
        if let Some(path) = &self.path {
            write!(f, " at {path}")?;
        }
        write!(f, ": {}", self.summary)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

/// Several messages, in the order they were made. The error type of every trait method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// No messages.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// A single error about the whole operation.
    #[must_use]
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Diagnostic::error(summary, detail).into()
    }

    /// Adds a message.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds an error about an attribute.
    pub fn error_at(
        &mut self,
        path: impl Into<AttributePath>,
        summary: impl Into<String>,
        detail: impl Into<String>,
    ) {
        self.push(Diagnostic::error(summary, detail).at(path));
    }

    /// Adds a warning about an attribute.
    pub fn warn_at(
        &mut self,
        path: impl Into<AttributePath>,
        summary: impl Into<String>,
        detail: impl Into<String>,
    ) {
        self.push(Diagnostic::warning(summary, detail).at(path));
    }

    /// Adds the messages of another list.
    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Whether one of them is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The attributes that messages are about, in order, as texts such as `spec.weight`.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let paths = self.0.iter().filter_map(|diagnostic| diagnostic.path.as_ref());
        paths.map(ToString::to_string).collect()
    }

    /// The messages in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// `Err(self)` if one of them is an error, else the value; warnings alone are not lost only if the caller keeps them.
    ///
    /// # Errors
    /// These diagnostics, when one of them is an error.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.has_errors() { Err(self) } else { Ok(value) }
    }

    /// `Err(self)` if there is anything to tell: the end of a check of a configuration, whose warnings alone refuse nothing.
    ///
    /// # Errors
    /// These diagnostics, when there are any.
    pub fn told(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }

    pub(crate) fn to_proto(&self) -> Vec<proto::Diagnostic> {
        self.0.iter().map(Diagnostic::to_proto).collect()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(diagnostics: I) -> Self {
        Self(diagnostics.into_iter().collect())
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: I) {
        self.0.extend(diagnostics);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, diagnostic) in self.0.iter().enumerate() {
            if position > 0 {
                writeln!(f)?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
