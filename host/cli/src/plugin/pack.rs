//! `phasm plugin pack`.

use std::{fs, path::PathBuf};

use clap::Args;

use super::{
    super::{
        exit::Exit,
        failure::{Failure, While},
        screen::Screen,
    },
    library::packed,
};

/// Puts the manifest that lies beside a component into it, so that the two are one file: what is signed, added and pushed.
///
/// `plugin add` and `plugin push` do so by themselves, but for components that are signed.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin pack greet.wasm -o packed/greet.wasm")]
pub(crate) struct PackArguments {
    /// The component.
    #[arg(value_name = "PATH")]
    component: PathBuf,

    /// The file to write; where it is another one than the component no manifest lies beside it.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Writes the component.
pub(super) fn pack(arguments: &PackArguments, screen: &Screen) -> Result<Exit, Failure> {
    let (bytes, _) = packed(&arguments.component)?;
    let output = &arguments.output;
    let unwritable =
        |error| Failure::call(While::new(format!("{} cannot be written", output.display()), error));
    if let Some(dir) = output.parent() {
        fs::create_dir_all(dir).map_err(unwritable)?;
    }
    fs::write(output, bytes).map_err(unwritable)?;
    // Whoever has stopped reading still gets the component.
    let _gone = screen.out(&format!("{}\n", output.display()));
    Ok(Exit::Done)
}
