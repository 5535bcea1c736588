//! `phasm examples`: the example workflows that this program contains.

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use serde::Serialize;

use crate::{
    exit::Exit,
    problems,
    terminal::{screen::Screen, text},
};

/// Lists the example workflows that this program contains, or prints one.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm examples\n  phasm examples pages-to-csv\n  phasm init my-project --example pages-to-csv"
)]
pub(crate) struct ExamplesArguments {
    /// The example whose workflow file is printed; without it all are listed.
    #[arg(value_name = "NAME", value_parser = example_parser(), hide_possible_values = true)]
    name: Option<&'static Example>,

    /// Print JSON to stdout: an array of all examples, or one with the text of its files.
    #[arg(long)]
    json: bool,
}

/// Workflow with a README, and the files that it needs.
#[derive(Debug)]
pub(super) struct Example {
    /// Name of its folder.
    pub(super) name: &'static str,
    /// Paths within the folder, separated by `/`, with their texts.
    pub(super) files: &'static [(&'static str, &'static str)],
}

/// Every example, sorted by name.
const EXAMPLES: &[Example] = include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// File of an example that commands run.
pub(super) const WORKFLOW: &str = "workflow.yaml";

/// Reads the name of an example; shells complete it.
pub(super) fn example_parser() -> impl TypedValueParser<Value = &'static Example> {
    let named =
        |name: String| EXAMPLES.iter().find(|example| example.name == name).ok_or("there is no such example");
    PossibleValuesParser::new(EXAMPLES.iter().map(|example| example.name)).try_map(named)
}

/// Whether an example has this name.
pub(super) fn is_example(name: &str) -> bool {
    EXAMPLES.iter().any(|example| example.name == name)
}

impl Example {
    /// Returns the text of a file; empty if there is no such file.
    pub(super) fn file(&self, path: &str) -> &'static str {
        self.files.iter().find(|(known, _)| *known == path).map_or("", |(_, text)| text)
    }

    /// Returns the first sentence of its README.
    fn summary(&self) -> &'static str {
        let mut lines = self.file("README.md").lines();
        lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct ExampleView {
    name: &'static str,
    summary: &'static str,
    files: Vec<&'static str>,
}

#[derive(Serialize)]
struct FullExample {
    name: &'static str,
    summary: &'static str,
    files: Vec<FileView>,
}

#[derive(Serialize)]
struct FileView {
    path: &'static str,
    text: &'static str,
}

/// Lists the examples, or prints one.
pub(super) fn examples(arguments: &ExamplesArguments, screen: &Screen) -> Exit {
    let page = match arguments.name {
        None if arguments.json => {
            let view = |example: &'static Example| {
                let files = example.files.iter().map(|(path, _)| *path).collect();
                ExampleView { name: example.name, summary: example.summary(), files }
            };
            problems::json(screen, &EXAMPLES.iter().map(view).collect::<Vec<_>>())
        }
        None => text::table(
            ["NAME", "SUMMARY"],
            EXAMPLES.iter().map(|example| [example.name, example.summary()].map(str::to_owned)),
        ),
        Some(example) => {
            if arguments.json {
                let file = |(path, text): &(&'static str, &'static str)| FileView { path, text };
                let files = example.files.iter().map(file).collect();
                problems::json(screen, &FullExample { name: example.name, summary: example.summary(), files })
            } else {
                example.file(WORKFLOW).to_owned()
            }
        }
    };
    // A closed stdout ends the output.
    let _gone = screen.out(&page);
    Exit::Done
}
