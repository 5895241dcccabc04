//! Calls of a service that speaks JSON 1.1 and has no SDK crate here.
//!
//! An SDK crate costs everybody who builds this minutes, and a handful of calls with a name and a JSON object each is little of it. What
//! carries a call is what the SDK crates are made of: the orchestrator with its connections, TLS, time-outs and retries, the credentials of
//! [`Aws`], and the SDK's own signer. Errors become the same [`Error`] as those of every other service.

use crate::connect::Aws;
use crate::error::{Error, Named, from_credentials};
use aws_config::SdkConfig;
use aws_credential_types::provider::ProvideCredentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_smithy_runtime::client::orchestrator::operation::Operation;
use aws_smithy_runtime::client::retries::classifiers::{HttpStatusCodeClassifier, TransientErrorClassifier};
use aws_smithy_runtime_api::client::interceptors::context::InterceptorContext;
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse, OrchestratorError};
use aws_smithy_runtime_api::client::retries::classifiers::{ClassifyRetry, RetryAction};
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::error::metadata::{ErrorMetadata, ProvideErrorMetadata};
use aws_smithy_types::retry::RetryConfig;
use aws_types::service_config::ServiceConfigKey;
use serde_json::Value as Json;
use std::fmt;
use std::time::SystemTime;

/// A service that speaks JSON 1.1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Service {
    /// Its service ID, by which a configuration names its endpoint: `EventBridge` has `AWS_ENDPOINT_URL_EVENTBRIDGE`.
    pub id: &'static str,
    /// Its name in signatures, such as `events`.
    pub name: &'static str,
    /// The first part of its host names, and that of its FIPS endpoints.
    pub hosts: [&'static str; 2],
    /// What stands before the operation in `X-Amz-Target`.
    pub target: &'static str,
}

/// A client of one service: connections are shared by all its calls.
pub(crate) type Client = Operation<Signed, Json, Refusal>;

/// A request whose headers bear the signature.
pub(crate) struct Signed(http::Request<Vec<u8>>);

impl fmt::Debug for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signed(..)")
    }
}

/// What the service said instead of an answer.
#[derive(Debug)]
pub(crate) struct Refusal(ErrorMetadata);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Refusal {}

impl ProvideErrorMetadata for Refusal {
    fn meta(&self) -> &ErrorMetadata {
        &self.0
    }
}

/// A client for a service at `endpoint`.
pub(crate) fn client(service: Service, endpoint: &str, config: &SdkConfig) -> Client {
    let retries = config
        .retry_config()
        .cloned()
        .unwrap_or_else(RetryConfig::standard);
    let mut builder = Operation::builder()
        .service_name(service.name)
        .operation_name("JSON")
        .endpoint_url(endpoint.trim_end_matches('/'))
        .no_auth()
        .standard_retry(&retries)
        .retry_classifier(Throttled)
        .retry_classifier(TransientErrorClassifier::<Refusal>::new())
        .retry_classifier(HttpStatusCodeClassifier::default());
    if let Some(version) = config.behavior_version() {
        builder = builder.behavior_version(version);
    }
    if let Some(timeouts) = config.timeout_config() {
        builder = builder.timeout_config(timeouts.clone());
    }
    if let Some(client) = config.http_client() {
        builder = builder.http_client(client);
    }
    builder
        .serializer(|Signed(request): Signed| {
            let (parts, body) = request.into_parts();
            let request = http::Request::from_parts(parts, SdkBody::from(body));
            Ok(HttpRequest::try_from(request)?)
        })
        .deserializer::<Json, Refusal>(answer)
        .build()
}

/// The endpoint that environment or shared configuration give, for this service or for all. What the settings gave for all
/// services wins over what the environment says of one, as in the SDK's own clients.
pub(crate) fn configured_endpoint(service: Service, config: &SdkConfig) -> Option<String> {
    let for_all = config.endpoint_url().map(str::to_owned);
    if config.get_origin("endpoint_url").is_client_config() {
        return for_all;
    }
    let key = ServiceConfigKey::builder()
        .service_id(service.id)
        .env("AWS_ENDPOINT_URL")
        .profile("endpoint_url")
        .build()
        .ok()?;
    let for_this = config.service_config().and_then(|it| it.load_config(key));
    for_this.or(for_all)
}

/// Where a service is, unless a configuration says otherwise.
pub(crate) fn endpoint(service: Service, region: &str, config: &SdkConfig) -> String {
    let [host, fips] = service.hosts;
    let host = if config.use_fips() == Some(true) {
        fips
    } else {
        host
    };
    let domain = crate::sts::domain_of(region);
    format!("https://{host}.{region}.{domain}")
}

/// Signs and sends one call; `operation` is `SERVICE:OPERATION` as IAM writes it.
pub(crate) async fn call(
    aws: &Aws,
    service: Service,
    (client, endpoint): (&Client, &str),
    operation: &'static str,
    input: &Json,
) -> Result<Json, Error> {
    let config = aws.config().await?;
    let region = aws.region().await?;
    let no_credentials = |detail: String| Error::NoCredentials { operation, detail };
    let provider = config
        .credentials_provider()
        .ok_or_else(|| no_credentials("no provider is configured".to_owned()))?;
    let credentials = provider
        .provide_credentials()
        .await
        .map_err(|error| from_credentials(operation, &error))?;
    let name = operation.rsplit(':').next().unwrap_or(operation);
    let body = input.to_string();
    let request = Unsigned {
        url: format!("{}/", endpoint.trim_end_matches('/')),
        target: format!("{}.{name}", service.target),
        body,
    };
    let signed =
        signed(request, service, &region, credentials.into(), SystemTime::now()).map_err(no_credentials)?;
    client.invoke(signed).await.named(operation)
}

struct Unsigned {
    url: String,
    target: String,
    body: String,
}

fn signed(
    Unsigned { url, target, body }: Unsigned,
    service: Service,
    region: &str,
    identity: aws_smithy_runtime_api::client::identity::Identity,
    now: SystemTime,
) -> Result<Signed, String> {
    const JSON: &str = "application/x-amz-json-1.1";
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(service.name)
        .time(now)
        .settings(SigningSettings::default())
        .build()
        .map_err(|error| error.to_string())?
        .into();
    let headers = [("content-type", JSON), ("x-amz-target", target.as_str())];
    let request = SignableRequest::new(
        "POST",
        &url,
        headers.into_iter(),
        SignableBody::Bytes(body.as_bytes()),
    )
    .map_err(|error| error.to_string())?;
    let (instructions, _signature) = sign(request, &params)
        .map_err(|error| error.to_string())?
        .into_parts();
    // The orchestrator puts the endpoint before the path.
    let mut request = http::Request::builder()
        .method("POST")
        .uri("/")
        .header("content-type", JSON)
        .header("x-amz-target", target.as_str())
        .body(body.into_bytes())
        .map_err(|error| error.to_string())?;
    instructions.apply_to_request_http1x(&mut request);
    Ok(Signed(request))
}

fn answer(response: &HttpResponse) -> Result<Json, OrchestratorError<Refusal>> {
    let body = response.body().bytes().unwrap_or_default();
    let json = if body.is_empty() {
        Json::Null
    } else {
        serde_json::from_slice(body).unwrap_or(Json::Null)
    };
    if response.status().is_success() {
        return Ok(json);
    }
    let header = |name: &str| response.headers().get(name).map(str::to_owned);
    let code = header("x-amzn-errortype").or_else(|| json["__type"].as_str().map(str::to_owned));
    let message = json["message"].as_str().or_else(|| json["Message"].as_str());
    let mut metadata = ErrorMetadata::builder();
    if let Some(code) = code {
        metadata = metadata.code(plain_code(&code));
    }
    if let Some(message) = message {
        metadata = metadata.message(message);
    }
    if let Some(id) = header("x-amzn-requestid") {
        metadata = metadata.custom("aws_request_id", id);
    }
    Err(OrchestratorError::operation(Refusal(metadata.build())))
}

/// `com.amazonaws.x#Code` and `Code:http://...` are `Code`.
fn plain_code(code: &str) -> &str {
    let code = code.rsplit('#').next().unwrap_or(code);
    code.split(':').next().unwrap_or(code)
}

/// Retries what was refused for being one call too many; status and connection errors have classifiers of the SDK's own.
#[derive(Debug)]
struct Throttled;

impl ClassifyRetry for Throttled {
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        let refusal = match context.output_or_error() {
            Some(Err(error)) => error
                .as_operation_error()
                .and_then(|error| error.downcast_ref::<Refusal>()),
            _ => None,
        };
        match refusal.and_then(|refusal| refusal.code()) {
            Some(
                "ThrottlingException"
                | "Throttling"
                | "TooManyRequestsException"
                | "RequestLimitExceeded"
                | "ConcurrentModificationException",
            ) => RetryAction::throttling_error(),
            _ => RetryAction::NoActionIndicated,
        }
    }

    fn name(&self) -> &'static str {
        "Throttled"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_credential_types::Credentials;
    use std::time::Duration;

    #[test]
    fn a_call_is_signed_with_its_target_and_body() {
        let credentials = Credentials::new("AKIDEXAMPLE", "secret", Some("session".to_owned()), None, "test");
        let service = crate::events::SERVICE;
        let sign = |body: &str| {
            let request = Unsigned {
                url: "https://events.eu-central-1.amazonaws.com/".to_owned(),
                target: "AWSEvents.PutRule".to_owned(),
                body: body.to_owned(),
            };
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
            signed(request, service, "eu-central-1", credentials.clone().into(), now)
                .unwrap()
                .0
        };
        let request = sign("{}");
        let header = |name: &str| request.headers()[name].to_str().unwrap().to_owned();
        let authorization = header("authorization");
        assert!(
            authorization.contains("AKIDEXAMPLE/20270115/eu-central-1/events/aws4_request"),
            "{authorization}"
        );
        assert!(
            authorization.contains("content-type;host;x-amz-date;x-amz-security-token;x-amz-target"),
            "{authorization}"
        );
        assert_eq!(header("x-amz-target"), "AWSEvents.PutRule");
        assert_ne!(
            sign("{\"a\":1}").headers()["authorization"],
            request.headers()["authorization"]
        );
        assert!(!format!("{:?}", Signed(request)).contains("AKID"));
    }

    #[test]
    fn an_error_code_is_without_its_name_space() {
        for (text, code) in [
            ("ResourceNotFoundException", "ResourceNotFoundException"),
            ("com.amazonaws.events#ValidationException", "ValidationException"),
            ("LimitExceededException:http://x/", "LimitExceededException"),
        ] {
            assert_eq!(plain_code(text), code);
        }
    }
}
