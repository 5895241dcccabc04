//! What a failed AWS call means to the caller.
//!
//! Input: an SDK error. Output: [`Error`], one variant for each thing that a caller can do about it (give credentials,
//! wait, create, give up). Invariant: no secret and no request body appears in a message.

use aws_credential_types::provider::error::CredentialsError;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use std::error::Error as StdError;
use std::fmt;

/// The answer of a service to one call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Service and operation as IAM writes them, such as `ec2:CreateFleet`.
    pub operation: &'static str,
    /// The service's error code, such as `InvalidSubnetID.NotFound`; empty if the answer held none.
    pub code: String,
    /// The service's own words; the HTTP status where it sent none.
    pub message: String,
    /// The request id that AWS support asks for.
    pub request_id: Option<String>,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            operation,
            code,
            message,
            request_id,
        } = self;
        match (code.as_str(), message.as_str()) {
            ("", message) => write!(f, "{operation}: {message}")?,
            (code, "") => write!(f, "{operation}: {code}")?,
            (code, message) => write!(f, "{operation}: {code}: {message}")?,
        }
        if let Some(id) = request_id {
            write!(f, " (request {id})")?;
        }
        Ok(())
    }
}

/// A call to AWS that gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No region in the settings, the environment, the profile or the instance metadata.
    #[error(
        "no AWS region is known: expected one in the setting `region`, in AWS_REGION, in the profile or from the \
         instance metadata; set `region`"
    )]
    NoRegion,
    /// A setting has a value that cannot be used.
    #[error("setting `{setting}` has the value {value:?}: expected {expected}")]
    Setting {
        /// Path of the setting, such as `endpoints.ec2`.
        setting: String,
        /// The value as given.
        value: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// No provider of the standard chain has credentials.
    #[error(
        "{operation}: no AWS credentials were found (looked at environment, web identity token, profile, container and \
         instance metadata): {detail}; export AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, set `profile`, or run where \
         a role is attached"
    )]
    NoCredentials {
        /// The call for which credentials were needed.
        operation: &'static str,
        /// What the chain said, without secrets.
        detail: String,
    },
    /// AWS knows no such key, or the signature or the web identity token is not accepted.
    #[error(
        "AWS does not accept the credentials: {0}; check access key, secret key and session token, or the profile"
    )]
    CredentialsRejected(Answer),
    /// The credentials were valid once.
    #[error("the AWS credentials have expired: {0}; sign in again or refresh the session token")]
    CredentialsExpired(Answer),
    /// The credentials are accepted, the action is not allowed.
    #[error("not authorised: {0}; allow {action} in the policies of this identity", action = refused_action(.0))]
    Unauthorized(Answer),
    /// Too many calls, after the SDK's own retries. Worth repeating later.
    #[error("throttled: {0}")]
    Throttled(Answer),
    /// The thing named in the call does not exist.
    #[error("not found: {0}")]
    NotFound(Answer),
    /// The name is taken already.
    #[error("exists already: {0}")]
    AlreadyExists(Answer),
    /// The thing is in use or being changed by someone else.
    #[error("in conflict: {0}")]
    Conflict(Answer),
    /// A dry run that would have succeeded.
    #[error("dry run: {0}")]
    DryRun(Answer),
    /// The service understood the call and refused it; repeating it does not help.
    #[error("refused: {0}")]
    Refused(Answer),
    /// The service failed (HTTP 5xx). Worth repeating later.
    #[error("service failure: {0}")]
    Service(Answer),
    /// No answer: name resolution, connection, TLS or time-out.
    #[error("{operation}: no answer from AWS: {detail}; check network, proxy and endpoint settings")]
    Unreachable {
        /// The call that got no answer.
        operation: &'static str,
        /// The innermost cause.
        detail: String,
    },
    /// The answer lacks a part that every such answer has.
    #[error("{operation}: the answer has no {part}")]
    Incomplete {
        /// The call.
        operation: &'static str,
        /// The missing part.
        part: &'static str,
    },
}

/// The action that was not allowed: a call may need others than that of its own name (`iam:PassRole`), and the answer then says which.
fn refused_action(answer: &Answer) -> &str {
    let named = answer.message.split_once("to perform: ").map(|(_, rest)| rest);
    let action = named.and_then(|rest| rest.split_whitespace().next());
    action
        .filter(|action| action.contains(':'))
        .unwrap_or(answer.operation)
}

impl Error {
    /// The service's answer, for the variants that carry one.
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Self::CredentialsRejected(answer)
            | Self::CredentialsExpired(answer)
            | Self::Unauthorized(answer)
            | Self::Throttled(answer)
            | Self::NotFound(answer)
            | Self::AlreadyExists(answer)
            | Self::Conflict(answer)
            | Self::DryRun(answer)
            | Self::Refused(answer)
            | Self::Service(answer) => Some(answer),
            Self::NoRegion
            | Self::Setting { .. }
            | Self::NoCredentials { .. }
            | Self::Unreachable { .. }
            | Self::Incomplete { .. } => None,
        }
    }

    /// The service's error code, or "" where there is none.
    pub fn code(&self) -> &str {
        self.answer().map_or("", |answer| answer.code.as_str())
    }

    /// True for [`Error::NotFound`].
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound(_))
    }

    /// True if the same call may succeed later with nothing changed here.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Throttled(_) | Self::Service(_) | Self::Unreachable { .. } | Self::Conflict(_)
        )
    }

    /// True if the cause lies in the credentials or their permissions.
    pub fn is_auth(&self) -> bool {
        matches!(
            self,
            Self::NoCredentials { .. }
                | Self::CredentialsRejected(_)
                | Self::CredentialsExpired(_)
                | Self::Unauthorized(_)
        )
    }
}

/// Turns "not found" into `None`, keeping every other error.
pub(crate) fn found<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Names the operation of an SDK result and translates its error.
pub(crate) trait Named<T> {
    /// `operation` as IAM writes it.
    fn named(self, operation: &'static str) -> Result<T, Error>;
}

impl<T, E> Named<T> for Result<T, SdkError<E, HttpResponse>>
where
    E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
{
    fn named(self, operation: &'static str) -> Result<T, Error> {
        self.map_err(|error| from_sdk(operation, &error))
    }
}

fn from_sdk<E>(operation: &'static str, error: &SdkError<E, HttpResponse>) -> Error
where
    E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
{
    if let Some(credentials) = in_chain::<CredentialsError>(error) {
        return from_credentials(operation, credentials);
    }
    match error {
        SdkError::ServiceError(context) => {
            let status = context.raw().status().as_u16();
            let meta = context.err().meta();
            classify(
                Answer {
                    operation,
                    code: meta.code().unwrap_or_default().to_owned(),
                    message: meta
                        .message()
                        .map_or_else(|| format!("HTTP status {status}"), str::to_owned),
                    request_id: meta.extra("aws_request_id").map(str::to_owned),
                },
                status,
            )
        }
        SdkError::ResponseError(context) => {
            let status = context.raw().status().as_u16();
            let message = format!("HTTP status {status}, {}", innermost(error));
            classify(
                Answer {
                    operation,
                    code: String::new(),
                    message,
                    request_id: None,
                },
                status,
            )
        }
        _ => Error::Unreachable {
            operation,
            detail: innermost(error),
        },
    }
}

pub(crate) fn from_credentials(operation: &'static str, error: &CredentialsError) -> Error {
    let detail = innermost(error);
    match error {
        CredentialsError::CredentialsNotLoaded(_) | CredentialsError::InvalidConfiguration(_) => {
            Error::NoCredentials { operation, detail }
        }
        CredentialsError::ProviderTimedOut(_) => Error::Unreachable { operation, detail },
        _ => {
            // The STS call of a web identity or an assumed role: its answer is in the chain, but its type is not ours.
            let text = whole_chain(error);
            let answer = Answer {
                operation,
                code: String::new(),
                message: text.clone(),
                request_id: None,
            };
            if text.contains("ExpiredToken") {
                Error::CredentialsExpired(answer)
            } else if text.contains("dispatch failure") || text.contains("timeout") {
                Error::Unreachable { operation, detail }
            } else {
                Error::CredentialsRejected(answer)
            }
        }
    }
}

/// Sorts an answer by code first and by HTTP status where the code says nothing.
pub(crate) fn classify(answer: Answer, status: u16) -> Error {
    let code = answer.code.as_str();
    match code {
        "ExpiredToken" | "ExpiredTokenException" | "RequestExpired" => {
            return Error::CredentialsExpired(answer);
        }
        "AuthFailure"
        | "InvalidClientTokenId"
        | "InvalidAccessKeyId"
        | "SignatureDoesNotMatch"
        | "IncompleteSignature"
        | "MissingAuthenticationToken"
        | "MissingAuthenticationTokenException"
        | "InvalidSignatureException"
        | "InvalidIdentityToken"
        | "IDPRejectedClaim"
        | "UnrecognizedClientException" => return Error::CredentialsRejected(answer),
        "UnauthorizedOperation"
        | "AccessDenied"
        | "AccessDeniedException"
        | "Client.UnauthorizedOperation" => {
            return Error::Unauthorized(answer);
        }
        "RequestLimitExceeded"
        | "Throttling"
        | "ThrottlingException"
        | "ThrottledException"
        | "TooManyRequestsException"
        | "RequestThrottled"
        | "RequestThrottledException"
        | "SlowDown"
        | "EC2ThrottledException"
        | "PriorRequestNotComplete"
        | "BandwidthLimitExceeded" => return Error::Throttled(answer),
        "EntityAlreadyExists"
        | "EntityAlreadyExistsException"
        | "ResourceInUseException"
        | "QueueNameExists"
        | "QueueAlreadyExists"
        | "InvalidLaunchTemplateName.AlreadyExistsException" => return Error::AlreadyExists(answer),
        "DeleteConflict"
        | "DeleteConflictException"
        | "ConcurrentModification"
        | "ConcurrentModificationException"
        | "EntityTemporarilyUnmodifiable"
        | "IncorrectInstanceState"
        | "IdempotentParameterMismatch" => return Error::Conflict(answer),
        "DryRunOperation" => return Error::DryRun(answer),
        _ => {}
    }
    if is_not_found_code(code) {
        return Error::NotFound(answer);
    }
    match status {
        429 => Error::Throttled(answer),
        401 => Error::CredentialsRejected(answer),
        403 => Error::Unauthorized(answer),
        404 => Error::NotFound(answer),
        409 => Error::Conflict(answer),
        status if status >= 500 => Error::Service(answer),
        _ => Error::Refused(answer),
    }
}

fn is_not_found_code(code: &str) -> bool {
    code.ends_with(".NotFound")
        || code.ends_with(".NotFoundException")
        || matches!(
            code,
            "NoSuchEntity"
                | "NoSuchEntityException"
                | "ParameterNotFound"
                | "ResourceNotFoundException"
                | "NoSuchResourceException"
                | "InvalidPlacementGroup.Unknown"
                | "QueueDoesNotExist"
                | "AWS.SimpleQueueService.NonExistentQueue"
                | "AWS.SimpleQueueService.NonExistentQueue;Sender"
        )
}

fn in_chain<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(current) = next {
        if let Some(found) = current.downcast_ref::<T>() {
            return Some(found);
        }
        next = current.source();
    }
    None
}

fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut current = error;
    while let Some(source) = current.source() {
        current = source;
    }
    current.to_string()
}

fn whole_chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(current) = next {
        text.push_str(": ");
        text.push_str(&current.to_string());
        next = current.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(code: &str, status: u16) -> &'static str {
        let answer = Answer {
            operation: "ec2:CreateFleet",
            code: code.to_owned(),
            message: "words".to_owned(),
            request_id: None,
        };
        match classify(answer, status) {
            Error::CredentialsRejected(_) => "rejected",
            Error::CredentialsExpired(_) => "expired",
            Error::Unauthorized(_) => "unauthorized",
            Error::Throttled(_) => "throttled",
            Error::NotFound(_) => "not found",
            Error::AlreadyExists(_) => "exists",
            Error::Conflict(_) => "conflict",
            Error::DryRun(_) => "dry run",
            Error::Refused(_) => "refused",
            Error::Service(_) => "service",
            _ => "other",
        }
    }

    #[test]
    fn an_answer_is_sorted_by_what_the_caller_can_do() {
        for (code, status, want) in [
            ("AuthFailure", 401, "rejected"),
            ("InvalidClientTokenId", 403, "rejected"),
            ("SignatureDoesNotMatch", 403, "rejected"),
            ("RequestExpired", 400, "expired"),
            ("ExpiredToken", 403, "expired"),
            ("UnauthorizedOperation", 403, "unauthorized"),
            ("AccessDenied", 403, "unauthorized"),
            ("RequestLimitExceeded", 503, "throttled"),
            ("", 429, "throttled"),
            ("InvalidInstanceID.NotFound", 400, "not found"),
            ("InvalidLaunchTemplateName.NotFoundException", 400, "not found"),
            ("NoSuchEntity", 404, "not found"),
            ("ParameterNotFound", 400, "not found"),
            ("EntityAlreadyExists", 409, "exists"),
            ("InvalidLaunchTemplateName.AlreadyExistsException", 400, "exists"),
            ("DeleteConflict", 409, "conflict"),
            ("DryRunOperation", 412, "dry run"),
            ("InvalidParameterValue", 400, "refused"),
            ("InternalError", 500, "service"),
            ("", 500, "service"),
        ] {
            assert_eq!(kind(code, status), want, "{code} {status}");
        }
    }

    #[test]
    fn an_error_says_operation_code_and_remedy() {
        let answer = Answer {
            operation: "ec2:CreateFleet",
            code: "UnauthorizedOperation".to_owned(),
            message: "You are not authorized".to_owned(),
            request_id: Some("r-1".to_owned()),
        };
        let text = classify(answer, 403).to_string();
        assert_eq!(
            text,
            "not authorised: ec2:CreateFleet: UnauthorizedOperation: You are not authorized (request r-1); allow \
             ec2:CreateFleet in the policies of this identity"
        );
        // A call may need the right to more than itself.
        let answer = Answer {
            operation: "iam:AddRoleToInstanceProfile",
            code: "AccessDenied".to_owned(),
            message: "User: arn:aws:sts::1:assumed-role/a/b is not authorized to perform: iam:PassRole on resource: r".to_owned(),
            request_id: None,
        };
        let text = classify(answer, 403).to_string();
        assert!(
            text.ends_with("; allow iam:PassRole in the policies of this identity"),
            "{text}"
        );
    }
}
