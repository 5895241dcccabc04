//! Who we are.

use crate::connect::Aws;
use crate::error::{Error, Named};

const GET_CALLER_IDENTITY: &str = "sts:GetCallerIdentity";

/// The identity behind the credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Twelve digits.
    pub account: String,
    /// `aws`, `aws-cn`, `aws-us-gov`, ...
    pub partition: String,
    /// ARN of the user or of the session of the role.
    pub arn: String,
}

/// Asks STS; this works with any valid credentials and no permission at all.
pub async fn identity(aws: &Aws) -> Result<Identity, Error> {
    let output = aws
        .sts()
        .await?
        .get_caller_identity()
        .send()
        .await
        .named(GET_CALLER_IDENTITY)?;
    let missing = |part| Error::Incomplete {
        operation: GET_CALLER_IDENTITY,
        part,
    };
    let arn = output.arn.ok_or(missing("Arn"))?;
    let account = output.account.ok_or(missing("Account"))?;
    let partition = arn.split(':').nth(1).unwrap_or("aws").to_owned();
    Ok(Identity {
        account,
        partition,
        arn,
    })
}

/// The domain of the hosts that serve a region.
pub(crate) fn domain_of(region: &str) -> &'static str {
    match partition_of(region) {
        "aws-cn" => "amazonaws.com.cn",
        "aws-iso" => "c2s.ic.gov",
        "aws-iso-b" => "sc2s.sgov.gov",
        "aws-iso-e" => "cloud.adc-e.uk",
        "aws-iso-f" => "csp.hci.ic.gov",
        "aws-eusc" => "amazonaws.eu",
        _ => "amazonaws.com",
    }
}

/// The partition that a region lies in, for documents that are made without a call.
pub fn partition_of(region: &str) -> &'static str {
    match region {
        region if region.starts_with("cn-") => "aws-cn",
        region if region.starts_with("us-gov-") => "aws-us-gov",
        region if region.starts_with("us-isob-") => "aws-iso-b",
        region if region.starts_with("us-iso-") => "aws-iso",
        region if region.starts_with("eu-isoe-") => "aws-iso-e",
        region if region.starts_with("us-isof-") || region.starts_with("eu-isof-") => "aws-iso-f",
        region if region.starts_with("eusc-") => "aws-eusc",
        _ => "aws",
    }
}
