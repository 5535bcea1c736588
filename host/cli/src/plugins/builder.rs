//! Builds plugins and says what it does.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use phasm::plugins::Builder;
use phasm_builder::{Artefact, Progress};

use crate::{
    command_line, ownership,
    terminal::{
        screen::{Lines, Screen},
        text,
    },
};

/// Builds each plugin folder once, several of one workspace in one go.
pub(crate) struct PluginBuilder {
    screen: Screen,
    /// Where folders are that may be built; everywhere, if nothing is said.
    within: Option<Vec<PathBuf>>,
    built: Mutex<BTreeMap<PathBuf, Result<PathBuf, String>>>,
}

impl PluginBuilder {
    pub(crate) fn new(screen: &Screen) -> Self {
        Self { screen: screen.clone(), within: None, built: Mutex::default() }
    }

    /// The same, building only folders right in these directories; of others it knows what was built before.
    pub(crate) fn only_in(self, dirs: Vec<PathBuf>) -> Self {
        Self { within: Some(dirs), ..self }
    }

    /// Brings folders up to date.
    pub(crate) fn bring_up_to_date(&self, folders: &[PathBuf]) {
        let (mut allowed, mut results) = (Vec::new(), Vec::new());
        for folder in folders.iter().cloned() {
            match self.refusal(&folder) {
                None => allowed.push(folder),
                Some(why) => results.push((folder.clone(), self.fresh(&folder).ok_or(why))),
            }
        }
        let artefacts =
            phasm_builder::bring_up_to_date(&allowed, &BuildReporter::new(&self.screen)).into_iter();
        let artefacts = artefacts.map(|built| built.map(|a| a.wasm).map_err(|error| error.to_string()));
        results.extend(allowed.into_iter().zip(artefacts));
        self.built.lock().unwrap_or_else(PoisonError::into_inner).extend(results);
    }

    /// Why a folder is not built: a build runs what it, and what cargo reads above it, says.
    fn refusal(&self, folder: &Path) -> Option<String> {
        let is_within = |dirs: &Vec<PathBuf>| dirs.iter().any(|dir| folder.parent() == Some(dir));
        if self.within.as_ref().is_none_or(is_within) {
            return unsafe_above(folder);
        }
        let build = command_line::command(&["plugin", "build", &folder.to_string_lossy()]);
        Some(format!(
            "{} is a plugin's source that is not built, or not up to date; outside of a checkout nothing is built that was \
             not named: {build}; or name the folder around it: --plugins {}",
            folder.display(),
            command_line::word(&folder.with_file_name("").to_string_lossy())
        ))
    }

    fn known(&self, folder: &Path) -> Option<Result<PathBuf, String>> {
        self.built.lock().unwrap_or_else(PoisonError::into_inner).get(folder).cloned()
    }
}

impl Builder for PluginBuilder {
    fn artefact(&self, folder: &Path) -> Result<PathBuf, String> {
        if let Some(known) = self.known(folder) {
            return known;
        }
        self.bring_up_to_date(&[folder.to_owned()]);
        self.known(folder).unwrap_or_else(|| Err(format!("{} was not built", folder.display())))
    }

    fn fresh(&self, folder: &Path) -> Option<PathBuf> {
        phasm_builder::artefact_if_fresh(folder)
    }
}

/// Builds folders whether or not they seem up to date.
pub(crate) fn build(folders: &[PathBuf], screen: &Screen) -> Vec<Result<Artefact, String>> {
    let (mut allowed, mut results) = (Vec::new(), Vec::new());
    for folder in folders {
        match unsafe_above(folder) {
            None => allowed.push(folder),
            Some(why) => results.push(Err(why)),
        }
    }
    let built = phasm_builder::build_plugins(&allowed, &BuildReporter::new(screen)).into_iter();
    results.extend(built.map(|built| built.map_err(|error| error.to_string())));
    results
}

/// Reason for not building anything below: its tools would read a file of another user.
fn unsafe_above(folder: &Path) -> Option<String> {
    let planted = ownership::planted(folder)?;
    Some(format!(
        "{} is not built: its tools would read files of the folders above it, and {planted}",
        folder.display()
    ))
}

/// Tells steps as lines of stderr, and signs of life below them where that can be drawn over.
struct BuildReporter {
    screen: Screen,
    lines: RefCell<Lines>,
}

impl BuildReporter {
    fn new(screen: &Screen) -> Self {
        Self { screen: screen.clone(), lines: RefCell::new(screen.lines()) }
    }
}

impl Progress for BuildReporter {
    fn step(&self, text: &str) {
        self.lines.borrow_mut().draw(&[]);
        self.screen.err(&format!("{}\n", text::clean(text)));
    }

    fn detail(&self, text: &str) {
        self.lines.borrow_mut().draw(&[text::dim(format_args!("  {}", text::clean(text)))]);
    }
}
