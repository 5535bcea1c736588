//! Calls to the host while an executor works. Every call counts as activity (`maxInactivity`).

pub use crate::bindings::phasm::executor::types::Level;

#[cfg(target_arch = "wasm32")]
use crate::bindings::phasm::executor::host;
#[cfg(not(target_arch = "wasm32"))]
use crate::recorder as host;

/// Writes one log line. An attempt that writes more than its limit ends with code 3.
pub fn log(level: Level, text: &str) {
    host::log(level, text);
}

/// Reports progress: a fraction from 0 to 1 where it is known, and a few words.
pub fn progress(fraction: impl Into<Option<f64>>, text: &str) {
    host::progress(fraction.into(), text);
}

/// Reports that the work continues, so that `maxInactivity` starts again.
pub fn heartbeat() {
    host::heartbeat();
}
