//! The target's standard library, compiled from the source of its compiler.

use std::{fs, path::Path};

use super::{
    super::{
        environment::command_in,
        folder::TARGET,
        process::{self, BUILD_LIMIT},
    },
    error::MakeError,
    private::Private,
    recipe::Recipe,
};

/// Flags of Rust's own distributions: private parts stay private, and guests may use link-time optimisation.
const RUSTFLAGS: &str = "-Zforce-unstable-if-unmarked -Cembed-bitcode=yes";

/// Compiles the library and puts it where the compiler looks for it.
///
/// # Errors
/// [`MakeError`].
pub(super) fn build(recipe: &Recipe<'_>, private: &Private, manifest: &Path) -> Result<(), MakeError> {
    recipe.progress.step(&format!("building the standard library for {TARGET} (about a minute)"));
    let target_dir = recipe.work.join("target");
    let mut cargo = command_in(recipe.work, recipe.rust.cargo());
    cargo.envs(private.environment()).env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", RUSTFLAGS);
    // Keeps its symbols apart from those of a guest's own copy of one of its dependencies.
    cargo.env("__CARGO_DEFAULT_LIB_METADATA", "phasm");
    cargo.args(["build", "--release", "--locked", "--color", "never", "--target", TARGET]);
    cargo.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(&target_dir);
    process::run(&mut cargo, BUILD_LIMIT, recipe.progress)?;
    let built = target_dir.join(TARGET).join("release/deps");
    install(&built, &private.target_libdir()?).map_err(MakeError::at(&built))
}

fn install(built: &Path, libdir: &Path) -> std::io::Result<()> {
    fs::create_dir_all(libdir)?;
    for entry in fs::read_dir(built)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        // `sysroot` is but the package that pulls in the others.
        let library = path.extension().is_some_and(|extension| extension == "rlib");
        if library && !name.to_string_lossy().starts_with("libsysroot-") {
            fs::copy(&path, libdir.join(name))?;
        }
    }
    Ok(())
}
