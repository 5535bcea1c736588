//! Phasm as a library: sandboxed WebAssembly executors, declarative workflows, one process.
//!
//! Open a [`Host`], give it plugins and grants, submit documents, await their views:
//!
//! ```no_run
//! # async fn embed() -> Result<(), Box<dyn std::error::Error>> {
//! use phasm::{Host, engine::value::Map, sandbox::{DirGrant, Grants}};
//!
//! let reports = DirGrant { host: "reports".into(), guest: "/reports".into(), read_only: false };
//! let host = Host::builder()
//!     .plugin("file", std::fs::read("file.wasm")?)
//!     .grant("file", Grants { dirs: vec![reports], ..Grants::default() })
//!     .open()?;
//! let plan = host.plan("nightly.yaml", &std::fs::read_to_string("nightly.yaml")?).await?;
//! let run = host.submit(&plan, &Map::new()).await?;
//! let view = run.wait().await?;
//! println!("{} {}", view.phase, view.message);
//! # Ok(()) }
//! ```
//!
//! A host that does the work itself implements [`executor::Executor`] instead; everything else stays:
//!
//! ```
//! use std::{future::Future, pin::Pin, sync::Arc};
//!
//! use phasm::{
//!     Host,
//!     engine::{outcome::Outcome, phase::Phase, value::Map},
//!     executor::{Executor, Invocation, Observer},
//! };
//!
//! /// Fails the first attempt of every task.
//! struct SecondTime;
//!
//! impl Executor for SecondTime {
//!     fn execute(&self, call: Invocation, _: Arc<dyn Observer>) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
//!         let first = call.attempt == 1;
//!         Box::pin(async move { if first { Outcome::error("not yet") } else { Outcome::succeeded(Vec::new()) } })
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let host = Host::builder().executor(Arc::new(SecondTime)).open()?;
//! let document = r#"{
//!     "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "twice" },
//!     "spec": { "entrypoint": "main", "templates": [
//!         { "task": { "name": "work", "executor": { "type": "anything" } } },
//!         { "dag": { "name": "main", "tasks": [{ "name": "a", "template": "work", "retry": { "limit": 1 } }] } }
//!     ] }
//! }"#;
//! let plan = host.plan("twice.json", document).await?;
//! let view = host.submit(&plan, &Map::new()).await?.wait().await?;
//! assert_eq!((view.phase, view.tasks[1].retries), (Phase::Succeeded, 1));
//! # Ok(()) })
//! # }
//! ```

pub mod clock;
pub mod config;
mod dispatcher;
mod driver;
mod handle;
mod host;
pub mod journal;
pub mod plugins;
pub mod reader;
pub mod secrets;
pub mod store;
mod watch;

pub use self::{
    driver::{Refused, Request},
    handle::{RunError, RunHandle, Waited, tasks_named},
    host::{Host, HostBuilder, Missing, OpenError, SubmitError},
    journal::RecoverError,
    watch::{LogLine, Notice, ProgressNote},
};
pub use phasm_engine as engine;
pub use phasm_sandbox::{self as sandbox, executor};

/// The README's examples are tested.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
