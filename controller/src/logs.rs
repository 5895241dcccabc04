//! Logs: one JSON object a line with Karpenter's keys.
//!
//! `level` (upper case), `time` (ISO 8601, milliseconds, UTC), `logger`, `message`, `commit`, then the fields of the enclosing
//! spans (`controller`) and of the event; `caller` at debug level only. A field named after a Kubernetes kind becomes an
//! object: `NodeClaim = %name` is written as `"NodeClaim":{"name":"..."}`, and `Pod = "ns/name"` gets a namespace too.

use std::fmt;
use std::fs::OpenOptions;
use std::io;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{FormatEvent, JsonFields, Writer};
use tracing_subscriber::fmt::writer::{BoxMakeWriter, MakeWriterExt};
use tracing_subscriber::fmt::{FmtContext, FormattedFields};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, fmt as layer};

use crate::options::{LogLevel, Options};

/// The commit this binary was built from, set by the build; `dev` otherwise.
pub(crate) const COMMIT: &str = match option_env!("JOINER_COMMIT") {
    Some(commit) => commit,
    None => "dev",
};

/// Fields that name a Kubernetes object.
const KINDS: [&str; 6] = [
    "NodeClaim",
    "NodePool",
    "Node",
    "EC2NodeClass",
    "Pod",
    "DaemonSet",
];

/// Starts logging for the whole process.
///
/// # Errors
/// A file among the destinations cannot be opened.
pub(crate) fn init(options: &Options) -> io::Result<()> {
    let level = match options.log_level {
        LogLevel::Debug => "debug",
        LogLevel::Info => "info",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    };
    // The libraries below us tell at info what concerns only themselves.
    let filter = format!("warn,joiner_controller={level},joiner_core={level},joiner_aws={level}");
    layer()
        .fmt_fields(JsonFields::new())
        .event_format(Json)
        .with_env_filter(EnvFilter::new(filter))
        .with_writer(destinations(&options.log_output_paths)?)
        .init();
    Ok(())
}

fn destinations(paths: &[String]) -> io::Result<BoxMakeWriter> {
    let mut all: Option<BoxMakeWriter> = None;
    for path in paths
        .iter()
        .map(|path| path.trim())
        .filter(|path| !path.is_empty())
    {
        let one = match path {
            "stdout" => BoxMakeWriter::new(io::stdout),
            "stderr" => BoxMakeWriter::new(io::stderr),
            file => {
                let open = OpenOptions::new().create(true).append(true).open(file);
                let open = open.map_err(|cause| {
                    io::Error::new(cause.kind(), format!("log file {file} cannot be opened: {cause}"))
                })?;
                BoxMakeWriter::new(std::sync::Arc::new(open))
            }
        };
        all = Some(match all {
            Some(others) => BoxMakeWriter::new(others.and(one)),
            None => one,
        });
    }
    Ok(all.unwrap_or_else(|| BoxMakeWriter::new(io::stdout)))
}

/// The line format.
struct Json;

impl<S> FormatEvent<S, JsonFields> for Json
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn format_event(
        &self,
        ctx: &FmtContext<'_, S, JsonFields>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let meta = event.metadata();
        let mut fields = Map::new();
        if let Some(scope) = ctx.event_scope() {
            for span in scope.from_root() {
                let extensions = span.extensions();
                let Some(formatted) = extensions.get::<FormattedFields<JsonFields>>() else {
                    continue;
                };
                if let Ok(Value::Object(of_span)) = serde_json::from_str(formatted.fields.as_str()) {
                    fields.extend(of_span);
                }
            }
        }
        event.record(&mut Fields(&mut fields));
        let message = fields.remove("message").unwrap_or_default();
        // In this order, as people read lines from the left.
        write!(
            writer,
            "{{\"level\":\"{}\",\"time\":\"{}\",\"logger\":\"controller\"",
            meta.level(),
            now()
        )?;
        write!(writer, ",\"message\":{message},\"commit\":\"{COMMIT}\"")?;
        if *meta.level() >= Level::DEBUG {
            let caller = format!(
                "{}:{}",
                meta.file().unwrap_or_default(),
                meta.line().unwrap_or_default()
            );
            write!(writer, ",\"caller\":{}", Value::from(caller))?;
        }
        for (name, value) in fields {
            let value = if KINDS.contains(&name.as_str()) {
                reference(&value)
            } else {
                value
            };
            write!(writer, ",{}:{value}", Value::from(name))?;
        }
        writeln!(writer, "}}")
    }
}

fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// A name, or namespace and name, as an object; something else as it is.
fn reference(value: &Value) -> Value {
    let Value::String(text) = value else {
        return value.clone();
    };
    let mut object = Map::new();
    match text.split_once('/') {
        Some((namespace, name)) => {
            object.insert("name".to_owned(), name.into());
            object.insert("namespace".to_owned(), namespace.into());
        }
        None => {
            object.insert("name".to_owned(), text.as_str().into());
        }
    }
    Value::Object(object)
}

/// Collects an event's fields.
struct Fields<'a>(&'a mut Map<String, Value>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0
            .insert(field.name().to_owned(), format!("{value:?}").into());
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.into());
    }
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name().to_owned(), value.into());
    }
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), value.into());
    }
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.insert(field.name().to_owned(), value.into());
    }
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_has_karpenters_keys() {
        let sink = Sink::default();
        let to = sink.clone();
        let subscriber = layer()
            .fmt_fields(JsonFields::new())
            .event_format(Json)
            .with_writer(move || to.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let span = tracing::info_span!("loop", controller = "provisioner");
            let _entered = span.enter();
            tracing::info!(
                NodeClaim = "default-abcde",
                Pod = "shop/web-0",
                pods = 3,
                "created nodeclaim"
            );
        });
        let line: Value = serde_json::from_slice(&sink.0.lock().unwrap()).unwrap();
        assert_eq!(line["level"], "INFO");
        assert_eq!(line["logger"], "controller");
        assert_eq!(line["message"], "created nodeclaim");
        assert_eq!(line["controller"], "provisioner");
        assert_eq!(line["commit"], COMMIT);
        assert_eq!(line["NodeClaim"]["name"], "default-abcde");
        assert_eq!(line["Pod"]["namespace"], "shop");
        assert_eq!(line["pods"], 3);
        assert!(line.get("caller").is_none());
        assert!(line["time"].as_str().unwrap().ends_with('Z'));
    }
}
