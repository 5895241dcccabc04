//! Quantities and durations, as numbers and in canonical spelling.

use joiner_api::{NillableDuration, Quantity};
use tfplugin::{Arguments, Function, FunctionError, Number, Parameter, Signature, Type, Value};

/// `parse_quantity`: a Kubernetes quantity as a number.
pub(super) struct ParseQuantity;

impl Function for ParseQuantity {
    fn name(&self) -> &'static str {
        "parse_quantity"
    }

    fn signature(&self) -> Signature {
        Signature {
            parameters: vec![Parameter::new(
                "quantity",
                Type::String,
                "A quantity, such as `1500m`, `2` or `10Gi`.",
            )],
            variadic: None,
            returns: Type::Number,
            summary: "A Kubernetes quantity as a number".to_owned(),
            description:
                "The amount in whole units: cores for cpu, bytes for memory. Exact down to thousandths."
                    .to_owned(),
            deprecated: None,
        }
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError> {
        let text: String = arguments.get(0)?;
        let quantity: Quantity = text
            .parse()
            .map_err(|error| FunctionError::argument(0, format!("{text:?} is not a quantity: {error}")))?;
        let milli = quantity.milli();
        let whole = milli % 1000 == 0;
        // A decimal text keeps what a float would lose.
        let decimal = if whole {
            quantity.value().to_string()
        } else {
            let sign = if milli < 0 { "-" } else { "" };
            format!("{sign}{}.{:03}", (milli / 1000).abs(), (milli % 1000).abs())
        };
        let number: Number = decimal
            .parse()
            .map_err(|_| FunctionError::argument(0, format!("{text:?} is too large")))?;
        Ok(Value::Number(number))
    }
}

/// `normalize_duration`: a duration as the API server writes it.
pub(super) struct NormalizeDuration;

impl Function for NormalizeDuration {
    fn name(&self) -> &'static str {
        "normalize_duration"
    }

    fn signature(&self) -> Signature {
        Signature {
            parameters: vec![Parameter::new(
                "duration",
                Type::String,
                "A duration, such as `24h` or `90s`, or `Never`.",
            )],
            variadic: None,
            returns: Type::String,
            summary: "A duration in one spelling".to_owned(),
            description: "Hours, minutes and seconds as Go writes them, such as `24h0m0s`: the same for every spelling of the same time."
                .to_owned(),
            deprecated: None,
        }
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError> {
        let text: String = arguments.get(0)?;
        let duration: NillableDuration = text
            .parse()
            .map_err(|error| FunctionError::argument(0, format!("{text:?} is not a duration: {error}")))?;
        Ok(Value::string(match duration {
            NillableDuration::Never => "Never".to_owned(),
            NillableDuration::After(duration) => duration.canonical(),
        }))
    }
}
