//! `phasm plugin build`.

use std::path::{Path, PathBuf};

use clap::Args;
use phasm::plugins::{self, Source};

use crate::{
    exit::Exit,
    failure::{ContextError, Failure},
    plugins::{builder, dirs},
    terminal::{screen::Screen, text},
};

/// Builds plugins from source.
///
/// A way to the WebAssembly target is found, or made, without anything to prepare. The exit status is 1 if a plugin does
/// not build.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin build plugins/greet\n  phasm plugin build")]
pub(crate) struct BuildArguments {
    /// Plugin folders, or folders of plugins; without any, the working directory if it is a plugin, else `plugins/` of
    /// the checkout around it.
    #[arg(value_name = "DIR")]
    dirs: Vec<PathBuf>,
}

/// Builds plugins and prints where they are.
pub(super) fn build(arguments: &BuildArguments, screen: &Screen) -> Result<Exit, Failure> {
    let folders = folders(&arguments.dirs, screen)?;
    let mut exit = Exit::Done;
    for built in builder::build(&folders, screen) {
        match built {
            Ok(artefact) => {
                // The plugins are built, also if stdout is closed.
                let _gone = screen.out(&format!("{} {}\n", artefact.name, artefact.wasm.display()));
            }
            Err(error) => {
                exit = Exit::Failed;
                let lines: String = error.lines().map(|line| format!("{}\n", text::clean(line))).collect();
                screen.err(&format!("{} {lines}", text::bad("error:")));
            }
        }
    }
    Ok(exit)
}

fn folders(dirs: &[PathBuf], screen: &Screen) -> Result<Vec<PathBuf>, Failure> {
    if !dirs.is_empty() {
        let found: Result<Vec<_>, _> = dirs.iter().map(|dir| folders_in(dir)).collect();
        return Ok(found?.concat());
    }
    let here = Path::new(".");
    if plugins::is_plugin(here) {
        return Ok(vec![here.to_owned()]);
    }
    let found: Result<Vec<_>, _> = dirs::here().tell(screen).dirs.iter().map(|dir| folders_in(dir)).collect();
    let found = found?.concat();
    if found.is_empty() {
        return Err(Failure::call("there is no plugin here; name the folder of one, or of several"));
    }
    Ok(found)
}

/// The folder itself if it is a plugin's, else the plugin folders in it. One that is neither is named by the builder.
fn folders_in(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    if dirs::is_plugin(dir) || !dir.is_dir() {
        return Ok(vec![dir.to_owned()]);
    }
    let found = plugins::scan(dir).map_err(|error| {
        Failure::call(ContextError::new(format!("{} cannot be read", dir.display()), error))
    })?;
    let folders = found.into_iter().filter_map(|(_, source)| match source {
        Source::Folder(folder) => Some(folder),
        Source::File(_) | Source::Bytes(_) => None,
    });
    let folders: Vec<_> = folders.collect();
    Ok(if folders.is_empty() { vec![dir.to_owned()] } else { folders })
}
