//! Runs of a store that this process opens, or that another process on this machine has open.

mod catalog;

use phasm::{
    RecoverError, Rerun, RerunError, RunRequest, SubmitError,
    engine::run::Run,
    store::{StoreError, view::SubmittedView},
};

#[cfg(unix)]
use super::live_request;
use super::{Backend, LocalRun, RerunRequest, Response, SubmitOutcome, request, wait};
use crate::{
    command_line::Target,
    drive::{self, ActiveRun, ActiveRuns, Answers, DriveOptions, LineReporter},
    exit::Exit,
    failure::Failure,
    input::parameters,
    paths::PathArguments,
    problems::{self, Source},
    store::local_user::{local_options, local_user},
    store::{argument::StoreArgument, runs, writable::WritableStore},
    submission::{KNOWN_KEY, ReadySubmission, Submission},
    terminal::{screen::Screen, text},
};

/// A store on this machine, or a database.
pub(crate) struct LocalBackend<'a> {
    pub(crate) store: &'a StoreArgument,
    /// Plugins and configuration of what is submitted.
    pub(crate) paths: &'a PathArguments,
    pub(crate) json: bool,
    pub(crate) screen: &'a Screen,
}

impl Backend for LocalBackend<'_> {
    fn submit(&self, submission: &Submission, key: Option<&str>) -> Result<SubmitOutcome, Failure> {
        wait(async {
            let path = self.store.named()?;
            let read = submission.read(self.paths, self.screen, self.json)?;
            let ReadySubmission { planned, given } = read.check(self.paths, Some(&path)).await?;
            let writable = WritableStore::open(&path)?;
            let submitted = planned
                .planning
                .planner
                .enqueue(&*writable.store, &planned.plan, &given, &local_options(key))
                .await;
            let hint = writable.tell(&path, &planned.source.target).await;
            let (run_id, is_new) = match submitted {
                Ok(run_id) => (run_id, true),
                Err(SubmitError::Store(StoreError::Exists { run_id })) => (run_id, false),
                Err(error) => return Err(planned.source.refused(&planned.plan, error)),
            };
            let view = SubmittedView { run_id: &run_id, workflow: &planned.plan.name, is_new };
            let json = problems::json(self.screen, &view);
            Ok(SubmitOutcome { run_id, is_new, json, hint })
        })
    }

    fn respond(&self, run: &str, response: &Response<'_>, then: LocalRun<'_>) -> Result<Exit, Failure> {
        let Response { task, payload, command, is_checked } = response;
        let target = then.arguments.target(&self.store.path()?);
        self.request(run, command.done(), then, |run| {
            let task = runs::waiting_task(run, *task, *command)?;
            self.screen.err(&runs::question(run, task));
            if *is_checked {
                runs::check_values(run, task, payload, *command, &target)?;
            }
            Ok(RunRequest::Resume { task: run.task_run_id(task), payload: payload.clone() })
        })
    }

    fn cancel(&self, run: &str, task: Option<&str>, then: LocalRun<'_>) -> Result<Exit, Failure> {
        self.request(run, "cancelled", then, |run| match task {
            None => Ok(RunRequest::Cancel),
            Some(name) => {
                let is_open = runs::is_open;
                let task = runs::task(run, name, "not cancelled", "open", is_open)?;
                Ok(RunRequest::CancelTask { task: run.task_run_id(task) })
            }
        })
    }

    fn rerun(&self, run: &str, rerun: RerunRequest<'_>, then: LocalRun<'_>) -> Result<Exit, Failure> {
        let options = DriveOptions::new(then.arguments, Some(&self.store.path()?), then.log_level);
        drive::drive(&options, self.screen, self.start_rerun(run, rerun, then))
    }
}

impl LocalBackend<'_> {
    /// Sends a request to the process that has the run, if there is one. Otherwise records it and runs the run on here.
    fn request(
        &self,
        meant: &str,
        word: &str,
        then: LocalRun<'_>,
        request: impl Fn(&Run) -> Result<RunRequest, Failure>,
    ) -> Result<Exit, Failure> {
        let LocalRun { arguments, answers, log_level } = then;
        let options = DriveOptions::new(arguments, Some(&self.store.path()?), log_level);
        #[cfg(unix)]
        if let Some(exit) =
            wait(live_request::ask(meant, self.store, arguments.json, self.screen, word, &request))?
        {
            return Ok(exit);
        }
        let answers = Answers::new(answers);
        let start = request::ask(meant, self.store, arguments, self.screen, answers, word, request);
        drive::drive(&options, self.screen, start)
    }

    async fn start_rerun(
        &self,
        run: &str,
        RerunRequest { from_failed, parameters, key }: RerunRequest<'_>,
        LocalRun { arguments, answers, .. }: LocalRun<'_>,
    ) -> Result<ActiveRuns, Failure> {
        let screen = self.screen;
        let target = arguments.target(&self.store.path()?);
        let (reader, run_id) = self.store.find(run).await?;
        let prepared = self.store.host_for(&reader, &run_id, arguments, screen).await?;
        let earlier = runs::replay(&prepared, &run_id, &target).await?;
        let plan = earlier.plan();
        prepared.environment.build_unpinned([&**plan].into_iter()).await;
        let rerun = Rerun {
            from_failed,
            parameters: parameters::all(parameters, None, plan)?,
            by: Some(local_user()),
        };
        prepared.environment.create_dirs()?;
        let refused = |error| refused(error, &plan.name, &target, screen, arguments.json);
        let new = prepared.host.rerun(&run_id, &rerun).await.map_err(refused)?.key(key);
        let watch = new.watch();
        let runs = match new.start().await {
            Ok(handle) => {
                screen.err(&format!("{}: rerun of {run_id}\n", text::dim(handle.id())));
                vec![ActiveRun { handle, watch, plain: LineReporter::default() }]
            }
            Err(SubmitError::Store(StoreError::Exists { run_id })) => {
                screen.err(KNOWN_KEY);
                // Nothing is run, so that the id is all there is to print.
                let _closed = screen.out(&format!("{run_id}\n"));
                Vec::new()
            }
            Err(error) => return Err(refused(error.into())),
        };
        Ok(ActiveRuns { prepared, runs, answers: Answers::new(answers), exit: Exit::Done })
    }
}

fn refused(error: RerunError, workflow: &str, target: &Target, screen: &Screen, as_json: bool) -> Failure {
    match error {
        RerunError::Submit(SubmitError::Problems(found)) => {
            problems::refuse(screen, Source { name: workflow, text: "" }, &found, as_json)
        }
        RerunError::Recover(RecoverError::Missing { .. }) => Failure::call(format!(
            "{error}; nothing was recorded. Name the configuration that it was submitted with (`--config`) and its plugins \
             (`--plugins`)"
        )),
        RerunError::Recover(error) => runs::unavailable(error, target),
        RerunError::Open { .. }
        | RerunError::TooLarge { .. }
        | RerunError::Submit(
            SubmitError::Quota(_) | SubmitError::Artifact(_) | SubmitError::KeyUsed { .. },
        ) => Failure::call(error),
        RerunError::Submit(_) => Failure::host(error),
    }
}
