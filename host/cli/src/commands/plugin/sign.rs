//! `phasm plugin sign`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use phasm::{
    clock::Clock,
    plugins::{self, Manifest, trust::PublicKey},
};
use phasm_files::read_own_text;

use super::{inspect::component, signing_key::SigningKey};
use crate::{
    exit::Exit,
    failure::{ContextError, Failure},
    ownership,
    paths::PathArguments,
    terminal::screen::Screen,
};

/// Files with keys have a few hundred bytes.
const MAX_KEY_BYTES: u64 = 16 << 10;

/// Signs components: writes `NAME.wasm.minisig` next to each.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm plugin sign --key plugins.key ./greet.wasm\n  phasm plugin sign --key plugins.key plugins/greet"
)]
pub(crate) struct SignArguments {
    /// Paths of components or plugin folders, or names of plugins that a run would find.
    #[arg(value_name = "NAME|PATH", required = true)]
    plugin: Vec<String>,

    /// The file with the secret key, of `phasm plugin keygen` or `minisign -G -W`.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// Trusted comment of the signature. The default says which plugin it is.
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,

    #[command(flatten)]
    paths: PathArguments,
}

/// Signs plugins and prints where the signatures are.
pub(super) fn sign(arguments: &SignArguments, screen: &Screen) -> Result<Exit, Failure> {
    let key = read_key(&arguments.key)?;
    for asked in &arguments.plugin {
        let (name, path) = component(asked, &arguments.paths, screen, false)?;
        let bytes = plugins::read_component(&path).map_err(Failure::call)?;
        let comment = arguments.comment.clone().unwrap_or_else(|| comment(&name, &bytes, &path));
        let signature = key.sign(&bytes, &comment).map_err(Failure::call)?;
        let beside = path.with_added_extension("minisig");
        fs::write(&beside, signature.text()).map_err(|error| {
            Failure::call(ContextError::new(format!("{} cannot be written", beside.display()), error))
        })?;
        // The signatures are written, also if stdout is closed.
        let _gone = screen.out(&format!("{}\n", beside.display()));
    }
    Ok(Exit::Done)
}

fn comment(name: &str, bytes: &[u8], path: &Path) -> String {
    let manifest = Manifest::of(bytes, Some(path)).unwrap_or_default();
    let name = manifest.name.as_deref().unwrap_or(name);
    let version = manifest.version.map(|version| format!(" {version}")).unwrap_or_default();
    format!("timestamp:{} plugin:{name}{version}", Clock::start().now().0 / 1000)
}

fn read_key(path: &Path) -> Result<SigningKey, Failure> {
    let unusable = |why: &dyn std::fmt::Display| {
        Failure::call(format!("{} cannot be used as a key: {why}", path.display()))
    };
    let text = read_own_text(path, MAX_KEY_BYTES).map_err(|error| unusable(&error))?;
    if text.lines().any(|line| line.trim().parse::<PublicKey>().is_ok()) {
        return Err(unusable(
            &"it is a public key; expected the secret key, which is the file next to it without `.pub`",
        ));
    }
    if let Some(why) = path.metadata().ok().and_then(|found| ownership::open_to_others(&found)) {
        return Err(unusable(&why));
    }
    SigningKey::read(&text).map_err(|error| unusable(&error))
}
