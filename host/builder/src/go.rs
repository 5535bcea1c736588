//! Projects in Go, built by the go command to a core module, and wrapped as a component.
//!
//! The manifest is what the module's own function `phasm_manifest` returns from the declarations, as of projects in C.

mod build;
mod carried;
mod component;
mod tool;

pub use self::carried::SDK;
pub(crate) use self::{
    build::{build, ingredients},
    tool::Tool,
};
