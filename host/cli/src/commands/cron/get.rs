//! `phasm cron get`.

use clap::Args;
use phasm::{
    catalog::{self, CatalogItem, FiringNote, ScheduleState, Suspension},
    engine::time::Timestamp,
    store::CatalogKind,
};

use crate::{
    backend::TargetArguments,
    command_line::Target,
    drive,
    exit::Exit,
    failure::Failure,
    input::names::{QualifiedName, called, no_schedule, origin, short},
    problems,
    terminal::{screen::Screen, text},
};

/// Characters of what is wrong at most.
const MAX_MESSAGE_CHARS: usize = 400;

/// Shows a schedule: its settings, its next runs, its history, and why it cannot start runs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm cron get nightly --store runs.db\n  \
                        phasm cron get data/nightly --store runs.db --json\n  \
                        phasm cron get nightly --store runs.db --document > nightly.yaml")]
pub(crate) struct GetScheduleArguments {
    /// The schedule: its name, or NAMESPACE/NAME.
    #[arg(value_name = "NAME", value_parser = called)]
    name: QualifiedName,

    #[command(flatten)]
    store: TargetArguments,

    /// Print its workflow file, as it was given.
    #[arg(long, conflicts_with = "json")]
    document: bool,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,
}

/// Shows a schedule.
pub(super) fn get(arguments: &GetScheduleArguments, screen: &Screen) -> Result<Exit, Failure> {
    let GetScheduleArguments { name, store, document, json } = arguments;
    let target = store.target()?;
    let reader = store.read()?;
    drive::runtime()?.block_on(async {
        let found = catalog::schedule(&*reader, &name.namespace, &name.name).await.map_err(Failure::host)?;
        let Some(found) = found else {
            return Err(no_schedule(name, &*reader).await);
        };
        let said = if *document {
            reader.document(CatalogKind::Schedules, name, &found.what.document.digest).await?
        } else if *json {
            problems::json(screen, &found)
        } else {
            page(&found, &target)
        };
        let _gone = screen.out(&said);
        Ok(Exit::Done)
    })
}

/// A schedule in a line.
pub(super) fn line(saved: &CatalogItem<ScheduleState>) -> String {
    let ScheduleState { schedule, timezone, suspended, .. } = &saved.what;
    let next = match (suspended, saved.next) {
        (Some(_), _) => "paused".to_owned(),
        (None, Some(next)) => format!("next at {}", next.to_rfc3339()),
        (None, None) => "it has no more runs".to_owned(),
    };
    let name = QualifiedName::new(&saved.namespace, &saved.name).word();
    format!("{}  `{}` {}: {next}\n", text::bold(name), text::clean(schedule), text::clean(timezone))
}

fn page(saved: &CatalogItem<ScheduleState>, target: &Target) -> String {
    let what = &saved.what;
    let name = QualifiedName::new(&saved.namespace, &saved.name).word();
    let by = match what.suspended {
        Some(Suspension::ByDocument) => " (by its workflow file)",
        Some(Suspension::ByHand) | None => "",
    };
    let mut rows = vec![
        ["schedule".to_owned(), format!("{}  {}", text::clean(&what.schedule), text::clean(&what.timezone))],
        ["state".to_owned(), format!("{}{by}", saved.standing())],
        ["next".to_owned(), saved.next.map_or_else(|| "-".to_owned(), Timestamp::to_rfc3339)],
        ["policy".to_owned(), what.concurrency_policy.to_string()],
        ["workflow".to_owned(), text::clean(&what.workflow).into_owned()],
        ["document".to_owned(), format!("{} {}", short(&what.document.digest), origin(&what.document))],
    ];
    if let Some(trouble) = &what.trouble {
        let why = text::short(&trouble.why, MAX_MESSAGE_CHARS);
        rows.push(["trouble".to_owned(), format!("{} since {}", text::bad(why), trouble.since.to_rfc3339())]);
    }
    let mut page = format!("{}\n{}", text::bold(&name), text::columns(&rows));
    page += &text::table(["TIME", "HOW", "RUN", "PHASE"], what.firings.iter().rev().map(cells));
    let hint = match what.suspended {
        Some(_) => format!("resume it with: {}\n", target.command(&["cron", "resume", &name])),
        None => format!("start it at once with: {}\n", target.command(&["cron", "trigger", &name])),
    };
    page + hint.as_str()
}

fn cells(firing: &FiringNote) -> [String; 4] {
    let run = firing.run_id.as_deref().map_or_else(|| "-".to_owned(), |run| text::clean(run).into_owned());
    let phase = match (firing.phase, firing.open()) {
        (Some(phase), _) => text::remarked(text::phase(phase), firing.remark.as_slice()),
        (None, Some(_)) => "open".to_owned(),
        (None, None) => "-".to_owned(),
    };
    let until = firing.until.map_or_else(String::new, |until| format!(" to {}", until.to_rfc3339()));
    [format!("{}{until}", firing.at.to_rfc3339()), firing.what.words().to_owned(), run, phase]
}
