//! Schedules and saved workflows of a store.

use phasm::{
    Map, SubmitError, TriggerError, TriggerReceipt, TriggerRequest,
    catalog::{self, CatalogItem, SaveError, SavedWorkflow, ScheduleState, WrittenDocument},
    clock::Clock,
    engine::{plan::Draft, time::Timestamp},
    reader,
    store::{CatalogKind, StoreError, view::SubmittedView},
};

use super::{
    super::{CatalogBackend, SavedRun, ScheduleOutcome, SubmitOutcome, TriggerOutcome, wait},
    LocalBackend,
};
use crate::{
    command_line::Target,
    drive::{self, LoadedConfig, Purpose},
    failure::Failure,
    input::{
        names::{QualifiedName, no_workflow, not_found, refused},
        parameters::{self, ParameterArgument},
    },
    problems::{self, Source},
    store::local_user::{local_options, local_user},
    store::writable::WritableStore,
    submission::{self, DocumentArgument},
    terminal::text,
};

impl CatalogBackend for LocalBackend<'_> {
    fn put_schedule(&self, document: &DocumentArgument) -> Result<ScheduleOutcome, Failure> {
        wait(async {
            let path = self.store.named()?;
            let opened = document.open(self.paths, self.screen, self.json)?;
            let planned = opened.plan(self.paths, Some(&path)).await?;
            let writable = WritableStore::open(&path)?;
            let store = &*writable.store;
            let plan = &planned.plan;
            let name = plan.cron.as_ref().map(|cron| cron.name.clone()).unwrap_or_default();
            let before = catalog::schedule(store, &plan.namespace, &name).await.map_err(Failure::host)?;
            let written =
                WrittenDocument { file: &planned.source.text.name, text: &planned.source.text.text };
            let schedule = match planned
                .planning
                .planner
                .put_schedule(store, plan, written, Some(local_user().as_str()))
                .await
            {
                Ok(schedule) => schedule,
                Err(SaveError::Problems(found)) => return Err(planned.source.refuse(&found)),
                Err(error) => return Err(refused(error, store).await),
            };
            let hint = writable.tell(&path, &planned.source.target).await;
            Ok(ScheduleOutcome { schedule, is_new: before.is_none(), hint })
        })
    }

    fn set_suspended(
        &self,
        name: &QualifiedName,
        is_suspended: bool,
    ) -> Result<CatalogItem<ScheduleState>, Failure> {
        wait(async {
            let path = self.store.path()?;
            let writable = WritableStore::open(&path)?;
            let store = &*writable.store;
            let QualifiedName { namespace, name } = name;
            let changed = match is_suspended {
                true => catalog::suspend_schedule(store, namespace, name).await,
                false => catalog::resume_schedule(store, namespace, name, Clock::start().now()).await,
            };
            let schedule = match changed {
                Ok(schedule) => schedule,
                Err(error) => return Err(refused(error, store).await),
            };
            let _hint = writable.tell(&path, &Target::to(&path)).await;
            Ok(schedule)
        })
    }

    fn next_times(&self, name: &QualifiedName, count: usize) -> Result<Vec<Timestamp>, Failure> {
        wait(async {
            let reader = self.store.read()?;
            let now = Clock::start().now();
            match catalog::next_instants(&*reader, &name.namespace, &name.name, now, count).await {
                Ok(times) => Ok(times),
                Err(error) => Err(refused(error, &*reader).await),
            }
        })
    }

    fn trigger(
        &self,
        name: &QualifiedName,
        parameters: &[ParameterArgument],
        allow_missing: bool,
        key: Option<&str>,
    ) -> Result<TriggerOutcome, Failure> {
        wait(async {
            let path = self.store.path()?;
            let configured = LoadedConfig::read(self.paths, self.screen, self.json)?;
            let purpose = Purpose { allow_missing, ..Purpose::default() };
            let planning = drive::open(self.paths, configured, self.screen, purpose)?;
            let target = Target::to(&path).with(self.paths);
            let writable = WritableStore::open(&path)?;
            let store = &*writable.store;
            let found = catalog::schedule(store, &name.namespace, &name.name).await.map_err(Failure::host)?;
            let mut given = Map::new();
            if let Some(found) = &found {
                let text = catalog::saved_text(store, &found.what.document.digest).await;
                self.warn_of_variables(&text.ok().flatten().unwrap_or_default());
            }
            // A document that cannot be read is reported when the run is started, below.
            if let Some(found) = &found
                && let Ok(draft) = catalog::schedule_document(store, found).await
            {
                // The run is planned when it is started, below.
                planning.build(&draft).await;
                let texts = ParameterArgument::pairs(parameters)?;
                given = match catalog::given_parameters(store, found, texts).await {
                    Ok(given) => given,
                    Err(error) => return Err(refused(error, store).await),
                };
            }
            let request = TriggerRequest {
                namespace: &name.namespace,
                name: &name.name,
                parameters: &given,
                options: local_options(key),
            };
            match planning.planner.trigger(store, request).await {
                Ok(TriggerReceipt { run_id, is_new, warnings }) => {
                    let source = Source { name: &name.word(), text: "" };
                    problems::show_warnings(self.screen, source, &warnings);
                    let hint = writable.tell(&path, &target).await;
                    Ok(TriggerOutcome { run_id, is_new, hint })
                }
                Err(TriggerError::Saved(error)) => Err(refused(error, store).await),
                Err(TriggerError::Submit(SubmitError::Problems(found))) => {
                    let source = Source { name: &name.word(), text: "" };
                    Err(problems::refuse(self.screen, source, &found, self.json))
                }
                Err(TriggerError::Submit(SubmitError::Store(error))) => Err(Failure::host(error)),
                Err(error) => Err(Failure::call(error)),
            }
        })
    }

    fn save_workflow(&self, document: &DocumentArgument) -> Result<CatalogItem<SavedWorkflow>, Failure> {
        wait(async {
            let path = self.store.named()?;
            let opened = document.open(self.paths, self.screen, self.json)?;
            let planned = opened.plan(self.paths, Some(&path)).await?;
            if let Some(cron) = &planned.plan.cron {
                return Err(submission::is_no_workflow(
                    &cron.name,
                    &planned.source.text,
                    &planned.source.target,
                ));
            }
            let writable = WritableStore::open(&path)?;
            let store = &*writable.store;
            let written =
                WrittenDocument { file: &planned.source.text.name, text: &planned.source.text.text };
            let now = Clock::start().now();
            match catalog::save_workflow(store, &planned.plan, written, Some(local_user().as_str()), now)
                .await
            {
                Ok(saved) => Ok(saved),
                Err(SaveError::Problems(found)) => Err(planned.source.refuse(&found)),
                Err(error) => Err(refused(error, store).await),
            }
        })
    }

    fn submit_saved(&self, run: SavedRun<'_>) -> Result<SubmitOutcome, Failure> {
        wait(async {
            let SavedRun { name, digest, parameters, key } = run;
            let path = self.store.path()?;
            let configured = LoadedConfig::read(self.paths, self.screen, self.json)?;
            let planning = drive::open(self.paths, configured, self.screen, Purpose::default())?;
            let target = Target::to(&path).with(self.paths);
            let writable = WritableStore::open(&path)?;
            let store = &*writable.store;
            let found =
                catalog::saved_workflow(store, &name.namespace, &name.name).await.map_err(Failure::host)?;
            let Some(found) = found else { return Err(no_workflow(name, store).await) };
            let Some(version) = found.what.version(digest) else { return Err(name.no_version()) };
            let text =
                catalog::saved_text(store, &version.digest).await.map_err(Failure::host)?.unwrap_or_default();
            let source = Source { name: &version.file, text: &text };
            self.warn_of_variables(&text);
            let refuse = |found: &[phasm::Problem]| problems::refuse(self.screen, source, found, self.json);
            let tree = reader::read(&version.file, &text).map_err(|found| refuse(&found))?;
            let plan = planning.plan(Draft::read(&tree)).await.map_err(|found| refuse(&found))?;
            problems::show_warnings(self.screen, source, &plan.warnings);
            let given = parameters::all(parameters, None, &plan)?;
            let (run_id, is_new) =
                match planning.planner.enqueue(store, &plan, &given, &local_options(key)).await {
                    Ok(run_id) => (run_id, true),
                    Err(SubmitError::Store(StoreError::Exists { run_id })) => (run_id, false),
                    Err(SubmitError::Problems(found)) => return Err(refuse(&found)),
                    Err(error) => return Err(Failure::call(error)),
                };
            let view = SubmittedView { run_id: &run_id, workflow: &plan.name, is_new };
            let json = problems::json(self.screen, &view);
            let hint = writable.tell(&path, &target).await;
            Ok(SubmitOutcome { run_id, is_new, json, hint })
        })
    }

    fn remove(&self, shelf: CatalogKind, name: &QualifiedName) -> Result<(), Failure> {
        wait(async {
            let path = self.store.path()?;
            let writable = WritableStore::open(&path)?;
            let store = &*writable.store;
            let removed = match shelf {
                CatalogKind::Schedules => catalog::remove_schedule(store, &name.namespace, &name.name).await,
                CatalogKind::Workflows => catalog::remove_workflow(store, &name.namespace, &name.name).await,
            };
            if !removed.map_err(Failure::host)? {
                return Err(not_found(shelf, name, store).await);
            }
            let _hint = writable.tell(&path, &Target::to(&path)).await;
            Ok(())
        })
    }
}

impl LocalBackend<'_> {
    /// Warns where a saved workflow reads variables of a configuration, and none is named: each would be null.
    fn warn_of_variables(&self, workflow: &str) {
        let reads = ["vars.", "vars["].iter().any(|read| workflow.contains(read));
        if reads && self.paths.config().is_none() {
            self.screen.err(&format!(
                "{} no configuration is named, so that `vars` is null in this run; name it with --config or PHASM_CONFIG\n",
                text::doubtful("warning:")
            ));
        }
    }
}
