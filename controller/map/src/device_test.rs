//! Conditions on devices, read from the CEL expressions of classes and claims.
//!
//! Understood is what such expressions are made of in practice: comparisons of one attribute, of one capacity or of the driver
//! with a literal, joined by `&&`. Anything else is refused in words, so that no pod is placed on a guess.

use joiner_api::Quantity;
use joiner_core::snapshot::{Attribute, DeviceTest};
use joiner_core::text::Text;

/// The conditions of an expression, all of which must hold.
///
/// # Errors
/// Why the expression is not understood, in words for a person.
pub(crate) fn parse(expression: &str) -> Result<Vec<DeviceTest>, Text> {
    let tokens = tokens(expression);
    let mut reader = Reader {
        tokens: tokens.unwrap_or_default(),
        at: 0,
    };
    let mut tests = Vec::new();
    match reader.conjunction(&mut tests) {
        Some(()) if reader.at == reader.tokens.len() && !tests.is_empty() => Ok(tests),
        _ => Err(format!(
            "a device selector is not understood: {expression:?}; only comparisons of device.driver, device.attributes and \
             device.capacity with literals, joined by &&, are"
        )
        .into()),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Number(i64),
    Sign(&'static str),
}

const SIGNS: [&str; 15] = [
    "&&", "==", "!=", ">=", "<=", ">", "<", "!", "(", ")", "[", "]", ".", ",", "-",
];

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut rest = text.trim_start();
    let mut found = Vec::new();
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' || first == '\'' {
            let end = rest[1..].find(first)? + 2;
            found.push(Token::Text(rest[1..end - 1].to_owned()));
            end
        } else if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            found.push(Token::Number(rest[..end].parse().ok()?));
            end
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(rest.len());
            found.push(Token::Word(rest[..end].to_owned()));
            end
        } else {
            let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign))?;
            found.push(Token::Sign(sign));
            sign.len()
        };
        rest = rest[length..].trim_start();
    }
    Some(found)
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
}

/// What a comparison is about.
enum Subject {
    Driver,
    Attribute(Text),
    Capacity(Text),
}

enum Literal {
    Attribute(Attribute),
    Quantity(i64),
}

impl Reader {
    fn conjunction(&mut self, tests: &mut Vec<DeviceTest>) -> Option<()> {
        loop {
            if self.sign("(") {
                self.conjunction(tests)?;
                self.sign(")").then_some(())?;
            } else {
                self.comparison(tests)?;
            }
            if !self.sign("&&") {
                return Some(());
            }
        }
    }

    fn comparison(&mut self, tests: &mut Vec<DeviceTest>) -> Option<()> {
        let negated = self.sign("!");
        let subject = self.subject()?;
        if self.sign(".") {
            let method = self.word()?;
            self.sign("(").then_some(())?;
            let literal = self.literal()?;
            self.sign(")").then_some(())?;
            let operator = match &*method {
                "compareTo" => {
                    let operator = self.operator()?;
                    matches!(self.next()?, Token::Number(0)).then_some(operator)?
                }
                "isGreaterThan" => ">",
                "isLessThan" => "<",
                _ => return None,
            };
            tests.push(test(subject, operator, literal)?);
            return (!negated).then_some(());
        }
        if self.peek_word("in") {
            self.at += 1;
            self.sign("[").then_some(())?;
            let mut values = Vec::new();
            while !self.sign("]") {
                let Literal::Attribute(value) = self.literal()? else {
                    return None;
                };
                values.push(value);
                let _ = self.sign(",");
            }
            let Subject::Attribute(name) = subject else {
                return None;
            };
            tests.push(DeviceTest::Is(name, values));
            return (!negated).then_some(());
        }
        match self.operator() {
            Some(operator) => {
                let literal = self.literal()?;
                tests.push(test(subject, operator, literal)?);
                (!negated).then_some(())
            }
            None => {
                let Subject::Attribute(name) = subject else {
                    return None;
                };
                tests.push(DeviceTest::Is(name, vec![Attribute::Bool(!negated)]));
                Some(())
            }
        }
    }

    fn subject(&mut self) -> Option<Subject> {
        (self.word()? == "device" && self.sign(".")).then_some(())?;
        let part = self.word()?;
        if part == "driver" {
            return Some(Subject::Driver);
        }
        self.sign("[").then_some(())?;
        let Token::Text(domain) = self.next()? else {
            return None;
        };
        (self.sign("]") && self.sign(".")).then_some(())?;
        let name: Text = format!("{domain}/{}", self.word()?).into();
        match &*part {
            "attributes" => Some(Subject::Attribute(name)),
            "capacity" => Some(Subject::Capacity(name)),
            _ => None,
        }
    }

    fn literal(&mut self) -> Option<Literal> {
        let negative = self.sign("-");
        let value = match self.next()? {
            Token::Text(text) => Attribute::Text(text.into()),
            Token::Number(number) => Attribute::Int(if negative { -number } else { number }),
            Token::Word(word) => match &*word {
                "true" => Attribute::Bool(true),
                "false" => Attribute::Bool(false),
                "semver" | "quantity" => {
                    self.sign("(").then_some(())?;
                    let Token::Text(text) = self.next()? else {
                        return None;
                    };
                    self.sign(")").then_some(())?;
                    if word == "quantity" {
                        return Some(Literal::Quantity(text.parse::<Quantity>().ok()?.value()));
                    }
                    Attribute::Version(text.into())
                }
                _ => return None,
            },
            Token::Sign(_) => return None,
        };
        Some(Literal::Attribute(value))
    }

    fn operator(&mut self) -> Option<&'static str> {
        ["==", "!=", ">=", "<=", ">", "<"]
            .into_iter()
            .find(|operator| self.sign(operator))
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn word(&mut self) -> Option<String> {
        match self.next()? {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    fn peek_word(&self, word: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Word(found)) if found == word)
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.tokens.get(self.at), Some(Token::Sign(found)) if *found == sign);
        if found {
            self.at += 1;
        }
        found
    }
}

fn test(subject: Subject, operator: &str, literal: Literal) -> Option<DeviceTest> {
    let stepped = |value: Attribute, step: i64| match value {
        Attribute::Int(number) => Some(Attribute::Int(number.checked_add(step)?)),
        _ => None,
    };
    Some(match (subject, operator, literal) {
        (Subject::Driver, "==", Literal::Attribute(Attribute::Text(driver))) => DeviceTest::Driver(driver),
        (Subject::Attribute(name), "==", Literal::Attribute(value)) => DeviceTest::Is(name, vec![value]),
        (Subject::Attribute(name), "!=", Literal::Attribute(value)) => DeviceTest::IsNot(name, vec![value]),
        (Subject::Attribute(name), ">=", Literal::Attribute(value)) => DeviceTest::AtLeast(name, value),
        (Subject::Attribute(name), "<=", Literal::Attribute(value)) => DeviceTest::AtMost(name, value),
        (Subject::Attribute(name), ">", Literal::Attribute(value)) => {
            DeviceTest::AtLeast(name, stepped(value, 1)?)
        }
        (Subject::Attribute(name), "<", Literal::Attribute(value)) => {
            DeviceTest::AtMost(name, stepped(value, -1)?)
        }
        (Subject::Capacity(name), ">=", Literal::Quantity(least)) => DeviceTest::Capacity(name, least),
        (Subject::Capacity(name), ">", Literal::Quantity(less)) => {
            DeviceTest::Capacity(name, less.checked_add(1)?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_expressions_are_understood() {
        let text = |text: &str| Attribute::Text(text.into());
        for (expression, want) in [
            (
                r#"device.driver == "gpu.example.com""#,
                vec![DeviceTest::Driver("gpu.example.com".into())],
            ),
            (
                r#"device.driver == 'd' && device.attributes["d"].model in ["a", "b"]"#,
                vec![
                    DeviceTest::Driver("d".into()),
                    DeviceTest::Is("d/model".into(), vec![text("a"), text("b")]),
                ],
            ),
            (
                r#"(device.attributes["d"].cores > 3) && !device.attributes["d"].mig"#,
                vec![
                    DeviceTest::AtLeast("d/cores".into(), Attribute::Int(4)),
                    DeviceTest::Is("d/mig".into(), vec![Attribute::Bool(false)]),
                ],
            ),
            (
                r#"device.capacity["d"].memory.compareTo(quantity("10Gi")) >= 0"#,
                vec![DeviceTest::Capacity("d/memory".into(), 10 << 30)],
            ),
            (
                r#"device.attributes["d"].driverVersion.compareTo(semver("1.2.3")) >= 0"#,
                vec![DeviceTest::AtLeast(
                    "d/driverVersion".into(),
                    Attribute::Version("1.2.3".into()),
                )],
            ),
        ] {
            assert_eq!(parse(expression).as_deref(), Ok(&*want), "{expression}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for expression in [
            "",
            "true",
            r#"device.driver == "a" || device.driver == "b""#,
            r#"device.attributes["d"].a.startsWith("x")"#,
            r#"!(device.driver == "a")"#,
            r#"device.attributes["d"].a == "#,
            r#"device.attributes["d"].v > semver("1.0.0")"#,
        ] {
            assert!(parse(expression).is_err(), "{expression}");
        }
    }
}
