//! Python projects, built by componentize-py to a component with CPython in it.
//!
//! The project's module is imported once while the component is built, in the sandbox of componentize-py; what it has in memory then is
//! in the component. At that time the SDK writes the manifest, which follows from the type hints.

mod build;
mod carried;
mod component;
mod stamp;
mod tool;

pub(crate) use self::{
    build::{Failure, build},
    component::with_manifest,
    stamp::is_fresh,
    tool::Tool,
};
pub use self::{
    carried::{HTTP_WIT, SDK},
    tool::{COMPONENTIZE_VERSION, PythonToolError},
};
