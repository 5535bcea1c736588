//! Runs a workflow where nothing can be compiled: `phasm-edge KEY WORKFLOW PLUGIN.cwasm…` prints the run's view.
//!
//! The plugins are what `phasm plugin compile --key KEY` has written. The key lets its holder make this program execute
//! anything, so it is guarded like the program itself.

use std::{
    env,
    error::Error,
    fs,
    io::{self, Write as _},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::ExitCode,
};

use phasm::{
    Host,
    engine::{phase::Phase, value::Map},
    sandbox::{Key, SandboxConfig},
};

/// Attempts that may be in flight at once.
const SLOTS: u32 = 16;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [key, workflow, plugins @ ..] = arguments.as_slice() else {
        return fail("usage: phasm-edge KEY WORKFLOW PLUGIN.cwasm…");
    };
    match run(key, workflow, plugins) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => fail(&error.to_string()),
    }
}

/// Whether the run succeeded.
fn run(key: &Path, workflow: &Path, plugins: &[PathBuf]) -> Result<bool, Box<dyn Error>> {
    let host = open(key, plugins)?;
    let name = workflow.to_string_lossy();
    let text = fs::read_to_string(workflow)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let view = runtime.block_on(async {
        let plan = host.plan(&name, &text).await?;
        let run = host.submit(&plan, &Map::new()).await?;
        Ok::<_, Box<dyn Error>>(run.wait().await?)
    })?;
    let mut stdout = io::stdout().lock();
    serde_json::to_writer_pretty(&mut stdout, &view)?;
    writeln!(stdout)?;
    Ok(view.phase == Phase::Succeeded)
}

/// A host that knows these plugins by the names of their files.
fn open(key: &Path, plugins: &[PathBuf]) -> Result<Host, Box<dyn Error>> {
    let sandbox = SandboxConfig { slots: SLOTS, threads: NonZeroUsize::new(1), ..SandboxConfig::default() };
    let mut builder = Host::builder().sandbox(sandbox).slots(SLOTS).precompiled_key(Key::read(key)?);
    for plugin in plugins {
        let name = plugin.file_stem().unwrap_or_default().to_string_lossy();
        builder = builder.plugin(name.as_ref(), fs::read(plugin)?);
    }
    Ok(builder.open()?)
}

fn fail(message: &str) -> ExitCode {
    // There is nowhere left to complain.
    let _unheard = writeln!(io::stderr(), "phasm-edge: {message}");
    ExitCode::from(2)
}
