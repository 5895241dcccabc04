//! The end of a class: first its claims, then what it has in the account, then the object.

use jiff::Timestamp;
use joiner_api::EC2NodeClass;
use joiner_api::labels::AWS_TERMINATION_FINALIZER;
use tracing::info;

use super::super::keyed::Done;
use super::finalizers;
use crate::act::{Act, Event, Failed, Object};

pub(super) async fn step(act: &Act, class: &EC2NodeClass, now: Timestamp) -> Done {
    let name = class.metadata.name.as_deref().unwrap_or_default();
    if !finalizers(class).iter().any(|it| it == AWS_TERMINATION_FINALIZER) {
        return Ok(None);
    }
    let waiting: Vec<String> = act
        .index
        .claim_entries()
        .iter()
        .filter(|entry| *entry.claim.class.name == *name)
        .map(|entry| entry.claim.name.to_string())
        .collect();
    if !waiting.is_empty() {
        let uid = class.metadata.uid.as_deref().unwrap_or_default();
        let message = format!("Waiting on NodeClaim termination for {}", some(&waiting));
        act.events.publish(Event::normal(
            Object::class(name, uid),
            "WaitingOnNodeClaimTermination",
            message,
        ));
        // The end of a claim wakes this class.
        return Ok(None);
    }
    act.clear_class(class).await?;
    let rest: Vec<String> = finalizers(class)
        .iter()
        .filter(|it| *it != AWS_TERMINATION_FINALIZER)
        .cloned()
        .collect();
    match act.set_class_finalizers(class, &rest).await {
        Ok(()) | Err(Failed::NotFound { .. }) => {}
        Err(failed) => return Err(failed),
    }
    let seconds = class
        .metadata
        .deletion_timestamp
        .as_ref()
        .map_or(0.0, |at| now.duration_since(at.0).as_secs_f64());
    info!(EC2NodeClass = %name, seconds = seconds, "deleted ec2nodeclass");
    Ok(None)
}

/// The first few names.
fn some(names: &[String]) -> String {
    const FEW: usize = 5;
    let first = names.iter().take(FEW).cloned().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(FEW) {
        Some(more) if more > 0 => format!("{first} and {more} other(s)"),
        _ => first,
    }
}
