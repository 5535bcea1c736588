//! Compiled and linked components: everything about a guest that is done before it is called.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use phasm_files::Size;
use wasmtime::component::{Component, Linker};

use super::{
    bindings::ExecutorPre,
    guest::Guest,
    limits::{Allowance, Limits, TABLES_PER_SLOT},
};

/// Package of `wit/` that this host implements.
const PACKAGE: &str = "phasm:executor/";
const VERSION: &str = "0.1.0";

/// Reason why a component cannot be used. Attempts to call it end with code 3 and this text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Over [`Limits::component`].
    #[error("the component has {size}, over the limit of {limit} (limits.component)", size = Size(*.size), limit = Size(*.limit))]
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A core module, not a component.
    #[error("this is a core WebAssembly module, not a component; build it for wasm32-wasip2")]
    CoreModule,
    /// Not WebAssembly, not valid, or over a limit on declarations.
    #[error("the component cannot be compiled: {0}{key}", key = key(.0))]
    Invalid(String),
    /// More items than are ever compiled; see [`check_complexity`](super::check_complexity).
    #[error("the component has more than {limit} {what}, the most that is compiled")]
    TooMuch {
        /// Kind of item.
        what: &'static str,
        /// Maximum number of them.
        limit: u64,
    },
    /// The compiling process reached a limit.
    #[error("compiling the component takes {0}")]
    Overrun(Overrun),
    /// Made for another version of `phasm:executor`.
    #[error("the plugin wants phasm:executor@{wanted}, this host has phasm:executor@{VERSION}")]
    Version {
        /// Version that the component names.
        wanted: String,
    },
    /// An import that this host does not offer, or offers with another type.
    #[error("the plugin imports `{name}`, which this host does not offer: {cause}")]
    Import {
        /// Name of the import.
        name: String,
        /// Reason why the import cannot be satisfied.
        cause: String,
    },
    /// No export of the world's function.
    #[error("the plugin does not export `execute` of the world phasm:executor/executor@{VERSION}: {0}")]
    Export(String),
    /// Cannot be linked for another reason.
    #[error("the plugin cannot be linked: {0}")]
    Link(String),
    /// More memories or tables than the limits allow.
    #[error("the plugin has {memories} memories and {tables} tables; the limits are {} and {} (limits.memories, limits.tables)", .limits.0, .limits.1)]
    TooMany {
        /// Number of its linear memories.
        memories: u32,
        /// Number of its tables.
        tables: u32,
        /// Maximum number of each.
        limits: (u32, u32),
    },
    /// One instance takes more slots than the pool has.
    #[error("the plugin takes {needed} slots of the sandbox, which has {slots} (limits.slots)")]
    TooWide {
        /// Slots that it takes.
        needed: u32,
        /// Slots that there are.
        slots: u32,
    },
    /// Needs compiling, and this host has no compiler.
    #[error("this host compiles nothing; give it what `phasm plugin compile` writes")]
    NoCompiler,
    /// Compiled ahead of time, and this host has no key to verify it with.
    #[error("the plugin was compiled ahead of time, and this host has no key for such plugins")]
    NoKey,
    /// Compiled ahead of time with another key, or changed since.
    #[error(
        "the plugin was compiled ahead of time and sealed with another key, or changed since; compile it again with \
         `phasm plugin compile --key` and this host's key"
    )]
    Forged,
    /// Compiled ahead of time for another version of Phasm or another machine.
    #[error(
        "the plugin was compiled ahead of time by Phasm {phasm} and does not fit this host: {cause}; compile it again with \
         `phasm plugin compile` of this host's version, on a machine like it"
    )]
    Stale {
        /// Version that compiled it.
        phasm: String,
        /// Reason why it does not fit.
        cause: String,
    },
    /// The host failed to compile it.
    #[error("host fault while compiling: {0}")]
    Fault(String),
}

/// Messages of wasmtime about limits on declarations, and the keys of these limits in a configuration.
const WASMTIME_LIMITS: [(&str, &str); 3] = [
    ("defined memories count", " (limits.memories)"),
    ("defined tables count", " (limits.tables)"),
    ("minimum element size", " (limits.table-elements)"),
];

fn key(cause: &str) -> &'static str {
    WASMTIME_LIMITS.iter().find(|(says, _)| cause.contains(says)).map_or("", |(_, key)| key)
}

/// Limit that the compilation of a component reached; the text says where it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Overrun {
    /// [`Limits::compile_memory`], in bytes.
    #[error("more than {limit} of memory; the limit is `compile-memory` in [limits] of the configuration", limit = Size(*.0))]
    Memory(u64),
    /// [`Limits::compile_time`].
    #[error("more than {0:?} of CPU time; the limit is `compile-time` in [limits] of the configuration")]
    Cpu(Duration),
    /// A multiple of [`Limits::compile_time`], in wall-clock time.
    #[error("longer than {0:?}, four times `compile-time` in [limits] of the configuration")]
    Time(Duration),
    /// The compiler's stack; something nests too deep.
    #[error("more stack than the compiler has: something in it nests too deep")]
    Stack,
    /// Size of the machine code, in bytes.
    #[error("more than {limit} of machine code, too much for a component of its size", limit = Size(*.0))]
    Code(u64),
}

/// Component that is ready to be instantiated.
pub struct Program {
    /// Unique among the programs of this process.
    pub(super) id: u64,
    pub(super) pre: ExecutorPre<Guest>,
    /// Slots of the pool that one instance takes.
    pub(super) slots: u32,
    /// Maximum initial linear memory of one instance, in bytes.
    pub(super) memory: u64,
    /// Limits that the plugin's manifest sets.
    pub(super) limits: Allowance,
}

/// Size of a WebAssembly page, in bytes.
const WASM_PAGE_BYTES: u64 = 65_536;

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

impl Program {
    /// Links `component` for a pool of `slots`.
    pub(super) fn link(
        linker: &Linker<Guest>,
        component: &Component,
        limits: &Limits,
        slots: u32,
    ) -> Result<Self, LoadError> {
        check_version(component)?;
        let pre = linker.instantiate_pre(component).map_err(|error| link_error(component, &error))?;
        let pre = ExecutorPre::new(pre).map_err(|error| LoadError::Export(format!("{error:#}")))?;
        let id = NEXT_ID.fetch_add(1, Relaxed);
        let slots = slots_needed(component, limits, slots)?;
        Ok(Self { id, pre, slots, memory: memory_needed(component), limits: Allowance::default() })
    }

    /// Returns the program with limits on its calls, which its manifest sets.
    #[must_use]
    pub fn within(self, limits: Allowance) -> Self {
        Self { limits, ..self }
    }

    /// Serializes its machine code.
    #[cfg(target_os = "linux")]
    pub(super) fn code(&self) -> wasmtime::Result<Vec<u8>> {
        self.pre.instance_pre().component().serialize()
    }
}

/// Refuses a component that was made for another version of the world.
fn check_version(component: &Component) -> Result<(), LoadError> {
    let ty = component.component_type();
    let engine = component.engine();
    let names = ty.imports(engine).map(|(name, _)| name).chain(ty.exports(engine).map(|(name, _)| name));
    let versions = names.filter_map(|name| name.strip_prefix(PACKAGE)?.split_once('@'));
    let mut others = versions.map(|(_, version)| version).filter(|version| !compatible(version));
    others.next().map_or(Ok(()), |wanted| Err(LoadError::Version { wanted: wanted.to_owned() }))
}

/// Before 1.0 every minor version is incompatible with others.
fn compatible(version: &str) -> bool {
    let minor = |version: &str| version.rsplit_once('.').map(|(minor, _)| minor.to_owned());
    minor(version) == minor(VERSION)
}

/// Returns an error that names the import that could not be satisfied.
fn link_error(component: &Component, error: &wasmtime::Error) -> LoadError {
    let (what, cause) = (error.to_string(), causes(error));
    let ty = component.component_type();
    let mut imports = ty.imports(component.engine()).map(|(name, _)| name);
    match imports.find(|name| what.contains(&format!("`{name}`"))) {
        Some(name) => LoadError::Import { name: name.to_owned(), cause },
        None => LoadError::Link(format!("{error:#}")),
    }
}

/// Joins all causes below the outermost description of `error`.
fn causes(error: &wasmtime::Error) -> String {
    error.chain().skip(1).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Returns the maximum initial size of its memories, in bytes; 0 where it is not known in advance.
fn memory_needed(component: &Component) -> u64 {
    let needed = component.resources_required();
    let pages = needed
        .and_then(|needed| Some(needed.max_initial_memory_size?.saturating_mul(needed.num_memories.into())));
    pages.unwrap_or(0).saturating_mul(WASM_PAGE_BYTES)
}

/// Returns the number of `slots` that one instance takes.
fn slots_needed(component: &Component, limits: &Limits, slots: u32) -> Result<u32, LoadError> {
    // A component that takes modules as arguments could have any number of them; it counts as having the maximum.
    let (memories, tables) = component
        .resources_required()
        .map_or((limits.memories, limits.tables), |needed| (needed.num_memories, needed.num_tables));
    if memories > limits.memories || tables > limits.tables {
        return Err(LoadError::TooMany { memories, tables, limits: (limits.memories, limits.tables) });
    }
    let needed = memories.max(tables.div_ceil(TABLES_PER_SLOT)).max(1);
    if needed > slots { Err(LoadError::TooWide { needed, slots }) } else { Ok(needed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compatible_within_a_minor_one() {
        for (version, expected) in [
            ("0.1.0", true),
            ("0.1.7", true),
            ("0.2.0", false),
            ("1.1.0", false),
            ("", false),
            ("0.1.0-rc", true),
        ] {
            assert_eq!(compatible(version), expected, "{version}");
        }
    }
}
