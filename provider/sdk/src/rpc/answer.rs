//! Answers that carry diagnostics, and the one way out for all of them.

use std::future::Future;
use std::time::Instant;

use tfplugin_proto::tfplugin6 as proto;
use tfplugin_proto::tfplugin6::attribute_path::Step;
use tfplugin_proto::tfplugin6::attribute_path::step::Selector;
use tonic::{Response, Status};

use super::panics::guarded;
use crate::context::{Context, DeferReason};
use crate::diagnostics::Diagnostics;
use crate::path::AttributePath;

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

/// How the attribute of a diagnostic is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paths {
    /// Whole, as the protocol has it.
    Whole,
    /// As far as cores find their way in a configuration; the rest in words. They take the last name of a longer path for
    /// one of the resource's own attributes, and show a wrong line or none.
    ForCores,
}

/// Does the work of one call. What failed, and what panicked, is told in the answer; the call itself never fails.
pub(super) async fn answer<A: Answer>(
    call: &'static str,
    subject: &str,
    paths: Paths,
    work: impl Future<Output = Result<A, Diagnostics>>,
) -> Result<Response<A>, Status> {
    let started = Instant::now();
    tracing::debug!(call, subject, "call");
    let mut response = guarded(work).await.unwrap_or_else(|diagnostics| {
        let mut response = A::default();
        *response.diagnostics() = diagnostics.to_proto();
        response
    });
    if paths == Paths::ForCores {
        response.diagnostics().iter_mut().for_each(shorten);
    }
    let diagnostics = response.diagnostics().len();
    let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::debug!(call, subject, diagnostics, milliseconds, "answer");
    Ok(Response::new(response))
}

/// Cuts a path before its second attribute name, and names the whole in the text.
fn shorten(diagnostic: &mut proto::Diagnostic) {
    let Some(path) = &mut diagnostic.attribute else {
        return;
    };
    let is_name = |step: &Step| matches!(step.selector, Some(Selector::AttributeName(_)));
    let mut names = path.steps.iter().enumerate().filter(|(_, step)| is_name(step));
    let Some((second, _)) = names.nth(1) else {
        return;
    };
    let whole = AttributePath::from_proto(path);
    path.steps.truncate(second);
    let space = if diagnostic.detail.is_empty() { "" } else { "\n\n" };
    diagnostic.detail.push_str(&format!("{space}Attribute: {whole}"));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Diagnostic;

    #[test]
    fn paths_are_cut_where_cores_lose_their_way() {
        let root = AttributePath::root();
        for (path, cut, detail) in [
            (root.attribute("name"), "name", "d"),
            (root.attribute("list").index(1), "list[1]", "d"),
            (
                root.attribute("spec").attribute("name"),
                "spec",
                "d\n\nAttribute: spec.name",
            ),
            (
                root.attribute("list").index(1).attribute("name"),
                "list[1]",
                "d\n\nAttribute: list[1].name",
            ),
            (
                root.attribute("map").key("k").attribute("name"),
                "map[\"k\"]",
                "d\n\nAttribute: map[\"k\"].name",
            ),
        ] {
            let mut message = Diagnostic::error("s", "d").at(path).to_proto();
            shorten(&mut message);
            let path = message.attribute.as_ref().map(AttributePath::from_proto);
            assert_eq!(
                (path.unwrap().to_string().as_str(), message.detail.as_str()),
                (cut, detail)
            );
        }
    }
}
