//! A document and its parameters, as `run` and `submit` take them.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use phasm::{
    Plan, SubmitError,
    engine::{
        plan::Draft,
        problem::{Problem, Problems},
        value::Map,
    },
};

use super::{
    document::Text,
    drive::{self, Configured, Prepared, Purpose},
    failure::Failure,
    hint::Way,
    kept_names::Called,
    parameters::{self, Given},
    places::Places,
    problems,
    screen::Screen,
};

/// What is to be run.
#[derive(Args, Clone, Debug)]
pub(super) struct Submission {
    /// The document, JSON or YAML; `-` is stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// A value for a parameter of spec.arguments: the text itself where a string is declared, else JSON if it is some,
    /// else text.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameters::given)]
    param: Vec<Given>,

    /// Values for parameters, an object in JSON or YAML; `-p` wins over it.
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,

    /// Run although an executor is not installed or cannot be used; its attempts end with code 3.
    #[arg(long)]
    allow_missing: bool,
}

/// A document that was read, and the configuration that it is planned with.
pub(super) struct Read<'a> {
    submission: &'a Submission,
    configured: Configured,
    text: Text,
    draft: Draft,
    screen: &'a Screen,
    as_json: bool,
}

/// What can be submitted, and the host to submit it to.
pub(super) struct Checked<'a> {
    pub(super) prepared: Prepared,
    pub(super) plan: Arc<Plan>,
    pub(super) given: Map,
    text: Text,
    way: Way,
    screen: &'a Screen,
    as_json: bool,
}

impl Submission {
    /// The document for a server that plans it: read, and without problems that need no plugins to be seen.
    ///
    /// # Errors
    /// When it has problems, which have been shown; or for what a server does not do.
    pub(super) fn for_server(&self, screen: &Screen, as_json: bool) -> Result<Text, Failure> {
        if self.allow_missing {
            return Err(Failure::call("--allow-missing: a server decides itself what it goes without"));
        }
        let text = Text::read(&self.file).map_err(|unread| unread.refuse(screen, as_json))?;
        text.draft().map_err(|found| refuse(&text, screen, as_json, found.as_ref()))?;
        Ok(text)
    }

    /// The values of `-p`.
    pub(super) fn given(&self) -> &[Given] {
        &self.param
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
        places: &Places,
        screen: &'a Screen,
        as_json: bool,
    ) -> Result<Read<'a>, Failure> {
        let text = Text::read(&self.file).map_err(|unread| unread.refuse(screen, as_json))?;
        let configured = Configured::read(places, screen, as_json)?;
        let draft = text.draft().map_err(|found| refuse(&text, screen, as_json, found.as_ref()))?;
        Ok(Read { submission: self, configured, text, draft, screen, as_json })
    }
}

impl<'a> Read<'a> {
    /// Opens a host with everything the document names, and checks the parameters. Nothing is stored. `store` is where it would be.
    ///
    /// # Errors
    /// When the document or the parameters have problems, which have been shown.
    pub(super) async fn check(self, places: &Places, store: Option<&Path>) -> Result<Checked<'a>, Failure> {
        let Self { submission, configured, text, draft, screen, as_json } = self;
        let (allow_missing, most_at_once) = (submission.allow_missing, draft.most_at_once());
        let purpose = Purpose { dir: text.dir(), allow_missing, most_at_once, ..Purpose::default() };
        let prepared = drive::open(places, configured, screen, purpose)?;
        let found = |found: Problems| refuse(&text, screen, as_json, &found);
        let plan = prepared.plan(draft).await.map_err(found)?;
        problems::show_warnings(screen, text.source(), &plan.warnings);
        let given = parameters::all(&submission.param, submission.params.as_deref(), &plan)?;
        let way = Way::to(store.unwrap_or(Path::new("runs.db"))).with(places);
        let checked = Checked { prepared, plan, given, text, way, screen, as_json };
        checked.prepared.host.check(&checked.plan, &checked.given).map_err(|error| checked.refused(error))?;
        Ok(checked)
    }
}

impl Checked<'_> {
    /// Why it was not submitted.
    pub(super) fn refused(&self, error: SubmitError) -> Failure {
        match error {
            SubmitError::Problems(found) => refuse(&self.text, self.screen, self.as_json, &found),
            SubmitError::Cron => self.is_schedule(),
            SubmitError::Quota(_) => Failure::call(error),
            SubmitError::Store(_) => Failure::host(error),
        }
    }
}

impl Checked<'_> {
    /// What to do with a schedule instead.
    fn is_schedule(&self) -> Failure {
        let name = self.plan.cron.as_ref().map(|cron| Called::new(&self.plan.namespace, &cron.name).word());
        let add = self.way.command(&["cron", "add", &self.text.name]);
        let trigger = self.way.command(&["cron", "trigger", &name.unwrap_or_default()]);
        Failure::call(format!(
            "kind CronWorkflow is a schedule, which starts by itself where its store is served; keep it with: {add}; and start one of its \
             runs at once with: {trigger}"
        ))
    }
}

fn refuse(text: &Text, screen: &Screen, as_json: bool, found: &[Problem]) -> Failure {
    problems::refuse(screen, text.source(), found, as_json)
}
