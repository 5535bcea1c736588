//! The two programs that turn objects into a component: `wasm-component-ld`, and the LLD that it calls.

use std::{env::consts::EXE_SUFFIX, path::Path};

use super::super::process::which;

pub(super) const COMPONENT_LINKER: &str = "wasm-component-ld";
/// The names under which `wasm-component-ld` looks for LLD on PATH.
const LLD: [&str; 2] = ["wasm-ld", "rust-lld"];

/// Whether a folder has both.
pub(super) fn are_in(dir: &Path) -> bool {
    let has = |tool: &str| dir.join(format!("{tool}{EXE_SUFFIX}")).is_file();
    has(COMPONENT_LINKER) && LLD.iter().any(|lld| has(lld))
}

/// Whether both are on PATH.
pub(super) fn on_path() -> bool {
    which(COMPONENT_LINKER).is_some() && LLD.iter().any(|lld| which(lld).is_some())
}
