//! Projects in scripting languages: a component holds the language's engine and the project's script.

mod build;
mod component;
mod stamp;
mod tool;
mod wit;

pub(crate) use self::{
    build::{Build, Failure, write_all},
    component::with_manifest,
    stamp::{Ingredients, line, number_of},
    tool::installed_once,
    wit::WIT,
};
pub use self::{tool::ScriptToolError, wit::HTTP_WIT};
