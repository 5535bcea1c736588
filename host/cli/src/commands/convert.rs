//! `phasm convert`: workflow files of `aether/v1` and of other systems in `phasm/v1`.

use std::{fs, path::PathBuf};

use clap::Args;
use phasm::{
    engine::{
        document,
        plan::{Draft, Executors, Node, Work},
        tree::Tree,
        value::Value,
    },
    reader,
};
use phasm_convert::{Format, NoteKind, other_system};
use serde::Serialize;

use super::validate::{DocumentContext, known_executors};
use crate::{
    drive::configuration,
    exit::Exit,
    failure::{ContextError, Failure},
    input::document::Text,
    paths::PathArguments,
    problems::{self, Source},
    terminal::screen::Screen,
};

/// Converts a workflow file of `aether/v1`, Argo Workflows or GitHub Actions to `phasm/v1`.
///
/// A file of `aether/v1` keeps its meaning, comments and layout, but for one thing: `retry` without a condition no longer repeats errors that the
/// executor calls not retryable. From a file of another system, every field without a counterpart is listed on stderr and in a comment of the result, with the field to use instead. The result is printed to stdout.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm convert old.yaml > new.yaml\n  phasm convert old.yaml --write\n  phasm convert argo.yaml --strict > workflow.yaml\n  phasm convert .github/workflows/ci.yml --json"
)]
pub(crate) struct ConvertArguments {
    /// Workflow file, JSON or YAML; `-` is stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    paths: PathArguments,

    /// Replace the file instead of printing the result.
    #[arg(long)]
    write: bool,

    /// End with 1, and write nothing, if a field is left out or needs work.
    #[arg(long)]
    strict: bool,

    /// Print {"text": …, "notes": […]} to stdout.
    #[arg(long)]
    json: bool,
}

/// Notes on clocks at most.
const MAX_CLOCKS: usize = 100;

/// A converted file, and what is left to do.
struct Conversion {
    text: String,
    notes: Vec<Entry>,
    more: usize,
}

/// A note, for programs.
#[derive(Serialize)]
struct Entry {
    path: String,
    line: u32,
    column: u32,
    value: String,
    kind: &'static str,
    advice: String,
}

/// Result of the command, for programs.
#[derive(Serialize)]
struct Report<'r> {
    text: &'r str,
    notes: &'r [Entry],
    /// Number of further notes.
    more: usize,
}

impl Entry {
    fn line(&self, file: &str) -> String {
        let Self { path, line, column, value, kind, advice } = self;
        match *kind {
            "kept" => format!("{file}:{line}: kept as it is: {advice}\n"),
            "clock" => format!("{file}: task {path} ({value}): {advice}\n"),
            "leftOut" => format!("{file}:{line}:{column}: {path} ({value}): left out: {advice}\n"),
            _ => format!("{file}:{line}:{column}: {path} ({value}): {advice}\n"),
        }
    }
}

/// Converts a file, unless it has problems.
pub(super) fn convert(arguments: &ConvertArguments, screen: &Screen) -> Result<Exit, Failure> {
    let file = Text::read(&arguments.file).map_err(|unreadable| unreadable.refuse(screen, arguments.json))?;
    let refuse = |found: &[_]| problems::refuse(screen, file.source(), found, arguments.json);
    let tree = reader::read(&file.name, &file.text).map_err(|found| refuse(&found))?;
    let converted = match Format::of(&tree) {
        Some(format) => foreign(&tree, format),
        None => {
            if let Some(system) = other_system(&tree) {
                return Err(Failure::call(format!(
                    "{} is not converted: it seems to be a file of {system}; convert reads files of Argo Workflows (`apiVersion: argoproj.io/v1alpha1`), of GitHub Actions (`on` and `jobs`) and of `aether/v1`",
                    file.name
                )));
            }
            Draft::read(&tree).plan(&Executors::any(), &Value::Null).map_err(|found| refuse(&found))?;
            own(arguments, &file, &tree, screen)?
        }
    };
    if !arguments.json {
        for note in &converted.notes {
            screen.err(&note.line(&file.name));
        }
        if converted.more > 0 {
            screen.err(&format!("{}: and {} more\n", file.name, converted.more));
        }
    }
    let is_refused = arguments.strict && !converted.notes.is_empty();
    let writes = arguments.write && file.dir().is_some();
    if writes && !is_refused {
        fs::write(&arguments.file, &converted.text).map_err(|error| {
            let context = format!("{} cannot be written", file.name);
            Failure::call(ContextError::new(context, error))
        })?;
    }
    // A closed stdout ends the output.
    if arguments.json {
        let report = Report { text: &converted.text, notes: &converted.notes, more: converted.more };
        let _gone = screen.out(&problems::json(screen, &report));
    } else if !writes && !is_refused {
        let _gone = screen.out(&converted.text);
    }
    if is_refused {
        return Ok(Exit::Failed);
    }
    check(&converted.text, screen, arguments.json)
}

/// Checks the result, which may have errors that the other system accepts, such as a circle of dependencies.
fn check(text: &str, screen: &Screen, as_json: bool) -> Result<Exit, Failure> {
    let source = Source { name: "the converted file", text };
    let found = match reader::read("converted.yaml", text) {
        Ok(tree) => Draft::read(&tree).plan(&Executors::any(), &Value::Null).map(|_| ()),
        Err(found) => Err(found),
    };
    let Err(found) = found else { return Ok(Exit::Done) };
    if !as_json {
        problems::show(screen, source, &found);
    }
    Err(Failure::shown(Exit::Problems))
}

fn foreign(tree: &Tree, format: Format) -> Conversion {
    let conversion = phasm_convert::convert(tree, format);
    let entry = |note: phasm_convert::Note| Entry {
        path: note.path,
        line: note.line,
        column: note.column,
        value: note.value,
        kind: match note.kind {
            NoteKind::LeftOut => "leftOut",
            NoteKind::Changed => "changed",
        },
        advice: note.advice,
    };
    Conversion {
        text: conversion.text,
        notes: conversion.notes.into_iter().map(entry).collect(),
        more: conversion.more,
    }
}

/// Converts a file of `aether/v1`; one of `phasm/v1` stays as it is.
fn own(
    arguments: &ConvertArguments,
    file: &Text,
    tree: &Tree,
    screen: &Screen,
) -> Result<Conversion, Failure> {
    let Some(conversion) = document::convert(&file.text, tree) else {
        screen.err(&format!("{} is not a file of `aether/v1`, and stays as it is\n", file.name));
        return Ok(Conversion { text: file.text.clone(), notes: Vec::new(), more: 0 });
    };
    if !conversion.repeated.is_empty() {
        let lines = conversion.repeated.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        return Err(Failure::call(format!(
            "{} cannot be converted: aliases repeat values that would change (line {lines}); write these values out, without `&` and `*`",
            file.name
        )));
    }
    let entry = |(line, why): (u32, &str)| Entry {
        path: String::new(),
        line,
        column: 0,
        value: String::new(),
        kind: "kept",
        advice: why.to_owned(),
    };
    let mut notes: Vec<_> = conversion.kept.into_iter().map(entry).collect();
    notes.extend(clocks(arguments, file, tree, &conversion.text, screen)?);
    Ok(Conversion { text: conversion.text, notes, more: 0 })
}

/// Returns a note for each clock in the defaults of an executor that ends a task in another way in the converted file: defaults are no
/// part of the file, so nothing in it was converted for them.
fn clocks(
    arguments: &ConvertArguments,
    file: &Text,
    tree: &Tree,
    converted: &str,
    screen: &Screen,
) -> Result<Vec<Entry>, Failure> {
    let draft = Draft::read(tree);
    let configured = arguments.paths.config();
    let configured = configured.map(|file| configuration(&file, screen, arguments.json)).transpose()?;
    let config = configured.as_ref().map(|(_, config)| config);
    let of_whom = DocumentContext { config, namespace: draft.namespace(), dir: file.dir() };
    let installed = of_whom.installed(&arguments.paths, screen)?;
    let types = draft.executor_types();
    let executors = known_executors(&installed, &types).allow_missing(true);
    let plan = |draft: Draft| draft.plan(&executors, &Value::Null).ok();
    let converted = reader::read("converted.yaml", converted).ok();
    // Problems are shown by the check of the result.
    let (Some(before), Some(after)) = (plan(draft), converted.and_then(|tree| plan(Draft::read(&tree))))
    else {
        return Ok(Vec::new());
    };
    let mut notes = Vec::new();
    for (before, after) in before.nodes().zip(after.nodes()) {
        let Work::Executor(call) = &after.work else { continue };
        let clocks = |node: &Node| {
            let settings = &node.settings;
            [settings.max_runtime, settings.max_inactivity, settings.deadline]
                .map(|policy| policy.map(|one| one.expiry))
        };
        let names = ["maxRuntime", "maxInactivity", "deadline"];
        let both = names.into_iter().zip(clocks(before).into_iter().zip(clocks(after)));
        for (name, _) in both.filter(|(_, (before, after))| before != after).take(MAX_CLOCKS - notes.len()) {
            let advice = format!(
                "the default `{name}` of the executor ends it as Timeout, and no longer as Cancelled; write `{name}: {{timeout: …, \
                 errorOnTimeout: false}}` in the task to keep that"
            );
            let (path, value) = (after.name.to_string(), call.executor_type.to_string());
            notes.push(Entry { path, line: 0, column: 0, value, kind: "clock", advice });
        }
    }
    Ok(notes)
}
