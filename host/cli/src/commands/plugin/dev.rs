//! `phasm plugin dev`.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

use super::{
    call::{self, CallArguments},
    conformance, inspect,
};
use crate::{
    drive::runtime,
    exit::Exit,
    failure::{ContextError, Failure},
    paths,
    terminal::{screen::Screen, signals::Interrupts, text},
    trace::LogLevel,
};

/// Files are read once nothing was written for so long: an editor writes several at once.
const QUIET: Duration = Duration::from_millis(150);
/// Directories of a project that are watched at most.
const MAX_DIRECTORIES: usize = 2000;
/// Directories that tools write to, besides those whose names begin with a dot.
const WRITTEN_BY_TOOLS: [&str; 5] = ["target", "node_modules", "__pycache__", "build", "dist"];

/// Builds a plugin and calls it, and again whenever a file of its folder is saved, until Ctrl-C.
///
/// A component that other tools build is called whenever they have built it. Inputs and settings are given as for `plugin call`. `--test` makes the checks of `plugin test` instead of the call.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm plugin dev ./greet --input name=Ada\n  phasm plugin dev ./greet --test"
)]
pub(crate) struct DevArguments {
    #[command(flatten)]
    call: CallArguments,

    /// Test the plugin instead of calling it.
    #[arg(long, conflicts_with_all = ["input", "inputs", "setting", "resume"])]
    test: bool,
}

/// Builds and calls a plugin again and again.
pub(super) fn dev(arguments: &DevArguments, log_level: LogLevel, screen: &Screen) -> Result<Exit, Failure> {
    let DevArguments { call, test } = arguments;
    let watched = inspect::place(call.plugin(), call.paths(), screen)?;
    let runtime = runtime()?;
    // Before the first build, so that no change is missed.
    let mut changes = FolderWatch::new(&watched).map_err(|error| unwatchable(&watched, error))?;
    let mut interrupts = runtime.block_on(async { Interrupts::listen() }).map_err(Failure::host)?;
    loop {
        let ended = if *test {
            conformance::test_at(call.plugin(), call.paths(), screen)
        } else {
            call::call(call, log_level, screen)
        };
        match ended {
            Ok(exit @ (Exit::Interrupted | Exit::Terminated)) => return Ok(exit),
            Ok(_) => {}
            Err(failure) => drop(failure.report(screen)),
        }
        let shown = text::clean(&watched.to_string_lossy()).into_owned();
        screen.err(&text::dim(format!("\nwaiting for a change in {shown}; Ctrl-C ends\n")));
        let signal = runtime.block_on(async {
            tokio::select! {
                told = changes.next() => told.map(|()| None),
                signal = interrupts.next() => Ok(Some(signal.told)),
            }
        });
        if let Some(signal) = signal.map_err(|error| unwatchable(&watched, error))? {
            return Ok(signal.exit());
        }
    }
}

fn unwatchable(path: &Path, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Failure {
    Failure::host(ContextError::new(format!("{} cannot be watched", path.display()), error))
}

/// Changes of the files of a project, without those that its tools write.
struct FolderWatch {
    folder: PathBuf,
    /// Name of a component and the files beside it, without their endings: only those are watched.
    component: Option<OsString>,
    watcher: RecommendedWatcher,
    watched: Vec<PathBuf>,
    changes: mpsc::UnboundedReceiver<notify::Result<Event>>,
}

impl FolderWatch {
    fn new(path: &Path) -> notify::Result<Self> {
        let (sender, changes) = mpsc::unbounded_channel();
        let watcher = notify::recommended_watcher(move |event| {
            // The receiver is gone at the end of the process only.
            let _gone = sender.send(event);
        })?;
        let (folder, component) = if path.is_dir() {
            (path.to_owned(), None)
        } else {
            (paths::folder_of(path).to_owned(), path.file_stem().map(OsStr::to_owned))
        };
        let mut watch = Self { folder, component, watcher, watched: Vec::new(), changes };
        watch.add_directories()?;
        Ok(watch)
    }

    /// Waits until files were changed, and nothing was for a moment after that.
    async fn next(&mut self) -> notify::Result<()> {
        while let Some(event) = self.changes.recv().await {
            if !self.is_change(&event?) {
                continue;
            }
            while let Ok(Some(event)) = tokio::time::timeout(QUIET, self.changes.recv()).await {
                event?;
            }
            return self.add_directories();
        }
        Ok(())
    }

    /// Watches each directory by itself: those of tools may have thousands below them.
    fn add_directories(&mut self) -> notify::Result<()> {
        let directories = match self.component {
            Some(_) => vec![self.folder.clone()],
            None => directories(&self.folder)?,
        };
        for directory in directories {
            if !self.watched.contains(&directory) {
                self.watcher.watch(&directory, RecursiveMode::NonRecursive)?;
                self.watched.push(directory);
            }
        }
        Ok(())
    }

    fn is_change(&self, event: &Event) -> bool {
        let is_watched = |path: &PathBuf| match &self.component {
            Some(name) => path.file_stem() == Some(name),
            None => is_written_by_people(path, &self.folder),
        };
        !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(is_watched)
    }
}

/// Whether a file in a project is not one that tools write.
fn is_written_by_people(path: &Path, folder: &Path) -> bool {
    let within = path.strip_prefix(folder).unwrap_or(path);
    !within.components().any(|part| is_written_by_tools(part.as_os_str()))
}

fn is_written_by_tools(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') || name.ends_with(".wasm") || WRITTEN_BY_TOOLS.contains(&&*name)
}

/// Returns the directories of a project, without those that its tools write.
fn directories(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![folder.to_owned()];
    let mut next = 0;
    while let Some(directory) = found.get(next).cloned() {
        next += 1;
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let is_directory = entry.file_type()?.is_dir() && !is_written_by_tools(&entry.file_name());
            if is_directory && found.len() < MAX_DIRECTORIES {
                found.push(entry.path());
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_write_is_no_change() {
        let folder = Path::new("/work/.hidden/greet");
        let is_change = |path: &str| is_written_by_people(&folder.join(path), folder);
        assert!(is_change("src/lib.rs") && is_change("greet.py"));
        for path in ["target/x", ".git/index", "src/__pycache__/a.pyc", "node_modules/a/b.js", "greet.wasm"] {
            assert!(!is_change(path), "{path}");
        }
    }
}
