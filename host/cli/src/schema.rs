//! `phasm schema`: the JSON Schema of documents and of configurations.

use clap::Args;
use phasm::{config, engine::document};

use super::{exit::Exit, screen::Screen};

/// Prints the JSON Schema of documents, with which editors complete and check them.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm schema > workflow.schema.json\n  phasm schema --config > config.schema.json"
)]
pub(super) struct SchemaArguments {
    /// The schema of the file for `--config` instead.
    #[arg(long)]
    config: bool,
}

/// Prints the schema.
pub(super) fn schema(arguments: &SchemaArguments, screen: &Screen) -> Exit {
    let schema = if arguments.config { config::schema() } else { document::schema() };
    // Whoever has stopped reading wants no more.
    let _gone = screen.out(&format!("{schema:#}\n"));
    Exit::Done
}
