//! What a pattern of the CRDs means, in words.

use crate::schema;

/// (pattern, what a value must be). A test checks that no pattern of the CRDs is missing here.
const WORDS: &[(&str, &str)] = &[
    (
        schema::LABEL_KEY,
        "a name of letters, digits, '-', '_' and '.' that starts and ends with a letter or digit, with an optional DNS name and '/' before it",
    ),
    (
        schema::LABEL_VALUE,
        "at most 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit",
    ),
    (
        schema::QUANTITY,
        "a quantity: a number with at most one suffix, for example 500m, 2, 1.5Gi or 20G",
    ),
    (
        schema::NILLABLE_DURATION,
        "a duration in h, m and s, for example 720h or 1h30m, or Never",
    ),
    (
        schema::DURATION,
        "a duration in h, m and s, for example 48h or 1h30m",
    ),
    (
        schema::BUDGET_DURATION,
        "a duration in hours and minutes, for example 8h, 30m or 1h30m",
    ),
    (
        r"^[^/]*$",
        "an API group without a version, for example karpenter.k8s.aws",
    ),
    (
        r"^((100|[0-9]{1,2})%|[0-9]+)$",
        "a number of nodes or a percentage from 0% to 100%, for example 5 or 10%",
    ),
    (
        r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$",
        "a cron expression of five fields (minute, hour, day of month, month, day of week), for example \"0 9 * * mon-fri\", or a macro such as @daily",
    ),
    (
        r"^\d+(\.\d+)?$",
        "a price in US dollars per hour, for example 0.25",
    ),
    (
        r"^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$",
        "a signed amount or percentage, for example +0.5, -0.25, +10% or -15%; not below -100%",
    ),
    (
        "ami-[0-9a-z]+",
        "an image's id, for example ami-0123456789abcdef0",
    ),
    (
        "subnet-[0-9a-z]+",
        "a subnet's id, for example subnet-0123456789abcdef0",
    ),
    (
        "sg-[0-9a-z]+",
        "a security group's id, for example sg-0123456789abcdef0",
    ),
    (
        "^cr-[0-9a-z]+$",
        "a capacity reservation's id, for example cr-0123456789abcdef0",
    ),
    (
        "^pg-[0-9a-z]+$",
        "a placement group's id, for example pg-0123456789abcdef0",
    ),
    ("^[0-9]{12}$", "an account id of 12 digits"),
];

/// The beginning of patterns that are too long to repeat here.
const PREFIXES: &[(&str, &str)] = &[
    (
        "^((?:[1-9][0-9]{0,3}|[1-4][0-9]{4}",
        "a size from 1Gi to 59000Gi, 1G to 64000G, 1Ti to 58Ti or 1T to 64T",
    ),
    (
        r"^((\d{1,2}(\.\d{1,2})?|100",
        "a percentage with a % sign, or a quantity, for example 10% or 500Mi",
    ),
    (
        r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?((",
        "a condition's type",
    ),
    (
        "^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?|)$",
        "one word of letters, digits, '_', ',' and ':'",
    ),
    (
        "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        "one word of letters, digits, '_', ',' and ':'",
    ),
];

/// What a value with this pattern must be.
pub(super) fn of_pattern(pattern: &str) -> Option<&'static str> {
    WORDS
        .iter()
        .find(|(known, _)| *known == pattern)
        .or_else(|| PREFIXES.iter().find(|(prefix, _)| pattern.starts_with(prefix)))
        .map(|(_, words)| *words)
}
