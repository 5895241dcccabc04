//! How many pods with their own network interface a type can hold, which EC2's API does not tell.

use std::collections::BTreeMap;
use std::sync::LazyLock;

static TABLE: LazyLock<BTreeMap<&'static str, i64>> =
    LazyLock::new(|| parse(include_str!("../../data/branch_interfaces.txt")));

/// Branch interfaces of a type; 0 for one that cannot trunk or is not known.
pub(super) fn branch_interfaces(instance_type: &str) -> i64 {
    TABLE.get(instance_type).copied().unwrap_or(0)
}

fn parse(text: &'static str) -> BTreeMap<&'static str, i64> {
    let mut table = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let Some(count) = words.next().and_then(|word| word.parse().ok()) else {
            continue;
        };
        table.extend(words.map(|name| (name, count)));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trunking_types_are_known() {
        for (name, want) in [
            ("m5.large", 9),
            ("c5.xlarge", 18),
            ("t3.large", 0),
            ("none.such", 0),
        ] {
            assert_eq!(branch_interfaces(name), want, "{name}");
        }
        assert!(TABLE.len() > 900);
    }
}
