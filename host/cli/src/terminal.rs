//! Output for people: the screen, colours and tables, signals, and descriptions of what runs wait for.

pub(crate) mod screen;
pub(crate) mod signals;
pub(crate) mod text;
pub(crate) mod waiting;
