//! Several hosts on one store: claims of runs that are due, attempts that hosts execute for each other, and waking each other.

pub(crate) mod claimer;
pub(crate) mod exchange;
pub(crate) mod maintenance;
pub(crate) mod ownership;
pub(crate) mod request_reader;
pub(crate) mod store_clock;
#[cfg(all(unix, feature = "sqlite"))]
pub mod wakeup;
