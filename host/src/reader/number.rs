//! Numbers that can be kept as they are written.

pub(super) use phasm_engine::number::{HINT, complaint, double, integer};
