//! Linkers for a private toolchain.

use std::path::Path;

use super::{
    super::{
        environment::command_in,
        process::{self, BUILD_LIMIT},
    },
    apt::Apt,
    error::MakeError,
    linkers::COMPONENT_LINKER,
    private::{OWN_LINKERS, Private},
    recipe::Recipe,
    unpack,
};

/// Adds both linkers to the tree: LLD of the compiler's own LLVM from the distribution, the other from its crate.
///
/// # Errors
/// [`MakeError`].
pub(super) fn add(recipe: &Recipe<'_>, apt: &Apt, private: &Private) -> Result<(), MakeError> {
    recipe.progress.step("adding linkers: this machine's Rust has none for components");
    let tree = recipe.tree();
    install_component_linker(recipe, private)?;
    let package = format!("lld-{}", llvm_major(private)?);
    let lld = apt.versions(std::slice::from_ref(&package))?.into_iter().next();
    let lld = lld.ok_or_else(|| MakeError::NoLinker { package: package.clone() })?;
    let downloads = recipe.work.join("lld-packages");
    apt.download(&[&lld], &downloads, recipe.progress)?;
    for archive in unpack::archives(&downloads)? {
        archive.unpack(&tree, recipe.progress)?;
    }
    let missing = || MakeError::Unexpected { packages: vec![package], what: "bin/wasm-ld" };
    let found =
        unpack::files(&tree).into_iter().find(|path| path.ends_with("bin/wasm-ld")).ok_or_else(missing)?;
    link_lld(&tree, &found).map_err(MakeError::at(&found))
}

/// Links LLD by a relative path, so that the tree can move.
fn link_lld(tree: &Path, lld: &Path) -> std::io::Result<()> {
    let dir = tree.join(OWN_LINKERS);
    let up = OWN_LINKERS.split('/').map(|_| "..").collect::<Vec<_>>().join("/");
    let lld = Path::new(&up).join(lld.strip_prefix(tree).unwrap_or(lld));
    symlink(&lld, &dir.join("wasm-ld"))
}

#[cfg(unix)]
fn symlink(to: &Path, at: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
fn symlink(to: &Path, at: &Path) -> std::io::Result<()> {
    std::fs::copy(at.parent().unwrap_or(at).join(to), at).map(drop)
}

/// Returns the major version in `LLVM version: 22.1.8` of the compiler's `-vV`.
fn llvm_major(private: &Private) -> Result<String, MakeError> {
    let version = process::query(private.rustc().arg("-vV"))?;
    let llvm = version.lines().find_map(|line| line.strip_prefix("LLVM version: "));
    Ok(llvm.and_then(|llvm| llvm.split('.').next()).unwrap_or_default().to_owned())
}

fn install_component_linker(recipe: &Recipe<'_>, private: &Private) -> Result<(), MakeError> {
    let root = recipe.tree().join(OWN_LINKERS);
    let root = root.parent().unwrap_or(&root);
    let mut cargo = command_in(recipe.work, recipe.rust.cargo());
    cargo.envs(private.environment());
    cargo.args(["install", "--locked", "--color", "never", COMPONENT_LINKER, "--root"]).arg(root);
    process::run(
        cargo.arg("--target-dir").arg(recipe.work.join("target-linker")),
        BUILD_LIMIT,
        recipe.progress,
    )?;
    Ok(())
}
