//! Values as expressions, laid out over lines.
//!
//! `tofu fmt` sets the spaces within a line and the indentation, and aligns the equals signs of neighbouring lines; where lines break
//! is the writer's choice.

use hcl_edit::expr::{Array, Expression, Object, ObjectKey, ObjectValue, ObjectValueTerminator};
use hcl_edit::template::{Element, HeredocTemplate, Template};
use hcl_edit::{Decorate as _, Ident, Number};

use super::Tree;

/// Columns that a line may have before a value is broken.
const COLUMNS: usize = 110;
/// Columns of an indentation.
pub(super) const INDENT: usize = 2;

/// A value as an expression that begins at `column` of a line which is indented by `indent`.
pub(super) fn expression(tree: &Tree, indent: usize, column: usize) -> Expression {
    match tree {
        Tree::Null => Expression::null(),
        Tree::Bool(value) => Expression::from(*value),
        Tree::Number(number) => number_of(number),
        Tree::Text(text) if is_heredoc(text) => heredoc(text),
        Tree::Text(text) => Expression::from(text.as_str()),
        Tree::Expression(text) => text.parse().unwrap_or_else(|_| Expression::from(text.as_str())),
        Tree::List(items) => list(items, indent, column),
        Tree::Object(members) => object(members, indent, column),
    }
}

/// Whether a value takes one line, or is a heredoc, which `tofu fmt` counts as one.
pub(super) fn is_one_line(expression: &Expression) -> bool {
    matches!(expression, Expression::HeredocTemplate(_)) || !expression.to_string().contains('\n')
}

/// Spaces that align the equals signs of neighbouring lines: for each line the width of its key, `None` where its value opens a
/// bracket that a later line closes.
pub(super) fn padding(widths: &[Option<usize>]) -> Vec<usize> {
    let mut spaces = vec![1; widths.len()];
    let mut start = 0;
    while start < widths.len() {
        let length = widths[start..].iter().take_while(|width| width.is_some()).count();
        let chain = &widths[start..start + length];
        let widest = chain.iter().flatten().max().copied().unwrap_or(0);
        for (space, width) in spaces[start..].iter_mut().zip(chain.iter().flatten()) {
            *space = widest - width + 1;
        }
        start += length + 1;
    }
    spaces
}

fn number_of(number: &serde_json::Number) -> Expression {
    let found = number
        .as_i64()
        .map(Number::from)
        .or_else(|| number.as_u64().map(Number::from))
        .or_else(|| number.as_f64().and_then(Number::from_f64));
    found.map_or_else(|| Expression::from(number.to_string()), Expression::from)
}

/// Texts of several lines that a heredoc can hold as they are.
fn is_heredoc(text: &str) -> bool {
    text.ends_with('\n') && text.trim_end().contains('\n') && !text.contains(['\r', '\0'])
}

/// Not indented: a heredoc that is would lose the indentation that all its lines share.
fn heredoc(text: &str) -> Expression {
    let mut word = "EOT".to_owned();
    while text.lines().any(|line| line.trim() == word) {
        word.push('T');
    }
    match Ident::try_new(word) {
        Ok(delimiter) => {
            let template = Template::from(vec![Element::from(text)]);
            Expression::from(HeredocTemplate::new(delimiter, template))
        }
        Err(_) => Expression::from(text),
    }
}

fn list(items: &[Tree], indent: usize, column: usize) -> Expression {
    let flat = Expression::from(items.iter().map(flat).collect::<Array>());
    let objects = items
        .iter()
        .filter(|item| matches!(item, Tree::Object(_)))
        .count();
    let fits = column + width(&flat) <= COLUMNS && items.iter().all(is_flat);
    if items.is_empty() || (fits && (objects == 0 || items.len() == 1)) {
        return flat;
    }
    let inner = indent + INDENT;
    let mut array: Array = items
        .iter()
        .map(|item| {
            let mut item = expression(item, inner, inner);
            item.decor_mut().set_prefix(format!("\n{}", " ".repeat(inner)));
            item
        })
        .collect();
    array.set_trailing_comma(true);
    array.set_trailing(format!("\n{}", " ".repeat(indent)));
    Expression::from(array)
}

fn object(members: &[(String, Tree)], indent: usize, column: usize) -> Expression {
    let flat = flat_object(members);
    let small = members.len() <= 1
        || members
            .iter()
            .all(|(_, member)| !matches!(member, Tree::Object(_)));
    let fits = column + width(&flat) <= COLUMNS && members.iter().all(|(_, member)| is_flat(member));
    if members.is_empty() || (small && fits) {
        return flat;
    }
    let inner = indent + INDENT;
    let lines: Vec<(ObjectKey, usize, Expression)> = members
        .iter()
        .map(|(name, member)| {
            let (key, columns) = key(name);
            (
                key,
                columns,
                expression(member, inner, inner + columns + " = ".len()),
            )
        })
        .collect();
    let widths: Vec<Option<usize>> = lines
        .iter()
        .map(|(_, columns, value)| is_one_line(value).then_some(*columns))
        .collect();
    let mut object = Object::new();
    for (index, ((mut key, _, value), spaces)) in lines.into_iter().zip(padding(&widths)).enumerate() {
        let line = if index == 0 { "\n" } else { "" };
        decorate(
            &mut key,
            format!("{line}{}", " ".repeat(inner)),
            " ".repeat(spaces),
        );
        let mut value = ObjectValue::new(value);
        value.set_terminator(ObjectValueTerminator::Newline);
        object.insert(key, value);
    }
    object.set_trailing(" ".repeat(indent));
    Expression::from(object)
}

/// Whether a value can stand within a line: it has no list of objects and no heredoc.
fn is_flat(tree: &Tree) -> bool {
    match tree {
        Tree::Text(text) => !is_heredoc(text),
        Tree::List(items) => items
            .iter()
            .all(|item| !matches!(item, Tree::Object(_)) && is_flat(item)),
        Tree::Object(members) => members.iter().all(|(_, member)| is_flat(member)),
        _ => true,
    }
}

fn flat(tree: &Tree) -> Expression {
    match tree {
        Tree::List(items) => Expression::from(items.iter().map(flat).collect::<Array>()),
        Tree::Object(members) => flat_object(members),
        other => expression(other, 0, 0),
    }
}

fn flat_object(members: &[(String, Tree)]) -> Expression {
    let mut object = Object::new();
    for (index, (name, member)) in members.iter().enumerate() {
        let (mut key, _) = key(name);
        decorate(&mut key, " ".to_owned(), " ".to_owned());
        let mut value = ObjectValue::new(flat(member));
        value.set_terminator(if index + 1 < members.len() {
            ObjectValueTerminator::Comma
        } else {
            ObjectValueTerminator::None
        });
        object.insert(key, value);
    }
    if !members.is_empty() {
        object.set_trailing(" ");
    }
    Expression::from(object)
}

/// An object's key and the columns it takes: bare where it is an identifier that means nothing else.
fn key(name: &str) -> (ObjectKey, usize) {
    const WORDS: [&str; 6] = ["null", "true", "false", "for", "if", "in"];
    let is_plain = name.chars().enumerate().all(|(index, char)| {
        char == '_' || char.is_ascii_alphabetic() || (index > 0 && (char.is_ascii_digit() || char == '-'))
    });
    if is_plain
        && !WORDS.contains(&name)
        && let Ok(ident) = Ident::try_new(name)
    {
        return (ObjectKey::from(ident), name.chars().count());
    }
    let quoted = Expression::from(name);
    let columns = width(&quoted);
    (ObjectKey::from(quoted), columns)
}

fn decorate(key: &mut ObjectKey, prefix: String, suffix: String) {
    let decor = match key {
        ObjectKey::Ident(ident) => ident.decor_mut(),
        ObjectKey::Expression(expression) => expression.decor_mut(),
    };
    decor.set_prefix(prefix);
    decor.set_suffix(suffix);
}

fn width(expression: &Expression) -> usize {
    expression.to_string().chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_aligned() {
        assert_eq!(
            padding(&[Some(4), Some(6), None, Some(1), Some(3)]),
            [3, 1, 1, 3, 1]
        );
        assert_eq!(padding(&[None, None]), [1, 1]);
        assert!(padding(&[]).is_empty());
    }

    #[test]
    fn texts_are_literal() {
        let text = |text: &str| expression(&Tree::Text(text.to_owned()), 0, 0).to_string();
        assert_eq!(text("a ${b} \"c\""), r#""a $${b} \"c\"""#);
        assert_eq!(text("one\n"), r#""one\n""#);
        assert_eq!(
            text("#!/bin/sh\n  echo ${X}\n"),
            "<<EOT\n#!/bin/sh\n  echo $${X}\nEOT"
        );
        assert_eq!(text("a\nEOT\nb\n"), "<<EOTT\na\nEOT\nb\nEOTT");
        assert_eq!(text("a\r\nb\r\n"), r#""a\r\nb\r\n""#);
    }
}
