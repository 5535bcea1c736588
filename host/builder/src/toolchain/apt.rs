//! Apt, as a source of files: nothing is installed and root is not needed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::{
    super::{
        environment::command_in,
        process::{self, ProcessError},
        progress::Progress,
    },
    error::MakeError,
    packages::{COMPILER, Package, parse_madison, parse_simulation, source_name},
};

const DOWNLOAD_LIMIT: Duration = Duration::from_secs(30 * 60);
/// An archive that does not answer gives way to the next step.
const NETWORK: [&str; 7] = [
    // Run by root, apt would work as a user of its own without access to our folders.
    "-oAPT::Sandbox::User=",
    "-oAcquire::http::Timeout=30",
    "-oAcquire::https::Timeout=30",
    "-oAcquire::Retries=2",
    "-oAcquire::Languages=none",
    "-oAcquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false",
    "-oAcquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
];

/// Apt over one set of package lists.
pub(super) struct Apt {
    options: Vec<String>,
    work: PathBuf,
    /// Errors of the refresh of the lists.
    pub(super) complaints: String,
}

impl Apt {
    /// Returns apt over the system's own lists, which may be absent or out of date.
    pub(super) fn with_system_lists(work: &Path) -> Self {
        Self { options: Vec::new(), work: work.to_path_buf(), complaints: String::new() }
    }

    /// Returns apt over lists that it fetches into `work/name`: from the system's sources, or from `source`, a line of a `sources.list`.
    ///
    /// # Errors
    /// [`MakeError`].
    pub(super) fn with_fresh_lists(
        work: &Path,
        name: &str,
        source: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Self, MakeError> {
        let state = work.join(name);
        for dir in ["lists/partial", "cache/archives/partial"] {
            let dir = state.join(dir);
            fs::create_dir_all(&dir).map_err(MakeError::at(&dir))?;
        }
        let mut options = vec![
            format!("-oDir::State::Lists={}", state.join("lists").display()),
            format!("-oDir::Cache={}", state.join("cache").display()),
        ];
        if let Some(source) = source {
            let list = state.join("sources.list");
            fs::write(&list, format!("{source}\n")).map_err(MakeError::at(&list))?;
            options.push(format!("-oDir::Etc::SourceList={}", list.display()));
            options.push("-oDir::Etc::SourceParts=/dev/null".to_owned());
        }
        let mut apt = Self { options, work: work.to_path_buf(), complaints: String::new() };
        let mut update = apt.command("apt-get");
        let output = process::capture(update.args(NETWORK).arg("update"), DOWNLOAD_LIMIT, progress)?;
        // One source that fails must not spoil the others; whether enough is there shows soon.
        apt.complaints = output.stderr.trim_end().to_owned();
        Ok(apt)
    }

    /// Returns every version of every Rust compiler, and of the packages with their sources.
    ///
    /// # Errors
    /// [`ProcessError`].
    pub(super) fn rust_packages(&self) -> Result<Vec<Package>, ProcessError> {
        let compilers = process::query(self.command("apt-cache").args(["pkgnames", COMPILER]))?;
        let names = compilers.lines().flat_map(|compiler| [compiler.to_owned(), source_name(compiler)]);
        self.versions(&names.collect::<Vec<_>>())
    }

    /// Returns every version of the named packages, those of one name newest first.
    ///
    /// # Errors
    /// [`ProcessError`].
    pub(super) fn versions(&self, names: &[String]) -> Result<Vec<Package>, ProcessError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        Ok(parse_madison(&process::query(self.command("apt-cache").arg("madison").args(names))?))
    }

    /// Downloads packages, and those they need that the system lacks, into `dir`.
    ///
    /// # Errors
    /// [`MakeError`].
    pub(super) fn download(
        &self,
        packages: &[&Package],
        dir: &Path,
        progress: &dyn Progress,
    ) -> Result<(), MakeError> {
        fs::create_dir_all(dir).map_err(MakeError::at(dir))?;
        let names = packages.iter().map(|package| package.name.as_str()).collect::<Vec<_>>();
        let mut simulate = self.command("apt-get");
        simulate.args(["--simulate", "--no-install-recommends", "--reinstall", "install"]);
        simulate.args(packages.iter().map(|package| package.exactly()));
        let needed = parse_simulation(&process::query(&mut simulate)?, &names);
        let mut download = self.command("apt-get");
        download.current_dir(dir).args(NETWORK).args(["--quiet", "download"]).args(needed);
        process::run(&mut download, DOWNLOAD_LIMIT, progress)?;
        Ok(())
    }

    fn command(&self, program: &str) -> Command {
        let mut command = command_in(&self.work, program);
        // Its output is parsed by `packages`.
        command.env("LC_ALL", "C").args(&self.options);
        command
    }
}
