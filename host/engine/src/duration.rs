//! Durations (seed 003, SPEC section 10).
