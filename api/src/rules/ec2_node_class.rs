//! What the CRD of EC2NodeClass cannot say.

use super::{Violation, kubelet, names, tags, view::View, volumes};

/// EC2's limit on user data before encoding, in bytes.
const USER_DATA_LIMIT: usize = 16 * 1024;

/// Rules of an EC2NodeClass.
pub(super) fn ec2_node_class(class: &View<'_>, found: &mut Vec<Violation>) {
    let Some(spec) = class.field("spec") else { return };
    volumes::check(&spec, found);
    if let Some(own) = spec.field("tags") {
        tags::check(&own, found);
    }
    check_images(&spec, found);
    if let Some(data) = spec.field("userData")
        && let Some(text) = data.value.as_str()
        && text.len() > USER_DATA_LIMIT
    {
        found.push(data.fail(format!(
            "has {} bytes, but EC2 accepts at most {USER_DATA_LIMIT} in all: fetch the larger part at boot",
            text.len()
        )));
    }
    if let Some(settings) = spec.field("kubelet") {
        kubelet::check(&settings, found);
    }
}

/// The CRD's pattern lets through ids that no image has.
fn check_images(spec: &View<'_>, found: &mut Vec<Violation>) {
    for term in spec.field("amiSelectorTerms").iter().flat_map(View::items) {
        if let Some(id) = term.field("id")
            && let Some(text) = id.value.as_str()
            && !names::is_id("ami", text)
        {
            found.push(id.fail(format!(
                "{text:?} is no image's id: write one such as ami-0123456789abcdef0"
            )));
        }
    }
}
