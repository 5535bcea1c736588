//! The target's C library, which the standard library stands on.
//!
//! It is data to every system, so a newer release's does as well. Older releases have it for WASI 0.1 only: components made with that
//! get an adapter, are larger, and do not link if they use sockets.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    super::{folder::TARGET, process},
    apt::Apt,
    debian::Making,
    error::MakeError,
    packages::Package,
    private::Private,
    unpack,
};

const PACKAGE: &str = "wasi-libc";
/// Best first.
const VARIANTS: [&str; 3] = [TARGET, "wasm32-wasip1", "wasm32-wasi"];
const FILES: [&str; 3] = ["libc.a", "crt1-command.o", "crt1-reactor.o"];
const DEBIAN_KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Uses what guests use, so that what links with this links with them.
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

/// Adds the first of the distribution's C libraries with which a guest links.
///
/// # Errors
/// [`MakeError`].
pub(super) fn add(making: &Making<'_>, apt: &Apt, private: &Private) -> Result<(), MakeError> {
    let own = apt.versions(&[PACKAGE.to_owned()])?.into_iter().next().ok_or(MakeError::NoLibc)?;
    let own_variants = variants(&fetch(making, apt, &own, "libc")?);
    let complete = own_variants.first().is_some_and(|dir| dir.ends_with(TARGET));
    let stable = if complete { None } else { fetch_stable(making, &own).ok() };
    let stable_variants = stable.iter().flat_map(|tree| variants(tree)).filter(|dir| dir.ends_with(TARGET));
    let mut last = MakeError::NoLibc;
    for dir in stable_variants.chain(own_variants) {
        match put(&dir, private).and_then(|()| probe(making, private)) {
            Ok(()) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The same package from Debian's current release, where the system is on an older one.
fn fetch_stable(making: &Making<'_>, own: &Package) -> Result<PathBuf, MakeError> {
    if !own.archive.ends_with("/debian") || !Path::new(DEBIAN_KEYS).is_file() {
        return Err(MakeError::NoLibc);
    }
    making.progress.step("this release's wasi-libc is for WASI 0.1: taking that of Debian's current release");
    let source = format!("deb [signed-by={DEBIAN_KEYS}] {} stable main", own.archive);
    let apt = Apt::with_fresh_lists(making.work, "apt-stable", Some(&source), making.progress)?;
    let package = apt.versions(&[PACKAGE.to_owned()])?.into_iter().next().ok_or(MakeError::NoLibc)?;
    fetch(making, &apt, &package, "libc-stable")
}

fn fetch(making: &Making<'_>, apt: &Apt, package: &Package, name: &str) -> Result<PathBuf, MakeError> {
    let (downloads, tree) = (making.work.join(format!("{name}-packages")), making.work.join(name));
    apt.download(&[package], &downloads, making.progress)?;
    for archive in unpack::archives(&downloads)? {
        archive.unpack(&tree, making.progress)?;
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
fn probe(making: &Making<'_>, private: &Private) -> Result<(), MakeError> {
    let source = making.work.join("probe.rs");
    fs::write(&source, PROBE).map_err(MakeError::at(&source))?;
    let mut rustc = private.rustc();
    rustc.envs(private.environment_with_linkers(making.rust).ok_or(MakeError::Useless)?);
    rustc.args(["--edition", "2021", "--crate-type", "cdylib", "-O", "--target", TARGET, "-o"]);
    rustc.arg(making.work.join("probe.wasm")).arg(&source);
    let captured = process::capture(&mut rustc, process::QUERY_LIMIT, &|_: &str| ())?;
    match captured.status.success() {
        true => Ok(()),
        false => Err(MakeError::DoesNotLink { output: captured.stderr.trim_end().to_owned() }),
    }
}
