//! Builds plugins and says what it does.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use phasm::plugins::Builder;
use phasm_builder::{Artefact, BuildError, Progress};

use super::super::{
    screen::{Lines, Screen},
    text,
};

/// Builds each plugin folder once, several of one workspace in one go.
pub(crate) struct Workshop {
    screen: Screen,
    built: Mutex<BTreeMap<PathBuf, Result<PathBuf, String>>>,
}

impl Workshop {
    pub(crate) fn new(screen: &Screen) -> Self {
        Self { screen: screen.clone(), built: Mutex::default() }
    }

    /// Brings folders up to date.
    pub(crate) fn bring_up_to_date(&self, folders: &[PathBuf]) {
        let artefacts = phasm_builder::bring_up_to_date(folders, &Told::new(&self.screen));
        let results =
            artefacts.into_iter().map(|built| built.map(|a| a.wasm).map_err(|error| error.to_string()));
        self.built
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(folders.iter().cloned().zip(results));
    }

    fn known(&self, folder: &Path) -> Option<Result<PathBuf, String>> {
        self.built.lock().unwrap_or_else(PoisonError::into_inner).get(folder).cloned()
    }
}

impl Builder for Workshop {
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
pub(super) fn build(folders: &[PathBuf], screen: &Screen) -> Vec<Result<Artefact, BuildError>> {
    phasm_builder::build_plugins(folders, &Told::new(screen))
}

/// Tells steps as lines of stderr, and signs of life below them where that can be drawn over.
struct Told {
    screen: Screen,
    lines: RefCell<Lines>,
}

impl Told {
    fn new(screen: &Screen) -> Self {
        Self { screen: screen.clone(), lines: RefCell::new(screen.lines()) }
    }
}

impl Progress for Told {
    fn step(&self, text: &str) {
        self.lines.borrow_mut().draw(&[]);
        self.screen.err(&format!("{}\n", text::clean(text)));
    }

    fn detail(&self, text: &str) {
        self.lines.borrow_mut().draw(&[text::dim(format_args!("  {}", text::clean(text)))]);
    }
}
