//! Nodes that expire before they are of use.

use super::finding::{Finding, spec};
use jiff::SignedDuration;
use joiner_core::snapshot::Pool;

/// A node takes minutes to start and to drain.
const SHORT: SignedDuration = SignedDuration::from_mins(15);

/// Looks at the nodes' lifetime.
pub(super) fn check(pool: &Pool, found: &mut Vec<Finding>) {
    let Some(age) = pool.expire_after else { return };
    let path = || spec(&["template", "spec", "expireAfter"]);
    match pool.termination_grace_period {
        Some(drain) if age <= drain => found.push(Finding::wrong(
            path(),
            "Nodes expire sooner than they drain",
            format!(
                "A node expires after {age:#} and then may drain for {drain:#} (terminationGracePeriod): in a pool of some age more nodes \
                 drain than work. Let them live several times as long as they may drain, or drain for a shorter time."
            ),
        )),
        _ if age < SHORT => found.push(Finding::doubtful(
            path(),
            "Nodes expire soon after they are ready",
            format!(
                "A node expires after {age:#}, and takes minutes to start and to drain. Write days or weeks, such as \"720h\"; a pool gives \
                 unneeded nodes back by consolidation, whatever their age."
            ),
        )),
        _ => {}
    }
}
