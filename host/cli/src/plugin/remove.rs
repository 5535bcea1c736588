//! `phasm plugin remove`.

use clap::Args;

use super::{
    super::{exit::Exit, failure::Failure, hint, places::Places, screen::Screen, text},
    library::{Opened, exactly},
};

/// Has a name stand for a version of the library no more.
///
/// Runs that were submitted with it go on. Its component stays until `phasm plugin prune`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin remove greet@1.2.0")]
pub(crate) struct RemoveArguments {
    /// The version.
    #[arg(value_name = "NAME@VERSION")]
    plugin: String,

    #[command(flatten)]
    places: Places,
}

/// Removes a version.
pub(super) fn remove(arguments: &RemoveArguments, screen: &Screen) -> Result<Exit, Failure> {
    let asked = &arguments.plugin;
    let opened = Opened::open(&arguments.places, screen, false)?;
    let stored = opened.library.find(asked).map_err(Failure::call)?;
    if exactly(&stored) != *asked {
        let exactly = exactly(&stored);
        return Err(Failure::call(format!(
            "expected a name and a whole version, such as {}",
            text::clean(&exactly)
        )));
    }
    opened.library.remove(&stored).map_err(Failure::call)?;
    let prune = hint::command(&["plugin", "prune"]);
    // Whoever has stopped reading is rid of it all the same.
    let _gone =
        screen.out(&format!("removed {}; its component is deleted by: {prune}\n", text::clean(asked)));
    Ok(Exit::Done)
}
