//! The page: generated parts between markers, everything else as people wrote it.

mod sections;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::outcome::Outcome;

/// A generated part of the page.
struct Part {
    /// The word in its markers.
    name: &'static str,
    /// What stands between them.
    text: String,
}

/// Writes the generated parts into `page` and the pictures into `pictures`, the folder beside it.
///
/// # Errors
/// When the page lacks a marker, or something cannot be written.
pub fn write(page: &Path, pictures: &Path, outcomes: &[Outcome], machine: &str) -> Result<()> {
    let mut text = fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))?;
    let parts = [
        Part {
            name: "machine",
            text: format!("{machine}\n"),
        },
        Part {
            name: "summary",
            text: sections::summary(outcomes),
        },
        Part {
            name: "upstream",
            text: sections::upstream(outcomes),
        },
        Part {
            name: "preferences",
            text: sections::preferences(outcomes),
        },
        Part {
            name: "price",
            text: sections::price(outcomes),
        },
        Part {
            name: "growth",
            text: sections::growth(outcomes),
        },
        Part {
            name: "checked",
            text: sections::checked(outcomes),
        },
    ];
    for part in &parts {
        text = replaced(&text, part.name, &part.text).with_context(|| format!("in {}", page.display()))?;
    }
    fs::write(page, text).with_context(|| format!("cannot write {}", page.display()))?;
    fs::create_dir_all(pictures).with_context(|| format!("cannot create {}", pictures.display()))?;
    for (name, svg) in sections::pictures(outcomes) {
        let file = pictures.join(name);
        fs::write(&file, svg).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// Writes one generated part, of a measurement that is not made here, between its markers.
///
/// # Errors
/// When the page lacks them.
pub fn put(page: &Path, name: &str, text: &str) -> Result<()> {
    let old = fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))?;
    let new = replaced(&old, name, text).with_context(|| format!("in {}", page.display()))?;
    fs::write(page, new).with_context(|| format!("cannot write {}", page.display()))
}

/// The page with `text` between the markers of `name`.
fn replaced(page: &str, name: &str, text: &str) -> Result<String> {
    let (start, end) = (
        format!("<!-- generated: {name} -->\n"),
        format!("<!-- end: {name} -->"),
    );
    let Some((before, rest)) = page.split_once(&start) else {
        bail!("the marker {} is missing", start.trim());
    };
    let Some((_, after)) = rest.split_once(&end) else {
        bail!("the marker {end} is missing");
    };
    let gap = if text.ends_with('\n') { "" } else { "\n" };
    Ok(format!("{before}{start}{text}{gap}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let page = "a\n<!-- generated: x -->\nold\n<!-- end: x -->\nb <!-- generated: y -->";
        let new = replaced(page, "x", "new").unwrap();
        assert_eq!(
            new,
            "a\n<!-- generated: x -->\nnew\n<!-- end: x -->\nb <!-- generated: y -->"
        );
        assert_eq!(replaced(&new, "x", "new\n").unwrap(), new);
        assert!(replaced(page, "z", "new").is_err());
    }
}
