//! IAM roles as the provider needs them: read whole, write part by part, delete knowing what holds on to them.

mod attachments;
mod role;

pub use attachments::{
    Attachments, attach_policy, attachments, delete_inline_policy, detach_policy, put_inline_policy,
};
pub use role::{
    NewRole, Ownership, Role, create_role, delete_role, get_role, set_boundary, set_description,
    set_max_session, set_role_tags, set_trust,
};

use crate::error::Error;
use crate::tags::Tags;
use aws_sdk_iam::types as iam;
use percent_encoding::percent_decode_str;

/// Tags as IAM takes them.
pub(crate) fn iam_tags(tags: &Tags, operation: &'static str) -> Result<Vec<iam::Tag>, Error> {
    tags.iter()
        .map(|(key, value)| {
            iam::Tag::builder()
                .key(key)
                .value(value)
                .build()
                .map_err(|_| Error::Incomplete {
                    operation,
                    part: "tag",
                })
        })
        .collect()
}

/// Tags as IAM gives them.
pub(crate) fn from_iam_tags(tags: &[iam::Tag]) -> Tags {
    tags.iter()
        .map(|tag| (tag.key().to_owned(), tag.value().to_owned()))
        .collect()
}

/// A policy document in an answer is percent-encoded.
fn document(encoded: &str) -> String {
    percent_decode_str(encoded).decode_utf8_lossy().into_owned()
}
