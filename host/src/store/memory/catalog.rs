//! Catalog entries in memory: saved workflows and schedules.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::super::{CatalogEntry, Change, DuePlace, EntryName, EntryQuery, StoreError};

#[derive(Default)]
pub(super) struct CatalogTable {
    entries: BTreeMap<EntryName, EntryTexts>,
    due: BTreeSet<DuePlace>,
    /// By digest, with how many entries name it.
    texts: HashMap<Arc<str>, (Arc<[u8]>, usize)>,
    last_revision: u64,
}

struct EntryTexts {
    entry: CatalogEntry,
    /// With the size of each.
    texts: BTreeMap<Arc<str>, u64>,
}

impl CatalogTable {
    pub(super) fn entry(&self, name: &EntryName) -> Option<CatalogEntry> {
        self.entries.get(name).map(|shelved| shelved.entry.clone())
    }

    pub(super) fn entries(&self, wanted: &EntryQuery) -> Vec<CatalogEntry> {
        let EntryQuery { shelf, namespace, after, limit } = wanted;
        let fits = |name: &EntryName| {
            let behind =
                |(namespace, own): &(Arc<str>, Arc<str>)| (&name.namespace, &name.name) > (namespace, own);
            name.shelf == *shelf
                && namespace.as_ref().is_none_or(|namespace| *namespace == name.namespace)
                && after.as_ref().is_none_or(behind)
        };
        let all = self.entries.iter().filter(|(name, _)| fits(name));
        all.map(|(_, shelved)| shelved.entry.clone()).take(*limit).collect()
    }

    pub(super) fn due(&self, after: Option<&DuePlace>, limit: usize) -> Vec<CatalogEntry> {
        let behind = self.due.iter().filter(|place| after.is_none_or(|after| *place > after));
        behind.take(limit).filter_map(|(_, name)| self.entry(name)).collect()
    }

    pub(super) fn text(&self, digest: &str) -> Option<Arc<[u8]>> {
        self.texts.get(digest).map(|(bytes, _)| Arc::clone(bytes))
    }

    /// Whether the entry is as it was when the change was made.
    pub(super) fn check(&self, change: &Change) -> Result<(), StoreError> {
        let found = self.entries.get(&change.name).map_or(0, |shelved| shelved.entry.revision);
        if found != change.from {
            return Err(change.moved());
        }
        if change.texts.is_none() {
            return Ok(());
        }
        let Change { name, .. } = change;
        let is_other = |other: &EntryName| {
            other.shelf == name.shelf && other.namespace == name.namespace && other != name
        };
        let others = || self.entries.iter().filter(|(other, _)| is_other(other));
        let bytes = others().flat_map(|(_, shelved)| shelved.texts.values()).sum();
        change.check_room(others().count() as u64, bytes)
    }

    /// A change that was checked does not fail.
    pub(super) fn change(&mut self, change: &Change) -> u64 {
        self.last_revision += 1;
        let Change { name, from: _, due, body, texts } = change;
        let entry = CatalogEntry {
            damaged: false,
            name: name.clone(),
            revision: self.last_revision,
            due: *due,
            body: Arc::clone(body),
        };
        let before = self.entries.remove(name);
        if let Some(due) = before.as_ref().and_then(|before| before.entry.due) {
            self.due.remove(&(due, name.clone()));
        }
        self.due.extend(due.map(|due| (due, name.clone())));
        let named = before.map(|before| before.texts).unwrap_or_default();
        let now = match texts {
            None => named,
            Some(texts) => {
                for text in texts {
                    self.name(&text.digest, text.bytes.as_ref());
                }
                named.keys().for_each(|digest| self.unname(digest));
                texts.iter().map(|text| (Arc::clone(&text.digest), text.size)).collect()
            }
        };
        self.entries.insert(name.clone(), EntryTexts { entry, texts: now });
        self.last_revision
    }

    pub(super) fn remove(&mut self, name: &EntryName) -> bool {
        let Some(EntryTexts { entry, texts }) = self.entries.remove(name) else { return false };
        if let Some(due) = entry.due {
            self.due.remove(&(due, name.clone()));
        }
        texts.keys().for_each(|digest| self.unname(digest));
        true
    }

    /// The first of several with one digest is stored.
    fn name(&mut self, digest: &Arc<str>, bytes: Option<&Arc<[u8]>>) {
        match (self.texts.get_mut(digest), bytes) {
            (Some((_, named)), _) => *named += 1,
            (None, Some(bytes)) => {
                self.texts.insert(Arc::clone(digest), (Arc::clone(bytes), 1));
            }
            (None, None) => {}
        }
    }

    fn unname(&mut self, digest: &str) {
        if let Some((_, named)) = self.texts.get_mut(digest) {
            *named -= 1;
            if *named == 0 {
                self.texts.remove(digest);
            }
        }
    }
}
