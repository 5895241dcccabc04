//! Finds the parts of a JSON text without reading them: the members of an object, the elements of a list. Only strings and
//! brackets are looked at; whether a part is sound is for whoever reads it to say.

/// Where a text stops being JSON, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken(pub(super) usize);

/// Members of an object or elements of a list, in order. A broken text ends it with an error.
pub(super) struct Parts<'a> {
    text: &'a str,
    at: usize,
    named: bool,
    first: bool,
}

/// The members of the object that `text` starts with.
pub(super) fn members(text: &str) -> Parts<'_> {
    parts(text, true)
}

/// The elements of the list that `text` starts with; their keys are empty.
pub(super) fn elements(text: &str) -> Parts<'_> {
    parts(text, false)
}

fn parts(text: &str, named: bool) -> Parts<'_> {
    Parts {
        text,
        at: 1,
        named,
        first: true,
    }
}

impl<'a> Iterator for Parts<'a> {
    /// The key as it is written between its quotes, and the value's text.
    type Item = Result<(&'a str, &'a str), Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let mut at = blank(bytes, self.at);
        let end = if self.named { b'}' } else { b']' };
        if self.first {
            self.first = false;
        } else {
            match bytes.get(at) {
                Some(b',') => at = blank(bytes, at + 1),
                Some(byte) if *byte == end => return None,
                // Said once; the next call would find the same.
                _ if self.at > bytes.len() => return None,
                _ => return Some(self.broken(at)),
            }
        }
        if bytes.get(at) == Some(&end) {
            self.at = at;
            return None;
        }
        let mut key = "";
        if self.named {
            let Some(after) = string(bytes, at) else {
                return Some(self.broken(at));
            };
            key = &self.text[at + 1..after - 1];
            at = blank(bytes, after);
            if bytes.get(at) != Some(&b':') {
                return Some(self.broken(at));
            }
            at = blank(bytes, at + 1);
        }
        match value(bytes, at) {
            Ok(after) => {
                self.at = after;
                Some(Ok((key, &self.text[at..after])))
            }
            Err(broken) => Some(self.broken(broken.0)),
        }
    }
}

impl<'a> Parts<'a> {
    fn broken(&mut self, at: usize) -> Result<(&'a str, &'a str), Broken> {
        self.at = usize::MAX;
        Err(Broken(at.min(self.text.len())))
    }
}

/// The position after the blanks at `at`.
pub(super) fn blank(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
        .count()
}

/// The position after the value that starts at `at`.
pub(super) fn value(bytes: &[u8], start: usize) -> Result<usize, Broken> {
    let mut depth = 0_usize;
    let mut at = start;
    loop {
        match bytes.get(at) {
            Some(b'"') => at = string(bytes, at).ok_or(Broken(at))?,
            Some(b'{' | b'[') => {
                depth += 1;
                at += 1;
                continue;
            }
            Some(b'}' | b']') => {
                depth = depth.checked_sub(1).ok_or(Broken(at))?;
                at += 1;
            }
            Some(b',' | b':' | b' ' | b'\n' | b'\r' | b'\t') if depth > 0 => {
                at += 1;
                continue;
            }
            Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => {
                let rest = &bytes[at..];
                at += rest
                    .iter()
                    .take_while(
                        |byte| matches!(byte, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z'),
                    )
                    .count();
            }
            _ => return Err(Broken(at.min(bytes.len()))),
        }
        if depth == 0 {
            return Ok(at);
        }
    }
}

/// The position after the string that starts at `start`; none where no string does, or where it does not end.
fn string(bytes: &[u8], start: usize) -> Option<usize> {
    if bytes.get(start) != Some(&b'"') {
        return None;
    }
    let mut at = start + 1;
    loop {
        at += bytes
            .get(at..)?
            .iter()
            .position(|byte| matches!(byte, b'"' | b'\\'))?;
        match bytes[at] {
            b'"' => return Some(at + 1),
            _ => at += 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Broken, elements, members};

    #[test]
    fn parts_are_found_as_written() {
        let text = r#"{ "a" : {"x": "}\"]", "y": [1, {}]}, "b":-1.5e3,"c": "d\\" , "e" : null }"#;
        let found: Vec<_> = members(text).collect::<Result<_, _>>().unwrap();
        assert_eq!(
            found,
            [
                ("a", r#"{"x": "}\"]", "y": [1, {}]}"#),
                ("b", "-1.5e3"),
                ("c", r#""d\\""#),
                ("e", "null")
            ]
        );
        let found: Vec<_> = elements("[ {}, [] ,\"\"]").map(|it| it.unwrap().1).collect();
        assert_eq!(found, ["{}", "[]", "\"\""]);
        assert_eq!((members("{}").count(), elements("[ ]").count()), (0, 0));
    }

    #[test]
    fn a_broken_text_is_said_to_be_broken_once() {
        for (text, at) in [
            (r#"{"a": 1"#, 7),
            (r#"{"a" 1}"#, 5),
            (r#"{"a": "b}"#, 6),
            (r#"{a: 1}"#, 1),
            (r#"{"a": }"#, 6),
            (r#"{"a": [1}"#, 9),
            ("{", 1),
        ] {
            let found: Vec<_> = members(text).take(5).collect();
            assert_eq!(found.last(), Some(&Err(Broken(at))), "{text}");
            assert!(found.len() < 3, "{text}");
        }
    }
}
