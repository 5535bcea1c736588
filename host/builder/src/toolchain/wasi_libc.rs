//! The target's C library, which the standard library stands on.
//!
//! The library does not depend on the host system, so that of a newer release works as well. Older releases have it for WASI 0.1
//! only: components made with that get an adapter, are larger, and do not link if they use sockets.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    super::{folder::TARGET, process},
    apt::Apt,
    error::MakeError,
    packages::Package,
    private::Private,
    recipe::Recipe,
    unpack,
};

pub(super) const PACKAGE: &str = "wasi-libc";
/// Folders of the library, the best first.
const VARIANTS: [&str; 3] = [TARGET, "wasm32-wasip1", "wasm32-wasi"];
const FILES: [&str; 3] = ["libc.a", "crt1-command.o", "crt1-reactor.o"];
const DEBIAN_KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Uses the same features as guests, so that a library that links with this links with them.
const PROBE: &str = r#"
use std::{collections::HashMap, env, fs, io::Read, time::Instant};
#[no_mangle]
pub extern "C" fn probe() -> usize {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    let map: HashMap<String, String> = env::vars().collect();
    let dir = fs::read_dir(".").map_or(0, |entries| entries.count());
    println!("{read:?} {:?} {:?}", Instant::now(), fs::write("file", &text));
    map.len() + dir
}
"#;

/// Returns the newest version in the lists.
///
/// # Errors
/// [`MakeError`].
pub(super) fn newest(apt: &Apt) -> Result<Package, MakeError> {
    apt.versions(&[PACKAGE.to_owned()])?.into_iter().next().ok_or(MakeError::NoLibc)
}

/// Adds the first of the distribution's C libraries with which a guest links; `own` is the one that is unpacked already.
///
/// # Errors
/// [`MakeError`].
pub(super) fn add(recipe: &Recipe<'_>, own: &Package, private: &Private) -> Result<(), MakeError> {
    let mut found = variants(&recipe.libc());
    if !found.first().is_some_and(|dir| dir.ends_with(TARGET)) {
        found.splice(0..0, stable_variant(recipe, own));
    }
    let mut last = MakeError::NoLibc;
    for dir in found {
        match put(&dir, private).and_then(|()| probe(recipe, private)) {
            Ok(()) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn stable_variant(recipe: &Recipe<'_>, own: &Package) -> Option<PathBuf> {
    recipe
        .progress
        .step("this release's wasi-libc is for WASI 0.1: using the one of Debian's current release");
    match fetch_stable(recipe, own) {
        Ok(tree) => variants(&tree).into_iter().next().filter(|dir| dir.ends_with(TARGET)),
        Err(error) => {
            recipe
                .progress
                .step(&format!("it cannot be had, components will have an adapter instead: {error}"));
            None
        }
    }
}

/// The same package from Debian's current release, where the system is on an older one.
fn fetch_stable(recipe: &Recipe<'_>, own: &Package) -> Result<PathBuf, MakeError> {
    if !own.archive.ends_with("/debian") || !Path::new(DEBIAN_KEYS).is_file() {
        return Err(MakeError::NoLibc);
    }
    let source = format!("deb [signed-by={DEBIAN_KEYS}] {} stable main", own.archive);
    let apt = Apt::with_fresh_lists(recipe.work, "apt-stable", Some(&source), recipe.progress)?;
    let (downloads, tree) = (recipe.work.join("libc-packages"), recipe.work.join("libc-stable"));
    apt.download(&[&newest(&apt)?], &downloads, recipe.progress)?;
    for archive in unpack::archives(&downloads)? {
        archive.unpack(&tree, recipe.progress)?;
    }
    Ok(tree)
}

fn variants(tree: &Path) -> Vec<PathBuf> {
    let dirs = VARIANTS.iter().map(|variant| tree.join("usr/lib").join(variant));
    dirs.filter(|dir| FILES.iter().all(|file| dir.join(file).is_file())).collect()
}

fn put(variant: &Path, private: &Private) -> Result<(), MakeError> {
    let to = private.target_libdir()?.join("self-contained");
    let copy = |file: &&str| fs::copy(variant.join(file), to.join(file)).map(drop);
    fs::create_dir_all(&to).and_then(|()| FILES.iter().try_for_each(copy)).map_err(MakeError::at(&to))
}

/// Links a guest as cargo would.
fn probe(recipe: &Recipe<'_>, private: &Private) -> Result<(), MakeError> {
    let source = recipe.work.join("probe.rs");
    fs::write(&source, PROBE).map_err(MakeError::at(&source))?;
    let mut rustc = private.rustc();
    rustc.envs(private.environment_with_linkers(recipe.rust).ok_or(MakeError::Useless)?);
    rustc.args(["--edition", "2021", "--crate-type", "cdylib", "-O", "--target", TARGET, "-o"]);
    rustc.arg(recipe.work.join("probe.wasm")).arg(&source);
    let linked = process::run(&mut rustc, process::QUERY_LIMIT, &|_: &str| ());
    linked.map(drop).map_err(|source| MakeError::DoesNotLink { source })
}
