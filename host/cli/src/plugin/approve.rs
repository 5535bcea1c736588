//! `phasm plugin approve`.

use clap::Args;

use super::{
    super::{exit::Exit, failure::Failure, places::Places, screen::Screen, text},
    library::{Opened, exactly},
};

/// Has a version be used that is held in the library.
///
/// Approving grants nothing: what the version asks for and is not granted is printed, with the lines that grant it.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm plugin approve greet@1.3.0\n  phasm plugin approve greet@1.3.0 --config phasm.toml"
)]
pub(crate) struct ApproveArguments {
    /// The version.
    #[arg(value_name = "NAME@VERSION")]
    plugin: String,

    #[command(flatten)]
    places: Places,
}

/// Approves a version.
pub(super) fn approve(arguments: &ApproveArguments, screen: &Screen) -> Result<Exit, Failure> {
    let asked = &arguments.plugin;
    if !asked.contains('@') {
        return Err(Failure::call(format!(
            "expected a name and a version, such as {}@1.2.0",
            text::clean(asked)
        )));
    }
    let opened = Opened::open(&arguments.places, screen, false)?;
    let stored = opened.library.find(asked).map_err(Failure::call)?;
    let (manifest, _) = opened.library.look(&stored, &opened.all_keys()).map_err(Failure::call)?;
    let was_held = opened.library.approve(&stored).map_err(Failure::call)?;
    let exactly = exactly(&stored);
    let done = if was_held { "approved" } else { "approved before:" };
    let grants = opened.to_grant(&stored.name, &manifest.wants).unwrap_or_default();
    // Whoever has stopped reading has approved it all the same.
    let _gone = screen.out(&format!("{done} {} {}\n{grants}", text::clean(&exactly), stored.digest));
    Ok(Exit::Done)
}
