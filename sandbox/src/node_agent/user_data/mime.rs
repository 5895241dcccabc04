//! MIME multipart documents, as far as cloud-init's user data goes.

/// A part: its media type without parameters, and its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) media_type: String,
    pub(super) body: String,
}

/// The parts of a multipart document; `None` when the text is none.
pub(super) fn parts(text: &str) -> Option<Vec<Part>> {
    let text = text.replace("\r\n", "\n");
    let (head, body) = text.trim_start().split_once("\n\n")?;
    let content_type = header(head, "content-type")?;
    if !content_type.to_ascii_lowercase().starts_with("multipart/") {
        return None;
    }
    let boundary = parameter(&content_type, "boundary")?;
    let opening = format!("--{boundary}");
    let closing = format!("--{boundary}--");
    let mut parts = Vec::new();
    let mut current: Option<Vec<&str>> = None;
    for line in body.lines() {
        let trimmed = line.trim_end();
        if trimmed == opening || trimmed == closing {
            parts.extend(current.take().map(|lines| part(&lines)));
            if trimmed == closing {
                return Some(parts);
            }
            current = Some(Vec::new());
        } else if let Some(lines) = &mut current {
            lines.push(line);
        }
    }
    // A missing end is forgiven, as by cloud-init.
    parts.extend(current.map(|lines| part(&lines)));
    Some(parts)
}

fn part(lines: &[&str]) -> Part {
    let text = lines.join("\n");
    let (head, body) = match text.split_once("\n\n") {
        Some((head, body)) => (head, body),
        // A part without headers begins with the empty line.
        None => ("", text.as_str()),
    };
    let content_type = header(head, "content-type").unwrap_or_else(|| "text/plain".to_owned());
    let media_type = content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    Part {
        media_type,
        body: body.to_owned(),
    }
}

fn header(head: &str, name: &str) -> Option<String> {
    // A header may go on in lines that begin with a blank.
    let head = head.replace("\n ", " ").replace("\n\t", " ");
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.trim()
            .eq_ignore_ascii_case(name)
            .then(|| value.trim().to_owned())
    })
}

fn parameter(value: &str, name: &str) -> Option<String> {
    value.split(';').skip(1).find_map(|parameter| {
        let (key, value) = parameter.split_once('=')?;
        key.trim()
            .eq_ignore_ascii_case(name)
            .then(|| value.trim().trim_matches('"').to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_split_at_the_boundary() {
        let text = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/x-shellscript; charset=\"us-ascii\"\n\n#!/bin/bash\necho a\n\n--//\nContent-Type: application/node.eks.aws\n\n# Karpenter\nkind: NodeConfig\n\n--//--\n";
        let parts = parts(text).unwrap();
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[0].media_type, "text/x-shellscript");
        assert_eq!(parts[0].body, "#!/bin/bash\necho a\n");
        assert_eq!(parts[1].media_type, "application/node.eks.aws");
        assert!(parts[1].body.contains("kind: NodeConfig"));
    }

    #[test]
    fn other_texts_have_no_parts() {
        assert_eq!(parts("#!/bin/bash\n\necho"), None);
        assert_eq!(parts("Content-Type: text/plain\n\nx"), None);
        assert_eq!(parts(""), None);
    }
}
