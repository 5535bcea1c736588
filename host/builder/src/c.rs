//! Projects in C and C++, built by clang to a core module, and wrapped as a component.
//!
//! The manifest is what the module's own function `phasm_manifest` returns from the declarations; it is called once per build, in
//! the sandbox, before the component is made.

mod build;
mod carried;
mod component;
mod sources;
mod stamp;
mod tool;

pub(crate) use self::{build::build, stamp::is_fresh, tool::Tool};
pub use self::{
    carried::{FILES as SDK, NATIVE},
    tool::CToolError,
};
