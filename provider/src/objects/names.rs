//! Attribute names and Kubernetes field names, one to one.

/// Fields whose name is not the plain camel case of the attribute's.
const IRREGULAR: [(&str, &str); 10] = [
    ("associate_public_ip_address", "associatePublicIPAddress"),
    ("cluster_dns", "clusterDNS"),
    ("cpu_cfs_quota", "cpuCFSQuota"),
    ("http_protocol_ipv6", "httpProtocolIPv6"),
    ("image_gc_high_threshold_percent", "imageGCHighThresholdPercent"),
    ("image_gc_low_threshold_percent", "imageGCLowThresholdPercent"),
    ("kms_key_id", "kmsKeyID"),
    ("owner_id", "ownerID"),
    ("snapshot_id", "snapshotID"),
    ("zone_id", "zoneID"),
];

/// The field that an attribute stands for.
pub(crate) fn field_of(attribute: &str) -> String {
    if let Some((_, field)) = IRREGULAR.iter().find(|(name, _)| *name == attribute) {
        return (*field).to_owned();
    }
    let mut words = attribute.split('_');
    let mut field = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut chars = word.chars();
        field.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        field.push_str(chars.as_str());
    }
    field
}

/// The attribute that stands for a field.
pub(crate) fn attribute_of(field: &str) -> String {
    if let Some((name, _)) = IRREGULAR.iter().find(|(_, irregular)| *irregular == field) {
        return (*name).to_owned();
    }
    let mut attribute = String::new();
    for char in field.chars() {
        if char.is_ascii_uppercase() {
            attribute.push('_');
        }
        attribute.push(char.to_ascii_lowercase());
    }
    attribute
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn every_field_of_the_specs_has_its_own_attribute() {
        fn walk(schema: &Value, seen: &mut usize) {
            for (field, inner) in schema["properties"].as_object().into_iter().flatten() {
                assert_eq!(field_of(&attribute_of(field)), *field, "{}", attribute_of(field));
                *seen += 1;
                walk(inner, seen);
            }
            if schema["items"].is_object() {
                walk(&schema["items"], seen);
            }
        }
        let mut seen = 0;
        for crd in joiner_api::crds() {
            for version in serde_json::to_value(&crd).expect("JSON")["spec"]["versions"].as_array().expect("a list") {
                walk(&version["schema"]["openAPIV3Schema"]["properties"]["spec"], &mut seen);
            }
        }
        assert!(seen > 80, "the CRDs have more fields than {seen}");
    }

    #[test]
    fn names_are_plain_snake_case() {
        for (field, attribute) in [
            ("kmsKeyID", "kms_key_id"),
            ("nodeClassRef", "node_class_ref"),
            ("httpProtocolIPv6", "http_protocol_ipv6"),
            ("cpuCFSQuota", "cpu_cfs_quota"),
            ("iops", "iops"),
        ] {
            assert_eq!((attribute_of(field).as_str(), field_of(attribute).as_str()), (attribute, field));
        }
    }
}
