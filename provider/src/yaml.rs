//! Reading YAML as charts and values have it.

use joiner_map::read::yaml_trouble;
use serde::de::DeserializeOwned;

/// Reads one YAML document. Only `true` and `false` are bools, as in YAML 1.2: a namespace called `n` stays a text.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| yaml_trouble(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn words_that_look_like_bools_stay_words() {
        let value: Value = parse("a: n\nb: yes\nc: true\nd: on\ne: 1\n").expect("YAML");
        assert_eq!(
            value,
            json!({ "a": "n", "b": "yes", "c": true, "d": "on", "e": 1 })
        );
        let error = parse::<Value>("a: [").expect_err("no end");
        assert!(error.contains("line 1") && !error.contains("error:"), "{error}");
    }
}
