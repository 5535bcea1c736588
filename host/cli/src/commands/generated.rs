//! `phasm completions` and `phasm man`: what is made of the command line itself.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::{Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use crate::{
    exit::Exit,
    failure::{ContextError, Failure},
    terminal::screen::Screen,
};

/// Prints a shell completion script.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm completions bash > ~/.local/share/bash-completion/completions/phasm\n  \
                        phasm completions zsh > ~/.zfunc/_phasm\n  \
                        phasm completions fish > ~/.config/fish/completions/phasm.fish"
)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Prints a manual page, or writes all of them to a directory.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm man | man -l -\n  phasm man ~/.local/share/man/man1")]
pub(crate) struct ManArguments {
    /// Where the pages of all commands are written, `phasm.1` and others; it is made if it is not there.
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints the completions of `command`.
pub(super) fn completions(arguments: &CompletionsArguments, mut command: Command, screen: &Screen) -> Exit {
    let mut script = Vec::new();
    generate(arguments.shell, &mut command, "phasm", &mut script);
    // A closed stdout ends the output.
    let _gone = screen.out(&String::from_utf8_lossy(&script));
    Exit::Done
}

/// Prints the page of `command`, or writes those of all below it, too.
///
/// # Errors
/// When a page cannot be written.
pub(super) fn man(arguments: &ManArguments, mut command: Command, screen: &Screen) -> Result<Exit, Failure> {
    command.build();
    let Some(dir) = &arguments.dir else {
        let page = page(&command).map_err(Failure::host)?;
        let _gone = screen.out(&String::from_utf8_lossy(&page));
        return Ok(Exit::Done);
    };
    let written = fs::create_dir_all(dir).and_then(|()| write_all(dir, &command));
    let count = written.map_err(|error| {
        Failure::call(ContextError::new(format!("the pages cannot be written to {}", dir.display()), error))
    })?;
    screen.err(&format!("{count} pages are in {}\n", dir.display()));
    Ok(Exit::Done)
}

/// The page of a command that has been built, and so knows its whole name.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

fn write_all(dir: &Path, command: &Command) -> io::Result<usize> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    fs::write(dir.join(format!("{name}.1")), page(command)?)?;
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    below.map(|below| write_all(dir, below)).try_fold(1, |count, below| Ok(count + below?))
}
