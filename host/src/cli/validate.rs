//! `phasm validate`: every problem of documents, at once.

use std::path::PathBuf;

use clap::Args;
use phasm::{config, engine::plan::catalogue};

use super::{
    document::Text,
    exit::Exit,
    failure::Failure,
    problems::{self, Found},
    screen::Screen,
    text,
};

/// Checks documents without running them.
///
/// Values for spec.arguments are not asked for. The exit status is 0 if all documents are valid, else 2.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm validate build.yaml release.json\n  phasm validate --explain P001"
)]
pub(super) struct ValidateArguments {
    /// Documents, JSON or YAML; `-` is stdin.
    #[arg(value_name = "FILE", required_unless_present = "explain")]
    files: Vec<PathBuf>,

    /// Print {"problems": […], "warnings": […]} to stdout.
    #[arg(long, conflicts_with = "explain")]
    json: bool,

    /// Explain a code that problems carry, with an example.
    #[arg(long, value_name = "CODE", conflicts_with = "files")]
    explain: Option<String>,
}

/// Checks documents, or explains a code.
pub(super) fn validate(arguments: &ValidateArguments, screen: &Screen) -> Result<Exit, Failure> {
    match &arguments.explain {
        Some(code) => explain(code, screen),
        None => Ok(check(arguments, screen)),
    }
}

fn check(arguments: &ValidateArguments, screen: &Screen) -> Exit {
    let mut found = Found::default();
    let mut exit = Exit::Done;
    for file in &arguments.files {
        let document = match Text::read(file, "document") {
            Ok(document) => document,
            Err(failure) => {
                exit = failure.report(screen);
                continue;
            }
        };
        let (problems, warnings) = match document.plan(&()) {
            Ok(plan) => (Vec::new(), plan.warnings.clone()),
            Err(problems) => (problems, Vec::new()),
        };
        if !problems.is_empty() {
            exit = Exit::Problems;
        }
        if arguments.json {
            found.add(document.source(), &problems, &warnings);
            continue;
        }
        problems::show(screen, document.source(), &problems);
        problems::show_warnings(screen, document.source(), &warnings);
        // Whoever has stopped reading still gets the exit status.
        let _gone = screen.out(&verdict(&document.name, problems.len(), warnings.len()));
    }
    if arguments.json {
        let _gone = found.print(screen);
    }
    exit
}

fn verdict(name: &str, problems: usize, warnings: usize) -> String {
    let warned =
        if warnings == 0 { String::new() } else { format!(", {}", text::count(warnings, "warning")) };
    match problems {
        0 => format!("{name}: valid{warned}\n"),
        n => format!("{name}: {}{warned}\n", text::count(n, "problem")),
    }
}

fn explain(code: &str, screen: &Screen) -> Result<Exit, Failure> {
    let entry = catalogue::find(code).or_else(|| config::catalogue::find(code)).ok_or_else(|| {
        let all = catalogue::all().chain(config::catalogue::ENTRIES.iter().copied());
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
