//! Parameters of Systems Manager that hold image ids.

use crate::connect::Aws;
use crate::error::{Error, found};
use crate::json_call;
use serde_json::json;

pub(crate) const SERVICE: json_call::Service = json_call::Service {
    id: "SSM",
    name: "ssm",
    hosts: ["ssm", "ssm-fips"],
    target: "AmazonSSM",
};

const GET: &str = "ssm:GetParameter";

/// The value of a parameter, by name or ARN; `None` if there is none.
pub(super) async fn parameter(aws: &Aws, name: &str) -> Result<Option<String>, Error> {
    let answer = found(aws.ssm(GET, &json!({ "Name": name })).await)?;
    Ok(answer.and_then(|answer| answer["Parameter"]["Value"].as_str().map(str::to_owned)))
}
