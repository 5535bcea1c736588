//! One cargo invocation for the guests of one workspace.

mod report;

use std::{collections::BTreeSet, io, sync::Arc};

use self::report::CargoMessages;
use super::{
    Artefact, BuildError,
    folder::{GuestCrate, TARGET},
    freshness::Stamp,
    process::{self, BUILD_LIMIT, Output, ProcessError},
    progress::Progress,
    toolchain::Toolchain,
};

/// Flags that link guests with a stack of 256 KiB instead of 1 MiB, and with 128 KiB of heap to begin with.
///
/// The stack lies below data and heap. So what a call touches lies in the first half MiB of its memory, which a host's pool
/// keeps from call to call, and no call has to make its memory grow: both cost more than most executors' work.
///
/// Cargo ignores these flags, like the user's `build.rustflags`, where there are flags for the target. Flags of a build script come
/// later and win.
pub const LINKER_FLAGS: &str = "-Clink-arg=-zstack-size=262144 -Clink-arg=--initial-heap=131072";

pub(super) fn build_one(
    guest: GuestCrate,
    toolchain: &Toolchain,
    progress: &dyn Progress,
) -> Result<Artefact, BuildError> {
    let finished = guest.finished();
    build(&[guest], toolchain, progress).pop().unwrap_or(Ok(finished))
}

/// Builds guests that share a workspace; one that does not build does not keep the others from it.
pub(super) fn build(
    guests: &[GuestCrate],
    toolchain: &Toolchain,
    progress: &dyn Progress,
) -> Vec<Result<Artefact, BuildError>> {
    let Some(first) = guests.first() else { return Vec::new() };
    let names = guests.iter().map(|guest| guest.spec.as_str()).collect::<BTreeSet<_>>();
    progress.step(&format!("building {} for {TARGET}", names.into_iter().collect::<Vec<_>>().join(", ")));
    let stamp = match Stamp::now(&first.target_dir()) {
        Ok(stamp) => stamp,
        Err(source) => return fail_all(guests, &Arc::new(source), target_dir_error),
    };
    match run(guests, first, toolchain, progress) {
        Ok(output) => {
            let report = CargoMessages::read(&output.stdout);
            guests.iter().map(|guest| judge(guest, guests, &report, &output.stderr, &stamp)).collect()
        }
        Err(source) => fail_all(guests, &Arc::new(source), process_error),
    }
}

/// Runs cargo, and once more without `--locked` where the lock file lacks a new dependency: an author adds one and runs the
/// workflow, and should not have to update the lock file by hand.
fn run(
    guests: &[GuestCrate],
    first: &GuestCrate,
    toolchain: &Toolchain,
    progress: &dyn Progress,
) -> Result<Output, ProcessError> {
    let locked = first.root.join("Cargo.lock").is_file();
    let output = run_once(guests, first, toolchain, locked, progress)?;
    if !locked || output.status.success() || !output.stderr.contains("--locked") {
        return Ok(output);
    }
    progress.step("Cargo.lock lacks a dependency of a Cargo.toml: cargo adds it");
    run_once(guests, first, toolchain, false, progress)
}

fn run_once(
    guests: &[GuestCrate],
    first: &GuestCrate,
    toolchain: &Toolchain,
    locked: bool,
    progress: &dyn Progress,
) -> Result<Output, ProcessError> {
    let mut command = toolchain.cargo(&first.root);
    command.args(["build", "--release", "--lib", "--keep-going", "--target", TARGET]);
    command.args(["--message-format", "json", "--color", "never"]);
    command.arg("--target-dir").arg(first.target_dir());
    command.env("CARGO_BUILD_RUSTFLAGS", LINKER_FLAGS);
    command.args(locked.then_some("--locked"));
    let packages = guests.iter().map(|guest| guest.spec.as_str()).collect::<BTreeSet<_>>();
    command.args(packages.into_iter().flat_map(|package| ["-p", package]));
    process::capture(&mut command, BUILD_LIMIT, progress)
}

/// Cargo reports each finished artefact, those it found current too.
fn judge(
    guest: &GuestCrate,
    guests: &[GuestCrate],
    report: &CargoMessages,
    stderr: &str,
    stamp: &Stamp,
) -> Result<Artefact, BuildError> {
    if !report.artefacts.contains(&guest.artefact()) {
        let (package, folder) = (guest.package.clone(), guest.folder.clone());
        let others = guests.iter().filter(|other| other.folder != guest.folder).map(GuestCrate::manifest);
        let output = report.errors_except(&others.collect());
        // Errors outside a compiler are on standard error only.
        let output = if output.is_empty() { stderr.trim_end().to_owned() } else { output };
        return Err(BuildError::Cargo { package, folder, output });
    }
    stamp.put(guest).map_err(|source| target_dir_error(guest, Arc::new(source)))?;
    Ok(guest.finished())
}

fn fail_all<E>(
    guests: &[GuestCrate],
    source: &Arc<E>,
    error: fn(&GuestCrate, Arc<E>) -> BuildError,
) -> Vec<Result<Artefact, BuildError>> {
    guests.iter().map(|guest| Err(error(guest, Arc::clone(source)))).collect()
}

fn process_error(guest: &GuestCrate, source: Arc<ProcessError>) -> BuildError {
    BuildError::Process { package: guest.package.clone(), source }
}

fn target_dir_error(guest: &GuestCrate, source: Arc<io::Error>) -> BuildError {
    BuildError::TargetDir { package: guest.package.clone(), target_dir: guest.target_dir(), source }
}
