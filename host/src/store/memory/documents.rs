//! Documents of the runs in memory, each once.

use std::{collections::HashMap, sync::Arc};

use super::super::{Component, Document};

/// By digest, with how many runs speak of it, or documents name it.
#[derive(Default)]
pub(super) struct Documents {
    documents: HashMap<Arc<str>, SharedDocument>,
    components: HashMap<Arc<str>, (Arc<[u8]>, usize)>,
}

struct SharedDocument {
    /// Document, as it is loaded.
    document: Arc<Document>,
    components: Vec<Arc<str>>,
    runs: usize,
}

impl Documents {
    pub(super) fn component(&self, digest: &str) -> Option<Arc<[u8]>> {
        self.components.get(digest).map(|(bytes, _)| Arc::clone(bytes))
    }

    /// For one run more; returns it as it is loaded.
    pub(super) fn keep(&mut self, given: &Document) -> Arc<Document> {
        if let Some(known) = self.documents.get_mut(&given.digest) {
            known.runs += 1;
            return Arc::clone(&known.document);
        }
        let mut components = Vec::new();
        for Component { digest, bytes } in &given.components {
            if !components.contains(digest) {
                self.components.entry(Arc::clone(digest)).or_insert_with(|| (Arc::clone(bytes), 0)).1 += 1;
                components.push(Arc::clone(digest));
            }
        }
        let (digest, bytes) = (Arc::clone(&given.digest), Arc::clone(&given.bytes));
        let document = Arc::new(Document { digest, bytes, components: Vec::new() });
        let known = SharedDocument { document: Arc::clone(&document), components, runs: 1 };
        self.documents.insert(Arc::clone(&given.digest), known);
        document
    }

    /// For one run less.
    pub(super) fn forget(&mut self, digest: &str) {
        let Some(known) = self.documents.get_mut(digest) else { return };
        known.runs -= 1;
        if known.runs > 0 {
            return;
        }
        let components = self.documents.remove(digest).map(|known| known.components);
        for component in components.into_iter().flatten() {
            let left = self.components.get_mut(&component).map(|(_, documents)| {
                *documents -= 1;
                *documents
            });
            if left == Some(0) {
                self.components.remove(&component);
            }
        }
    }
}
