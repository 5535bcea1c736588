//! `phasm cron list`.

use clap::Args;
use phasm::{
    catalog::{self, CatalogItem, CatalogPage, FiringNote, ScheduleState},
    engine::time::Timestamp,
};

use crate::{
    backend::TargetArguments,
    drive,
    exit::Exit,
    failure::Failure,
    input::names::{self, MAX_LISTED, NamespaceFilter, QualifiedName},
    problems,
    terminal::{screen::Screen, text},
};

/// Lists the schedules of a store, by namespace and name.
///
/// STATE is `active`, `suspended`, `in trouble` (it cannot fire, and is tried again) or `over` (it has no more runs).
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm cron list --store runs.db\n  \
                        phasm cron list --namespace data --store runs.db --json")]
pub(crate) struct ListSchedulesArguments {
    #[command(flatten)]
    listing: NamespaceFilter,

    #[command(flatten)]
    store: TargetArguments,

    /// Print one JSON array to stdout.
    #[arg(long)]
    json: bool,
}

/// Lists schedules.
pub(super) fn list(arguments: &ListSchedulesArguments, screen: &Screen) -> Result<Exit, Failure> {
    let ListSchedulesArguments { listing, store, json } = arguments;
    let reader = store.read()?;
    let namespace = listing.namespace.as_deref();
    let found = drive::runtime()?
        .block_on(catalog::schedules(&*reader, namespace, None, MAX_LISTED))
        .map_err(Failure::host)?;
    let CatalogPage { items: found, damaged, .. } = found;
    if found.is_empty() && damaged.is_empty() {
        screen.err("there are no schedules\n");
    }
    let said = if *json { problems::json(screen, &found) } else { table(&found) };
    let _gone = screen.out(&said);
    Ok(names::tell_damaged(screen, &damaged))
}

fn table(found: &[CatalogItem<ScheduleState>]) -> String {
    let header = ["NAME", "SCHEDULE", "ZONE", "STATE", "NEXT", "LAST", "OPEN"];
    text::table(header, found.iter().map(cells))
}

fn cells(saved: &CatalogItem<ScheduleState>) -> [String; 7] {
    let ScheduleState { schedule, timezone, firings, .. } = &saved.what;
    let instant = |at: Option<Timestamp>| at.map_or_else(|| "-".to_owned(), Timestamp::to_rfc3339);
    let last = firings.iter().rfind(|firing| firing.was_started()).map(|firing| firing.at);
    [
        QualifiedName::new(&saved.namespace, &saved.name).word(),
        text::clean(schedule).into_owned(),
        text::clean(timezone).into_owned(),
        saved.standing().to_owned(),
        instant(saved.next),
        instant(last),
        firings.iter().filter_map(FiringNote::open).count().to_string(),
    ]
}
