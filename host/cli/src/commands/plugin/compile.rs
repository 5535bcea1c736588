//! `phasm plugin compile`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use phasm::{
    plugins::{self, Manifest},
    sandbox::{Key, Sandbox, SandboxConfig},
};

use super::inspect::component;
use crate::{
    exit::Exit,
    failure::{ContextError, Failure},
    paths::PathArguments,
    terminal::screen::Screen,
    user_dirs,
};

/// One guest is enough to see that a plugin can be linked.
const SLOTS: u32 = 8;

/// Compiles plugins ahead of time, for hosts that cannot compile.
///
/// Writes `NAME.cwasm`: machine code for a machine like this one, sealed with a key. Only a host with the same version
/// of Phasm and the same key loads it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm plugin compile echo -o compiled --key edge.key\n  \
                        phasm plugin compile ./greet.wasm -o compiled")]
pub(crate) struct CompileArguments {
    /// Names of plugins that a run would find, or paths of components or plugin folders.
    #[arg(value_name = "NAME|PATH", required = true)]
    plugin: Vec<String>,

    /// The directory to write to; made if need be.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    /// The file with the key, 32 bytes; made if there is none. Without it, the key of this user's cache: such plugins
    /// are for this user's own runs.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    #[command(flatten)]
    paths: PathArguments,
}

/// Compiles plugins and prints where they are.
pub(super) fn compile(arguments: &CompileArguments, screen: &Screen) -> Result<Exit, Failure> {
    let sandbox = sandbox(arguments.key.as_deref())?;
    let dir = &arguments.output;
    fs::create_dir_all(dir).map_err(|error| unwritable(dir, error))?;
    for asked in &arguments.plugin {
        let (name, wasm) = component(asked, &arguments.paths, screen, false)?;
        let bytes = plugins::read_component(&wasm).map_err(Failure::call)?;
        let artefact = compiled(&sandbox, bytes, &wasm)?;
        let path = dir.join(name).with_added_extension("cwasm");
        fs::write(&path, artefact).map_err(|error| unwritable(&path, error))?;
        // The plugins are built, also if stdout is closed.
        let _gone = screen.out(&format!("{}\n", path.display()));
    }
    Ok(Exit::Done)
}

fn sandbox(key: Option<&Path>) -> Result<Sandbox, Failure> {
    let unusable = |path: &Path, error| {
        Failure::call(ContextError::new(format!("{} is not a key", path.display()), error))
    };
    let key = key.map(|path| Key::read_or_make(path).map_err(|error| unusable(path, error))).transpose()?;
    let cache = user_dirs::cache_dir().map(|dir| dir.join("compiled"));
    Sandbox::new(SandboxConfig { slots: SLOTS, cache, key, ..SandboxConfig::default() })
        .map_err(Failure::host)
}

fn compiled(sandbox: &Sandbox, bytes: Vec<u8>, wasm: &Path) -> Result<Vec<u8>, Failure> {
    let refused = |error: String| Failure::with(Exit::Failed, format!("{}: {error}", wasm.display()));
    let manifest = Manifest::of(&bytes, Some(wasm)).map_err(refused)?;
    let manifest = serde_json::to_string(&manifest).map_err(|error| refused(error.to_string()))?;
    let compiling = sandbox.precompile(bytes.into(), manifest);
    sandbox.guest_runtime().block_on(compiling).map_err(|error| refused(error.to_string()))
}

fn unwritable(path: &Path, error: std::io::Error) -> Failure {
    Failure::call(ContextError::new(format!("{} cannot be written", path.display()), error))
}
