//! Libraries of a running host. A library that has changed is read again before a workflow is planned, so that changes by this
//! process, another one, or another machine with the same files need no notification and no polling.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use super::{
    Installation, Library, LibraryError, PluginVersion, Plugins,
    library::{FileMark, LibraryContents},
    plugin::Plugin,
    source::Source,
};
use phasm_sandbox::{Digest, Grants};

/// A library as a host has it.
pub(super) struct LibraryPlace {
    pub(super) library: Library,
    grants: BTreeMap<String, Grants>,
    pub(super) place: usize,
    mark: Option<FileMark>,
    /// All that is in it, also what is not used,
    pub(super) named: Vec<PluginVersion>,
    /// and what no name stands for any more.
    unnamed: Vec<PluginVersion>,
}

impl LibraryPlace {
    /// All versions.
    pub(super) fn all(&self) -> impl Iterator<Item = &PluginVersion> {
        self.named.iter().chain(&self.unnamed)
    }

    pub(super) fn granted(&self, name: &str) -> Grants {
        self.grants.get(name).cloned().unwrap_or_default()
    }

    fn find(&self, digest: &Digest) -> Option<(PathBuf, PluginVersion)> {
        let found = self.all().find(|stored| stored.digest == *digest)?;
        Some((self.library.path(digest), found.clone()))
    }
}

impl Installation {
    pub(super) fn new_place(&mut self) -> usize {
        self.places += 1;
        self.places
    }

    /// Takes everything of a place away.
    fn clear(&mut self, place: usize) -> Vec<Arc<Plugin>> {
        let all = self
            .named
            .values_mut()
            .flat_map(|plugins| plugins.extract_if(.., |plugin| plugin.place == place));
        let taken = all.collect();
        self.named.retain(|_, plugins| !plugins.is_empty());
        self.found.clear();
        taken
    }

    /// Behind all of earlier places, and what is there already of its own.
    fn insert(&mut self, plugin: Arc<Plugin>) {
        let plugins = self.named.entry(Arc::clone(&plugin.name)).or_default();
        let at = plugins.partition_point(|known| known.place <= plugin.place);
        plugins.insert(at, plugin);
    }
}

impl Plugins {
    /// Registers the approved versions of a library, each with its plugin's entry in `grants`. Later changes of the library apply
    /// to workflows that are planned after them.
    ///
    /// # Errors
    /// When the library cannot be read.
    pub fn add_library(
        &self,
        library: &Library,
        grants: &BTreeMap<String, Grants>,
    ) -> Result<(), LibraryError> {
        let holding = library.holding()?;
        let mut installation = self.write();
        let place = installation.new_place();
        let at = installation.shelves.len();
        installation.shelves.push(LibraryPlace {
            library: library.clone(),
            grants: grants.clone(),
            place,
            mark: None,
            named: Vec::new(),
            unnamed: Vec::new(),
        });
        drop(installation);
        self.put_up(at, holding);
        Ok(())
    }

    /// All places so far are one tenant's alone.
    pub(crate) fn end_of_own(&self) {
        let mut installation = self.write();
        installation.own = installation.places;
    }

    /// Whether there is one of that name, held or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        let installation = self.read();
        let mut shelved = installation.shelves.iter().flat_map(|shelf| &shelf.named);
        installation.named.contains_key(name) || shelved.any(|stored| stored.name == name)
    }

    /// The library's entry of these bytes.
    pub(super) fn shelved(&self, digest: &str) -> Option<(PathBuf, PluginVersion)> {
        let digest: Digest = digest.parse().ok()?;
        self.read().shelves.iter().find_map(|shelf| shelf.find(&digest))
    }

    /// Has what libraries hold at this moment be what is found.
    pub(crate) async fn look_again(&self) {
        let changed = self.changed_libraries();
        if changed.is_empty() {
            return;
        }
        let plugins = self.clone();
        let look = move || changed.iter().for_each(|(at, library)| plugins.look_at(*at, library));
        if let Err(error) = self.sandbox.guest_runtime().spawn_blocking(look).await {
            tracing::error!(%error, "libraries of plugins were not looked at");
        }
    }

    fn changed_libraries(&self) -> Vec<(usize, Library)> {
        let shelves = |shelf: &LibraryPlace| (shelf.library.clone(), shelf.mark);
        let all: Vec<_> = self.read().shelves.iter().map(shelves).collect();
        let changed = all.into_iter().enumerate().filter(|(_, (library, mark))| library.mark() != *mark);
        changed.map(|(at, (library, _))| (at, library)).collect()
    }

    fn look_at(&self, at: usize, library: &Library) {
        match library.holding() {
            Ok(holding) => self.put_up(at, holding),
            Err(error) => {
                let (error, library) = (&error as &dyn std::error::Error, library.dir().display());
                tracing::warn!(error, %library, "a library cannot be read; its earlier content is still used");
            }
        }
    }

    /// Replaces the contents of a library. Versions that stay are not read again.
    fn put_up(&self, at: usize, holding: LibraryContents) {
        let mut installation = self.write();
        let Some(shelf) = installation.shelves.get_mut(at) else { return };
        (shelf.mark, shelf.unnamed) = (holding.mark, holding.unnamed);
        shelf.named = holding.all;
        let (place, library, grants) = (shelf.place, shelf.library.clone(), shelf.grants.clone());
        let offered: Vec<_> = shelf.named.iter().filter(|stored| stored.held.is_empty()).cloned().collect();
        let before = installation.clear(place).into_iter();
        let before: BTreeMap<_, _> =
            before.filter_map(|plugin| Some((key(plugin.stored.as_ref()?), plugin))).collect();
        for stored in offered {
            let known = before.get(&key(&stored)).filter(|plugin| plugin.stored.as_ref() == Some(&stored));
            let plugin = known.cloned().unwrap_or_else(|| {
                let name = stored.name.as_str().into();
                let granted = grants.get(&stored.name).cloned().unwrap_or_default();
                let source = Source::File(library.path(&stored.digest));
                Arc::new(self.plugin(&name, source, granted).of(stored).at(place))
            });
            installation.insert(plugin);
        }
        installation.changed.send_replace(());
    }
}

fn key(stored: &PluginVersion) -> (String, String) {
    (stored.name.clone(), stored.version.clone())
}
