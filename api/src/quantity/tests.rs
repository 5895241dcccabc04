use proptest::prelude::*;

use super::*;

/// Made with Go's own `resource.Quantity`; one row a text.
const TABLE: &str = include_str!("../../tests/data/quantity.tsv");

#[test]
fn agrees_with_kubernetes() {
    let mut rows = 0;
    for row in TABLE.lines().filter(|row| !row.starts_with('#')) {
        rows += 1;
        let columns: Vec<&str> = row.split('\t').collect();
        let (text, canonical) = (columns[0], columns[1]);
        let parsed = text.parse::<Quantity>();
        // Go reads texts without a digit as 0. The CRD's pattern refuses them, and so do we.
        if canonical == "error" || !text.contains(|c: char| c.is_ascii_digit()) {
            assert!(parsed.is_err(), "{text:?} must be refused");
            continue;
        }
        let quantity = parsed.unwrap();
        // 1e30: Kubernetes holds any number, we stop at 1.7e29.
        if quantity.nanos() != i128::MAX {
            assert_eq!(quantity.to_string(), canonical, "canonical form of {text:?}");
        }
        assert_eq!(quantity.text(), text);
        // Go wraps around where the result exceeds 63 bits; we stop at the limit. Of negative numbers that are
        // not whole, Go's rounding depends on how it holds them; its canonical form is right.
        let comparable = |unit: i128| {
            let fits = (quantity.nanos() / unit).unsigned_abs() < i64::MAX.unsigned_abs().into();
            let whole = quantity.nanos() % unit == 0 && i64::try_from(quantity.nanos()).is_ok();
            fits && (quantity.nanos() >= 0 || whole)
        };
        if comparable(NANOS) {
            assert_eq!(quantity.value().to_string(), columns[2], "value of {text:?}");
        }
        if comparable(NANOS_PER_MILLI) {
            assert_eq!(quantity.milli().to_string(), columns[3], "milli of {text:?}");
        }
    }
    assert!(rows > 400, "the table has shrunk to {rows} rows");
}

#[test]
fn stops_at_the_limits() {
    for (text, value, milli) in [
        ("10E", i64::MAX, i64::MAX),
        ("-10E", i64::MIN, i64::MIN),
        ("1e400", i64::MAX, i64::MAX),
        ("1e99999999999", i64::MAX, i64::MAX),
        ("1e-400", 1, 1),
        ("0e400", 0, 0),
        ("1E", 1_000_000_000_000_000_000, i64::MAX),
    ] {
        // Go cannot hold the exponent of the fourth either.
        match text.parse::<Quantity>() {
            Ok(quantity) => assert_eq!((quantity.value(), quantity.milli()), (value, milli), "{text}"),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn reads_numbers_and_keeps_texts() {
    for (json, written, canonical) in [
        ("4", "\"4\"", "4"),
        ("\"1.5Gi\"", "\"1.5Gi\"", "1536Mi"),
        ("0.5", "\"0.5\"", "500m"),
    ] {
        let quantity: Quantity = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&quantity).unwrap(), written);
        assert_eq!(quantity.to_string(), canonical);
    }
    let error = serde_json::from_str::<Quantity>("\"lots\"")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("\"lots\" is no quantity; write a number"),
        "{error}"
    );
}

#[test]
fn sums_take_the_first_format() {
    for (left, right, sum, difference) in [
        ("1", "1Ki", "1025", "-1023"),
        ("1Gi", "1Gi", "2Gi", "0"),
        ("0", "1Gi", "1Gi", "-1Gi"),
        ("100m", "1", "1100m", "-900m"),
        ("1e3", "1", "1001", "999"),
    ] {
        let (a, b): (Quantity, Quantity) = (left.parse().unwrap(), right.parse().unwrap());
        assert_eq!((a.clone() + &b).to_string(), sum, "{left} + {right}");
        assert_eq!((a - &b).to_string(), difference, "{left} - {right}");
    }
    let total: Quantity = [Quantity::from_milli(1500), Quantity::from_units(2)].iter().sum();
    assert_eq!(total.to_string(), "3500m");
    assert_eq!(Quantity::from_bytes(3 << 30).to_string(), "3Gi");
}

proptest! {
    #[test]
    fn canonical_form_means_the_same(
        sign in "[+-]?", whole in 0_u64..2_000_000, fraction in "(\\.[0-9]{0,9})?",
        suffix in "(|n|u|m|k|M|G|T|Ki|Mi|Gi|Ti|e[0-9]|E-[0-6])",
    ) {
        let text = format!("{sign}{whole}{fraction}{suffix}");
        let quantity: Quantity = text.parse().unwrap();
        let again: Quantity = quantity.to_string().parse().unwrap();
        prop_assert_eq!(&quantity, &again);
        prop_assert_eq!(quantity.to_string(), again.to_string());
    }

    #[test]
    fn a_sum_can_be_taken_apart(a in -1_000_000_000_i64..1_000_000_000, b in -1_000_000_000_i64..1_000_000_000) {
        let (a, b) = (Quantity::from_milli(a), Quantity::from_milli(b));
        prop_assert_eq!((a.clone() + &b) - &b, a);
    }
}
