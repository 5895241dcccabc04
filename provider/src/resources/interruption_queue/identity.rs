//! What tells one queue from all others.

use super::schema::InterruptionQueue;
use tfplugin::{Field, Identity, Model};

/// A queue by account, region and name.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct QueueIdentity {
    /// The queue's name.
    #[tf(required)]
    pub name: Field<String>,
    /// The account that it is in, 12 digits; an import by it is refused in any other account.
    pub account_id: Field<String>,
    /// The region that it is in; an import by it is refused in any other region.
    pub region: Field<String>,
}

impl Identity for QueueIdentity {}

impl QueueIdentity {
    /// The identity of a queue that exists; `None` before.
    pub(super) fn of(queue: &InterruptionQueue) -> Option<Self> {
        let arn = queue.arn.as_str()?;
        let part = |n: usize| arn.split(':').nth(n).filter(|part| !part.is_empty());
        Some(Self {
            name: queue.name.clone(),
            account_id: Field::from_option(part(4).map(str::to_owned)),
            region: Field::from_option(part(3).map(str::to_owned)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_tells_account_and_region() {
        let queue = InterruptionQueue {
            name: "q".into(),
            arn: "arn:aws-us-gov:sqs:us-gov-west-1:123456789012:q".into(),
            ..InterruptionQueue::default()
        };
        let identity = QueueIdentity::of(&queue).expect("it exists");
        assert_eq!(identity.account_id, "123456789012".into());
        assert_eq!(identity.region, "us-gov-west-1".into());
        assert_eq!(QueueIdentity::of(&InterruptionQueue::default()), None);
    }
}
