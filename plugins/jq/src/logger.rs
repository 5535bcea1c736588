//! jq's `debug` and `stderr` write to the task's log.

use log::{LevelFilter, Log, Metadata, Record};
use phasm_sdk::Level;

struct Logger;

impl Log for Logger {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let level = match record.level() {
            log::Level::Error => Level::Error,
            log::Level::Warn => Level::Warn,
            log::Level::Info => Level::Info,
            log::Level::Debug => Level::Debug,
            log::Level::Trace => Level::Trace,
        };
        phasm_sdk::log(level, &record.args().to_string());
    }

    fn flush(&self) {}
}

/// A second time changes nothing.
pub(crate) fn install() {
    if log::set_logger(&Logger).is_ok() {
        log::set_max_level(LevelFilter::Trace);
    }
}
