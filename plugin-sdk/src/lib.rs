//! SDK for executors in Rust: an executor is a function from a [`Call`] to an [`Outcome`].
//!
//! ```
//! use phasm_sdk::prelude::*;
//!
//! inputs! {
//!     struct Greet {
//!         name: String,
//!         times: usize = 1,
//!     }
//! }
//!
//! fn greet(call: Call<Greet>) -> Outcome {
//!     let greeting = format!("Hello, {}! ", call.inputs.name);
//!     Outcome::succeeded().output("greeting", greeting.repeat(call.inputs.times).trim_end())
//! }
//!
//! executor!(greet);
//! # let outcome = phasm_sdk::testing::call(greet, phasm_sdk::json!({ "name": "Ada", "times": 2 }));
//! # assert_eq!(outcome.get("greeting"), Some(phasm_sdk::json!("Hello, Ada! Hello, Ada!")));
//! ```
//!
//! That, in a crate with `crate-type = ["cdylib"]` and this crate as its one dependency, builds for `wasm32-wasip2` into
//! a component that exports the world `phasm:executor/executor@0.1.0`.
//!
//! - [`inputs!`] declares typed inputs; whatever does not fit ends the attempt with code 3 and a message that names each
//!   input, what was expected and what was given. [`Inputs`] are the untyped ones.
//! - [`Outcome`] is what an execution came to. `?` turns any error into one (code 3); [`OrOutcome`] chooses the code.
//! - [`info!`] and its siblings, [`progress`] and [`heartbeat`] talk to the host.
//! - [`testing`] calls an executor natively, in an ordinary unit test.

#[cfg(test)]
extern crate self as phasm_sdk;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[doc(hidden)]
#[expect(
    unreachable_pub,
    unused_qualifications,
    clippy::allow_attributes,
    clippy::panic,
    clippy::too_many_lines,
    clippy::unwrap_used,
    reason = "generated; tests/bindings makes it anew"
)]
#[expect(unsafe_code, reason = "the canonical ABI passes pointers")]
#[rustfmt::skip]
pub mod bindings;
mod call;
pub mod duration;
#[doc(hidden)]
pub mod guest;
mod host;
pub mod inputs;
mod json;
mod macros;
#[doc(hidden)]
pub mod manifest;
mod outcome;
#[expect(unsafe_code, reason = "the bindings allocate through it")]
mod runtime;
pub mod schema;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

pub use call::{Call, Invocation};
pub use host::{Level, heartbeat, log, progress};
pub use inputs::{FromInputs, Inputs};
pub use json::Json;
pub use outcome::{ExecCode, IntoOutcome, OrOutcome, Outcome, Result};
pub use serde;
pub use serde_json::{self, Map, Value, json};

/// Everything an executor usually names.
pub mod prelude {
    pub use crate::{
        Call, ExecCode, Inputs, Invocation, Json, OrOutcome, Outcome, Result, Value, debug, error, executor,
        heartbeat, info, inputs, json, progress, trace, warn,
    };
}
