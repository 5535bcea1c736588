//! Submissions under an idempotency key that a run has already.

use std::sync::Arc;

use phasm_engine::{
    event::{Event, Rerun, SubmissionRecord},
    json_text::JsonText,
    plan::Plan,
    run::Step,
    value::Map,
};

use super::SubmitError;
use crate::{
    journal,
    store::{ReadStore, StoreError},
};

/// The parts of a submission that a repetition must share.
pub(crate) struct RequestIdentity {
    document: JsonText,
    parameters: Arc<Map>,
    rerun: Option<Arc<Rerun>>,
}

impl RequestIdentity {
    pub(crate) fn new(plan: &Plan, parameters: &Arc<Map>) -> Self {
        Self { document: plan.document.clone(), parameters: Arc::clone(parameters), rerun: None }
    }

    /// Returns the identity of the submission that a run's first step records.
    pub(crate) fn of(plan: &Plan, step: &Step) -> Option<Self> {
        let Some(Event::Submitted(submitted)) = step.events.first() else { return None };
        Some(Self { rerun: submitted.rerun.clone(), ..Self::new(plan, &submitted.parameters) })
    }

    /// Returns the error of a submission that the store has refused with `error` (R-A104): [`SubmitError::KeyUsed`] if another run
    /// has the key and was not submitted in the same way. A submission without a key has no `identity`.
    pub(crate) async fn explain(
        identity: Option<Self>,
        store: &dyn ReadStore,
        error: StoreError,
    ) -> SubmitError {
        let (StoreError::Exists { run_id }, Some(identity)) = (&error, identity) else { return error.into() };
        let records = match store.load(run_id).await {
            Ok(records) => records,
            Err(error) => return error.into(),
        };
        // A run whose journal is damaged cannot be compared, so its outputs are not handed out for another's.
        let difference = match journal::submission(run_id, &records) {
            Ok(first) => identity.difference(&first),
            Err(error) => Some(format!("{error}, so the submissions cannot be compared")),
        };
        match difference {
            None => error.into(),
            Some(difference) => SubmitError::KeyUsed { run_id: Arc::clone(run_id), difference },
        }
    }

    /// Returns the first difference, without values: they may be confidential.
    fn difference(&self, first: &SubmissionRecord) -> Option<String> {
        if self.document != first.document {
            return Some("it was submitted with another workflow file".to_owned());
        }
        let names = self.parameters.keys().chain(first.parameters.keys());
        let mut names: Vec<_> =
            names.filter(|name| self.parameters.get(*name) != first.parameters.get(*name)).collect();
        names.sort_unstable();
        names.dedup();
        if !names.is_empty() {
            let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
            return Some(format!("it was submitted with other parameters: {}", names.join(", ")));
        }
        (self.rerun != first.rerun)
            .then(|| "one of them is a rerun and the other is not the same one".to_owned())
    }
}
