//! One build: the module by the go command, and the manifest by the program itself.

use std::{env, fs, path::Path, process::Command, time::Duration};

use serde_json::{Map, Value};

use super::{
    carried::SDK,
    component::component,
    tool::{self, Tool},
};
use crate::{
    environment::command_in,
    folder::{GoSources, ScriptProject},
    process::{self, BUILD_LIMIT},
    progress::Progress,
    script::{Build, Failure, Ingredients, WIT, number_of},
};

/// Arguments of every build: without paths of this machine, and without what debuggers read.
const ARGUMENTS: [&str; 4] = ["build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"];
/// Makes a module whose functions the host calls, instead of one with an own start.
const LIBRARY: &str = "-buildmode=c-shared";
/// Maximum time of the program that writes the manifest.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns the files and tools of a component.
pub(crate) fn ingredients(project: &ScriptProject, sources: &GoSources) -> Ingredients {
    Ingredients {
        roots: [project.folder.clone()].into_iter().chain(sources.replaced.clone()).collect(),
        files: tool::candidates(),
        // Any other file may be embedded.
        is_other: |name| name.ends_with("_test.go"),
        is_skipped: |path| path.ends_with("build") && path.with_file_name("plugin.toml").is_file(),
        tools: ARGUMENTS.join(" "),
        carried: number_of(&[SDK, WIT]),
    }
}

/// Makes the component of a project.
pub(crate) fn build(
    project: &ScriptProject,
    sources: &GoSources,
    tool: &Tool,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    progress.step(&format!("building {} with {}", project.name, tool.program().display()));
    let build = Build::begin(project, ingredients(project, sources))?;
    let (module, program) =
        (build.at("module.wasm"), build.at(&format!("manifest{}", env::consts::EXE_SUFFIX)));
    let mut compile = tool.for_components(&project.folder);
    run(go_build(&mut compile, sources, &module).arg(LIBRARY).arg(&sources.package), BUILD_LIMIT, progress)?;
    let mut compile = tool.for_this_machine(&project.folder);
    run(go_build(&mut compile, sources, &program).arg(&sources.package), BUILD_LIMIT, progress)?;
    let mut manifest = declared(&program, progress)?;
    manifest.extend(sources.members.clone());
    let component = component(&fs::read(module)?).map_err(Failure::Said)?;
    build.finish(&component, manifest)
}

fn go_build<'c>(command: &'c mut Command, sources: &GoSources, made: &Path) -> &'c mut Command {
    command.args(ARGUMENTS).args(&sources.flags).arg("-o").arg(made)
}

/// Runs a program to its end, and returns what it wrote to stdout.
fn run(command: &mut Command, limit: Duration, progress: &dyn Progress) -> Result<String, Failure> {
    let output = process::capture(command, limit, progress)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(Failure::Said(format!("{}{}", output.stdout, output.stderr).trim_end().to_owned()))
}

/// The manifest that follows from the declarations. The program has no environment, and no files in its folder but itself.
fn declared(program: &Path, progress: &dyn Progress) -> Result<Map<String, Value>, Failure> {
    let mut command = command_in(program.parent().unwrap_or(program), program);
    let said = run(command.env_clear(), LIMIT, progress).map_err(|failure| match failure {
        Failure::Said(wrong) => Failure::Said(format!("the declarations of the executor: {wrong}")),
        other @ (Failure::Process(_) | Failure::File(_)) => other,
    })?;
    // Other lines are those of the author's own code.
    serde_json::from_str(said.lines().last().unwrap_or_default()).map_err(|_| {
        Failure::Said("the program writes no manifest; expected `func main() { phasm.Main() }`".to_owned())
    })
}
