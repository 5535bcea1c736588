//! Phasm as a library.
