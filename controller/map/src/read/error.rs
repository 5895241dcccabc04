//! What is wrong with a text, and where.

use std::fmt;

use crate::seen::Spot;

/// What is wrong with the input: where, in which object and field, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct InputError {
    /// The file.
    pub file: String,
    /// The document's number in the file, from 1.
    pub document: usize,
    /// The line at which the document or the object starts, from 1.
    pub line: usize,
    /// The object's place in a list, from 0.
    pub item: Option<usize>,
    /// Kind and name of the object, as far as known.
    pub object: String,
    /// The field's path in the object; empty where the whole is meant.
    pub field: String,
    /// The value and what was expected.
    pub message: String,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}, document {}", self.file, self.line, self.document)?;
        if let Some(item) = self.item {
            write!(f, ", item {item}")?;
        }
        if !self.object.is_empty() {
            write!(f, " ({})", self.object)?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// What is wrong with one object, wherever it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(super) object: String,
    pub(super) field: String,
    pub(super) message: String,
    pub(super) item: Option<usize>,
    /// The text is not even well-formed.
    syntax: bool,
}

impl Fault {
    pub(crate) fn new(field: impl Into<String>, message: impl Into<String>) -> Fault {
        Fault {
            field: field.into(),
            message: message.into(),
            ..Fault::default()
        }
    }

    pub(super) fn syntax(message: impl Into<String>) -> Fault {
        Fault {
            message: message.into(),
            syntax: true,
            ..Fault::default()
        }
    }

    pub(super) fn is_syntax(&self) -> bool {
        self.syntax
    }

    pub(super) fn in_item(mut self, index: usize) -> Fault {
        self.item = Some(index);
        self
    }

    pub(crate) fn of(mut self, object: impl Into<String>) -> Fault {
        if self.object.is_empty() {
            self.object = object.into();
        }
        self
    }
}

/// A file's name and whole text.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl<'a> Place<'a> {
    /// Where a document stands.
    pub(super) fn spot(self, document: usize) -> Spot<'a> {
        Spot {
            file: self.file,
            document,
            item: None,
        }
    }

    pub(super) fn at(self, fault: Fault, document: usize, line: usize) -> Box<InputError> {
        Box::new(InputError {
            file: self.file.to_owned(),
            document,
            line,
            item: fault.item,
            object: fault.object,
            field: fault.field,
            message: fault.message,
        })
    }

    /// As [`Place::at`], with the line found from an offset into the text.
    pub(super) fn at_offset(self, fault: Fault, document: usize, offset: usize) -> Box<InputError> {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        self.at(fault, document, line)
    }
}
