//! Sandbox for guests: wasmtime behind a narrow interface.
//!
//! A [`Sandbox`] compiles components into [`Program`]s and calls them. Every call gets a fresh instance with nothing
//! but its [`Grants`], is held to the [`Limits`], runs on dedicated threads, and ends as an [`Outcome`](phasm_engine::outcome::Outcome), whatever the guest does.
//!
//! ```text
//!  control (any runtime)            guest threads (nice +10)             ticker thread
//!  call() ───────spawn────────────▶ slot ─▶ fresh store ─▶ execute
//!                                        ◀── epoch: stop or yield ────── every 1 ms while guests compute
//!         ◀──────Outcome────────────                  ◀── alarm ──────── deadline of one that waits in the host
//!  drop ─────────abort────────────▶ at its next yield or host call
//! ```
//!
//! No other crate names wasmtime. Anything more that guests may be granted is a new unit of `capability`.

pub use self::{
    artefact::ArtefactInfo,
    attempt::Attempt,
    capability::{
        clocks::WallClock,
        dirs::{DirGrant, Quota},
        hosts::network::{Network, NotANetwork},
        http::{
            AwsSigning, EgressSecret, HttpConfig, HttpGrant, HttpLimits, HttpPattern, NotAPattern, SigningKey,
        },
        random::Randomness,
        refusals::MISSING_GRANT,
        sockets::{NotATcpPattern, TcpGrant, TcpPattern},
    },
    child::Children,
    config::SandboxConfig,
    digest::{Digest, NotADigest},
    error::SandboxError,
    grants::Grants,
    isolation::Isolation,
    key::Key,
    limits::{Allowance, Limit, Limits},
    occupancy::{FaultKind, Occupancy},
    origin::Origin,
    program::{LoadError, Overrun, Program},
    sandbox::Sandbox,
    tenants::Tenants,
};

#[cfg(feature = "http")]
pub use self::capability::http::{
    FileBody, HttpAnswer, HttpClient, HttpRequest, ResponseReader, SignedBody, SignedRequest,
};
#[cfg(feature = "compile")]
pub use self::{
    complexity::check_complexity,
    core_text::{CoreTextError, core_text},
};

mod artefact;
mod attempt;
mod attempt_context;
mod bindings;
#[cfg(feature = "compile")]
mod cache;
mod call;
mod call_context;
mod call_result;
mod capability;
pub mod child;
#[cfg(feature = "compile")]
mod compiler;
#[cfg(not(feature = "compile"))]
#[path = "no_compiler.rs"]
mod compiler;
#[cfg(feature = "compile")]
mod complexity;
mod config;
#[cfg(feature = "compile")]
mod core_text;
mod digest;
mod error;
pub mod executor;
pub mod fair_queue;
mod fair_scheduler;
mod fault;
mod files;
mod grants;
mod guest;
mod guest_store;
mod isolation;
mod key;
mod limits;
mod loading;
mod long_runners;
mod memory;
mod occupancy;
mod origin;
mod outcome;
mod poll_state;
mod pool;
#[cfg(target_os = "linux")]
mod processes;
mod program;
mod sandbox;
mod sandbox_core;
mod sealed_code;
mod shared_budget;
mod stderr_tail;
mod stopwatch;
mod tenants;
mod text;
mod threads;
mod ticker;
pub mod trace;
mod transcript;
