//! Logins for the account's container registries, which hold charts, too.

use crate::connect::Aws;
use crate::error::Error;
use crate::json_call;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use std::fmt;
use std::time::{Duration, SystemTime};

pub(crate) const SERVICE: json_call::Service = json_call::Service {
    id: "ECR",
    name: "ecr",
    hosts: ["api.ecr", "ecr-fips"],
    target: "AmazonEC2ContainerRegistry_V20150921",
};

const GET_TOKEN: &str = "ecr:GetAuthorizationToken";

/// A login: good for every registry that the credentials may read, for twelve hours.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// Host of the account's own registry in the connection's region.
    pub host: String,
    /// The user; ECR's is `AWS` always.
    pub user: String,
    /// The password.
    pub password: String,
    /// When it ends, as far as ECR said.
    pub ends: Option<SystemTime>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("host", &self.host)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Login {
    /// The host of another account's registry in the same region; twelve digits are an account.
    pub fn host_of(&self, account: &str) -> String {
        match self.host.split_once('.') {
            Some((_, rest)) => format!("{account}.{rest}"),
            None => self.host.clone(),
        }
    }
}

/// Asks for a login.
pub async fn login(aws: &Aws) -> Result<Login, Error> {
    read(&aws.ecr(GET_TOKEN, &json!({})).await?)
}

fn read(answer: &Json) -> Result<Login, Error> {
    let missing = |part| Error::Incomplete {
        operation: GET_TOKEN,
        part,
    };
    let data = &answer["authorizationData"][0];
    let token = data["authorizationToken"]
        .as_str()
        .ok_or(missing("authorizationToken"))?;
    let decoded = STANDARD
        .decode(token)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let decoded = decoded.ok_or(missing("a readable authorizationToken"))?;
    let (user, password) = decoded.split_once(':').ok_or(missing("a password"))?;
    let endpoint = data["proxyEndpoint"].as_str().ok_or(missing("proxyEndpoint"))?;
    let host = endpoint.split_once("://").map_or(endpoint, |(_, host)| host);
    let ends = data["expiresAt"]
        .as_f64()
        .filter(|seconds| *seconds >= 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    Ok(Login {
        host: host.trim_end_matches('/').to_owned(),
        user: user.to_owned(),
        password: password.to_owned(),
        ends: ends.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_a_user_and_a_password() {
        let answer = json!({ "authorizationData": [{
            "authorizationToken": STANDARD.encode("AWS:pass:word"), "expiresAt": 1.5e9,
            "proxyEndpoint": "https://123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn",
        }] });
        let login = read(&answer).unwrap();
        assert_eq!(
            (login.user.as_str(), login.password.as_str()),
            ("AWS", "pass:word")
        );
        assert_eq!(
            login.host_of("210987654321"),
            "210987654321.dkr.ecr.cn-north-1.amazonaws.com.cn"
        );
        assert_eq!(
            login.ends,
            Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000))
        );
        assert!(!format!("{login:?}").contains("word"), "{login:?}");
        for (wrong, part) in [
            (json!({}), "authorizationToken"),
            (
                json!({ "authorizationData": [{ "authorizationToken": "%" }] }),
                "readable",
            ),
        ] {
            let error = read(&wrong).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
