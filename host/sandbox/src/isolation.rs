//! Isolation of guests from each other.

/// Boundary between a guest and everything else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Isolation {
    /// WebAssembly: guests of all plugins share this process.
    #[default]
    Shared,
    /// WebAssembly and a process. A process that has run guests of a plugin runs no other's; it sees no file that was not
    /// granted, and uses the kernel only for memory, time and those files. A call costs about five times as much.
    Process,
}
