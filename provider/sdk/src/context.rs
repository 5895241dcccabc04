//! What every call of a resource, data source or ephemeral resource gets.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::diagnostics::{Diagnostic, Diagnostics};

/// The provider's configured state.
#[derive(Debug)]
pub enum Configured<D> {
    /// The provider was not configured: a core validates, or reads schemas.
    Unconfigured,
    /// What is needed to work is known only at apply; plan without it.
    UnknownUntilApply,
    /// Ready to work.
    Ready(Arc<D>),
}

impl<D> Configured<D> {
    /// Ready to work with `data`.
    pub fn ready(data: D) -> Self {
        Self::Ready(Arc::new(data))
    }
}

impl<D> Clone for Configured<D> {
    fn clone(&self) -> Self {
        match self {
            Self::Unconfigured => Self::Unconfigured,
            Self::UnknownUntilApply => Self::UnknownUntilApply,
            Self::Ready(data) => Self::Ready(Arc::clone(data)),
        }
    }
}

/// What the core that calls can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    /// It accepts deferred answers.
    pub deferral_allowed: bool,
    /// It knows write-only attributes.
    pub write_only_attributes_allowed: bool,
}

/// Why an answer is deferred to a later plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeferReason {
    /// The resource's configuration is not known yet.
    ResourceConfigUnknown,
    /// The provider's configuration is not known yet.
    ProviderConfigUnknown,
    /// Something that it needs is not there yet.
    AbsentPrerequisite,
}

/// The surroundings of one call.
#[derive(Debug)]
pub struct Context<D> {
    provider: Configured<D>,
    cancellation: CancellationToken,
    capabilities: ClientCapabilities,
    report: Mutex<Report>,
}

#[derive(Debug, Default)]
struct Report {
    diagnostics: Diagnostics,
    deferred: Option<DeferReason>,
}

impl<D> Context<D> {
    /// A context as a server makes it for a call; also for unit tests of resource code.
    #[must_use]
    pub fn new(
        provider: Configured<D>,
        cancellation: CancellationToken,
        capabilities: ClientCapabilities,
    ) -> Self {
        Self {
            provider,
            cancellation,
            capabilities,
            report: Mutex::default(),
        }
    }

    /// The provider's state in its three forms.
    #[must_use]
    pub fn provider(&self) -> &Configured<D> {
        &self.provider
    }

    /// The provider's data, when it must be ready, as in create, update and delete.
    ///
    /// # Errors
    /// What is missing, for the user.
    pub fn ready(&self) -> Result<Arc<D>, Diagnostics> {
        match &self.provider {
            Configured::Ready(data) => Ok(Arc::clone(data)),
            Configured::UnknownUntilApply => Err(Diagnostics::error(
                "Provider configuration not known yet",
                "This operation needs a provider whose configuration is known, but some of it depends on resources that are \
                 created only at apply. Apply those first, or run the operation again after the apply.",
            )),
            Configured::Unconfigured => Err(Diagnostics::error(
                "Provider not configured",
                "This operation needs a configured provider. Add a provider block, or report this if there is one.",
            )),
        }
    }

    /// Whether the provider's configuration is unknown until apply.
    #[must_use]
    pub fn is_unknown_until_apply(&self) -> bool {
        matches!(self.provider, Configured::UnknownUntilApply)
    }

    /// Cancelled when the user interrupts; long work selects on it and returns what it has.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// What the core can do.
    #[must_use]
    pub fn capabilities(&self) -> ClientCapabilities {
        self.capabilities
    }

    /// Adds a message to the answer, whatever the method returns. An error beside an `Ok` state is right when something
    /// was made but is not as it should be; after a create the core then taints the resource.
    pub fn report(&self, diagnostic: Diagnostic) {
        self.locked(|report| report.diagnostics.push(diagnostic));
    }

    /// Adds several messages to the answer.
    pub fn report_all(&self, diagnostics: Diagnostics) {
        self.locked(|report| report.diagnostics.append(diagnostics));
    }

    /// Asks the core to come back with a later plan. Nothing happens, and `false` is returned, when it cannot.
    pub fn defer(&self, reason: DeferReason) -> bool {
        if self.capabilities.deferral_allowed {
            self.locked(|report| report.deferred = Some(reason));
        }
        self.capabilities.deferral_allowed
    }

    /// What was reported so far: messages and a deferral.
    pub fn take_report(&self) -> (Diagnostics, Option<DeferReason>) {
        self.locked(|report| (std::mem::take(&mut report.diagnostics), report.deferred.take()))
    }

    fn locked<T>(&self, act: impl FnOnce(&mut Report) -> T) -> T {
        act(&mut self.report.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_put_off_only_where_the_core_allows_it() {
        for deferral_allowed in [false, true] {
            let capabilities = ClientCapabilities {
                deferral_allowed,
                ..ClientCapabilities::default()
            };
            let ctx = Context::<()>::new(
                Configured::UnknownUntilApply,
                CancellationToken::new(),
                capabilities,
            );
            assert_eq!(ctx.defer(DeferReason::ProviderConfigUnknown), deferral_allowed);
            let (_, deferred) = ctx.take_report();
            assert_eq!(deferred.is_some(), deferral_allowed);
        }
    }
}
