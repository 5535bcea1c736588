//! Configuration of a sandbox.

use std::{num::NonZeroUsize, path::PathBuf};

use super::{
    capability::http::HttpConfig, child::Children, isolation::Isolation, key::Key, limits::Limits,
    tenants::Tenants,
};

/// Configuration of a [`Sandbox`](crate::Sandbox).
#[derive(Clone, Debug)]
pub struct SandboxConfig {
    /// Maximum number of live guests, waiting ones included; further calls wait for a slot. Lowered to the number that the
    /// kernel's limit on mappings allows.
    pub slots: u32,
    /// Number of threads that guests compute on; one per core by default.
    pub threads: Option<NonZeroUsize>,
    /// Tenants that share the sandbox.
    pub tenants: Tenants,
    /// Limits on every call.
    pub limits: Limits,
    /// Linear memory of all guests together, in bytes. Defaults to half of the memory of the machine or its control group. Half
    /// of it is divided among the slots, of which there are fewer if that would be less than 1 MiB for each. The other half is
    /// for guests that need more than their part, and each leaves as much free as it takes.
    pub all_memory: Option<u64>,
    /// Directory for compiled code between processes; none by default. Ignored without the feature `compile`.
    pub cache: Option<PathBuf>,
    /// Network access of guests that are granted hosts. Ignored without the feature `http`.
    pub http: HttpConfig,
    /// Program that compiles components, as a child process under [`Limits::compile_memory`] and [`Limits::compile_time`].
    /// Defaults to this program, if it permits that ([`child::serve_if_asked`](crate::child::serve_if_asked)). Otherwise
    /// components are compiled within this process, where a malicious one can take any amount of memory and time. Ignored without
    /// the feature `compile`.
    pub children: Option<Children>,
    /// Isolation of guests, unless a plugin's [`Grants::isolation`](crate::Grants::isolation) differs.
    pub isolation: Isolation,
    /// Maximum number of live guests in processes of their own, started by [`Self::children`]; further calls wait.
    pub processes: u32,
    /// Key that seals plugins compiled ahead of time. Defaults to the key of the cache; with neither, no such plugin is loaded.
    pub key: Option<Key>,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self {
            slots: 2048,
            threads: None,
            tenants: Tenants::default(),
            limits: Limits::default(),
            all_memory: None,
            cache: None,
            http: HttpConfig::default(),
            children: Children::here(),
            isolation: Isolation::default(),
            processes: 32,
            key: None,
        }
    }
}
