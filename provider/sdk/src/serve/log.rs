//! Logs as a core reads them: one hclog JSON object a line on standard error.

use std::fmt;
use std::io::Write;

use serde_json::{Map, Value as Json};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// A core splits longer lines.
const MAX_LINE_BYTES: usize = 60_000;

/// Which events are wanted, by the variables that Terraform users know.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Levels {
    /// A part of the names of the provider's own crates.
    name: String,
    provider: LevelFilter,
    sdk: LevelFilter,
    others: LevelFilter,
}

impl Levels {
    /// `TF_LOG_PROVIDER_<NAME>`, `TF_LOG_PROVIDER` and `TF_LOG` for the provider's own crates, those with its name in theirs;
    /// `TF_LOG_SDK` before these for the SDK.
    ///
    /// Every other crate gives warnings alone, with `TF_LOG_SDK` what is up to debugging, and never more: HTTP clients trace whole
    /// requests, tokens and signatures in them, and a log is sent around.
    fn from_variables(name: &str, variable: impl Fn(&str) -> Option<String>) -> Self {
        let own = format!("TF_LOG_PROVIDER_{}", name.to_uppercase().replace('-', "_"));
        let first = |names: &[&str]| {
            let set = names.iter().find_map(|name| variable(name));
            set.map_or(LevelFilter::OFF, |text| level(&text))
        };
        let provider = first(&[own.as_str(), "TF_LOG_PROVIDER", "TF_LOG"]);
        let asked = variable("TF_LOG_SDK").map(|text| level(&text));
        Self {
            name: name.replace('-', "_"),
            provider,
            sdk: asked.unwrap_or(provider),
            others: asked.map_or_else(
                || provider.min(LevelFilter::WARN),
                |asked| asked.min(LevelFilter::DEBUG),
            ),
        }
    }

    fn of(&self, target: &str) -> LevelFilter {
        match target.split("::").next().unwrap_or(target) {
            "tfplugin" => self.sdk,
            name if name.contains(&self.name) => self.provider,
            _ => self.others,
        }
    }

    fn any(&self) -> LevelFilter {
        self.provider.max(self.sdk)
    }
}

fn level(text: &str) -> LevelFilter {
    match text.to_uppercase().as_str() {
        "TRACE" | "JSON" => LevelFilter::TRACE,
        "DEBUG" => LevelFilter::DEBUG,
        "INFO" => LevelFilter::INFO,
        "WARN" => LevelFilter::WARN,
        "ERROR" => LevelFilter::ERROR,
        "OFF" | "" => LevelFilter::OFF,
        _ => LevelFilter::TRACE, // as cores do with a level they do not know
    }
}

/// Logs this process's events, when any are wanted. A second call changes nothing.
pub(crate) fn install(name: &str) {
    let levels = Levels::from_variables(name, |name| {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    });
    if levels.any() == LevelFilter::OFF {
        return;
    }
    let layer = Hclog {
        levels,
        module: format!("provider.{name}"),
    };
    let _already = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer));
}

struct Hclog {
    levels: Levels,
    module: String,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Hclog {
    fn enabled(&self, metadata: &tracing::Metadata<'_>, _: Context<'_, S>) -> bool {
        *metadata.level() <= self.levels.of(metadata.target())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.levels.any())
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let line = render(event, &self.module, &now());
        // When standard error is gone, nobody can be told.
        let _unheard = std::io::stderr().lock().write_all(line.as_bytes());
    }
}

/// The time in Go's layout, with microseconds.
fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S.%6fZ")
        .to_string()
}

fn render(event: &Event<'_>, module: &str, time: &str) -> String {
    let mut fields = Fields::default();
    event.record(&mut fields);
    let target = event.metadata().target();
    let mut line = Map::new();
    line.insert("@level".to_owned(), level_name(*event.metadata().level()).into());
    line.insert("@message".to_owned(), fields.message.into());
    line.insert(
        "@module".to_owned(),
        format!("{module}.{}", target.replace("::", ".")).into(),
    );
    line.insert("@timestamp".to_owned(), time.into());
    line.extend(fields.pairs);
    let mut text = Json::Object(line.clone()).to_string();
    if text.len() > MAX_LINE_BYTES {
        line.retain(|key, _| key.starts_with('@'));
        line.insert("truncated".to_owned(), true.into());
        if let Some(Json::String(message)) = line.get_mut("@message") {
            let end = (0..=MAX_LINE_BYTES / 2)
                .rev()
                .find(|end| message.is_char_boundary(*end))
                .unwrap_or(0);
            message.truncate(end);
        }
        text = Json::Object(line).to_string();
    }
    text.push('\n');
    text
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::TRACE => "trace",
        Level::DEBUG => "debug",
        Level::INFO => "info",
        Level::WARN => "warn",
        Level::ERROR => "error",
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    pairs: Map<String, Json>,
}

impl Fields {
    fn add(&mut self, field: &Field, value: impl Into<Json>) {
        self.pairs.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        } else {
            self.add(field, format!("{value:?}"));
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message = value.to_owned();
        } else {
            self.add(field, value);
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_variable_wins() {
        use LevelFilter as L;
        for (variables, provider, sdk, others) in [
            (vec![], L::OFF, L::OFF, L::OFF),
            (vec![("TF_LOG", "info")], L::INFO, L::INFO, L::WARN),
            (vec![("TF_LOG", "error")], L::ERROR, L::ERROR, L::ERROR),
            (
                vec![("TF_LOG", "JSON"), ("TF_LOG_PROVIDER", "warn")],
                L::WARN,
                L::WARN,
                L::WARN,
            ),
            (
                vec![("TF_LOG", "INFO"), ("TF_LOG_PROVIDER_MY_X", "trace")],
                L::TRACE,
                L::TRACE,
                L::WARN,
            ),
            (
                vec![("TF_LOG", "INFO"), ("TF_LOG_SDK", "off")],
                L::INFO,
                L::OFF,
                L::OFF,
            ),
            (vec![("TF_LOG_SDK", "trace")], L::OFF, L::TRACE, L::DEBUG),
        ] {
            let find = |name: &str| {
                let set = variables.iter().find(|(key, _)| *key == name);
                set.map(|(_, value)| (*value).to_owned())
            };
            let levels = Levels::from_variables("my-x", find);
            let want = Levels {
                name: "my_x".to_owned(),
                provider,
                sdk,
                others,
            };
            assert_eq!(levels, want, "{variables:?}");
        }
        let levels = Levels {
            name: "my_x".to_owned(),
            provider: L::INFO,
            sdk: L::DEBUG,
            others: L::WARN,
        };
        for (target, want) in [
            ("tfplugin::rpc", L::DEBUG),
            ("aws_smithy_runtime::client", L::WARN),
            ("my_x_client::pool", L::INFO),
            ("terraform_provider_my_x", L::INFO),
        ] {
            assert_eq!(levels.of(target), want, "{target}");
        }
    }

    #[test]
    fn one_json_object_a_line() {
        struct Collect(std::sync::Mutex<Vec<String>>);
        impl<S: Subscriber> Layer<S> for &'static Collect {
            fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
                self.0.lock().unwrap().push(render(event, "provider.x", "T"));
            }
        }
        let lines: &'static Collect = Box::leak(Box::new(Collect(std::sync::Mutex::default())));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), || {
            tracing::info!(count = 3, name = %"n", "two\nlines");
            tracing::warn!(big = "x".repeat(70_000), "long");
        });
        let lines = lines.0.lock().unwrap();
        let first: Json = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(first["@level"], "info");
        assert_eq!(first["@message"], "two\nlines");
        assert_eq!(first["@timestamp"], "T");
        assert_eq!((&first["count"], &first["name"]), (&3.into(), &"n".into()));
        assert_eq!(lines[0].matches('\n').count(), 1);
        assert!(lines[1].len() < MAX_LINE_BYTES && lines[1].contains("truncated"));
    }
}
