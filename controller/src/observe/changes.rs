//! Who is to be woken, and about what. Each loop waits for its own bell and then asks what was touched.

use std::collections::BTreeSet;
use std::sync::Mutex;

use jiff::Timestamp;
use joiner_core::text::Text;
use tokio::sync::Notify;

/// One loop's bell, with the names that were touched since it was last asked.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    bell: Notify,
    touched: Mutex<BTreeSet<Text>>,
    rung: Mutex<Option<Timestamp>>,
}

impl Bell {
    /// Wakes the loop about `name`.
    pub(crate) fn ring(&self, name: &Text) {
        if let Ok(mut touched) = self.touched.lock() {
            touched.insert(name.clone());
        }
        self.ring_plain();
    }

    /// Wakes the loop about nothing in particular.
    pub(crate) fn ring_plain(&self) {
        if let Ok(mut rung) = self.rung.lock() {
            *rung = Some(Timestamp::now());
        }
        self.bell.notify_one();
    }

    /// Waits until it rings; a ring while nobody waited counts. Returns when it rang last.
    pub(crate) async fn heard(&self) -> Timestamp {
        self.bell.notified().await;
        let rung = self.rung.lock().ok().and_then(|rung| *rung);
        rung.unwrap_or_else(Timestamp::now)
    }

    /// Forgets that it rang.
    #[cfg(test)]
    pub(crate) fn silence(&self) {
        if let Ok(mut rung) = self.rung.lock() {
            *rung = None;
        }
    }

    /// Whether it has rung since it was silenced.
    #[cfg(test)]
    pub(crate) fn has_rung(&self) -> bool {
        self.rung.lock().is_ok_and(|rung| rung.is_some())
    }

    /// The names touched since the last call.
    pub(crate) fn take(&self) -> BTreeSet<Text> {
        self.touched
            .lock()
            .map(|mut touched| std::mem::take(&mut *touched))
            .unwrap_or_default()
    }
}

/// All bells.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// A pod waits for a node, or what could give it one has changed.
    pub provision: Bell,
    /// Names of claims that they or their nodes have changed.
    pub lifecycle: Bell,
    /// Names of claims that are to go, and whose node, pods or volumes have changed.
    pub terminate: Bell,
    /// Something that decides about giving nodes back has changed.
    pub disrupt: Bell,
    /// Names of pools.
    pub pools: Bell,
    /// Names of node classes.
    pub classes: Bell,
    /// An overlay, or what it applies to, has changed.
    pub overlays: Bell,
    /// A buffer has changed.
    pub buffers: Bell,
}
