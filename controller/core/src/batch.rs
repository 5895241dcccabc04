//! When to decide: pods that come together are decided on together, and a lone pod does not wait for company.
//!
//! A batch opens with its first pod and ends when nothing has come for a quiet time, or when it has been open for
//! its hold. Both start short and double with every batch that follows the one before within two quiet times. So one pod
//! is acted on at once, and of a stream each piece is about as large as all before it together: what is bought for the
//! first, small ones is a small part of the whole. The hold ends at `BATCH_MAX_DURATION`; the quiet time at
//! `BATCH_IDLE_DURATION` or [`LONGEST_QUIET`], so that the last pod of a stream does not wait either.

use jiff::{SignedDuration, Timestamp};

/// The quiet time of a first batch.
const FIRST_QUIET: SignedDuration = SignedDuration::from_millis(50);
/// The longest quiet time: long for gaps in a stream, short for whoever waits for its last pod.
pub const LONGEST_QUIET: SignedDuration = SignedDuration::from_millis(300);
/// The hold of a first batch.
const FIRST_HOLD: SignedDuration = SignedDuration::from_millis(400);

/// The upper bounds of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `BATCH_IDLE_DURATION`: the longest quiet time.
    pub idle: SignedDuration,
    /// `BATCH_MAX_DURATION`: the longest hold.
    pub max: SignedDuration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            idle: SignedDuration::from_secs(1),
            max: SignedDuration::from_secs(10),
        }
    }
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A pod needs a node, or a node with pods goes.
    Arrival,
    /// The time last asked for has come.
    Tick,
    /// A decision was made on everything that had arrived when it started.
    Decided,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextWake {
    /// Wait for an arrival.
    Never,
    /// Come back with a tick at this time, or with an arrival before it.
    At(Timestamp),
    /// Decide now, then say [`Event::Decided`].
    Now,
}

/// The state of batching.
#[derive(Clone, Debug)]
pub struct Batch {
    settings: Settings,
    open: Option<Open>,
    last_decision: Option<Timestamp>,
    quiet: SignedDuration,
    hold: SignedDuration,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    first: Timestamp,
    last: Timestamp,
}

impl Batch {
    /// Nothing has arrived yet.
    pub fn new(settings: Settings) -> Batch {
        let (quiet, hold) = (FIRST_QUIET.min(settings.idle), FIRST_HOLD.min(settings.max));
        Batch {
            settings,
            open: None,
            last_decision: None,
            quiet,
            hold,
        }
    }

    /// Takes note of `event`, which happened at `now`, and says what to do next. What is told late (a pod that came while a
    /// decision was made) has the time at which it happened.
    pub fn observe(&mut self, event: Event, now: Timestamp) -> NextWake {
        match event {
            Event::Arrival => self.arrive(now),
            Event::Tick => {}
            Event::Decided => {
                self.open = None;
                self.last_decision = Some(now);
            }
        }
        match self.open {
            None => NextWake::Never,
            Some(open) => {
                let due = after(open.last, self.quiet).min(after(open.first, self.hold));
                if due <= now {
                    NextWake::Now
                } else {
                    NextWake::At(due)
                }
            }
        }
    }

    fn arrive(&mut self, now: Timestamp) {
        if let Some(open) = &mut self.open {
            open.last = open.last.max(now);
            return;
        }
        self.open = Some(Open {
            first: now,
            last: now,
        });
        let soon = self.quiet.saturating_add(self.quiet);
        let follows = self
            .last_decision
            .is_some_and(|last| now.duration_since(last) <= soon);
        let longer = |time: SignedDuration, most: SignedDuration| time.saturating_add(time).min(most);
        (self.quiet, self.hold) = if follows {
            (
                longer(self.quiet, self.settings.idle.min(LONGEST_QUIET)),
                longer(self.hold, self.settings.max),
            )
        } else {
            (
                FIRST_QUIET.min(self.settings.idle),
                FIRST_HOLD.min(self.settings.max),
            )
        };
    }
}

fn after(time: Timestamp, wait: SignedDuration) -> Timestamp {
    time.checked_add(wait).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Batch, Event, NextWake, Settings};
    use jiff::{SignedDuration, Timestamp};

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(millis).unwrap()
    }

    /// Lets pods arrive at the given milliseconds, deciding whenever it is time, and returns when that was.
    fn decisions(settings: Settings, arrivals: &[i64]) -> Vec<i64> {
        let (mut batch, mut decided, mut wake) = (Batch::new(settings), Vec::new(), NextWake::Never);
        let mut arrivals = arrivals.iter().copied().map(at).peekable();
        loop {
            let (event, now) = match (wake, arrivals.peek()) {
                (NextWake::Now, _) => unreachable!("decided at once below"),
                (NextWake::At(due), Some(arrival)) if due <= *arrival => (Event::Tick, due),
                (NextWake::At(due), None) => (Event::Tick, due),
                (_, Some(arrival)) => (Event::Arrival, *arrival),
                (NextWake::Never, None) => return decided,
            };
            if event == Event::Arrival {
                arrivals.next();
            }
            wake = batch.observe(event, now);
            if wake == NextWake::Now {
                decided.push(now.as_millisecond());
                wake = batch.observe(Event::Decided, now);
            }
        }
    }

    #[test]
    fn a_lone_pod_does_not_wait_and_a_flood_comes_in_growing_pieces() {
        let every = |step: i64, until: i64| (0..until / step).map(|n| n * step).collect::<Vec<_>>();
        let short = Settings {
            idle: SignedDuration::from_millis(20),
            max: SignedDuration::from_millis(60),
        };
        for (settings, arrivals, want) in [
            (Settings::default(), vec![0], vec![50]),
            (Settings::default(), vec![0, 10, 20, 30], vec![80]),
            (Settings::default(), vec![0, 5000], vec![50, 5050]),
            (Settings::default(), vec![0, 500, 600], vec![50, 550, 700]),
            (Settings::default(), every(40, 2000), vec![400, 1200, 2160]),
            // Each piece is as long as all before it; the last pod waits for the longest quiet time.
            (
                Settings::default(),
                every(20, 12_000),
                vec![400, 1200, 2800, 6000, 12_280],
            ),
            (short, every(10, 100), vec![60, 110]),
            (short, vec![0], vec![20]),
        ] {
            assert_eq!(decisions(settings, &arrivals), want, "{arrivals:?}");
        }
    }

    #[test]
    fn a_pod_that_came_during_a_decision_has_waited_since_then() {
        let mut batch = Batch::new(Settings::default());
        batch.observe(Event::Arrival, at(0));
        assert_eq!(batch.observe(Event::Tick, at(50)), NextWake::Now);
        // The decision took 200 ms, and a pod came after 70 of them.
        batch.observe(Event::Decided, at(250));
        assert_eq!(batch.observe(Event::Arrival, at(120)), NextWake::At(at(220)));
        assert_eq!(batch.observe(Event::Tick, at(250)), NextWake::Now);
    }

    #[test]
    fn without_arrivals_there_is_nothing_to_do() {
        let mut batch = Batch::new(Settings::default());
        for event in [Event::Tick, Event::Decided] {
            assert_eq!(batch.observe(event, at(7)), NextWake::Never);
        }
    }
}
