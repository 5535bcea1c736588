//! `phasm workflow save`.

use std::path::PathBuf;

use clap::Args;
use phasm::{
    clock::Clock,
    saved::{SaveError, WrittenDocument, save_workflow},
};

use super::super::{
    document::Text,
    drive::{self, Configured, Purpose},
    exit::Exit,
    failure::Failure,
    hint::Way,
    kept_names::{Called, Changing, me, refused, short},
    places::Places,
    problems,
    screen::Screen,
    stored::StoreArgument,
    text,
};

/// Saves a document by its name; what is there already under that name becomes an earlier version.
///
/// The document is checked as `run` does. Up to 100 versions of it are kept.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm workflow save greet.yaml --store runs.db")]
pub(crate) struct SaveArguments {
    /// The document, JSON or YAML; `-` is stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    store: StoreArgument,

    #[command(flatten)]
    places: Places,

    /// Save it although an executor is not installed or cannot be used.
    #[arg(long)]
    allow_missing: bool,

    /// Print one JSON object to stdout: the workflow with its versions.
    #[arg(long)]
    json: bool,
}

/// Saves a document.
pub(super) fn save(arguments: &SaveArguments, screen: &Screen) -> Result<Exit, Failure> {
    let SaveArguments { file, store, places, allow_missing, json } = arguments;
    let path = store.named()?;
    let text = Text::read(file).map_err(|unread| unread.refuse(screen, *json))?;
    let refuse = |found: &[phasm::Problem]| problems::refuse(screen, text.source(), found, *json);
    let configured = Configured::read(places, screen, *json)?;
    let draft = text.draft().map_err(|found| refuse(&found))?;
    let purpose = Purpose { dir: text.dir(), allow_missing: *allow_missing, ..Purpose::default() };
    let prepared = drive::open(places, configured, screen, purpose)?;
    let way = Way::to(&path).with(places);
    drive::runtime()?.block_on(async {
        let plan = prepared.plan(draft).await.map_err(|found| refuse(&found))?;
        problems::show_warnings(screen, text.source(), &plan.warnings);
        if let Some(cron) = &plan.cron {
            let add = way.command(&["cron", "add", &text.name]);
            let name = text::clean(&cron.name);
            return Err(Failure::call(format!("{name} is a schedule, which is kept with: {add}")));
        }
        let changing = Changing::open(&path)?;
        let written = WrittenDocument { file: &text.name, text: &text.text };
        let (by, now) = (me(), Clock::start().now());
        let saved = match save_workflow(&*changing.store, &plan, written, by.as_deref(), now).await {
            Ok(saved) => saved,
            Err(SaveError::Problems(found)) => return Err(refuse(&found)),
            Err(error) => return Err(refused(error, &*changing.store).await),
        };
        let name = Called::new(&saved.namespace, &saved.name).word();
        let digest = saved.what.versions.last().map(|last| short(&last.digest)).unwrap_or_default();
        let said = if *json { problems::json(screen, &saved) } else { format!("{name} {digest}\n") };
        let _gone = screen.out(&said);
        screen.err(&format!("submit it with: {}\n", way.command(&["workflow", "submit", &name])));
        Ok(Exit::Done)
    })
}
