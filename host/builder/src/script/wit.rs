//! The interfaces between a component and the host, which this program carries.

/// The world `executor` in a folder of its own.
pub(crate) const WIT: &[(&str, &str)] = carried! {
    "executor.wit": "wit/executor.wit",
};

/// The world `executor-http`, with what it is made of: names within a folder, and what stands there.
pub const HTTP_WIT: &[(&str, &str)] = carried! {
    "executor-http.wit": "wit/http/executor-http.wit",
    "deps/executor.wit": "wit/executor.wit",
    "deps/http.wit": "wit/http/deps/http.wit",
    "deps/io.wit": "wit/http/deps/io.wit",
};
