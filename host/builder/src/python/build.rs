//! One run of componentize-py.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::{
    carried::SDK,
    tool::{COMPONENTIZE_VERSION, Tool},
};
use crate::{
    folder::{PythonSources, SDK_PACKAGE, ScriptProject},
    process::{self, BUILD_LIMIT, Output},
    progress::Progress,
    script::{Build, Failure, HTTP_WIT, Ingredients, is_of_tools, is_text, number_of, write_all},
};

/// The module that a component is made of: it has the world's class, and imports the executor's module.
const ENTRY: &str = "phasm_entry";
/// The largest manifest that is read, in bytes.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// Returns the files and tools of a component.
pub(crate) fn ingredients(sources: &PythonSources) -> Ingredients {
    let sdk = sources.sdk.as_ref().map(|sdk| sdk.join(SDK_PACKAGE));
    Ingredients {
        roots: sources.paths.iter().cloned().chain(sdk).collect(),
        files: Vec::new(),
        is_other: |name| is_text(name) || name.starts_with("test_") || name.ends_with("_test.py"),
        is_skipped: is_of_tools,
        tools: format!("componentize-py {COMPONENTIZE_VERSION}"),
        carried: number_of(&[SDK, HTTP_WIT]),
    }
}

/// Makes the component of a project.
pub(crate) fn build(
    project: &ScriptProject,
    sources: &PythonSources,
    tool: &Tool,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    progress.step(&format!("building {} with componentize-py {COMPONENTIZE_VERSION}", project.name));
    let work = Work::begin(project, sources)?;
    let output = work.run(&project.folder, tool, progress)?;
    let told =
        work.read("manifest.json").and_then(|text| serde_json::from_str::<Map<String, Value>>(&text).ok());
    let (Some(of_hints), true) = (told, output.status.success()) else {
        return Err(Failure::Said(work.reason(&output)));
    };
    let component = fs::read(work.component())?;
    work.build.finish(&component, of_hints)
}

/// A build with its files.
struct Work<'a> {
    build: Build<'a>,
    /// Folders that modules are imported from; componentize-py calls them by their number.
    paths: Vec<PathBuf>,
}

impl<'a> Work<'a> {
    fn begin(project: &'a ScriptProject, sources: &PythonSources) -> io::Result<Self> {
        let build = Build::begin(project, ingredients(sources))?;
        write_all(&build.at("wit"), HTTP_WIT)?;
        fs::create_dir_all(build.at("environment/lib/python3/site-packages"))?;
        fs::create_dir_all(build.at("entry"))?;
        fs::write(build.at("entry").join(format!("{ENTRY}.py")), entry(&sources.module))?;
        let sdk = match &sources.sdk {
            Some(sdk) => sdk.clone(),
            None => {
                write_all(&build.at("sdk"), SDK)?;
                build.at("sdk")
            }
        };
        let mut paths = vec![build.at("entry")];
        paths.extend(sources.paths.iter().cloned());
        if !paths.contains(&sdk) {
            paths.push(sdk);
        }
        Ok(Self { build, paths })
    }

    fn component(&self) -> PathBuf {
        self.build.at("component.wasm")
    }

    fn run(&self, folder: &Path, tool: &Tool, progress: &dyn Progress) -> Result<Output, Failure> {
        let mut command = tool.command(folder, &self.build.at("environment"));
        command.arg("-d").arg(self.build.at("wit"));
        command.args(["-w", "executor-http", "componentize", ENTRY]);
        for path in &self.paths {
            command.arg("-p").arg(path);
        }
        command.arg("-o").arg(self.component());
        Ok(process::capture(&mut command, BUILD_LIMIT, progress)?)
    }

    /// A file that the project's module or the SDK wrote while it was imported.
    fn read(&self, name: &str) -> Option<String> {
        let path = self.build.at("entry").join(name);
        phasm_files::read_regular_text(&path, MAX_MANIFEST_BYTES).ok()
    }

    /// The reason for a failure: what the SDK says of the project, else what componentize-py says.
    fn reason(&self, output: &Output) -> String {
        let said = self.read("error.txt").unwrap_or_else(|| {
            let said = format!("{}{}", output.stdout, output.stderr);
            let said = said.split("Stack backtrace:").next().unwrap_or_default();
            said.split("\nCaused by:").next().unwrap_or_default().to_owned()
        });
        let said = said.trim();
        let said = said.rsplit_once("AssertionError: ").map_or(said, |(_, said)| said);
        // Paths as they are outside of the sandbox.
        self.paths.iter().enumerate().fold(said.to_owned(), |said, (at, path)| {
            said.replace(&format!("\"/{at}/"), &format!("\"{}/", path.display()))
        })
    }
}

fn entry(module: &str) -> String {
    format!(
        "import sys\n\nsys.dont_write_bytecode = True\nfrom phasm_sdk import guest\n\nWitWorld = guest.world({module:?}, __file__)\n"
    )
}
