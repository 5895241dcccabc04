//! Answers that carry diagnostics, and the one way out for all of them.

use std::future::Future;
use std::time::Instant;

use tfplugin_proto::tfplugin6 as proto;
use tonic::{Response, Status};

use super::panics::guarded;
use crate::context::{Context, DeferReason};
use crate::diagnostics::Diagnostics;

/// A response message with a list of diagnostics.
pub(super) trait Answer: Default {
    fn diagnostics(&mut self) -> &mut Vec<proto::Diagnostic>;
}

macro_rules! answers {
    ($($message:ident),* $(,)?) => {$(
        impl Answer for proto::$message::Response {
            fn diagnostics(&mut self) -> &mut Vec<proto::Diagnostic> {
                &mut self.diagnostics
            }
        }
    )*};
}
answers!(
    get_metadata,
    get_provider_schema,
    get_resource_identity_schemas,
    validate_provider_config,
    validate_resource_config,
    validate_data_resource_config,
    validate_ephemeral_resource_config,
    configure_provider,
    upgrade_resource_state,
    upgrade_resource_identity,
    read_resource,
    plan_resource_change,
    apply_resource_change,
    import_resource_state,
    move_resource_state,
    read_data_source,
    open_ephemeral_resource,
    renew_ephemeral_resource,
    close_ephemeral_resource,
    get_functions,
);

/// Does the work of one call. What failed, and what panicked, is told in the answer; the call itself never fails.
pub(super) async fn answer<A: Answer>(
    call: &'static str,
    subject: &str,
    work: impl Future<Output = Result<A, Diagnostics>>,
) -> Result<Response<A>, Status> {
    let started = Instant::now();
    tracing::debug!(call, subject, "call");
    let mut response = guarded(work).await.unwrap_or_else(|diagnostics| {
        let mut response = A::default();
        *response.diagnostics() = diagnostics.to_proto();
        response
    });
    let diagnostics = response.diagnostics().len();
    let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::debug!(call, subject, diagnostics, milliseconds, "answer");
    Ok(Response::new(response))
}

/// What was reported in a call: its messages, and the deferral where one was asked for and may be.
pub(super) fn report<D>(ctx: &Context<D>) -> (Vec<proto::Diagnostic>, Option<proto::Deferred>) {
    let (diagnostics, deferred) = ctx.take_report();
    let deferred = deferred.map(|reason| {
        use proto::deferred::Reason;
        let reason = match reason {
            DeferReason::ResourceConfigUnknown => Reason::ResourceConfigUnknown,
            DeferReason::ProviderConfigUnknown => Reason::ProviderConfigUnknown,
            DeferReason::AbsentPrerequisite => Reason::AbsentPrereq,
        };
        proto::Deferred {
            reason: reason as i32,
        }
    });
    (diagnostics.to_proto(), deferred)
}

/// Messages reported in a call, and what it failed with.
pub(super) fn reported_with<D>(ctx: &Context<D>, failure: Diagnostics) -> Vec<proto::Diagnostic> {
    let mut diagnostics = report(ctx).0;
    diagnostics.extend(failure.to_proto());
    diagnostics
}
