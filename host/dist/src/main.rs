//! Makes Phasm's packages of a built command, and tests each in an empty place.
//!
//! `phasm-dist build [--target TARGET] OUT` builds the command for a release and makes its packages; `phasm-dist reproduce DIR` does it
//! twice and compares them. `phasm-dist check BINARY` looks for paths of this machine and for a C library that is too new.
//! `phasm-dist packages BINARY OUT` makes the packages, and a bill of their crates. `phasm-dist commit` prints the variables that a build of the
//! command records for `--version`. `phasm-dist test OUT [EXECUTORS]` installs them and runs a workflow with each;
//! `phasm-dist image BINARY OUT` lays out the files of the container image; `phasm-dist containers BINARY` runs them as the Containerfile,
//! the compose files and the Kubernetes manifests say.
//! `phasm-dist bare OUT SYSTEM [EXECUTORS]` installs them into the system in the folder SYSTEM, as debootstrap makes one.
//! EXECUTORS is the folder with the shipped executors, for a command that does not carry them.

mod bare;
mod build;
mod check;
mod commit;
mod container;
mod debian;
mod folder;
mod image;
mod install;
mod launcher;
mod licences;
mod machine;
mod npm;
mod parts;
mod reproduce;
mod sbom;
mod tarball;
mod wheel;

use std::{
    env,
    error::Error,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

/// Result of a step, with a message for people.
type DistResult<T = ()> = Result<T, Box<dyn Error>>;

/// Version of the packages.
const VERSION: &str = env!("CARGO_PKG_VERSION");

const USAGE: &str = "usage: phasm-dist build [--target TARGET] OUT\n       phasm-dist reproduce [--target TARGET] DIR\n       phasm-dist check BINARY\n       phasm-dist packages BINARY OUT\n       phasm-dist commit\n       phasm-dist image BINARY OUT\n       phasm-dist containers BINARY\n       phasm-dist test OUT [EXECUTORS]\n       phasm-dist bare OUT SYSTEM [EXECUTORS]";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["build", out] => build_all(&host_target(), Path::new(out)),
        ["build", "--target", target, out] => build_all(target, Path::new(out)),
        ["reproduce", dir] => reproduce::compare(&host_target(), Path::new(dir)),
        ["reproduce", "--target", target, dir] => reproduce::compare(target, Path::new(dir)),
        ["check", binary] => places().and_then(|places| check::command(Path::new(binary), &places)),
        ["packages", binary, out] => packages(Path::new(binary), Path::new(out)),
        ["bare", out, system] => bare::test_all(Path::new(out), Path::new(system), None),
        ["bare", out, system, executors] => {
            bare::test_all(Path::new(out), Path::new(system), Some(Path::new(executors)))
        }
        ["image", binary, out] => image::lay(Path::new(binary), Path::new(out)),
        ["containers", binary] => container::test_all(Path::new(binary)),
        ["commit"] => commit::variables().and_then(|said| Ok(write!(io::stdout(), "{said}")?)),
        ["test", out] => install::test_all(Path::new(out), None),
        ["test", out, executors] => install::test_all(Path::new(out), Some(Path::new(executors))),
        _ => Err(USAGE.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Builds the command of the commit that is checked out for `target`, and makes every package of it in `out`.
fn build_all(target: &str, out: &Path) -> DistResult {
    build::release(target, |binary| packages(binary, out))
}

/// Folders of a build in this checkout.
fn places() -> DistResult<build::Places> {
    let checkout = std::fs::canonicalize(root())?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| checkout.join("target"), PathBuf::from);
    Ok(build::Places { target: std::path::absolute(target)?, checkout })
}

/// Platform of this machine.
fn host_target() -> String {
    format!("{}-unknown-linux-gnu", env::consts::ARCH)
}

/// Makes every package of `binary` in `out`.
fn packages(binary: &Path, out: &Path) -> DistResult {
    folder::make_empty(out)?;
    let work = out.join("work");
    folder::make_empty(&work)?;
    let stripped = work.join("phasm");
    let architecture = machine::architecture(binary)?;
    if machine::is_here(architecture) {
        run(Command::new("strip").arg("-o").arg(&stripped).arg(binary))?;
    } else {
        // Its build has stripped it: the tool of this machine knows no other architecture.
        folder::copy(binary, &stripped, 0o755)?;
    }
    let parts = parts::read_for(architecture)?;
    licences::write(&parts, &work)?;
    sbom::write(&parts, out)?;
    for package in [tarball::make, wheel::make, debian::make, npm::make_platform, npm::make_launcher] {
        writeln!(io::stdout(), "{}", package(&stripped, out)?.display())?;
    }
    Ok(std::fs::remove_dir_all(&work)?)
}

/// Runs `command`, and returns its standard output. Its failure is an error with all that it printed.
fn run(command: &mut Command) -> DistResult<String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        Ok(text)
    } else {
        let errors = String::from_utf8_lossy(&output.stderr);
        Err(format!("{command:?}: {}\n{text}{errors}", output.status).into())
    }
}

/// Minor version of the oldest C library 2.x that packages promise to run with.
const C_LIBRARY: u32 = 31;

/// Returns the minor version of the C library 2.x that `binary` needs, at least the promised one.
fn c_library(binary: &Path) -> DistResult<u32> {
    let symbols = run(Command::new("readelf").args(["--version-info", "--wide"]).arg(binary))?;
    let versions = symbols.split("GLIBC_2.").skip(1);
    let minors = versions.filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    Ok(minors.max().unwrap_or(0).max(C_LIBRARY))
}

/// Folder of the files that packages contain besides the command.
fn files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("files")
}

/// Folder of the checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// File with the licence of Phasm.
fn licence() -> PathBuf {
    root().join("LICENSE")
}

/// Returns the version of Rust, whose standard library packages contain.
fn rust_version() -> DistResult<String> {
    let said = run(Command::new("rustc").arg("--version").current_dir(root()))?;
    said.split(' ').nth(1).map(ToOwned::to_owned).ok_or_else(|| format!("rustc --version: {said:?}").into())
}
