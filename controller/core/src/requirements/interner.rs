//! One copy of what is said again and again: a region's thousand instance types have forty labels each and between them
//! some hundred different requirements, and the types of the next node class have the same again.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Requirement;
use crate::text::Text;

/// Shares equal texts and equal requirements. It only grows; drop it when what it was for is made anew.
#[derive(Debug, Default)]
pub struct Interner {
    texts: BTreeSet<Text>,
    requirements: BTreeSet<Arc<Requirement>>,
}

impl Interner {
    /// The one copy of `text`.
    pub fn text(&mut self, text: &str) -> Text {
        match self.texts.get(text) {
            Some(known) => known.clone(),
            None => {
                let new = Text::from(text);
                self.texts.insert(new.clone());
                new
            }
        }
    }

    /// The one copy of `requirement`.
    pub fn requirement(&mut self, requirement: Requirement) -> Arc<Requirement> {
        match self.requirements.get(&requirement) {
            Some(known) => Arc::clone(known),
            None => {
                let new = Arc::new(requirement);
                self.requirements.insert(Arc::clone(&new));
                new
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_equal_is_one() {
        let mut interner = Interner::default();
        let linux = |interner: &mut Interner| {
            let (key, value) = (interner.text("kubernetes.io/os"), interner.text("linux"));
            interner.requirement(Requirement::is(key, value))
        };
        let (first, second) = (linux(&mut interner), linux(&mut interner));
        assert!(Arc::ptr_eq(&first, &second));
        let other = interner.requirement(Requirement::does_not_exist("kubernetes.io/os"));
        assert_ne!(first, other);
    }
}
