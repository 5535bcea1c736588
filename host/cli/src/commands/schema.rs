//! `phasm schema`: the JSON Schema of documents and of configurations.

mod executors;

use std::path::{Path, PathBuf};

use clap::Args;
use phasm::{
    config,
    engine::{document, value::Value},
    plugins::{self, Builder as _, Manifest, Source},
};

use crate::{
    exit::Exit,
    failure::{ContextError, Failure},
    plugins::builder::PluginBuilder,
    terminal::{screen::Screen, text},
};

/// Prints the JSON Schema of workflow files, for completion and checks in editors.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm schema > workflow.schema.json\n  phasm schema --plugins plugins > workflow.schema.json\n  \
                  phasm schema --config > config.schema.json"
)]
pub(crate) struct SchemaArguments {
    /// The schema of the file for `--config` instead.
    #[arg(long, conflicts_with = "plugins")]
    config: bool,

    /// Add the inputs of the plugins in this directory, so that editors know them, too; may be repeated. Plugins that are
    /// there as source are built first.
    #[arg(long, value_name = "DIR")]
    plugins: Vec<PathBuf>,
}

/// Prints the schema.
pub(super) fn schema(arguments: &SchemaArguments, screen: &Screen) -> Result<Exit, Failure> {
    let mut schema = if arguments.config { config::schema() } else { document::schema() };
    if !arguments.plugins.is_empty() {
        executors::add(&mut schema, &known(&arguments.plugins, screen)?);
    }
    // A closed stdout ends the output.
    let _gone = screen.out(&format!("{schema:#}\n"));
    Ok(Exit::Done)
}

/// Returns the plugins of `dirs` with their inputs; of equal names the first counts. Unusable ones are reported and left out.
fn known(dirs: &[PathBuf], screen: &Screen) -> Result<Vec<(String, Value)>, Failure> {
    let plugin_builder = PluginBuilder::new(screen);
    let mut known: Vec<(String, Value)> = Vec::new();
    for dir in dirs {
        let found = plugins::scan(dir).map_err(|error| {
            Failure::call(ContextError::new(format!("{} cannot be read", dir.display()), error))
        })?;
        for (name, source) in found {
            if known.iter().any(|(first, _)| *first == name) {
                continue;
            }
            match inputs(&source, &plugin_builder) {
                Ok(inputs) => known.push((name, inputs)),
                Err(why) => {
                    let line = format!("plugin `{name}` is left out: {why}");
                    screen.err(&format!("{} {}\n", text::doubtful("warning:"), text::clean(&line)));
                }
            }
        }
    }
    Ok(known)
}

fn inputs(source: &Source, plugin_builder: &PluginBuilder) -> Result<Value, String> {
    let of_file = |path: &Path| Ok(Manifest::of(&plugins::read_component(path)?, Some(path))?.inputs);
    match source {
        Source::File(path) => of_file(path),
        Source::Folder(folder) => of_file(&plugin_builder.artefact(folder)?),
        Source::Bytes(bytes) => Ok(Manifest::of(bytes, None)?.inputs),
    }
}
