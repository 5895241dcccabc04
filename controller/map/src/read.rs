//! Texts that hold objects: YAML with several documents, JSON, lists of either.
//!
//! Input: a name for messages and a text. Output: the objects in [`Objects`]. Kinds that do not matter are noted there. What is
//! wrong is said with the file, the document, the object, the field, the value and what was expected.

mod error;
mod item;
mod kin;
mod mend;
mod scan;
mod scheduler;
mod sound;
mod source;
mod yaml;

use std::num::NonZero;
use std::thread;

pub(crate) use error::Fault;
pub use error::InputError;
pub(crate) use item::Item;
pub use scheduler::default_constraints;
pub use yaml::trouble as yaml_trouble;

use crate::objects::Objects;
use crate::seen::Spot;
use error::Place;
use kin::Kin;
use source::{Head, Source};

/// From so many objects in one list on, two are read at a time.
const MANY: usize = 256;

/// Reads every object of a text into `objects`. `file` is the name used in messages.
///
/// # Errors
/// The first thing that is wrong, and where.
pub fn read(file: &str, text: &str, objects: &mut Objects) -> Result<(), Box<InputError>> {
    let place = Place { file, text };
    let text = text.trim_start_matches('\u{feff}');
    let start = text.trim_start();
    if start.starts_with(['{', '[']) && json_stream(text, place, objects)? {
        return Ok(());
    }
    for (index, document) in yaml::documents(text).into_iter().enumerate() {
        let at = |fault: Fault| place.at(fault, index + 1, document.line);
        let spot = place.spot(index + 1);
        let trimmed = document.text.trim_start();
        if trimmed.starts_with(['{', '[']) && json_stream(document.text, place, objects)? {
            continue;
        }
        let head = source::head_of_yaml(document.text);
        match head {
            Some(head) if !head.kind.ends_with("List") => {
                let source = Source::Yaml(document.text);
                let item = item::read(&head, &source).map_err(at)?;
                objects.take(item, spot).map_err(at)?;
            }
            _ => {
                let value = source::yaml_value(document.text).map_err(at)?;
                values(value, &at, spot, objects)?;
            }
        }
    }
    Ok(())
}

/// Objects from a value of unknown shape: one, a list of kind List, or a plain list.
fn values(
    value: serde_json::Value,
    at: &dyn Fn(Fault) -> Box<InputError>,
    spot: Spot<'_>,
    objects: &mut Objects,
) -> Result<(), Box<InputError>> {
    let list = match value {
        serde_json::Value::Null => return Ok(()),
        serde_json::Value::Array(list) => (None, list),
        mut value => {
            let head = source::head_of_value(&value).map_err(at)?;
            match value.get_mut("items").map(serde_json::Value::take) {
                Some(serde_json::Value::Array(list)) if head.kind.ends_with("List") => {
                    (head.of_items(), list)
                }
                _ if head.kind.ends_with("List") => (None, Vec::new()),
                _ => {
                    let item = item::read(&head, &Source::Value(value)).map_err(at)?;
                    return objects.take(item, spot).map_err(at);
                }
            }
        }
    };
    for (index, value) in list.1.into_iter().enumerate() {
        let within = |fault: Fault| at(fault.in_item(index));
        let head = source::head_of_item(&value, list.0.as_ref()).map_err(within)?;
        let item = item::read(&head, &Source::Value(value)).map_err(within)?;
        objects.take(item, spot.of_item(index)).map_err(within)?;
    }
    Ok(())
}

/// Reads one JSON value after another. False where the text is not JSON from its start on, though it may be YAML.
fn json_stream(text: &str, place: Place<'_>, objects: &mut Objects) -> Result<bool, Box<InputError>> {
    let bytes = text.as_bytes();
    let (mut at, mut count) = (scan::blank(bytes, 0), 0);
    while at < bytes.len() {
        count += 1;
        let offset = |part: &str| part.as_ptr().addr() - place.text.as_ptr().addr();
        let end = match scan::value(bytes, at) {
            Ok(end) => end,
            Err(_) if count == 1 => return Ok(false),
            Err(broken) => {
                let fault = Fault::syntax("this is no JSON value");
                return Err(place.at_offset(fault, count, offset(text) + broken.0));
            }
        };
        let whole = &text[at..end];
        let within = |fault: Fault| place.at_offset(fault, count, offset(whole));
        let (list, kind) = if whole.starts_with('[') {
            (Some(whole), None)
        } else {
            match source::head_of_json(whole) {
                Ok(found) if found.head.kind.ends_with("List") => (found.items, found.head.of_items()),
                Ok(found) => {
                    let item = item::read(&found.head, &Source::Json(whole)).map_err(within)?;
                    objects.take(item, place.spot(count)).map_err(within)?;
                    (None, None)
                }
                // Flow style without quotes is YAML, and no JSON.
                Err(fault) if fault.is_syntax() && count == 1 => return Ok(false),
                Err(fault) => return Err(within(fault)),
            }
        };
        if let Some(list) = list {
            let parts: Result<Vec<&str>, _> = scan::elements(list)
                .map(|part| part.map(|(_, value)| value))
                .collect();
            let parts = match parts {
                Ok(parts) => parts,
                Err(_) if count == 1 => return Ok(false),
                Err(broken) => {
                    let fault = Fault::syntax("the list is no JSON from here on");
                    return Err(place.at_offset(fault, count, offset(list) + broken.0));
                }
            };
            let items = read_all(&parts, kind.as_ref());
            for (index, item) in items.into_iter().enumerate() {
                let within =
                    |fault: Fault| place.at_offset(fault.in_item(index), count, offset(parts[index]));
                let item = item.map_err(within)?;
                objects
                    .take(item, place.spot(count).of_item(index))
                    .map_err(within)?;
            }
        }
        at = scan::blank(bytes, end);
    }
    Ok(true)
}

/// Reads the elements of a list, several at a time where there are many. The order is that of the list.
fn read_all(parts: &[&str], kind: Option<&Head>) -> Vec<Result<Item, Fault>> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(8);
    if parts.len() < MANY || workers == 1 {
        return read_some(parts, kind);
    }
    let share = parts.len().div_ceil(workers);
    thread::scope(|scope| {
        let chunks: Vec<_> = parts
            .chunks(share)
            .map(|chunk| scope.spawn(move || read_some(chunk, kind)))
            .collect();
        let results = chunks.into_iter().zip(parts.chunks(share));
        results
            .flat_map(|(worker, chunk)| match worker.join() {
                Ok(items) => items,
                // Nothing in there panics; if something did, once more in order says where.
                Err(_) => read_some(chunk, kind),
            })
            .collect()
    })
}

fn read_some(parts: &[&str], kind: Option<&Head>) -> Vec<Result<Item, Fault>> {
    let mut kin = Kin::default();
    parts.iter().map(|part| read_one(part, kind, &mut kin)).collect()
}

fn read_one(part: &str, kind: Option<&Head>, kin: &mut Kin) -> Result<Item, Fault> {
    let head = source::head_of_json_item(part, kind)?;
    let mut item = item::read(&head, &Source::Json(part))?;
    if let Item::Pod(object) = &mut item {
        kin.share(&mut object.pod);
    }
    Ok(item)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod twice;
