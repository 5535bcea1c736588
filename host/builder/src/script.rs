//! Projects whose component holds the language's engine or runtime, and the project's code.

mod build;
mod component;
mod stamp;
mod tool;
mod wit;

pub(crate) use self::{
    build::{Build, Failure, write_all},
    component::with_manifest,
    stamp::{Ingredients, is_of_tools, is_text, line, number_of},
    tool::installed_once,
    wit::WIT,
};
pub use self::{tool::ScriptToolError, wit::HTTP_WIT};
