//! Whether an answer keeps the rules, whoever gave it: it is mapped back onto the snapshot and put before
//! `joiner_core::check`. Beside it the same snapshot through our solver, in this process.

use std::time::Instant;

use anyhow::{Context, Result};
use jiff::Timestamp;
use joiner_core::catalogue::Catalogue;
use joiner_core::snapshot::{PreferencePolicy, Settings, Snapshot, Strategy};
use joiner_core::{check, schedule};
use joiner_map::{Answer, Objects, read::read};

use crate::carriers::carriers;
use crate::cases::Preferences;
use crate::generate::{Set, list};

/// A snapshot as the solver and the checker see it.
pub struct Judge {
    snapshot: Snapshot,
    catalogue: Catalogue,
    now: Timestamp,
}

impl Judge {
    /// Reads a set.
    ///
    /// # Errors
    /// When an object is not what it says it is.
    pub fn new(set: &Set, strategy: Strategy, preferences: Preferences) -> Result<Judge> {
        let texts = [
            ("snapshot".to_owned(), list(&set.objects).to_string()),
            ("catalogue".to_owned(), set.catalogue.to_string()),
        ];
        Judge::of_texts(&texts, strategy, preferences)
    }

    /// Reads texts with their names.
    ///
    /// # Errors
    /// When an object is not what it says it is.
    pub fn of_texts(
        texts: &[(String, String)],
        strategy: Strategy,
        preferences: Preferences,
    ) -> Result<Judge> {
        let mut objects = Objects::default();
        for (name, text) in texts {
            read(name, text, &mut objects)?;
        }
        let now: Timestamp = "2026-08-03T12:00:00Z"
            .parse()
            .context("the time of every snapshot")?;
        let settings = Settings {
            strategy,
            preference_policy: match preferences {
                Preferences::Respect => PreferencePolicy::Respect,
                Preferences::Ignore => PreferencePolicy::Ignore,
            },
            ..Settings::default()
        };
        let parts = objects.finish(settings, now);
        let document = parts.catalog.context("the set has no catalogue")?;
        let catalogue = document.catalogue(parts.snapshot.pools.iter().map(|pool| &pool.name));
        Ok(Judge {
            snapshot: parts.snapshot,
            catalogue,
            now,
        })
    }

    /// The rules that an answer document breaks, in words.
    ///
    /// # Errors
    /// When the text is not an answer.
    pub fn violations(&self, answer: &str) -> Result<Vec<String>> {
        let answer: Answer = serde_json::from_str(answer).context("this is not an answer")?;
        let made = answer.schedule(&self.snapshot);
        let found = check::schedule(&self.snapshot, &self.catalogue, &made, self.now);
        Ok(found.iter().map(ToString::to_string).collect())
    }

    /// For each new node of an answer document the types that could carry what it carries.
    ///
    /// # Errors
    /// When the text is not an answer.
    pub fn carriers(&self, answer: &str) -> Result<Vec<Vec<String>>> {
        let answer: Answer = serde_json::from_str(answer).context("this is not an answer")?;
        let made = answer.schedule(&self.snapshot);
        Ok(carriers(&self.snapshot, &self.catalogue, &made.new_claims))
    }

    /// The same, and the search for a cheaper answer may take so many steps.
    #[must_use]
    pub fn with_effort(mut self, steps: u64) -> Judge {
        self.snapshot.settings.effort = steps;
        self
    }

    /// The same, and the lower bound of the price is computed too.
    #[must_use]
    pub fn bounded(mut self) -> Judge {
        self.snapshot.settings.bound = true;
        self
    }

    /// Our answer, as `joiner simulate -o json` would print it.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn solve(&self) -> Result<String> {
        let start = Instant::now();
        let made = schedule::schedule(&self.snapshot, &self.catalogue, self.now);
        let answer = Answer::new(&self.snapshot, &made, &[], start.elapsed());
        Ok(serde_json::to_string(&answer)?)
    }
}
