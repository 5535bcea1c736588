//! Arguments that commands take: documents, parameters, names and times.

pub(crate) mod document;
pub(crate) mod files;
pub(crate) mod names;
mod nearby;
pub(crate) mod parameters;
pub(crate) mod times;
