//! `phasm schema`: the JSON Schema of documents.

use clap::Args;
use phasm::engine::document;

use super::{exit::Exit, screen::Screen};

/// Prints the JSON Schema of documents, with which editors complete and check them.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm schema > workflow.schema.json")]
pub(super) struct SchemaArguments {}

/// Prints the schema.
pub(super) fn schema(screen: &Screen) -> Exit {
    // Whoever has stopped reading wants no more.
    let _gone = screen.out(&format!("{:#}\n", document::schema()));
    Exit::Done
}
