//! Stores that commands read and write: files and databases.

pub(crate) mod argument;
#[cfg_attr(not(feature = "postgres"), path = "store/no_database.rs")]
pub(crate) mod database;
pub(crate) mod default_store;
pub(crate) mod local_user;
pub(crate) mod order;
pub(crate) mod question;
pub(crate) mod reader;
pub(crate) mod run_id;
pub(crate) mod runs;
pub(crate) mod writable;
