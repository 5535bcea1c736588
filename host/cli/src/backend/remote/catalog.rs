//! Requests to a server about schedules and saved workflows.

use phasm::{
    catalog::{self, CatalogItem, SavedWorkflow, ScheduleState},
    engine::{
        plan::{Draft, Executors},
        time::Timestamp,
        value::Value,
    },
    store::CatalogKind,
};
use phasm_server::client::{DocumentText, RemoteError};

use super::{
    super::{CatalogBackend, SavedRun, ScheduleOutcome, SubmitOutcome, TriggerOutcome, wait},
    RemoteBackend, id_of, problem_of,
};
use crate::{
    failure::Failure,
    input::{
        document::Text,
        names::{QualifiedName, no_schedule, no_workflow, not_found},
        parameters::ParameterArgument,
    },
    problems::{self, Source},
    submission::{self, DocumentArgument},
};

impl CatalogBackend for RemoteBackend<'_> {
    fn put_schedule(&self, document: &DocumentArgument) -> Result<ScheduleOutcome, Failure> {
        wait(async {
            let (text, draft) = document.for_server(self.screen, self.json)?;
            let namespace = draft.namespace().unwrap_or_default();
            let cron = text.cron(draft, self.screen, self.json)?;
            let before =
                catalog::schedule(&self.remote, &namespace, &cron.name).await.map_err(Failure::host)?;
            let name = QualifiedName::new(&namespace, &cron.name);
            let kept = self.remote.put(CatalogKind::Schedules, name.pair(), document_text(&text)).await;
            let schedule = kept.map_err(|error| self.refused(text.source(), error))?;
            Ok(ScheduleOutcome { schedule, is_new: before.is_none(), hint: None })
        })
    }

    fn set_suspended(
        &self,
        name: &QualifiedName,
        is_suspended: bool,
    ) -> Result<CatalogItem<ScheduleState>, Failure> {
        wait(async {
            match self.remote.pause(name.pair(), is_suspended).await {
                Err(RemoteError::Refused { status: 404, .. }) => Err(no_schedule(name, &self.remote).await),
                paused => paused.map_err(Failure::server),
            }
        })
    }

    fn next_times(&self, name: &QualifiedName, count: usize) -> Result<Vec<Timestamp>, Failure> {
        wait(async {
            match self.remote.next_instants(name.pair(), count).await {
                Err(RemoteError::Refused { status: 404, .. }) => Err(no_schedule(name, &self.remote).await),
                instants => instants.map_err(Failure::server),
            }
        })
    }

    fn trigger(
        &self,
        name: &QualifiedName,
        given: &[ParameterArgument],
        allow_missing: bool,
        key: Option<&str>,
    ) -> Result<TriggerOutcome, Failure> {
        wait(async {
            submission::no_missing(allow_missing)?;
            match self.remote.trigger(name.pair(), &ParameterArgument::pairs(given)?, key).await {
                Ok(said) => Ok(TriggerOutcome {
                    run_id: id_of(&said),
                    is_new: said.get("isNew") != Some(&false.into()),
                    hint: None,
                }),
                Err(RemoteError::Refused { status: 404, .. }) => Err(no_schedule(name, &self.remote).await),
                Err(error) => Err(refused_parameters(self, name, error)),
            }
        })
    }

    fn save_workflow(&self, document: &DocumentArgument) -> Result<CatalogItem<SavedWorkflow>, Failure> {
        wait(async {
            let (text, draft) = document.for_server(self.screen, self.json)?;
            self.check_no_schedule(&text, &draft)?;
            let namespace = draft.namespace().unwrap_or_default();
            let name = match draft.name() {
                Some(name) => QualifiedName::new(&namespace, &name),
                None => return Err(nameless(self, &text, draft)),
            };
            let kept = self.remote.put(CatalogKind::Workflows, name.pair(), document_text(&text)).await;
            kept.map_err(|error| self.refused(text.source(), error))
        })
    }

    fn submit_saved(&self, run: SavedRun<'_>) -> Result<SubmitOutcome, Failure> {
        wait(async {
            let SavedRun { name, digest, parameters: given, key } = run;
            let saved = catalog::saved_workflow(&self.remote, &name.namespace, &name.name).await;
            let Some(saved) = saved.map_err(Failure::host)? else {
                return Err(no_workflow(name, &self.remote).await);
            };
            if saved.what.version(digest).is_none() {
                return Err(name.no_version());
            }
            let asked = self.remote.run(name.pair(), digest, &ParameterArgument::pairs(given)?, key).await;
            asked.map(|said| self.outcome(&said)).map_err(|error| refused_parameters(self, name, error))
        })
    }

    fn remove(&self, shelf: CatalogKind, name: &QualifiedName) -> Result<(), Failure> {
        wait(async {
            match self.remote.remove(shelf, name.pair()).await.map_err(Failure::server)? {
                true => Ok(()),
                false => Err(not_found(shelf, name, &self.remote).await),
            }
        })
    }
}

/// Returns a document as it is sent to a server.
fn document_text(text: &Text) -> DocumentText<'_> {
    DocumentText { file: &text.name, text: &text.text }
}

/// A document without a name has problems.
fn nameless(server: &RemoteBackend<'_>, text: &Text, draft: Draft) -> Failure {
    let found = draft.plan(&Executors::any(), &Value::Null).err().unwrap_or_default();
    problems::refuse(server.screen, text.source(), &found, server.json)
}

/// Shows errors in parameters, which have no place in a document that is here.
fn refused_parameters(server: &RemoteBackend<'_>, name: &QualifiedName, error: RemoteError) -> Failure {
    match &error {
        RemoteError::Refused { problems, .. } if !problems.is_empty() => {
            let (name, found) = (name.word(), problems.iter().map(|told| problem_of("", told)));
            let source = Source { name: &name, text: "" };
            problems::refuse(server.screen, source, &found.collect::<Vec<_>>(), server.json)
        }
        RemoteError::Refused { .. } | RemoteError::Unreached { .. } => Failure::server(error),
    }
}
