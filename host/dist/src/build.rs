//! Release build: the executors and the command, for one platform, without paths of the machine.

use std::{
    env,
    fs::{self, DirBuilder, File},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    process::Command,
};

use crate::{C_LIBRARY, DistResult, check, commit, folder, root, run};

/// Platforms that releases are built for, as Rust names them.
pub(crate) const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// Platform of the executors.
const GUEST: &str = "wasm32-wasip2";

/// Folder of every release build. Symbols and archives depend on the path of the source, so that it is the same for everybody.
const BUILD_FOLDER: &str = "/var/tmp/phasm-release";

/// Seed of the hash keys that `const-random` (by `ahash`, which `rhai` uses) otherwise draws for each build. They are in the
/// command, where anybody can read them, in either case.
const RANDOM_SEED: &str = "phasm";

/// Folders of a build.
pub(crate) struct Places {
    /// Source of Phasm.
    pub(crate) checkout: PathBuf,
    /// Everything that is built.
    pub(crate) target: PathBuf,
}

impl Places {
    /// Folders of a release build below `dir`.
    fn below(dir: &Path) -> Self {
        Self { checkout: dir.join("source"), target: dir.join("target") }
    }

    /// Folders of this machine with the names that they have in files: the same on every machine. A later one wins.
    pub(crate) fn renamed(&self) -> Vec<(String, &'static str)> {
        let cargo = cargo_home().map(|dir| (dir, "/cargo"));
        let folders = [(self.checkout.clone(), "/phasm"), (self.target.clone(), "/target")];
        cargo.into_iter().chain(folders).map(|(dir, name)| (dir.display().to_string(), name)).collect()
    }

    /// Flags of the Rust compiler that rename the folders.
    pub(crate) fn rust_flags(&self) -> DistResult<String> {
        self.flags("--remap-path-prefix")
    }

    /// Flags of the C compiler that rename the folders.
    fn c_flags(&self) -> DistResult<String> {
        self.flags("-ffile-prefix-map")
    }

    fn flags(&self, flag: &str) -> DistResult<String> {
        let mut flags = Vec::new();
        for (dir, name) in self.renamed() {
            if dir.contains(char::is_whitespace) {
                // Flags are separated by blanks.
                return Err(format!("{dir:?}: has a blank in it; build in a folder without one").into());
            }
            flags.push(format!("{flag}={dir}={name}"));
        }
        Ok(flags.join(" "))
    }

    /// Cargo in a folder of the checkout, with all that makes a build the same on every machine.
    fn cargo(&self, dir: &str) -> DistResult<Command> {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(self.checkout.join(dir));
        cargo.env("CARGO_INCREMENTAL", "0").env("SOURCE_DATE_EPOCH", folder::TIME.to_string());
        cargo.env("CONST_RANDOM_SEED", RANDOM_SEED);
        cargo.env("CFLAGS", self.c_flags()?).env("CXXFLAGS", self.c_flags()?);
        cargo.env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("CARGO_BUILD_TARGET");
        Ok(cargo)
    }
}

/// Folder where Cargo keeps the crates of this user.
pub(crate) fn cargo_home() -> Option<PathBuf> {
    let home = || Some(Path::new(&env::var_os("HOME")?).join(".cargo"));
    env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home)
}

/// Builds the commit that is checked out for `target` in the folder of release builds, checks what was built, and hands the path
/// of the command to `pack`.
///
/// # Errors
///
/// The platform is none of releases, the checkout has changes, another build runs, or a build or check fails, or
/// `pack` does.
pub(crate) fn release(target: &str, pack: impl FnOnce(&Path) -> DistResult) -> DistResult {
    if !TARGETS.contains(&target) {
        return Err(format!("--target {target}: expected one of {}", TARGETS.join(", ")).into());
    }
    let variables = commit::variables()?;
    if variables.is_empty() || variables.contains(commit::CHANGED) {
        return Err("a release is built of a commit: expected a checkout of git without changes".into());
    }
    let dir = Path::new(BUILD_FOLDER);
    let _lock = claim(dir)?;
    let places = Places::below(dir);
    folder::make_empty(&places.target)?;
    export(&places.checkout)?;
    pack(&command(&places, target, &variables)?)?;
    fs::remove_dir_all(&places.target)?;
    Ok(fs::remove_dir_all(&places.checkout)?)
}

/// Makes the folder of release builds, which only this user may write, and locks it until the file is closed.
fn claim(dir: &Path) -> DistResult<File> {
    let made = DirBuilder::new().mode(0o700).create(dir);
    let meta = fs::symlink_metadata(dir)
        .map_err(|error| format!("{}: {}", dir.display(), made.err().unwrap_or(error)))?;
    let is_ours = meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw();
    if !is_ours || meta.mode() & 0o022 != 0 {
        return Err(
            format!("{}: is not a folder that only this user can write; remove it", dir.display()).into()
        );
    }
    // Cargo reads the configuration of all folders above, which may change what is built; others can write some of them.
    for above in dir.ancestors() {
        if above.join(".cargo").exists() {
            return Err(format!("{}: cargo would read it; remove it", above.join(".cargo").display()).into());
        }
    }
    let lock = File::create(dir.join("lock"))?;
    lock.try_lock().map_err(|_| format!("{}: another release is built there; wait for it", dir.display()))?;
    Ok(lock)
}

/// Writes the files of the commit that is checked out to `dir`.
fn export(dir: &Path) -> DistResult {
    folder::make_empty(dir)?;
    let archive = dir.with_extension("tar");
    run(Command::new("git").arg("-C").arg(root()).args(["archive", "--output"]).arg(&archive).arg("HEAD"))?;
    run(Command::new("tar").arg("--extract").arg("--file").arg(&archive).arg("--directory").arg(dir))?;
    Ok(fs::remove_file(archive)?)
}

/// Builds the executors and the command for `target`, checks both, and returns the path of the command.
fn command(places: &Places, target: &str, variables: &str) -> DistResult<PathBuf> {
    let executors = executors(places)?;
    let mut cargo = places.cargo(".")?;
    // The linker of Zig knows the symbols of each version of the C library, and the headers that belong to them.
    cargo.args(["zigbuild", "--locked", "--profile", "dist", "--package", "phasm-cli", "--bin", "phasm"]);
    cargo.args(["--features", "embed-executors"]).arg(format!("--target={target}.2.{C_LIBRARY}"));
    cargo.arg("--target-dir").arg(&places.target);
    cargo.env("RUSTFLAGS", places.rust_flags()?).env("PHASM_EXECUTORS", &executors);
    for line in variables.lines() {
        let (name, value) = line.split_once('=').ok_or("a variable without a value")?;
        cargo.env(name, value);
    }
    run(&mut cargo)
        .map_err(|error| format!("{error}\n`pip install cargo-zigbuild ziglang` installs the linker"))?;
    let binary = places.target.join(target).join("dist/phasm");
    check::command(&binary, places)?;
    Ok(binary)
}

/// Builds the executors that ship, and returns the folder with their components.
fn executors(places: &Places) -> DistResult<PathBuf> {
    let mut cargo = places.cargo("plugins")?;
    cargo.args(["build", "--locked", "--release", "--lib", "--workspace", "--target", GUEST]);
    let built = places.target.join("plugins");
    cargo.arg("--target-dir").arg(&built);
    cargo.env("RUSTFLAGS", format!("{} {}", phasm_builder::LINKER_FLAGS, places.rust_flags()?));
    run(&mut cargo)?;
    let executors = places.target.join("executors");
    folder::make_empty(&executors)?;
    for entry in fs::read_dir(built.join(GUEST).join("release"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "wasm") {
            check::component(&path, places)?;
            folder::copy(&path, &executors.join(path.file_name().ok_or("no name")?), 0o644)?;
        }
    }
    Ok(executors)
}

#[cfg(test)]
mod tests {
    use std::{process, thread};

    use super::*;

    /// R-L73: the same source in two folders gives the same file, without a path of either.
    #[test]
    fn folders_do_not_matter() {
        let dir = env::temp_dir().join(format!("phasm-dist-build-{}", process::id()));
        folder::make_empty(&dir).unwrap();
        let compile = |name: &str, renames: bool| {
            let places = Places { checkout: dir.join(name), target: dir.join(name).join("built") };
            let source = places.checkout.join("lib.rs");
            let text = "pub fn at(index: usize) -> u8 { let place = file!().as_bytes(); place[index] }";
            folder::write(&source, text.as_bytes(), 0o644).unwrap();
            let file = places.checkout.join("lib.o");
            let mut rustc = Command::new("rustc");
            rustc.args(["--crate-type", "lib", "--emit", "obj", "--edition", "2024", "-o"]).arg(&file);
            if renames {
                rustc.args(places.rust_flags().unwrap().split(' '));
            }
            run(rustc.arg(&source)).unwrap();
            (fs::read(&file).unwrap(), check::component(&file, &places).is_ok())
        };
        let (one, clean) = compile("one", true);
        assert!(clean);
        assert_eq!((one, true), compile("another", true));
        assert!(!compile("one", false).1, "without the flags there is a path");
        fs::remove_dir_all(&dir).unwrap();
    }

    /// R-L73: a folder of release builds that another build uses, that is a link, or whose builds a configuration of Cargo would
    /// change is not used.
    #[test]
    fn the_build_folder_is_claimed() {
        let above = env::temp_dir().join(format!("phasm-dist-claim-{}", process::id()));
        folder::make_empty(&above).unwrap();
        let dir = above.join("release");
        let first = claim(&dir).unwrap();
        let error = claim(&dir).unwrap_err().to_string();
        assert!(error.contains("another release is built there"), "{error}");
        drop(first);
        // A process that another test has just started has the file of the lock until it executes its program.
        let is_free = |_| {
            thread::yield_now();
            claim(&dir).is_ok()
        };
        assert!((0..100_000).any(is_free));
        let link = above.join("link");
        std::os::unix::fs::symlink(&dir, &link).unwrap();
        let error = claim(&link).unwrap_err().to_string();
        assert!(error.contains("only this user can write"), "{error}");
        folder::write(&above.join(".cargo/config.toml"), b"", 0o644).unwrap();
        let error = claim(&dir).unwrap_err().to_string();
        assert!(error.contains("cargo would read it"), "{error}");
        fs::remove_dir_all(&above).unwrap();
    }

    #[test]
    fn blanks_in_paths_are_refused() {
        let places = Places { checkout: "/a b".into(), target: "/target".into() };
        assert!(places.rust_flags().unwrap_err().to_string().contains("/a b"));
    }
}
