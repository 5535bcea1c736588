//! The files of a new plugin, by language.

pub(super) mod c;
pub(super) mod javascript;
pub(super) mod python;
pub(super) mod rust;
mod shared;
