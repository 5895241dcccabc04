//! Blocks and files.

use hcl_edit::structure::{Attribute, Block as HclBlock, Body};
use hcl_edit::{Decorate as _, Ident};

use super::Tree;
use super::value::{INDENT, expression, is_one_line, padding};

/// A block of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    /// Lines of comment above it.
    pub(crate) comments: Vec<String>,
    /// Its type, such as `resource`.
    pub(crate) kind: &'static str,
    /// Its labels.
    pub(crate) labels: Vec<String>,
    /// Its attributes.
    pub(crate) attributes: Vec<(String, Tree)>,
    /// The blocks in it.
    pub(crate) blocks: Vec<Block>,
}

impl Block {
    /// A block of attributes alone.
    pub(crate) fn new(kind: &'static str, labels: &[&str], attributes: Vec<(String, Tree)>) -> Self {
        Self {
            comments: Vec::new(),
            kind,
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            attributes,
            blocks: Vec::new(),
        }
    }
}

/// The text of a file with these blocks.
pub(crate) fn render(blocks: &[Block]) -> String {
    let mut body = Body::new();
    for (index, block) in blocks.iter().enumerate() {
        let mut hcl = hcl_block(block, 0);
        let mut before = if index == 0 {
            String::new()
        } else {
            "\n".to_owned()
        };
        for comment in &block.comments {
            for line in comment.lines() {
                before.push_str(format!("# {line}").trim_end());
                before.push('\n');
            }
        }
        hcl.decor_mut().set_prefix(before);
        body.push(hcl);
    }
    body.to_string()
}

fn hcl_block(block: &Block, indent: usize) -> HclBlock {
    let inner = indent + INDENT;
    let mut body = Body::new();
    let lines: Vec<(&String, hcl_edit::expr::Expression)> = block
        .attributes
        .iter()
        .map(|(name, value)| (name, expression(value, inner, inner + name.len() + " = ".len())))
        .collect();
    let widths: Vec<Option<usize>> = lines
        .iter()
        .map(|(name, value)| is_one_line(value).then(|| name.chars().count()))
        .collect();
    for ((name, value), spaces) in lines.into_iter().zip(padding(&widths)) {
        // Attributes have names of schemas, which are identifiers.
        let Ok(ident) = Ident::try_new(name.as_str()) else {
            continue;
        };
        let mut attribute = Attribute::new(ident, value);
        attribute.decor_mut().set_prefix(" ".repeat(inner));
        attribute.key.decor_mut().set_suffix(" ".repeat(spaces));
        body.push(attribute);
    }
    for nested in &block.blocks {
        let mut nested = hcl_block(nested, inner);
        nested.decor_mut().set_prefix(" ".repeat(inner));
        body.push(nested);
    }
    body.decor_mut().set_suffix(" ".repeat(indent));
    let mut hcl = HclBlock::new(Ident::new_sanitized(block.kind));
    hcl.labels = block.labels.iter().map(|label| label.as_str().into()).collect();
    hcl.body = body;
    hcl
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Tree {
        Tree::Text(text.to_owned())
    }

    fn object(members: &[(&str, Tree)]) -> Tree {
        Tree::Object(
            members
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
        )
    }

    #[test]
    fn blocks_are_laid_out_as_the_formatter_does() {
        let requirement = |key: &str| object(&[("key", text(key)), ("operator", text("Exists"))]);
        let spec = object(&[
            (
                "node_class_ref",
                object(&[(
                    "name",
                    Tree::Expression("joiner_ec2_node_class.c.name".to_owned()),
                )]),
            ),
            (
                "requirements",
                Tree::List(vec![requirement("a"), requirement("b")]),
            ),
            ("expire_after", text("24h")),
        ]);
        let mut pool = Block::new(
            "resource",
            &["joiner_node_pool", "p"],
            vec![
                ("name".to_owned(), text("p")),
                (
                    "labels".to_owned(),
                    object(&[("team", text("a")), ("a.b/c", text("d"))]),
                ),
                ("template".to_owned(), object(&[("spec", spec)])),
                ("weight".to_owned(), Tree::Number(5.into())),
            ],
        );
        pool.comments.push("spec.x has no counterpart".to_owned());
        let import = Block::new(
            "import",
            &[],
            vec![
                ("to".to_owned(), Tree::Expression("joiner_node_pool.p".to_owned())),
                ("id".to_owned(), text("p")),
            ],
        );
        let want = r#"# spec.x has no counterpart
resource "joiner_node_pool" "p" {
  name   = "p"
  labels = { team = "a", "a.b/c" = "d" }
  template = {
    spec = {
      node_class_ref = { name = joiner_ec2_node_class.c.name }
      requirements = [
        { key = "a", operator = "Exists" },
        { key = "b", operator = "Exists" },
      ]
      expire_after = "24h"
    }
  }
  weight = 5
}

import {
  to = joiner_node_pool.p
  id = "p"
}
"#;
        assert_eq!(render(&[pool, import]), want);
    }
}
