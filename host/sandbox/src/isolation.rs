//! Where guests run: beside each other in this process, or each in a process of its own that is locked in.

/// Boundary between a guest and everything else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Isolation {
    /// WebAssembly: guests of all plugins share this process.
    #[default]
    Shared,
    /// And a process: one that has run guests of a plugin runs no other's, sees no file that was not granted, and is asked for
    /// nothing of the kernel but memory, time and those files. A call costs about five times as much.
    Process,
}
