//! `phasm plugin pack`.

use std::{fs, path::PathBuf};

use clap::Args;
use phasm::plugins::{self, Manifest};

use super::library::packed;
use crate::{
    exit::Exit,
    failure::{ContextError, Failure},
    terminal::{screen::Screen, text},
};

/// Puts the manifest next to a component into it, so that one file is signed, added and pushed.
///
/// Its members replace the component's own, and the replaced ones are printed; the others stay. `plugin add` and `plugin push` do so by themselves, except for components that are signed.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin pack greet.wasm -o packed/greet.wasm")]
pub(crate) struct PackArguments {
    /// The component.
    #[arg(value_name = "PATH")]
    component: PathBuf,

    /// The file to write. Unless it is the component itself, it must not be next to another manifest file.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Writes the component.
pub(super) fn pack(arguments: &PackArguments, screen: &Screen) -> Result<Exit, Failure> {
    let (bytes, _) = packed(&arguments.component)?;
    let own = plugins::read_component(&arguments.component).map_err(Failure::call)?;
    let replaced = Manifest::replaced(&own, &arguments.component).map_err(Failure::call)?;
    if !replaced.is_empty() {
        let replaced = text::clean(&replaced.join(", ")).into_owned();
        screen.err(&format!(
            "{}: taken from the manifest file next to the component, which differs from the manifest in it; other members are those in it\n",
            replaced
        ));
    }
    let output = &arguments.output;
    let unwritable =
        |error| Failure::call(ContextError::new(format!("{} cannot be written", output.display()), error));
    if let Some(dir) = output.parent() {
        fs::create_dir_all(dir).map_err(unwritable)?;
    }
    fs::write(output, bytes).map_err(unwritable)?;
    // The component is written, also if stdout is closed.
    let _gone = screen.out(&format!("{}\n", output.display()));
    Ok(Exit::Done)
}
