//! Cron expressions of disruption budgets: five fields, or a macro.
//!
//! Input: the text. Output: what is wrong with it, if anything. Only the grammar is checked here; when a
//! schedule is active is decided by the controller.

const MACROS: [&str; 7] = [
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
];
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

struct Field {
    name: &'static str,
    min: u32,
    max: u32,
    words: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field {
        name: "minute",
        min: 0,
        max: 59,
        words: &[],
    },
    Field {
        name: "hour",
        min: 0,
        max: 23,
        words: &[],
    },
    Field {
        name: "day of month",
        min: 1,
        max: 31,
        words: &[],
    },
    Field {
        name: "month",
        min: 1,
        max: 12,
        words: &MONTHS,
    },
    Field {
        name: "day of week",
        min: 0,
        max: 6,
        words: &DAYS,
    },
];

/// What is wrong with a schedule; nothing when it can be used.
pub(super) fn problem(schedule: &str) -> Option<String> {
    if schedule.starts_with('@') {
        return (!MACROS.contains(&schedule))
            .then(|| format!("unknown macro; use one of {}", MACROS.join(", ")));
    }
    if schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=") {
        return Some("schedules are in UTC: remove the time zone and convert the hours".to_owned());
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Some(format!(
            "has {} fields; expected five: minute, hour, day of month, month, day of week",
            fields.len()
        ));
    }
    FIELDS
        .iter()
        .zip(fields)
        .find_map(|(field, text)| field.problem(text))
}

impl Field {
    fn problem(&self, text: &str) -> Option<String> {
        text.split(',').find_map(|part| self.range_problem(part))
    }

    fn range_problem(&self, part: &str) -> Option<String> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (part, None),
        };
        if step.is_some_and(|step| step.parse::<u32>().map_or(true, |step| step == 0)) {
            return Some(self.text(part, "the step after '/' must be a whole number of at least 1"));
        }
        if matches!(range, "*" | "?") {
            return None;
        }
        let (start, end) = match range.split_once('-') {
            Some((start, end)) => (self.number(start), self.number(end)),
            None => (self.number(range), self.number(range)),
        };
        let (Some(start), Some(end)) = (start, end) else {
            let names = if self.words.is_empty() {
                ""
            } else {
                " or a name of three letters"
            };
            return Some(self.text(
                part,
                &format!("use *, or numbers from {} to {}{names}", self.min, self.max),
            ));
        };
        if start < self.min || end > self.max {
            return Some(self.text(part, &format!("numbers go from {} to {}", self.min, self.max)));
        }
        (start > end).then(|| self.text(part, "the range runs backwards: swap its ends or split it in two"))
    }

    fn number(&self, text: &str) -> Option<u32> {
        let named = self.words.iter().position(|word| word.eq_ignore_ascii_case(text));
        match named.and_then(|place| u32::try_from(place).ok()) {
            Some(place) => Some(place + self.min),
            None => text.parse().ok(),
        }
    }

    fn text(&self, part: &str, problem: &str) -> String {
        format!("{part:?} is no {}: {problem}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_grammar() {
        for good in [
            "@daily",
            "@midnight",
            "0 9 * * mon-fri",
            "*/15 0-8,20-23 1,15 JAN-mar ?",
            "0 0 31 12 6",
            "5/10 * * * *",
        ] {
            assert_eq!(problem(good), None, "{good}");
        }
        for (bad, want) in [
            ("@never", "unknown macro"),
            ("@daily x", "unknown macro"),
            ("* * * *", "has 4 fields"),
            ("0 0 0 * * *", "has 6 fields"),
            ("60 * * * *", "is no minute: numbers go from 0 to 59"),
            ("* 24 * * *", "is no hour"),
            ("* * 0 * *", "is no day of month"),
            ("* * * 13 *", "is no month"),
            ("* * * * 7", "is no day of week"),
            ("* * * * fri-mon", "runs backwards"),
            ("*/0 * * * *", "the step"),
            ("a * * * *", "use *, or numbers from 0 to 59"),
            ("TZ=UTC * * * * *", "schedules are in UTC"),
        ] {
            let found = problem(bad).unwrap();
            assert!(found.contains(want), "{bad}: {found}");
        }
    }
}
