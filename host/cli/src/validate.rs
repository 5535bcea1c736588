//! `phasm validate`: every problem of documents, at once.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use phasm::{
    config::{self, Config},
    engine::{
        problem::{Problem, codes},
        value::Value,
    },
    plugins::Installed,
    sandbox::Limits,
};

use super::{
    document::{Text, Unread},
    drive::configuration,
    exit::Exit,
    failure::{Failure, While},
    places::Places,
    plugin::Workshop,
    problems::{self, Found, is_cut},
    screen::Screen,
    search::{self, Offer},
    text,
};

/// Checks documents without running them.
///
/// Values for spec.arguments are not asked for. The exit status is 0 if all documents are valid, else 2.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm validate build.yaml release.json\n  phasm validate audit.yaml --plugins executors --json\n  phasm validate --explain P012"
)]
pub(super) struct ValidateArguments {
    /// Documents, JSON or YAML; `-` is stdin.
    #[arg(value_name = "FILE", required_unless_present = "explain")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    places: Places,

    /// Print {"problems": […], "warnings": […]} to stdout.
    #[arg(long)]
    json: bool,

    /// Explain a code that problems carry, with an example.
    #[arg(long, value_name = "CODE", conflicts_with_all = ["files", "plugins", "config", "json"])]
    explain: Option<String>,
}

/// Checks documents, or explains a code.
pub(super) fn validate(arguments: &ValidateArguments, screen: &Screen) -> Result<Exit, Failure> {
    match &arguments.explain {
        Some(code) => explain(code, screen),
        None => check(arguments, screen),
    }
}

fn check(arguments: &ValidateArguments, screen: &Screen) -> Result<Exit, Failure> {
    let configured = arguments.places.config();
    let configured = configured.map(|file| configuration(&file, screen, arguments.json)).transpose()?;
    let config = configured.map(|(_, config)| config);
    let variables = config.as_ref().map(|config| Value::from(config.vars.clone())).unwrap_or_default();
    let mut found = Found::default();
    let mut exit = Exit::Done;
    for file in &arguments.files {
        let read = Text::read(file);
        let (problems, warnings) = match &read {
            Ok(document) => {
                let installed = installed(&arguments.places, config.as_ref(), document.dir(), screen)?;
                let plan = document.draft().and_then(|draft| {
                    let executors = installed.executors(&draft.executor_types());
                    draft.plan(&executors, &variables)
                });
                match plan {
                    Ok(plan) => (Vec::new(), plan.warnings),
                    Err(problems) => (problems, Vec::new()),
                }
            }
            Err(unread) => (vec![Problem::clone(&unread.problem)], Vec::new()),
        };
        let source = read.as_ref().map_or_else(Unread::source, Text::source);
        if !problems.is_empty() {
            exit = Exit::Problems;
        }
        if arguments.json {
            found.add(source, &problems, &warnings);
            continue;
        }
        problems::show(screen, source, &problems);
        problems::show_warnings(screen, source, &warnings);
        // Whoever has stopped reading still gets the exit status.
        let _gone = screen.out(&verdict(source.name, &problems, &warnings));
    }
    if arguments.json {
        let _gone = found.print(screen);
    }
    Ok(exit)
}

/// The plugins that a run of a document in `dir` would find.
fn installed(
    places: &Places,
    config: Option<&Config>,
    dir: Option<&Path>,
    screen: &Screen,
) -> Result<Installed, Failure> {
    let memory = config.map_or_else(|| Limits::default().memory, |config| config.limits.memory);
    let mut installed = Installed::new(memory).with_builder(Arc::new(Workshop::new(screen)));
    for offer in search::plugin_dirs(places, config, dir)?.tell(screen).offers() {
        let added = match offer {
            Offer::Dir(dir) => {
                let unread = |error| While::new(format!("{} cannot be read", dir.display()), error);
                installed.add_dir(dir).map_err(unread)
            }
            Offer::Library(library) => {
                let unread = |error| While::new("the library of plugins cannot be read", error);
                installed.add_library(library).map_err(unread)
            }
        };
        added.map_err(Failure::call)?;
    }
    Ok(installed)
}

fn verdict(name: &str, problems: &[Problem], warnings: &[Problem]) -> String {
    let counted = |found: &[Problem], thing: &str| match found.split_last() {
        Some((last, listed)) if is_cut(last) => format!("more than {}", text::count(listed.len(), thing)),
        _ => text::count(found.len(), thing),
    };
    let warned =
        if warnings.is_empty() { String::new() } else { format!(", {}", counted(warnings, "warning")) };
    if problems.is_empty() {
        format!("{name}: valid{warned}\n")
    } else {
        format!("{name}: {}{warned}\n", counted(problems, "problem"))
    }
}

fn explain(code: &str, screen: &Screen) -> Result<Exit, Failure> {
    let entry = codes::find(code).or_else(|| config::codes::find(code)).ok_or_else(|| {
        let all = codes::all().chain(config::codes::ENTRIES.iter().copied());
        let codes: Vec<_> = all.map(|entry| entry.code).collect();
        Failure::call(format!("there is no code `{code}`; expected one of {}", codes.join(", ")))
    })?;
    let example = |name: &str, text: &str| {
        let lines: String = text.lines().map(|line| format!("    {line}\n")).collect();
        format!("\n{name}:\n\n{lines}")
    };
    let page = format!(
        "{} {}\n\n{}\n{}{}",
        text::bold(entry.code),
        text::bold(entry.title),
        entry.explanation,
        example("Wrong", entry.wrong),
        example("Right", entry.right),
    );
    // Whoever has stopped reading wants no more.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}
