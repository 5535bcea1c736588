//! Projects in JavaScript and TypeScript, built to a component with QuickJS in it.
//!
//! ```text
//! source ─▶ tsc (TypeScript) ─▶ esbuild: one file ─▶ Node.js: manifest, lines ─▶ componentize-qjs ─▶ component
//! ```
//!
//! esbuild puts the script, the SDK and the packages that it uses into one file. Node.js imports the file once, with a double of the
//! host: the declaration of the executor is the manifest. componentize-qjs evaluates it once in its sandbox, and keeps the memory.

mod build;
mod carried;
mod diagnostics;
mod packages;
mod tool;

pub(crate) use self::{
    build::{build, ingredients},
    tool::Tools,
};
pub use self::{
    carried::SDK,
    tool::{COMPONENTIZE_QJS, ESBUILD, PinnedPackage, TYPESCRIPT},
};
