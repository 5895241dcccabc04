//! Requests to the emulator's AWS APIs as the sandbox's administrator, signed as any client's. Two calls of two services are
//! all the sandbox itself needs, so no SDK is linked.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use http::Method;

use crate::error::{Error, Result};
use crate::http::{self as client, Ask};
use crate::supervisor::Emulator;
use crate::{ADMIN_KEY, ADMIN_SECRET};

const PATIENCE: Duration = Duration::from_secs(20);

/// A query-protocol request (EC2, IAM); answers the XML.
pub(crate) async fn query(emulator: &Emulator, service: &str, body: &str) -> Result<String> {
    send(emulator, service, Method::POST, "/", Some(body)).await
}

/// A GET of a REST-protocol service (EKS); answers the JSON.
pub(crate) async fn get(emulator: &Emulator, service: &str, path: &str) -> Result<serde_json::Value> {
    let text = send(emulator, service, Method::GET, path, None).await?;
    serde_json::from_str(&text)
        .map_err(|error| Error::Refused(format!("{service} answered {path} without JSON: {error}")))
}

async fn send(
    emulator: &Emulator,
    service: &str,
    method: Method,
    path: &str,
    body: Option<&str>,
) -> Result<String> {
    let bytes = body.unwrap_or_default().as_bytes();
    let mut headers = vec![("host", emulator.authority())];
    if body.is_some() {
        headers.push((
            "content-type",
            "application/x-www-form-urlencoded; charset=utf-8".to_owned(),
        ));
    }
    let signature = signature(
        emulator.region(),
        service,
        &method,
        &format!("{}{path}", emulator.url()),
        &headers,
        bytes,
    )
    .map_err(|error| Error::Refused(format!("cannot sign a request to {service}: {error}")))?;
    // The client sets the host itself.
    headers.remove(0);
    headers.extend(
        signature
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone())),
    );
    let ask = Ask {
        method,
        path,
        headers: &headers,
        body: body.map(|_| bytes.to_vec()),
        patience: Some(PATIENCE),
    };
    let answer = client::tcp(&emulator.authority(), ask)
        .await
        .map_err(|error| Error::Refused(format!("the AWS emulator: {}", crate::chain(&error))))?;
    if answer.status.is_success() {
        Ok(answer.text())
    } else {
        Err(Error::Refused(format!(
            "{service} answered {}: {}",
            answer.status,
            answer.text()
        )))
    }
}

type Headers = Vec<(String, String)>;

fn signature(
    region: &str,
    service: &str,
    method: &Method,
    url: &str,
    headers: &[(&str, String)],
    body: &[u8],
) -> std::result::Result<Headers, Box<dyn std::error::Error + Send + Sync>> {
    let identity = Credentials::new(ADMIN_KEY, ADMIN_SECRET, None, None, "sandbox").into();
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(service)
        .time(SystemTime::now())
        .settings(SigningSettings::default())
        .build()?
        .into();
    let headers = headers.iter().map(|(name, value)| (*name, value.as_str()));
    let request = SignableRequest::new(method.as_str(), url, headers, SignableBody::Bytes(body))?;
    let (instructions, _) = sign(request, &params)?.into_parts();
    Ok(instructions
        .headers()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_carry_a_signature_of_the_service() {
        let headers = [("host", "127.0.0.1:1".to_owned())];
        let signed = signature(
            "us-west-2",
            "eks",
            &Method::GET,
            "http://127.0.0.1:1/clusters/a",
            &headers,
            b"",
        )
        .unwrap();
        let authorization = signed
            .iter()
            .find(|(name, _)| name == "authorization")
            .map(|(_, value)| value.as_str());
        assert!(
            authorization.is_some_and(|value| value.contains("/us-west-2/eks/aws4_request")),
            "{signed:?}"
        );
    }
}
