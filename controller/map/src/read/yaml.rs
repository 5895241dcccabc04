//! Cuts a text into its YAML documents, and says in one line what is wrong with one.

use serde_saphyr::{Error, SnippetMode, render_options};

/// What is wrong with a YAML text, in one line with its place in the text. The parser's own words begin with `error:` and show the
/// lines around, which makes no sense within a message.
pub fn trouble(error: &Error) -> String {
    error.render_with_options(render_options! { snippets: SnippetMode::Off })
}

/// One document: where it starts, and its text without the marks between documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Document<'a> {
    /// The first line's number, counted from 1.
    pub(super) line: usize,
    /// The text.
    pub(super) text: &'a str,
}

/// The documents that hold more than blanks, comments and directives.
///
/// A line that starts with `---` or `...` always ends a document, also inside a block of text, so nothing has to be parsed.
pub(super) fn documents(text: &str) -> Vec<Document<'_>> {
    let mut found = Vec::new();
    let mut keep = |start: (usize, usize), end: usize| {
        let text = &text[start.1..end];
        if text.lines().any(says_something) {
            found.push(Document { line: start.0, text });
        }
    };
    let (mut start, mut at) = ((1, 0), 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if let Some(rest) = line.strip_prefix("---").or_else(|| line.strip_prefix("..."))
            && rest.chars().next().is_none_or(char::is_whitespace)
        {
            keep(start, at);
            start = (index + 1, at + 3);
        }
        at += line.len();
    }
    keep(start, text.len());
    found
}

fn says_something(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}').trim();
    !(line.is_empty() || line.starts_with('#') || line.starts_with('%'))
}

/// The text after `key:` in a line of the document that starts with it, unquoted; none where no line does.
pub(super) fn plain_member<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(key)?.trim_start().strip_prefix(':')?;
        let word = rest.split(" #").next().unwrap_or(rest).trim();
        let word = word.trim_matches(|quote| quote == '"' || quote == '\'');
        (!word.is_empty() && !word.starts_with(['{', '[', '&', '*', '|', '>', '!'])).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::{documents, plain_member, trouble};

    #[test]
    fn documents_are_cut_at_their_marks() {
        let text = "# only a comment\n---\na: 1\n--- # second\nb: |\n  ---\n  x\n---\n\n---\n--- {c: 1}\n...\n---not: a mark\n";
        let found: Vec<(usize, &str)> = documents(text)
            .into_iter()
            .map(|it| (it.line, it.text.trim()))
            .collect();
        assert_eq!(
            found,
            [
                (2, "a: 1"),
                (4, "# second\nb: |\n  ---\n  x"),
                (11, "{c: 1}"),
                (12, "---not: a mark")
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_one_line_with_its_place() {
        let error = serde_saphyr::from_str::<serde_json::Value>("a: 1\nb: [\n").expect_err("no end");
        let said = trouble(&error);
        assert!(
            !said.contains('\n') && !said.starts_with("error") && said.contains("line "),
            "{said}"
        );
    }

    #[test]
    fn a_kind_is_found_without_parsing() {
        let text = "apiVersion: \"v1\"  # c\nmetadata:\n  kind: no\nkind : Pod\n";
        assert_eq!(plain_member(text, "kind"), Some("Pod"));
        assert_eq!(plain_member(text, "apiVersion"), Some("v1"));
        assert_eq!(plain_member("kind: {a: 1}", "kind"), None);
    }
}
