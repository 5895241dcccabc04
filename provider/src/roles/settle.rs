//! A role is known everywhere only seconds after it was made.

use crate::cluster::{Pace, Waiting};
use joiner_aws::Error;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long IAM takes at most until other services know a role.
const SETTLES_WITHIN: Duration = Duration::from_secs(60);

/// Repeats a call that names a role until the service knows the role: `ask` is refused until then.
pub(crate) async fn settled<T, F>(cancel: &CancellationToken, ask: impl Fn() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let mut waiting = Waiting::new(Pace::SLOW, SETTLES_WITHIN, cancel);
    loop {
        match ask().await {
            Err(error) if is_unknown_principal(&error) => {
                if waiting.pause().await.is_err() {
                    return Err(error);
                }
            }
            answer => return answer,
        }
    }
}

/// Whether EKS does not know the principal of a call (yet): it has no code of its own for that.
fn is_unknown_principal(error: &Error) -> bool {
    let message = error.answer().map_or("", |answer| answer.message.as_str());
    let words = message.to_lowercase();
    error.code() == "InvalidParameterException"
        && (words.contains("invalid principal")
            || words.contains("principalarn is invalid")
            || (words.contains("role") && words.contains("does not exist")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use joiner_aws::Answer;

    #[test]
    fn only_an_unknown_principal_is_waited_for() {
        let refused = |code: &str, message: &str| {
            Error::Refused(Answer {
                operation: "eks:CreateAccessEntry",
                code: code.into(),
                message: message.into(),
                request_id: None,
            })
        };
        for (code, message, waits) in [
            (
                "InvalidParameterException",
                "The specified principalArn is invalid: invalid principal.",
                true,
            ),
            (
                "InvalidParameterException",
                "Role provided in the request does not exist.",
                true,
            ),
            ("InvalidParameterException", "The namespace is too long", false),
            ("InvalidRequestException", "invalid principal", false),
        ] {
            assert_eq!(is_unknown_principal(&refused(code, message)), waits, "{message}");
        }
    }
}
