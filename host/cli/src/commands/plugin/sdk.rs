//! The SDK that this program contains: the source of the crate `phasm-sdk`, the Python package `phasm_sdk`, the npm package
//! `phasm-sdk`, the Go module `phasm`, the files for C, and the WIT.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::Args;
use phasm::sandbox::Digest;
use phasm_builder::{C_SDK, GO_SDK, HTTP_WIT, JS_SDK, PYTHON_SDK};

use crate::{
    exit::Exit,
    failure::{ContextError, Failure},
    terminal::screen::Screen,
    user_dirs,
};

/// Writes the SDKs for executors into a new folder: the source of the crate phasm-sdk, `python/` with the package phasm_sdk,
/// `js/` with the npm package phasm-sdk, `go/` with the module phasm, `c/` for C and C++, and `wit/`.
///
/// The SDK is part of this program; nothing is downloaded. `plugin new` keeps a copy for itself in the user's data
/// directory. One in a repository of plugins can be shared: `plugin new NAME --sdk DIR`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin sdk ./phasm-sdk")]
pub(crate) struct SdkArguments {
    /// The folder to make.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Writes it.
pub(super) fn sdk(arguments: &SdkArguments, screen: &Screen) -> Result<Exit, Failure> {
    let dir = &arguments.dir;
    if dir.exists() {
        return Err(Failure::call(format!("{} exists already; expected a new folder", dir.display())));
    }
    write(dir).map_err(|error| cannot_write(dir, error))?;
    // The SDK is written, also if stdout is closed.
    let _gone = screen.out(&format!("created {}\n", dir.display()));
    Ok(Exit::Done)
}

/// The folder of this program's SDK, written when it is not there yet.
///
/// # Errors
/// When there is no data directory, or it cannot be written to.
pub(super) fn kept() -> Result<PathBuf, Failure> {
    let no_home =
        "there is no place for the SDK: neither XDG_DATA_HOME nor HOME is set; name its folder with --sdk";
    let above = user_dirs::data_dir().ok_or_else(|| Failure::call(no_home))?.join("sdk");
    let dir = above.join(version());
    if dir.join("Cargo.toml").is_file() {
        return Ok(dir);
    }
    fill(&above, &dir).map_err(|error| cannot_write(&dir, error))?;
    Ok(dir)
}

/// A temporary directory comes first, so that half of it is never found in place.
fn fill(above: &Path, dir: &Path) -> io::Result<()> {
    let beside = above.join(format!("{}.{}", version(), std::process::id()));
    write(&beside)?;
    match fs::rename(&beside, dir) {
        // Another was faster.
        Err(_) if dir.join("Cargo.toml").is_file() => fs::remove_dir_all(beside),
        renamed => renamed,
    }
}

fn write(dir: &Path) -> io::Result<()> {
    all().try_for_each(|(name, text)| {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap_or(dir))?;
        fs::write(path, text)
    })
}

/// Names within the SDK's folder, and what stands there.
fn all() -> impl Iterator<Item = (String, &'static str)> {
    let own = FILES.iter().map(|(name, text)| ((*name).to_owned(), *text));
    let python = PYTHON_SDK.iter().map(|(name, text)| (format!("python/{name}"), *text));
    let javascript = JS_SDK.iter().map(|(name, text)| (format!("js/{name}"), *text));
    let http = HTTP_WIT.iter().map(|(name, text)| (format!("wit/http/{name}"), *text));
    let c = C_SDK.iter().map(|(name, text)| (format!("c/{name}"), *text));
    let go = GO_SDK.iter().map(|(name, text)| (format!("go/{name}"), *text));
    own.chain(python).chain(javascript).chain(http).chain(c).chain(go)
}

fn cannot_write(dir: &Path, error: io::Error) -> Failure {
    Failure::call(ContextError::new(format!("{} cannot be written", dir.display()), error))
}

/// The version that people know, and what tells two of the same apart.
fn version() -> String {
    let all: String = all().flat_map(|(name, text)| [name, format!("\0{text}\0")]).collect();
    let digest = Digest::of(all.as_bytes()).to_string();
    let digest: String = digest.trim_start_matches("sha256:").chars().take(12).collect();
    format!("{}-{digest}", env!("CARGO_PKG_VERSION"))
}

macro_rules! files {
    ($($name:literal: $path:literal),+ $(,)?) => { &[$(($name, include_str!(concat!("../../../../../", $path)))),+] };
}

/// Files of the crate and the WIT, and the descriptions of the other packages.
const FILES: &[(&str, &str)] = files! {
    "Cargo.toml": "plugin-sdk/Cargo.toml",
    "README.md": "plugin-sdk/README.md",
    "c/README.md": "plugin-sdk/c/README.md",
    "duration/Cargo.toml": "plugin-sdk/duration/Cargo.toml",
    "duration/src/lib.rs": "plugin-sdk/duration/src/lib.rs",
    "number/Cargo.toml": "plugin-sdk/number/Cargo.toml",
    "number/src/lib.rs": "plugin-sdk/number/src/lib.rs",
    "go/README.md": "plugin-sdk/go/README.md",
    "js/README.md": "plugin-sdk/js/README.md",
    "python/README.md": "plugin-sdk/python/README.md",
    "python/pyproject.toml": "plugin-sdk/python/pyproject.toml",
    "src/bindings.rs": "plugin-sdk/src/bindings.rs",
    "src/call.rs": "plugin-sdk/src/call.rs",
    "src/duration.rs": "plugin-sdk/src/duration.rs",
    "src/artifact.rs": "plugin-sdk/src/artifact.rs",
    "src/files.rs": "plugin-sdk/src/files.rs",
    "src/guest.rs": "plugin-sdk/src/guest.rs",
    "src/host.rs": "plugin-sdk/src/host.rs",
    "src/inputs.rs": "plugin-sdk/src/inputs.rs",
    "src/inputs/choice.rs": "plugin-sdk/src/inputs/choice.rs",
    "src/inputs/explain.rs": "plugin-sdk/src/inputs/explain.rs",
    "src/inputs/fields.rs": "plugin-sdk/src/inputs/fields.rs",
    "src/inputs/object.rs": "plugin-sdk/src/inputs/object.rs",
    "src/inputs/serde_inputs.rs": "plugin-sdk/src/inputs/serde_inputs.rs",
    "src/json.rs": "plugin-sdk/src/json.rs",
    "src/lib.rs": "plugin-sdk/src/lib.rs",
    "src/macros.rs": "plugin-sdk/src/macros.rs",
    "src/manifest.rs": "plugin-sdk/src/manifest.rs",
    "src/number.rs": "plugin-sdk/src/number.rs",
    "src/outcome.rs": "plugin-sdk/src/outcome.rs",
    "src/outcome/code.rs": "plugin-sdk/src/outcome/code.rs",
    "src/outcome/convert.rs": "plugin-sdk/src/outcome/convert.rs",
    "src/recorder.rs": "plugin-sdk/src/recorder.rs",
    "src/runtime.rs": "plugin-sdk/src/runtime.rs",
    "src/schema.rs": "plugin-sdk/src/schema.rs",
    "src/schema/default.rs": "plugin-sdk/src/schema/default.rs",
    "src/schema/describe.rs": "plugin-sdk/src/schema/describe.rs",
    "src/schema/probe.rs": "plugin-sdk/src/schema/probe.rs",
    "src/schema/types.rs": "plugin-sdk/src/schema/types.rs",
    "src/schema/writer.rs": "plugin-sdk/src/schema/writer.rs",
    "src/testing.rs": "plugin-sdk/src/testing.rs",
    "wit/executor.wit": "wit/executor.wit",
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn names(dir: &Path, below: &str, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{below}{}", entry.file_name().display());
            if entry.path().is_dir() {
                let is_other = ["tests", "__pycache__"].iter().any(|other| entry.file_name() == *other);
                if !is_other {
                    names(&entry.path(), &format!("{name}/"), found);
                }
            } else if entry.file_name() != "tests.rs" {
                found.insert(name);
            }
        }
    }

    /// A new file of the SDK must be added to the list, too.
    #[test]
    fn the_sdk_is_carried_whole() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut there = BTreeSet::new();
        names(&root.join("plugin-sdk"), "", &mut there);
        names(&root.join("wit"), "wit/", &mut there);
        // The world with HTTP is a package of its own, which needs the other.
        there.insert("wit/http/deps/executor.wit".to_owned());
        let carried: BTreeSet<String> = all().map(|(name, _)| name).collect();
        assert_eq!(carried, there);
    }
}
