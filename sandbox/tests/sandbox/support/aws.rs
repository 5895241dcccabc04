//! Just enough of an AWS client: signed query requests and one JSON request.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use joiner_sandbox::{ADMIN_KEY, ADMIN_SECRET, REGION};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A signed request of the query protocol; answers status and XML.
pub(crate) async fn query(endpoint: &str, service: &str, parameters: &[(&str, &str)]) -> (u16, String) {
    let body = form(parameters);
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    signed(endpoint, service, &headers, &body).await
}

/// A signed request of the JSON protocol.
pub(crate) async fn json(
    endpoint: &str,
    service: &str,
    target: &str,
    body: &serde_json::Value,
) -> serde_json::Value {
    let headers = [
        ("content-type", "application/x-amz-json-1.1"),
        ("x-amz-target", target),
    ];
    let (status, text) = signed(endpoint, service, &headers, &body.to_string()).await;
    assert_eq!(status, 200, "{target}: {text}");
    serde_json::from_str(&text).unwrap()
}

/// A request of the query protocol that needs no signature.
pub(crate) async fn unsigned(endpoint: &str, parameters: &[(&str, &str)]) -> (u16, String) {
    let authority = endpoint.trim_start_matches("http://");
    let body = form(parameters);
    let request = format!(
        "POST / HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    send(authority, &request).await.unwrap()
}

async fn signed(endpoint: &str, service: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
    let authority = endpoint.trim_start_matches("http://");
    let identity = Credentials::new(ADMIN_KEY, ADMIN_SECRET, None, None, "test").into();
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(REGION)
        .name(service)
        .time(SystemTime::now())
        .settings(SigningSettings::default())
        .build()
        .unwrap()
        .into();
    let all = headers.iter().copied().chain([("host", authority)]);
    let request = SignableRequest::new(
        "POST",
        format!("{endpoint}/"),
        all,
        SignableBody::Bytes(body.as_bytes()),
    )
    .unwrap();
    let (instructions, _) = sign(request, &params).unwrap().into_parts();
    let lines: String = headers
        .iter()
        .copied()
        .chain(instructions.headers())
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let request = format!(
        "POST / HTTP/1.1\r\nHost: {authority}\r\n{lines}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    send(authority, &request).await.unwrap()
}

/// Sends a request as it is; answers status and body.
pub(crate) async fn send(authority: &str, request: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(authority).await.ok()?;
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok()?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}

fn form(parameters: &[(&str, &str)]) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(parameters);
    form.finish()
}

/// The text between two marks.
pub(crate) fn between<'a>(text: &'a str, open: &str, close: &str) -> &'a str {
    let start = text.find(open).unwrap_or_else(|| panic!("no {open} in {text}")) + open.len();
    let length = text[start..]
        .find(close)
        .unwrap_or_else(|| panic!("no {close} in {text}"));
    &text[start..start + length]
}
