//! Parameters of Systems Manager that hold image ids.

use crate::connect::Aws;
use crate::error::{Error, Named, found};

const GET: &str = "ssm:GetParameter";

/// The value of a parameter, by name or ARN; `None` if there is none.
pub(super) async fn parameter(aws: &Aws, name: &str) -> Result<Option<String>, Error> {
    let answer = aws
        .ssm()
        .await?
        .get_parameter()
        .name(name)
        .send()
        .await
        .named(GET);
    Ok(found(answer)?
        .and_then(|output| output.parameter)
        .and_then(|parameter| parameter.value))
}
