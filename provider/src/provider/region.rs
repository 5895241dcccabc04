//! The region, as far as it is known without a call.

use super::data::{Joiner, Part};
use tfplugin::{Configured, Context, Field};

/// The provider's region, set or in the environment; unknown where only a call, or a file, would tell it.
pub(crate) fn known_region(ctx: &Context<Joiner>) -> Field<String> {
    match ctx.provider() {
        Configured::Ready(data) => match &data.aws {
            // The chain may also find it in a profile or from the instance; then the apply will tell.
            Part::Known(aws) => match aws.settings().region.clone().or_else(of_environment) {
                Some(region) => Field::Known(region),
                None => Field::Unknown,
            },
            _ => Field::Unknown,
        },
        _ => Field::Unknown,
    }
}

/// The region in the environment, as the standard chain reads it first.
fn of_environment() -> Option<String> {
    ["AWS_REGION", "AWS_DEFAULT_REGION"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|region| !region.is_empty())
}
