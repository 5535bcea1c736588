//! What a Rust executor author uses.
