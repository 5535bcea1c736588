//! The executors that ship: carried by the program, or in the checkout it was built from.

use std::{
    collections::BTreeSet,
    env, fs, io,
    path::{Path, PathBuf},
};

use phasm::{plugins::trust::PluginTrust, sandbox::Digest};

use crate::user_dirs;

/// Components by name, and what tells them from others.
type EmbeddedExecutors = (&'static str, &'static [(&'static str, &'static [u8])]);

#[cfg(feature = "embed-executors")]
static CARRIED: EmbeddedExecutors = include!(concat!(env!("OUT_DIR"), "/executors.rs"));
#[cfg(not(feature = "embed-executors"))]
static CARRIED: EmbeddedExecutors = ("", &[]);

/// Environment variable with their directory.
const EXECUTORS: &str = "PHASM_EXECUTORS";

/// Whether the environment says where they are.
pub(crate) fn is_named() -> bool {
    env::var_os(EXECUTORS).is_some()
}

/// Returns the digests of the components that the program contains. They need no other signature.
pub(crate) fn digests() -> impl Iterator<Item = Digest> {
    CARRIED.1.iter().map(|(_, bytes)| Digest::of(bytes))
}

/// The directory with the shipped executors: the one `PHASM_EXECUTORS` names (none, if that is empty), else those that the
/// program carries, else `plugins/` of the checkout it was built from, if that is still there.
pub(crate) fn dir() -> Option<PathBuf> {
    if let Some(asked) = env::var_os(EXECUTORS) {
        return Some(PathBuf::from(asked)).filter(|dir| dir.is_dir());
    }
    if !CARRIED.1.is_empty() {
        return unpacked(CARRIED, &user_dirs::cache_dir()?.join("executors")).ok();
    }
    in_checkout()
}

/// Plugins of the checkout that the program was built from, if it is still there.
#[cfg(not(feature = "embed-executors"))]
fn in_checkout() -> Option<PathBuf> {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
    checkout.join("echo/Cargo.toml").is_file().then_some(checkout)
}

/// None: a program that contains its executors contains no path of the machine that built it.
#[cfg(feature = "embed-executors")]
fn in_checkout() -> Option<PathBuf> {
    None
}

/// A directory below `cache` with these components; other components have another.
fn unpacked(embedded: EmbeddedExecutors, cache: &Path) -> io::Result<PathBuf> {
    let (identity, components) = embedded;
    let dir = cache.join(identity);
    if !dir.is_dir() {
        let partial = dir.with_added_extension(std::process::id().to_string());
        fs::create_dir_all(&partial)?;
        for (name, bytes) in components {
            fs::write(partial.join(name).with_added_extension("wasm"), bytes)?;
        }
        // If two processes start together, the directory of the first one stays.
        if fs::rename(&partial, &dir).is_err() {
            fs::remove_dir_all(&partial)?;
        }
    }
    Ok(dir)
}

/// Returns a policy under which components inside the program need no signature.
pub(crate) fn exempt(trust: PluginTrust) -> PluginTrust {
    let exempt = if trust.policy.require_signature { digests().collect() } else { BTreeSet::new() };
    PluginTrust { exempt, ..trust }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_is_unpacked_once() {
        let cache = tempfile::tempdir().unwrap();
        let carried: EmbeddedExecutors = ("0123", &[("a", b"one"), ("b", b"two")]);
        let dir = unpacked(carried, &cache.path().join("executors")).unwrap();
        assert_eq!(fs::read(dir.join("a.wasm")).unwrap(), b"one");
        fs::write(dir.join("a.wasm"), "mark").unwrap();
        assert_eq!(unpacked(carried, &cache.path().join("executors")).unwrap(), dir);
        assert_eq!(fs::read(dir.join("a.wasm")).unwrap(), b"mark");
        let other = unpacked(("4567", carried.1), &cache.path().join("executors")).unwrap();
        assert_eq!(fs::read(other.join("a.wasm")).unwrap(), b"one");
        assert_eq!(fs::read_dir(cache.path().join("executors")).unwrap().count(), 2);
    }
}
