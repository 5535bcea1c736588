//! `phasm plugin docs`.

use clap::Args;
use phasm::{Value, plugins::PluginView, sandbox::Grants};

use super::{inspect, shape};
use crate::{exit::Exit, failure::Failure, paths::PathArguments, terminal::screen::Screen};

/// Prints the page of an executor in Markdown, made of its manifest: a step that uses it, inputs, outputs, settings and grants.
///
/// A plugin that is there as source is built first.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin docs jq\n  phasm plugin docs ./greet > greet/README.md")]
pub(crate) struct DocsArguments {
    /// The name of a plugin that a run would find, or the path of a component or plugin folder.
    #[arg(value_name = "NAME|PATH")]
    plugin: String,

    #[command(flatten)]
    paths: PathArguments,
}

/// Prints the page.
pub(super) fn docs(arguments: &DocsArguments, screen: &Screen) -> Result<Exit, Failure> {
    let view = inspect::view(&arguments.plugin, &arguments.paths, screen, false)?;
    // A closed stdout ends the output.
    let _gone = screen.out(&page(&view));
    Ok(Exit::Done)
}

fn page(view: &PluginView) -> String {
    let PluginView { name, description, inputs, outputs, codes, settings, defaults, wants, .. } = view;
    let mut page = format!("# {name}\n");
    if let Some(description) = description {
        page += &format!("\n{description}\n");
    }
    page += &step(view);
    page += &table("Inputs", "input", &shape::rows(inputs));
    page += &table("Outputs", "output", &shape::rows(outputs));
    let listed = |title: &str, lines: Vec<String>| {
        if lines.is_empty() {
            return String::new();
        }
        let lines: String = lines.iter().map(|line| format!("- {line}\n")).collect();
        format!("\n## {title}\n\n{lines}")
    };
    page += &listed("Codes", codes.iter().map(|one| format!("{}: {}", one.code, one.meaning)).collect());
    page += &listed("Settings", settings.iter().map(|name| format!("`{name}`")).collect());
    page += &listed(
        "Default policies",
        defaults.iter().map(|(field, value)| format!("`{field}: {value}`")).collect(),
    );
    page += &listed(
        "Grants that it asks for",
        wants.lacking(&Grants::default()).iter().map(|line| format!("`{line}`")).collect(),
    );
    page += &examples(view);
    page
}

/// The examples of the manifest, each as inputs and what comes of them.
fn examples(PluginView { examples, deterministic, .. }: &PluginView) -> String {
    if examples.is_empty() {
        return String::new();
    }
    let mut page = "\n## Examples\n".to_owned();
    if *deterministic {
        page += "\nThe same inputs always have the same outcome.\n";
    }
    for example in examples {
        let member = |name: &str| example.member(name).map(Value::to_json);
        let name = example.member("name").and_then(Value::as_str).unwrap_or("Example");
        let parts = ["inputs", "settings", "response", "code", "outputs", "message"]
            .map(|part| Some((part, member(part)?)));
        page += &format!("\n{name}:\n\n```yaml\n");
        page.extend(parts.into_iter().flatten().map(|(part, value)| format!("{part}: {value}\n")));
        page += "```\n";
    }
    page
}

/// A task that gives all inputs which are required.
fn step(PluginView { name, inputs, .. }: &PluginView) -> String {
    let required = shape::rows(inputs).into_iter().filter(|[_, _, presence, _]| presence == shape::REQUIRED);
    let given: Vec<_> = required.map(|[input, kind, ..]| format!("{input}: …  # {kind}")).collect();
    let inputs: String = given.iter().map(|line| format!("    {line}\n")).collect();
    let inputs = if inputs.is_empty() { inputs } else { format!("  inputs:\n{inputs}") };
    format!("\n```yaml\n- name: {name}\n  executor: {{ type: {name} }}\n{inputs}```\n")
}

fn table(title: &str, first: &str, rows: &[[String; 4]]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let cell = |text: &str| text.replace('|', "\\|");
    let mut page = format!("\n## {title}\n\n| {first} | type | meaning |\n|---|---|---|\n");
    for [name, kind, presence, meaning] in rows {
        let kind = match presence.as_str() {
            "" => cell(kind),
            shape::REQUIRED => format!("{}, required", cell(kind)),
            default => format!("{}, `{}`", cell(kind), cell(default)),
        };
        let name = if name == shape::ANY_OTHER { name.clone() } else { format!("`{}`", cell(name)) };
        page += &format!("| {name} | {kind} | {} |\n", cell(meaning));
    }
    page
}
