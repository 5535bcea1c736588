//! Stores that commands read and write: files and databases.

pub(crate) mod argument;
pub(crate) mod reader;
pub(crate) mod run_id;
pub(crate) mod runs;
pub(crate) mod writable;
