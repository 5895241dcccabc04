//! Writing HCL: trees of values in, text as `tofu fmt` leaves it out.

mod layout;
mod value;

pub(crate) use layout::{Block, render};

use serde_json::Number;

/// A value of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text, taken literally.
    Text(String),
    /// An expression, such as `var.role`.
    Expression(String),
    /// Values in order.
    List(Vec<Tree>),
    /// Members in order.
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// Puts a value at a path of attribute names and indices, in the place of the one there. A path that leads nowhere is left alone.
    pub(crate) fn set(&mut self, path: &[String], value: Tree) {
        let Some((first, rest)) = path.split_first() else {
            *self = value;
            return;
        };
        match self {
            Self::Object(members) => match members.iter_mut().find(|(name, _)| name == first) {
                Some((_, member)) => member.set(rest, value),
                None if rest.is_empty() => members.push((first.clone(), value)),
                None => {}
            },
            Self::List(items) => {
                if let Some(item) = first.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                    item.set(rest, value);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in_place() {
        let text = |text: &str| Tree::Text(text.to_owned());
        let path = |path: &[&str]| path.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>();
        let inner = Tree::Object(vec![("b".to_owned(), text("old"))]);
        let mut tree = Tree::Object(vec![("a".to_owned(), Tree::List(vec![inner]))]);
        tree.set(&path(&["a", "0", "b"]), Tree::Expression("var.x".to_owned()));
        tree.set(&path(&["c"]), text("new"));
        tree.set(&path(&["d", "e"]), text("nowhere"));
        let inner = Tree::Object(vec![("b".to_owned(), Tree::Expression("var.x".to_owned()))]);
        let want = vec![
            ("a".to_owned(), Tree::List(vec![inner])),
            ("c".to_owned(), text("new")),
        ];
        assert_eq!(tree, Tree::Object(want));
    }
}
