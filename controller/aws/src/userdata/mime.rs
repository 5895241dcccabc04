//! MIME multi-part archives, as cloud-init and nodeadm read them.

/// The boundary, as long as no part contains it.
const BOUNDARY: &str = "//";

/// One part of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its headers, as written; the content type among them.
    pub(super) headers: Vec<(String, String)>,
    /// Its content.
    pub(super) content: String,
}

impl Part {
    pub(super) fn new(content_type: &str, content: impl Into<String>) -> Self {
        Self {
            headers: vec![("Content-Type".to_owned(), content_type.to_owned())],
            content: content.into(),
        }
    }
}

/// Whether a text says of itself that it is an archive.
pub(super) fn is_archive(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("MIME-Version:") || text.starts_with("Content-Type:")
}

/// Writes an archive; lines end with a line feed alone.
pub(super) fn write(parts: &[Part]) -> String {
    let boundary = free_boundary(parts);
    let mut text = format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"{boundary}\"\n\n");
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        text.push_str(&format!("--{boundary}\n"));
        for (name, value) in &part.headers {
            text.push_str(&format!("{name}: {value}\n"));
        }
        text.push('\n');
        text.push_str(&part.content.replace('\r', ""));
    }
    text.push_str(&format!("\n--{boundary}--\n"));
    text
}

fn free_boundary(parts: &[Part]) -> String {
    let taken = |boundary: &str| {
        let line = format!("--{boundary}");
        parts
            .iter()
            .any(|part| part.content.lines().any(|text| text.starts_with(&line)))
    };
    let mut boundary = BOUNDARY.to_owned();
    while taken(&boundary) {
        boundary.push('=');
    }
    boundary
}

/// Reads an archive. The error says what was expected.
pub(super) fn read(text: &str) -> Result<Vec<Part>, String> {
    let text = text.trim_start().replace("\r\n", "\n");
    let (head, body) = split_head(&text);
    let content_type = header(&head, "content-type")
        .ok_or_else(|| "the MIME archive has no Content-Type header; expected multipart/mixed".to_owned())?;
    if !content_type.trim_start().to_lowercase().starts_with("multipart/") {
        return Err(format!(
            "the MIME archive has the type {content_type:?}; expected multipart/mixed"
        ));
    }
    let boundary = parameter(content_type, "boundary")
        .ok_or_else(|| "the Content-Type of the MIME archive has no boundary".to_owned())?;
    let (open, close) = (format!("--{boundary}"), format!("--{boundary}--"));
    let mut parts = Vec::new();
    let mut current: Option<Vec<&str>> = None;
    let mut closed = false;
    for line in body.split('\n') {
        let trimmed = line.trim_end();
        if trimmed == open || trimmed == close {
            parts.extend(current.take().map(|lines| part(&lines)));
            if trimmed == close {
                closed = true;
                break;
            }
            current = Some(Vec::new());
        } else if let Some(lines) = &mut current {
            lines.push(line);
        }
    }
    // An end written like a beginning is one, too, as for Karpenter: one of its published examples has it.
    let ends_open = current.is_some_and(|lines| lines.iter().all(|line| line.trim().is_empty()));
    if !closed && !ends_open {
        return Err(format!("the MIME archive does not end with {close:?}"));
    }
    Ok(parts)
}

fn part(lines: &[&str]) -> Part {
    let text = lines.join("\n");
    let (headers, content) = split_head(&text);
    Part {
        headers,
        content: content.to_owned(),
    }
}

/// Headers (folded lines joined) and what follows the first empty line.
fn split_head(text: &str) -> (Vec<(String, String)>, &str) {
    let mut headers: Vec<(String, String)> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, next) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = next;
        if line.trim().is_empty() {
            break;
        }
        if line.starts_with([' ', '\t'])
            && let Some((_, value)) = headers.last_mut()
        {
            value.push(' ');
            value.push_str(line.trim());
        } else if let Some((name, value)) = line.split_once(':') {
            headers.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    (headers, rest)
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}

fn parameter(content_type: &str, name: &str) -> Option<String> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (key, value) = parameter.split_once('=')?;
        key.trim()
            .eq_ignore_ascii_case(name)
            .then(|| value.trim().trim_matches('"').to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_written_can_be_read() {
        let parts = vec![
            Part::new("text/x-shellscript", "#!/bin/bash\necho 1\n"),
            Part::new("application/x", "a: 1"),
        ];
        assert_eq!(read(&write(&parts)).unwrap(), parts);
    }

    proptest! {
        #[test]
        fn any_parts_survive(contents in prop::collection::vec("[-/=a\n ]{0,40}", 0..4)) {
            let parts: Vec<Part> = contents.into_iter().map(|content| Part::new("text/plain", content)).collect();
            prop_assert_eq!(read(&write(&parts)).unwrap(), parts);
        }
    }

    #[test]
    fn a_boundary_in_a_part_is_avoided() {
        let parts = vec![Part::new("text/plain", "--//\n--//=\nend")];
        let text = write(&parts);
        assert!(text.contains("boundary=\"//==\""), "{text}");
        assert_eq!(read(&text).unwrap(), parts);
    }

    #[test]
    fn archives_of_others_are_read() {
        let text = "Content-Type: multipart/mixed;\r\n boundary=\"==B==\"\r\nMIME-Version: 1.0\r\n\r\npreamble\r\n\
                    --==B==\r\nContent-Type: text/x-shellscript; charset=\"us-ascii\"\r\nX-A: b\r\n\r\n#!/bin/sh\r\n\r\n\
                    --==B==--\r\n";
        let parts = read(text).unwrap();
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0].content, "#!/bin/sh\n");
        assert_eq!(parts[0].headers[1], ("X-A".to_owned(), "b".to_owned()));
    }

    #[test]
    fn an_end_may_be_written_like_a_beginning() {
        let parts =
            read("Content-Type: multipart/mixed; boundary=\"//\"\n\n--//\nA: b\n\nx\n--//\n").unwrap();
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0].content, "x");
    }

    #[test]
    fn what_is_no_archive_is_said() {
        for (text, want) in [
            ("MIME-Version: 1.0\n\nx", "has no Content-Type header"),
            ("Content-Type: text/plain\n\nx", "expected multipart/mixed"),
            ("Content-Type: multipart/mixed\n\nx", "has no boundary"),
            (
                "Content-Type: multipart/mixed; boundary=a\n\n--a\n\nx",
                "does not end with",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(want), "{error}");
        }
    }
}
