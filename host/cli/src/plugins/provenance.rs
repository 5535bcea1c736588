//! Paths of the configuration and the plugins that a run was submitted with. They are the defaults when it is resumed.

use std::path::{Path, PathBuf};

use phasm::{journal, store::ReadStore};
use serde::{Deserialize, Serialize};

use super::dirs;
use crate::{
    ownership,
    paths::PathArguments,
    terminal::{screen::Screen, text},
};

/// Paths that are recorded with a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Provenance {
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<PathBuf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plugins: Vec<PathBuf>,
}

impl Provenance {
    /// Returns the record of this configuration and these plugin directories; none if the defaults would find the same.
    pub(crate) fn of(paths: &PathArguments, dirs: &[PathBuf]) -> Option<String> {
        let config = paths.config().and_then(|file| std::fs::canonicalize(file).ok());
        let usual = dirs::usual_dirs();
        let plugins = dirs.iter().filter(|dir| !usual.contains(dir)).cloned().collect();
        let origin = Self { config, plugins };
        (origin != Self::default()).then(|| serde_json::to_string(&origin).ok()).flatten()
    }

    /// Returns the record of a run; none if it has none, or if it cannot be read.
    async fn recorded(reader: &dyn ReadStore, run_id: &str) -> Option<Self> {
        let records = reader.load(run_id).await.ok()?;
        serde_json::from_str(&journal::origin(&records)?).ok()
    }
}

/// Completes the paths that were given by those the run was submitted with. Remembered paths are used only if they still exist and
/// no other user could have written there. Each one that is used is reported.
pub(crate) async fn remembered(
    paths: &PathArguments,
    reader: &dyn ReadStore,
    run_id: &str,
    screen: &Screen,
) -> PathArguments {
    let is_complete = paths.config().is_some() && !paths.plugins().is_empty();
    if is_complete {
        return paths.clone();
    }
    let origin = Provenance::recorded(reader, run_id).await.unwrap_or_default();
    let config = origin.config.filter(|file| paths.config().is_none() && is_own(file));
    let plugins: Vec<_> = match paths.plugins().is_empty() {
        true => origin.plugins.into_iter().filter(|dir| is_own(dir)).collect(),
        false => Vec::new(),
    };
    for path in config.iter().chain(&plugins) {
        let path = path.to_string_lossy().into_owned();
        screen.err(&format!("{}\n", text::dim(format_args!("as it was submitted: {}", text::clean(&path)))));
    }
    paths.or(config, plugins)
}

/// Whether a path belongs to this user and no other user can write there. A store that was made by another user must not name what
/// is built or granted.
fn is_own(path: &Path) -> bool {
    path.exists() && ownership::doubt(path).is_none()
}
