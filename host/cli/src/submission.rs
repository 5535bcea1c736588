//! A document and its parameters, as `run` and `submit` take them.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use phasm::{
    Plan, SubmitError,
    artifacts::ArtifactPlace,
    engine::{
        plan::Draft,
        problem::{Problem, Problems},
        value::Map,
    },
};

use crate::{
    command_line::Target,
    drive::{self, LoadedConfig, PlannerContext, Purpose},
    failure::Failure,
    input::{
        document::Text,
        files,
        names::QualifiedName,
        parameters::{self, FileArgument, ParameterArgument},
    },
    paths::{self, PathArguments},
    problems,
    terminal::{screen::Screen, text},
};

/// Line for stderr after a submission that repeats an earlier one under its idempotency key.
pub(crate) const KNOWN_KEY: &str = "a run with this key had been submitted before; nothing was changed\n";

/// A document, and how strictly it is taken.
#[derive(Args, Clone, Debug)]
pub(super) struct DocumentArgument {
    /// The workflow file, JSON or YAML; `-` is stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Continue although an executor is not installed or cannot be used; its attempts end with code 3.
    #[arg(long)]
    allow_missing: bool,
}

/// A document and the parameters of a run.
#[derive(Args, Clone, Debug)]
pub(super) struct Submission {
    #[command(flatten)]
    document: DocumentArgument,

    /// A value for a parameter of the workflow: text if the parameter is declared a string; else JSON if it is valid,
    /// else text. `NAME=@FILE` stores a file as an artifact of the run; `NAME=@@TEXT` is a text that begins with `@`.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameters::given)]
    param: Vec<ParameterArgument>,

    /// Values for parameters, an object in JSON or YAML; `-p` wins over it.
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
}

/// A document that was read, and the configuration that it is planned with.
pub(super) struct OpenDocument<'a> {
    configured: LoadedConfig,
    allow_missing: bool,
    text: Text,
    draft: Draft,
    screen: &'a Screen,
    as_json: bool,
}

/// A workflow that is sound, and a planner with everything that the workflow names.
pub(super) struct PlannedWorkflow<'a> {
    pub(super) planning: PlannerContext,
    pub(super) plan: Arc<Plan>,
    pub(super) source: WorkflowSource<'a>,
}

/// The file that a workflow was read from, for messages about it.
pub(super) struct WorkflowSource<'a> {
    pub(super) text: Text,
    pub(super) target: Target,
    screen: &'a Screen,
    as_json: bool,
}

/// A submission whose document has been read.
pub(super) struct UnplannedSubmission<'a> {
    submission: &'a Submission,
    opened: OpenDocument<'a>,
}

/// A submission without errors, and the planner for it.
pub(super) struct ReadySubmission<'a> {
    pub(super) planned: PlannedWorkflow<'a>,
    pub(super) given: Map,
}

impl DocumentArgument {
    /// The document for a server that plans it: read, and without problems that need no plugins to be seen.
    ///
    /// # Errors
    /// When it has problems, which have been shown; or for what a server does not do.
    pub(super) fn for_server(&self, screen: &Screen, as_json: bool) -> Result<(Text, Draft), Failure> {
        no_missing(self.allow_missing)?;
        let text = Text::read(&self.file).map_err(|unread| unread.refuse(screen, as_json))?;
        let draft = text.draft().map_err(|found| refuse(&text, screen, as_json, found.as_ref()))?;
        Ok((text, draft))
    }

    /// Reads the document and the configuration.
    ///
    /// # Errors
    /// When one of them has problems, which have been shown.
    pub(super) fn open<'a>(
        &self,
        paths: &PathArguments,
        screen: &'a Screen,
        as_json: bool,
    ) -> Result<OpenDocument<'a>, Failure> {
        let text = Text::read(&self.file).map_err(|unread| unread.refuse(screen, as_json))?;
        let configured = LoadedConfig::read(paths, screen, as_json)?;
        let draft = text.draft().map_err(|found| refuse(&text, screen, as_json, found.as_ref()))?;
        Ok(OpenDocument { configured, allow_missing: self.allow_missing, text, draft, screen, as_json })
    }
}

impl<'a> OpenDocument<'a> {
    /// Opens a host with everything the document names. `store` is where it is to be kept.
    ///
    /// # Errors
    /// When the document has problems, which have been shown.
    pub(super) async fn plan(
        self,
        paths: &PathArguments,
        store: Option<&Path>,
    ) -> Result<PlannedWorkflow<'a>, Failure> {
        let Self { configured, allow_missing, text, draft, screen, as_json } = self;
        let max_parallelism = draft.max_parallelism();
        let purpose = Purpose { dir: text.dir(), allow_missing, max_parallelism, ..Purpose::default() };
        let planning = drive::open(paths, configured, screen, purpose)?;
        let found =
            |found: Problems| refuse(&text, screen, as_json, &problems::with_places(&found, text.dir()));
        let plan = planning.plan(draft).await.map_err(found)?;
        problems::show_warnings(screen, text.source(), &plan.warnings);
        let target = store.map_or_else(Target::unnamed, Target::to).with(paths);
        Ok(PlannedWorkflow { planning, plan, source: WorkflowSource { text, target, screen, as_json } })
    }
}

impl WorkflowSource<'_> {
    /// Shows the problems that keep it from being done.
    pub(super) fn refuse(&self, found: &[Problem]) -> Failure {
        refuse(&self.text, self.screen, self.as_json, found)
    }
}

impl Submission {
    /// The document for a server, as of [`DocumentArgument::for_server`].
    ///
    /// # Errors
    /// Same as there.
    pub(super) fn for_server(&self, screen: &Screen, as_json: bool) -> Result<(Text, Draft), Failure> {
        self.document.for_server(screen, as_json)
    }

    /// The values of `-p`, and the files.
    pub(super) fn given(&self) -> (Vec<ParameterArgument>, Vec<FileArgument>) {
        ParameterArgument::split(&self.param)
    }

    /// The values of `--params`.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(super) fn parameters_in_file(&self) -> Result<Map, Failure> {
        self.params.as_deref().map(parameters::from_file).transpose().map(Option::unwrap_or_default)
    }

    /// Reads the document and the configuration.
    ///
    /// # Errors
    /// When one of them has problems, which have been shown.
    pub(super) fn read<'a>(
        &'a self,
        paths: &PathArguments,
        screen: &'a Screen,
        as_json: bool,
    ) -> Result<UnplannedSubmission<'a>, Failure> {
        Ok(UnplannedSubmission { submission: self, opened: self.document.open(paths, screen, as_json)? })
    }
}

impl<'a> UnplannedSubmission<'a> {
    /// Opens a host with everything the document names, and checks the parameters. Nothing is stored. `store` is where it would be.
    ///
    /// # Errors
    /// When the document or the parameters have problems, which have been shown.
    pub(super) async fn check(
        self,
        paths: &PathArguments,
        store: Option<&Path>,
    ) -> Result<ReadySubmission<'a>, Failure> {
        let Self { submission, opened } = self;
        let planned = opened.plan(paths, store).await?;
        let (texts, files) = submission.given();
        let mut given = parameters::all(&texts, submission.params.as_deref(), &planned.plan)?;
        let artifacts = planned.planning.planner.artifacts();
        artifacts.set_place(store.and_then(paths::artifacts_beside).unwrap_or(ArtifactPlace::Temporary));
        given.extend(files::stored(&files, artifacts, &planned.plan.namespace).await?);
        let checked = planned.planning.planner.check(&planned.plan, &given);
        checked.map_err(|error| planned.source.refused(&planned.plan, error))?;
        Ok(ReadySubmission { planned, given })
    }
}

impl WorkflowSource<'_> {
    /// The failure of a submission.
    pub(super) fn refused(&self, plan: &Plan, error: SubmitError) -> Failure {
        match error {
            SubmitError::Problems(found) => self.refuse(&found),
            SubmitError::Cron => self.is_schedule(plan),
            SubmitError::Quota(_) | SubmitError::Artifact(_) | SubmitError::KeyUsed { .. } => {
                Failure::call(error)
            }
            SubmitError::Store(_) => Failure::host(error),
        }
    }

    /// Returns the failure of a submission of a schedule, with the commands for schedules.
    fn is_schedule(&self, plan: &Plan) -> Failure {
        let name = plan.cron.as_ref().map(|cron| QualifiedName::new(&plan.namespace, &cron.name).word());
        let add = self.target.command(&["cron", "add", &self.text.name]);
        let trigger = self.target.command(&["cron", "trigger", &name.unwrap_or_default()]);
        Failure::call(format!(
            "kind CronWorkflow is a schedule, which starts by itself where its store is served; keep it with: {add}; and start one of its \
             runs at once with: {trigger}"
        ))
    }
}

/// Returns the failure of saving a schedule as a workflow.
pub(super) fn is_no_workflow(name: &str, text: &Text, target: &Target) -> Failure {
    let add = target.command(&["cron", "add", &text.name]);
    Failure::call(format!("{} is a schedule, which is kept with: {add}", text::clean(name)))
}

fn refuse(text: &Text, screen: &Screen, as_json: bool, found: &[Problem]) -> Failure {
    problems::refuse(screen, text.source(), found, as_json)
}

/// For what a server does not do.
///
/// # Errors
/// If that is asked for.
pub(super) fn no_missing(allow_missing: bool) -> Result<(), Failure> {
    let refused = || Failure::call("`--allow-missing` is not supported with `--server`");
    if allow_missing { Err(refused()) } else { Ok(()) }
}
