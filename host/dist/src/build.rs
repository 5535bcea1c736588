//! Release build: the executors and the command, for one platform, without paths of the machine.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{C_LIBRARY, DistResult, check, commit, folder, run};

/// Platforms that releases are built for, as Rust names them.
pub(crate) const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// Platform of the executors.
const GUEST: &str = "wasm32-wasip2";

/// Folders of a build.
pub(crate) struct Places {
    /// Source of Phasm.
    pub(crate) checkout: PathBuf,
    /// Everything that is built.
    pub(crate) target: PathBuf,
}

impl Places {
    /// Folders of this machine with the names that they have in files: the same on every machine. A later one wins.
    pub(crate) fn renamed(&self) -> Vec<(String, &'static str)> {
        let cargo = env::var_os("CARGO_HOME").map(PathBuf::from);
        let cargo = cargo.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".cargo")));
        let folders = [cargo.map(|dir| (dir, "/cargo")), Some((self.checkout.clone(), "/phasm"))];
        let folders = folders.into_iter().flatten().chain([(self.target.clone(), "/target")]);
        folders.map(|(dir, name)| (dir.display().to_string(), name)).collect()
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
        cargo.env("CFLAGS", self.c_flags()?).env("CXXFLAGS", self.c_flags()?);
        cargo.env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("CARGO_BUILD_TARGET");
        Ok(cargo)
    }
}

/// Builds the executors and the command for `target`, checks both, and returns the path of the command.
pub(crate) fn command(places: &Places, target: &str) -> DistResult<PathBuf> {
    if !TARGETS.contains(&target) {
        return Err(format!("--target {target}: expected one of {}", TARGETS.join(", ")).into());
    }
    let executors = executors(places)?;
    let mut cargo = places.cargo(".")?;
    // The linker of Zig knows the symbols of each version of the C library, and the headers that belong to them.
    cargo.args(["zigbuild", "--locked", "--profile", "dist", "--package", "phasm-cli", "--bin", "phasm"]);
    cargo.args(["--features", "embed-executors"]).arg(format!("--target={target}.2.{C_LIBRARY}"));
    cargo.arg("--target-dir").arg(&places.target);
    cargo.env("RUSTFLAGS", places.rust_flags()?).env("PHASM_EXECUTORS", &executors);
    for line in commit::variables()?.lines() {
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
    use std::process;

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

    #[test]
    fn blanks_in_paths_are_refused() {
        let places = Places { checkout: "/a b".into(), target: "/target".into() };
        assert!(places.rust_flags().unwrap_err().to_string().contains("/a b"));
    }
}
