//! Projects in Go, built by the go command to a core module, and wrapped as a component.
//!
//! The manifest is what the program itself writes of its declarations, built for this machine and run once.

mod build;
mod carried;
mod component;
mod tool;

pub use self::carried::SDK;
pub(crate) use self::{
    build::{build, ingredients},
    tool::Tool,
};
