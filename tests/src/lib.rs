//! The harness of the scenario tests: a run, a scripted executor and a stepped clock, nothing that waits.
//!
//! A scenario is a YAML file under `tests/scenarios/`: a document, what each task's executor returns, and what happens
//! when, and the trace that it must leave. `PHASM_ACCEPT=1` rewrites the traces; so it does with every other expectation in a file.

pub mod digest;
pub mod fuzz;
pub mod guests;
pub mod hostile;
pub mod scenario;
pub mod seeds;
pub mod small;
pub mod stepped;
pub mod trace;
pub mod world;
