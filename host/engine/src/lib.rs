//! The workflow engine of Phasm as a pure function: no clock, no I/O, no thread. Time is a parameter.
//!
//! The way of a document, from its text to a run that has ended:
//!
//! ```text
//!  text ── the host's readers ──▶ tree::Tree            values with their positions
//!                                    │ document         object by object, by the tables of form and the values of settings
//!                                    ▼
//!                              plan::Draft ── executor types ──▶ the host says what they stand for
//!                                    │ plan::resolve, plan::check, plan::assemble        every problem, or
//!                                    ▼
//!                              plan::Plan               names resolved, defaults applied, expressions compiled
//!                                    │ run              decides by what it sees, and changes by events only
//!                                    ▼
//!  event::Input ──▶ run::Run::step ──▶ event::Event, to be kept; then event::Command, to be carried out
//!                                    │ run::view
//!                                    ▼
//!                              run::RunView             what people see
//! ```
//!
//! Recovery is the very same events applied again. A module names only those above it in the list below, which a test
//! holds. A new setting is its value in `settings`, its field in the table of its object in `document`, its place in [`plan::Settings`] or in
//! what stands there, and a line in `plan/assemble/merge`, which copies it. A new name for expressions is a file in `names`
//! and its line there; what it reads of a run is in `run/env`. A new event is a variant of [`event::Event`], what it changes
//! in `run/state`, who decides it in `run/decide`, and what readers see of it in `run/view/events`.

mod base;

pub mod problem;

pub mod expr;

pub mod form;

mod settings;

mod names;

pub mod document;

pub mod plan;

pub mod schedule;

pub mod event;

pub mod run;

pub use base::suggest::did_you_mean;
pub use base::{json_size, json_text, number, outcome, path, phase, text, time, tree, usage, value, weight};
pub use form::parse_size;
pub use phasm_duration as duration;

pub(crate) use base::suggest;
