//! Plans by what their runs have in common, so that many runs of one document share one plan, and their store keeps it once.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use phasm_engine::{
    event::Basis,
    plan::Plan,
    value::{Map, Value},
};
use phasm_sandbox::Digest;

use crate::store::{Component, Document};

/// Number of unused plans that are kept, as long as their documents together stay below
const RECENT: usize = 32;
/// up to this many bytes.
const RECENT_BYTES: usize = 8 << 20;

/// The plans in use, and those that were last.
#[derive(Default)]
pub(crate) struct PlanCache(Mutex<CachedPlans>);

#[derive(Default)]
struct CachedPlans {
    /// By address, which is another plan's only once this one is forgotten here.
    documents: HashMap<usize, (Weak<Plan>, Arc<Document>)>,
    /// By the digest of what they were made of, see [`key`].
    plans: HashMap<Arc<str>, Weak<Plan>>,
    recent: VecDeque<(Arc<str>, usize, Arc<Plan>)>,
    /// At this size those that are gone are forgotten.
    sweep_at: usize,
}

impl PlanCache {
    /// The stored form of a plan; `components` is called the first time.
    pub(crate) fn document(
        &self,
        plan: &Arc<Plan>,
        components: impl FnOnce() -> Vec<Component>,
    ) -> Arc<Document> {
        let address = Arc::as_ptr(plan).addr();
        if let Some((_, document)) = self.known().documents.get(&address) {
            return Arc::clone(document);
        }
        // A plan is made of what was read from text, or could have been: this cannot fail.
        let bytes = serde_json::to_vec(&Basis::of(plan)).unwrap_or_default();
        let digest = Digest::of(&bytes).to_string().into();
        let document = Arc::new(Document { digest, bytes: bytes.into(), components: components() });
        let mut known = self.known();
        known.documents.insert(address, (Arc::downgrade(plan), Arc::clone(&document)));
        known.sweep();
        document
    }

    /// A plan that is known for the same document, or else this one from now on.
    pub(crate) fn share(&self, document: &Document, plan: &Arc<Plan>) -> Arc<Plan> {
        let mut known = self.known();
        let key = key(&document.digest, &plan.setting_values());
        let shared = known.plans.get(&key).and_then(Weak::upgrade);
        let shared = shared.unwrap_or_else(|| Arc::clone(plan));
        known.plans.insert(Arc::clone(&key), Arc::downgrade(&shared));
        known.touch(key, document.bytes.len(), &shared);
        known.sweep();
        shared
    }

    /// The plan of what has that digest, if it is known; of a document with settings that are expressions none is found.
    pub(crate) fn find(&self, digest: &str) -> Option<Arc<Plan>> {
        self.known().plans.get(digest).and_then(Weak::upgrade)
    }

    /// The plan of what has that digest, with these values of its settings that are expressions.
    pub(crate) fn find_bound(&self, digest: &Arc<str>, settings: &Map) -> Option<Arc<Plan>> {
        self.find(&key(digest, settings))
    }

    fn known(&self) -> MutexGuard<'_, CachedPlans> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedPlans {
    fn touch(&mut self, key: Arc<str>, bytes: usize, plan: &Arc<Plan>) {
        if self.recent.back().is_some_and(|(known, ..)| *known == key) {
            return;
        }
        self.recent.retain(|(known, ..)| *known != key);
        self.recent.push_back((key, bytes, Arc::clone(plan)));
        let too_much = |recent: &VecDeque<(Arc<str>, usize, Arc<Plan>)>| {
            let bytes: usize = recent.iter().map(|(_, bytes, _)| bytes).sum();
            recent.len() > RECENT || (recent.len() > 1 && bytes > RECENT_BYTES)
        };
        while too_much(&self.recent) {
            self.recent.pop_front();
        }
    }

    /// Each is looked at so often as their number doubles, which is twice on average.
    fn sweep(&mut self) {
        if self.documents.len() + self.plans.len() > self.sweep_at {
            self.documents.retain(|_, (plan, _)| plan.strong_count() > 0);
            self.plans.retain(|_, plan| plan.strong_count() > 0);
            self.sweep_at = ((self.documents.len() + self.plans.len()) * 2).max(64);
        }
    }
}

/// The digest of a document, and that of the values of its settings if it has expressions there.
fn key(digest: &Arc<str>, settings: &Map) -> Arc<str> {
    if settings.is_empty() {
        return Arc::clone(digest);
    }
    let settings = Digest::of(Value::from(settings.clone()).to_json().as_bytes());
    format!("{digest} {settings}").into()
}

#[cfg(test)]
mod tests {
    use phasm_engine::{
        plan::{Draft, Executors},
        tree::Tree,
    };

    use super::*;

    fn plan(name: &str) -> Arc<Plan> {
        let text = format!(
            r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "{name}"}}, "spec": {{
                "entrypoint": "main", "templates": [{{"task": {{"name": "main", "executor": {{"type": "echo"}}}}}}]}}}}"#
        );
        let draft = Draft::read(&Tree::from(&Value::from_json(&text).unwrap()));
        Arc::new(draft.plan(&Executors::any(), &Value::Null).unwrap())
    }

    /// Equal workflows have one digest and share one plan; others do not.
    #[test]
    fn plans_of_one_document_are_one() {
        let plans = PlanCache::default();
        let [one, again, other] = ["a", "a", "b"].map(plan);
        let documents = [&one, &again, &other].map(|plan| plans.document(plan, Vec::new));
        assert_eq!(documents[0], documents[1]);
        assert_ne!(documents[0].digest, documents[2].digest);
        assert!(plans.find(&documents[0].digest).is_none());
        let shared = plans.share(&documents[0], &one);
        assert!(Arc::ptr_eq(&plans.share(&documents[1], &again), &shared));
        assert!(Arc::ptr_eq(&plans.share(&documents[2], &other), &other));
        assert!(Arc::ptr_eq(&plans.find(&documents[0].digest).unwrap(), &one));
    }

    #[test]
    fn plans_that_nobody_uses_are_forgotten_but_the_last() {
        let plans = PlanCache::default();
        let mut digests = Vec::new();
        for number in 0..RECENT * 4 {
            let plan = plan(&format!("w{number}"));
            let document = plans.document(&plan, Vec::new);
            plans.share(&document, &plan);
            digests.push(Arc::clone(&document.digest));
        }
        let found = digests.iter().filter(|digest| plans.find(digest).is_some()).count();
        assert_eq!(found, RECENT);
        assert!(plans.known().documents.len() < RECENT * 4);
    }
}
