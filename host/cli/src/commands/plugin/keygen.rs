//! `phasm plugin keygen`.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;

use super::signing_key::SigningKey;
use crate::{
    command_line,
    exit::Exit,
    failure::{ContextError, Failure},
    terminal::screen::Screen,
};

/// Makes a key that plugins are signed with.
///
/// Writes the secret key to FILE, which is its owner's alone and has no password, and the public one to FILE.pub. Both are minisign's, too.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin keygen plugins.key")]
pub(crate) struct KeygenArguments {
    /// Secret key file; an existing one is never overwritten.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Makes a key.
pub(super) fn keygen(arguments: &KeygenArguments, screen: &Screen) -> Result<Exit, Failure> {
    let key = SigningKey::generate().map_err(Failure::host)?;
    let public_key = key.public().map_err(Failure::host)?;
    let (file, public) = (&arguments.file, arguments.file.with_added_extension("pub"));
    let of_key = format!("untrusted comment: public key {}\n{}\n", public_key.number(), public_key);
    write(file, &key.text().map_err(Failure::host)?, 0o600)?;
    write(&public, &of_key, 0o644)?;
    let sign = command_line::command(&["plugin", "sign", "--key", &file.to_string_lossy(), "PLUGIN"]);
    let page = format!(
        "created {}\nsign {} with: {sign}\nto use only signed plugins, add to the configuration:\n\n[trust]\nrequire-signature = true\nkeys = [\"{}\"]\n",
        public_key.name(),
        file.display(),
        public_key
    );
    // The key is written, also if stdout is closed.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

fn write(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        Failure::call(ContextError::new(format!("{} cannot be written", path.display()), error))
    };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let there = format!("{} exists already; keys are never overwritten", path.display());
            return Err(Failure::call(format!("{there}; expected the name of a new file")));
        }
        opened => opened.map_err(failed)?,
    };
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
}
