//! The foundation of everything else: values, time, places in documents, phases, outcomes.

pub mod json_size;
pub mod json_text;
pub mod number;
pub mod outcome;
pub mod path;
pub mod phase;
pub(crate) mod suggest;
pub mod text;
pub mod time;
pub mod tree;
pub mod usage;
pub mod value;
pub mod weight;
