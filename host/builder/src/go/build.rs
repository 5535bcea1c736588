//! One run of the go command.

use std::fs;

use super::{carried::SDK, component::component, tool};
use crate::{
    core_module::declared,
    folder::{GoSources, ScriptProject},
    process::{self, BUILD_LIMIT},
    progress::Progress,
    script::{Build, Failure, Ingredients, WIT, number_of},
};

/// Arguments of every build: a module without an own start, without paths of this machine, and without what debuggers read.
const ARGUMENTS: [&str; 5] =
    ["build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"];

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
    tool: &tool::Tool,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    progress.step(&format!("building {} with {}", project.name, tool.program().display()));
    let build = Build::begin(project, ingredients(project, sources))?;
    let module = build.at("module.wasm");
    let mut command = tool.command(&project.folder);
    command.args(ARGUMENTS).args(&sources.flags).arg("-o").arg(&module).arg(&sources.package);
    let output = process::capture(&mut command, BUILD_LIMIT, progress)?;
    if !output.status.success() {
        let said = format!("{}{}", output.stdout, output.stderr);
        return Err(Failure::Said(said.trim_end().to_owned()));
    }
    let module = fs::read(module)?;
    let mut manifest = declared(&module).map_err(Failure::Said)?;
    manifest.extend(sources.members.clone());
    let component = component(&module).map_err(Failure::Said)?;
    build.finish(&component, manifest)
}
