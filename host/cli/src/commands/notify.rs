//! `phasm notify`: tests webhook endpoints and lists deliveries.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use phasm::{
    engine::did_you_mean,
    notify::{NoticeProgress, NoticeView, try_endpoint},
};
use serde_json::json;

use crate::{
    backend::TargetArguments,
    drive::{LoadedConfig, runtime},
    exit::Exit,
    failure::{ContextError, Failure},
    paths::PathArguments,
    problems,
    terminal::{screen::Screen, text},
};

/// Default number of deliveries that are shown.
const DEFAULT_LIMIT: usize = 100;

/// Tests webhook endpoints, and lists deliveries.
#[derive(Debug, Subcommand)]
pub(crate) enum NotifyCommand {
    Test(TryArguments),
    List(ListNoticesArguments),
}

/// Posts a signed test notification to an endpoint of the configuration, and prints the response.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm notify test chat --config phasm.toml")]
pub(crate) struct TryArguments {
    /// The endpoint: NAME of `[notify.NAME]`.
    #[arg(value_name = "NAME")]
    name: String,

    /// The operator's configuration [env: PHASM_CONFIG]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,
}

/// Lists the notifications of a run: delivered ones, pending ones, and why the last attempt failed.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm notify list @last --store runs.db\n  phasm notify list @last --server http://127.0.0.1:8484 --json"
)]
pub(crate) struct ListNoticesArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    #[command(flatten)]
    store: TargetArguments,

    /// Maximum number of deliveries; the latest are listed.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT)]
    limit: usize,

    /// Print one JSON array to stdout.
    #[arg(long)]
    json: bool,
}

/// Does one of them.
pub(super) fn notify(command: &NotifyCommand, screen: &Screen) -> Result<Exit, Failure> {
    match command {
        NotifyCommand::Test(arguments) => test(arguments, screen),
        NotifyCommand::List(arguments) => list(arguments, screen),
    }
}

fn test(arguments: &TryArguments, screen: &Screen) -> Result<Exit, Failure> {
    let TryArguments { name, config, json } = arguments;
    let configured = LoadedConfig::read(&PathArguments::of(config.clone()), screen, *json)?;
    let Some(config) = configured.config() else {
        return Err(Failure::call("no configuration is named; name one with --config FILE"));
    };
    let Some(endpoint) = config.endpoints.get(name.as_str()) else {
        let known = config.endpoints.keys().map(AsRef::as_ref);
        let hint = did_you_mean(name, known).map_or_else(String::new, |hint| format!("; {hint}"));
        return Err(Failure::call(format!("the configuration has no [notify.{name}]{hint}")));
    };
    if endpoint.secrets.is_empty() {
        return Err(Failure::call(format!("[notify.{name}] has no secret: nothing is posted unsigned")));
    }
    let posted = runtime()?.block_on(try_endpoint(name, endpoint, config.http.clone()));
    let status = posted.map_err(|why| {
        Failure::host(ContextError::new(format!("{} did not accept it", endpoint.shown()), why))
    })?;
    let page = if *json {
        problems::json(screen, &json!({ "endpoint": name, "status": status }))
    } else {
        format!("{name}: {} responded {status}\n", text::clean(&endpoint.shown()))
    };
    // The notification was posted, also if stdout is closed.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

fn list(arguments: &ListNoticesArguments, screen: &Screen) -> Result<Exit, Failure> {
    let ListNoticesArguments { run, store, limit, json } = arguments;
    let mut views = runtime()?.block_on(async {
        let (reader, run_id) = store.find(run).await?;
        reader.notices_of(&run_id, *limit).await
    })?;
    views.reverse();
    let page = if *json { problems::json(screen, &views) } else { table(&views) };
    if views.is_empty() {
        screen.err("there are no notifications of this run\n");
    }
    let _gone = screen.out(&page);
    let is_damaged = views.iter().any(|view| view.standing == NoticeProgress::Damaged);
    Ok(if is_damaged { Exit::Error } else { Exit::Done })
}

fn table(views: &[NoticeView]) -> String {
    if views.is_empty() {
        return String::new();
    }
    let head = ["AT", "TYPE", "ENDPOINT", "TRIES", "STATUS", "LAST"].map(str::to_owned);
    let rows: Vec<_> = [head].into_iter().chain(views.iter().map(row)).collect();
    text::columns(&rows)
}

fn row(view: &NoticeView) -> [String; 6] {
    let standing = match view.standing {
        NoticeProgress::Delivered => "delivered".to_owned(),
        NoticeProgress::GivenUp => "given up".to_owned(),
        NoticeProgress::Gone => "not wanted".to_owned(),
        NoticeProgress::Damaged => "damaged".to_owned(),
        NoticeProgress::Waiting => format!("due {}", view.due.as_deref().unwrap_or_default()),
    };
    let answered = view.status.map(|status| status.to_string());
    let last = view.failure.clone().or(answered).unwrap_or_default();
    [
        view.at.clone(),
        view.kind.clone(),
        view.endpoint.to_string(),
        view.tries.to_string(),
        standing,
        text::clean(&last).into_owned(),
    ]
}
