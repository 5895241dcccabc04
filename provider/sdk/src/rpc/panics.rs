//! A panic in provider code ends one call, not the process.

use std::any::Any;
use std::cell::RefCell;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;

use crate::diagnostics::Diagnostics;

thread_local! {
    static LAST_PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Sends panics to the log instead of standard error, where a core would take the text for its own, and remembers where
/// the last one was.
pub(crate) fn install_hook() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, ToString::to_string);
        tracing::error!(place, message = %text(info.payload()), "provider code panicked");
        LAST_PLACE.with(|last| *last.borrow_mut() = Some(place));
    }));
}

/// Runs provider code; a panic becomes a diagnostic.
pub(super) async fn guarded<T>(work: impl Future<Output = Result<T, Diagnostics>>) -> Result<T, Diagnostics> {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(result) => result,
        Err(payload) => {
            let place = LAST_PLACE.with(|last| last.borrow_mut().take());
            let place = place.map_or_else(String::new, |place| format!(" at {place}"));
            Err(Diagnostics::error(
                "The provider failed unexpectedly",
                format!(
                    "A bug in the provider stopped this operation{place}: {}. What was done before it may not be in the state. \
                     Please report it with the configuration that led to it.",
                    text(payload.as_ref())
                ),
            ))
        }
    }
}

fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
