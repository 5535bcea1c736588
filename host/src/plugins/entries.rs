//! Every plugin of a host, in the order that they are searched, before anything of it is read.

use std::{
    cmp::Ordering,
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    ComponentSource, InspectError, PluginRow, PluginVersion, PluginView, Plugins, Source,
    library::{FileMark, Library, higher, mark},
    library_admin::all_keys,
    shadows,
    source::Builder,
};
use crate::plugins::trust::PluginTrust;
use phasm_sandbox::Grants;

/// One of them.
#[derive(Clone)]
pub struct PluginEntry {
    name: Arc<str>,
    tenant: Option<Arc<str>>,
    place: usize,
    source: Source,
    /// The library's entry of the plugin, and the library.
    stored: Option<(PluginVersion, Library)>,
    shadowed: bool,
    grants: Grants,
    builder: Option<Arc<dyn Builder>>,
}

impl Plugins {
    /// All of them, or what is a tenant's alone.
    pub(crate) fn entries(&self, tenant: Option<&Arc<str>>) -> Vec<PluginEntry> {
        let installation = self.read();
        let is_wanted = |place: usize| tenant.is_none() || place <= installation.own;
        let entry = |name: Arc<str>, place, source, stored, grants| {
            let (tenant, builder) = (tenant.cloned(), self.means.builder.clone());
            PluginEntry { name, tenant, place, source, stored, shadowed: false, grants, builder }
        };
        let lying = installation.named.values().flatten().filter(|plugin| plugin.stored.is_none());
        let lying = lying.filter(|plugin| is_wanted(plugin.place)).map(|plugin| {
            let grants = Grants::clone(&plugin.grants);
            entry(Arc::clone(&plugin.name), plugin.place, plugin.source.clone(), None, grants)
        });
        let shelves = installation.shelves.iter().filter(|shelf| is_wanted(shelf.place));
        let shelved = shelves.flat_map(|shelf| shelf.named.iter().map(move |stored| (shelf, stored)));
        let shelved = shelved.map(|(shelf, stored)| {
            let source = Source::File(shelf.library.path(&stored.digest));
            let there = Some((stored.clone(), shelf.library.clone()));
            entry(stored.name.as_str().into(), shelf.place, source, there, shelf.granted(&stored.name))
        });
        let mut all: Vec<_> = lying.chain(shelved).collect();
        all.sort_by(PluginEntry::order);
        shade(&mut all);
        all
    }
}

/// Says of each whether another of its name comes before.
fn shade(all: &mut [PluginEntry]) {
    let mut before: HashMap<Arc<str>, bool> = HashMap::new();
    for entry in all {
        let known = before.get(&entry.name).map(|is_held| (&*entry.name, *is_held));
        entry.shadowed = shadows(known.into_iter(), &entry.name, entry.stored());
        let all_held = before.entry(Arc::clone(&entry.name)).or_insert(true);
        *all_held &= entry.stored.as_ref().is_some_and(|(stored, _)| !stored.held.is_empty());
    }
}

impl PluginEntry {
    /// The name that workflow files use.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tenant that the plugin belongs to; none for a shared plugin.
    #[must_use]
    pub fn tenant(&self) -> Option<&Arc<str>> {
        self.tenant.as_ref()
    }

    /// The library's entry of the plugin.
    #[must_use]
    pub fn stored(&self) -> Option<&PluginVersion> {
        self.stored.as_ref().map(|(stored, _)| stored)
    }

    fn version(&self) -> &str {
        self.stored().map_or("", |stored| stored.version.as_str())
    }

    /// Where in the order it is, which is what tells it from others of its list.
    #[must_use]
    pub fn cursor(&self) -> String {
        let Self { tenant, place, name, .. } = self;
        let tenant = tenant.as_deref().unwrap_or_default().replace('/', "%2F");
        format!("{tenant}/{place}/{}/{name}", self.version())
    }

    fn order(&self, other: &Self) -> Ordering {
        let named = |one: &Self| (one.tenant.clone(), one.place, Arc::clone(&one.name));
        named(self).cmp(&named(other)).then_with(|| higher(self.version(), other.version()))
    }

    /// Whether a text could be a [cursor](Self::cursor).
    #[must_use]
    pub fn is_cursor(text: &str) -> bool {
        ReadCursor::read(text).is_some()
    }

    /// Whether it comes behind what a cursor says; nothing if that is none.
    #[must_use]
    pub fn is_behind(&self, cursor: &str) -> Option<bool> {
        let ReadCursor { tenant, place, version, name } = ReadCursor::read(cursor)?;
        let own = (self.tenant.as_deref().unwrap_or_default(), self.place, &*self.name);
        let order = own.cmp(&(tenant.as_str(), place, name)).then_with(|| higher(self.version(), version));
        Some(order.is_gt())
    }

    fn fresh(&self, folder: &Path) -> Option<PathBuf> {
        self.builder.as_ref()?.fresh(folder)
    }

    /// The row of a list. Reads files.
    #[must_use]
    pub fn row(&self, trusts: &[PluginTrust], known: &Rows) -> PluginRow {
        let row = known.row(self, || match &self.stored {
            Some((stored, library)) => PluginRow::of_library(library, stored.clone(), &all_keys(trusts)),
            None => PluginRow::of_source(self.name.to_string(), &self.source, |folder| self.fresh(folder)),
        });
        let tenant = self.tenant.as_deref().map(str::to_owned);
        PluginRow { shadowed: self.shadowed, tenant, ..row.with_grants(Some(&self.grants)) }
    }

    /// The detailed view. Reads files.
    ///
    /// # Errors
    /// The reason why the plugin cannot be inspected.
    pub fn view(&self, trusts: &[PluginTrust]) -> Result<PluginView, InspectError> {
        let unbuilt =
            || format!("plugin `{}` is there as source that is not built, or not up to date", self.name);
        let component = match &self.source {
            Source::Bytes(bytes) => ComponentSource::Bytes(Arc::clone(bytes)),
            Source::File(path) => ComponentSource::File(path.clone()),
            Source::Folder(folder) => ComponentSource::File(self.fresh(folder).ok_or_else(unbuilt)?),
        };
        let keys = all_keys(trusts);
        let view = PluginView::of(&self.name, &component, self.stored(), &keys, trusts, Some(&self.grants))?;
        let tenant = self.tenant.as_deref();
        let to_grant = view.to_grant.map(|to_grant| to_grant.of_tenant(tenant));
        Ok(PluginView { tenant: tenant.map(str::to_owned), to_grant, ..view })
    }
}

/// Rows that were made before, of files that are as they were.
#[derive(Default)]
pub struct Rows(Mutex<HashMap<PathBuf, (Marks, PluginRow)>>);

/// Marks of a component and of the two files that may lie next to it.
type Marks = [Option<FileMark>; 3];

/// Rows that are remembered.
const MAX_KNOWN_VERSIONS: usize = 10_000;

impl Rows {
    fn row(&self, entry: &PluginEntry, read: impl FnOnce() -> PluginRow) -> PluginRow {
        let Source::File(path) = &entry.source else { return read() };
        let marks = [mark(path), mark(&path.with_extension("toml")), mark(&path.with_extension("json"))];
        let all = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(known, row): &&(Marks, PluginRow)| {
            *known == marks && row.name == *entry.name && row.stored.as_ref() == entry.stored()
        };
        if let Some((_, row)) = all().get(path).filter(is_it) {
            return row.clone();
        }
        let row = read();
        let mut known = all();
        if known.len() >= MAX_KNOWN_VERSIONS {
            known.clear();
        }
        known.insert(path.clone(), (marks, row.clone()));
        row
    }
}
/// The parts of a cursor.
struct ReadCursor<'c> {
    tenant: String,
    place: usize,
    version: &'c str,
    name: &'c str,
}

impl<'c> ReadCursor<'c> {
    fn read(cursor: &'c str) -> Option<Self> {
        let mut parts = cursor.splitn(4, '/');
        let (tenant, place) = (parts.next()?.replace("%2F", "/"), parts.next()?);
        let (version, name) = (parts.next()?, parts.next()?);
        let is_number = place.len() <= 9 && place.bytes().all(|byte| byte.is_ascii_digit());
        let place = place.parse().ok().filter(|_| is_number && !cursor.contains('\0'))?;
        Some(Self { tenant, place, version, name })
    }
}
