//! Phasm as a library: sandboxed WebAssembly executors, declarative workflows, one process.
//!
//! ```text
//! open      plugins, grants, secrets, a store ─▶ Host
//! plan      text ─ reader ─▶ Draft ─ Planner ─▶ Plan, or every problem at once
//! submit    Plan and parameters ─▶ a run, durable, and a handle to it
//! drive     inputs ─▶ the engine ─▶ one durable record ─▶ attempts, on the sandbox or another executor
//! watch     every durable event, and what guests say while they work
//! view      the run as it stands, or as it ended
//! recover   the journal in the store ─▶ the same run, driven on
//! schedule  a document kept by its name ─▶ runs, one for each of its instants
//! rerun     the journal of a run that ended ─▶ a new run, from what it left
//! ```
//!
//! Open a [`Host`], give it plugins and grants, submit documents, await their views:
//!
//! ```no_run
//! # async fn embed() -> Result<(), Box<dyn std::error::Error>> {
//! use phasm::{Host, Map, sandbox::{DirGrant, Grants}};
//!
//! let reports = DirGrant::read_write("reports", "/reports");
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
//!     Host, Map, Outcome, Phase,
//!     executor::{Executor, Invocation, Observer},
//! };
//!
//! /// Fails the first attempt of every task.
//! struct SecondTime;
//!
//! impl Executor for SecondTime {
//!     fn execute(&self, call: Invocation, _: Arc<dyn Observer>) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
//!         let first = call.attempt == 1;
//!         Box::pin(async move { if first { Outcome::error("not yet") } else { Outcome::default().output("n", 2) } })
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let host = Host::builder().executor(Arc::new(SecondTime)).open()?;
//! let document = r#"{
//!     "apiVersion": "phasm/v1", "kind": "Workflow", "metadata": { "name": "twice" },
//!     "spec": { "entrypoint": "main", "templates": [
//!         { "task": { "name": "work", "executor": { "type": "anything" } } },
//!         { "dag": { "name": "main", "tasks": [{ "name": "a", "template": "work", "retry": { "attempts": 2 } }] } }
//!     ] }
//! }"#;
//! let plan = host.plan("twice.json", document).await?;
//! let view = host.submit(&plan, &Map::new()).await?.wait().await?;
//! assert_eq!((view.phase, view.tasks[1].retries), (Phase::Succeeded, 1));
//! # Ok(()) })
//! # }
//! ```
//!
//! Grants of plugins are enforced in the sandbox crate's `capability`, read in `config/grants`, and recorded in the
//! journal by `plugins/grant_record`. A store is a module of `store` under the contract that `store/tests` gives to each of them.

#[doc(inline)]
pub use phasm_artifacts as artifacts;

pub mod catalog;
pub mod clock;
mod cluster;
pub mod config;
mod core;
#[cfg(feature = "http")]
mod delivery;
mod dispatch;
mod drive;
mod host;
pub mod journal;
pub mod metrics;
pub mod notify;
mod planner;
pub mod plugins;
pub mod reader;
mod run;
pub mod secrets;
pub mod store;
mod tenants;
mod watch;

#[doc(inline)]
pub use phasm_engine as engine;
#[doc(inline)]
pub use phasm_engine::{
    event::Requester,
    outcome::{Outcome, Output},
    phase::Phase,
    plan::Plan,
    problem::{Problem, Problems},
    run::{RunView, TaskView},
    value::{Map, Value},
};
#[doc(inline)]
pub use phasm_sandbox::{self as sandbox, executor, fair_queue};

#[cfg(all(unix, feature = "sqlite"))]
pub use self::cluster::wakeup;
pub use self::{
    drive::follow::{Watch, WatchSignal},
    drive::handle::{RestingState, RunError, RunHandle, WaitOutcome},
    drive::pending_response::{PendingResponse, ResponseVerdict},
    host::{Host, HostBuilder, NewRun, OpenError, PluginAdminError, RERUN_LABEL, Rerun, RerunError},
    journal::{RecoverError, requirement::UnmetRequirement},
    planner::{
        Planner, QuotaExceeded, SubmitError, SubmitOptions, SubmitQuota, TriggerError, TriggerReceipt,
        TriggerRequest,
    },
    run::{
        envelope::RequestEnvelope,
        lifecycle::{LifecycleChange, RunLifecycleEvent},
        request::{RequestError, RequestReply, RunRequest, is_named, tasks_named},
    },
    store::retention::{Keep, PruneResult, Retention, forget_lost_artifacts, prunable, prune},
    tenants::tenant::{Quotas, Tenant},
    watch::{
        hub::{LogLine, Notice, ProgressNote},
        spans,
    },
};

/// The README's examples are tested.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
