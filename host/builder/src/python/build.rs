//! One run of componentize-py.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::{
    carried::{HTTP_WIT, SDK},
    component::{manifest, with_manifest},
    stamp,
    tool::{COMPONENTIZE_VERSION, Tool},
};
use crate::{
    folder::PythonProject,
    process::{self, BUILD_LIMIT, Output, ProcessError},
    progress::Progress,
};

/// The module that a component is made of: it has the world's class, and imports the executor's module.
const ENTRY: &str = "phasm_entry";
/// The largest manifest that is read, in bytes.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// Why there is no component.
#[derive(Debug)]
pub(crate) enum Failure {
    /// componentize-py, or the project's own module, says so.
    Said(String),
    /// componentize-py could not be run to its end.
    Process(ProcessError),
    /// A file could not be written.
    File(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

/// Makes the component of a project.
pub(crate) fn build(project: &PythonProject, tool: &Tool, progress: &dyn Progress) -> Result<(), Failure> {
    progress.step(&format!("building {} with componentize-py {COMPONENTIZE_VERSION}", project.name));
    let build_dir = project.build_dir();
    fs::create_dir_all(&build_dir)?;
    let files = stamp::files(project);
    let work = Work::begin(project, &build_dir)?;
    let output = work.run(project, tool, progress)?;
    let told =
        work.read("manifest.json").and_then(|text| serde_json::from_str::<Map<String, Value>>(&text).ok());
    let (Some(of_hints), true) = (told, output.status.success()) else {
        return Err(Failure::Said(work.reason(&output)));
    };
    let component = fs::read(work.component())?;
    let made = with_manifest(&component, &manifest(project, of_hints));
    let made = made.ok_or_else(|| Failure::Said("componentize-py wrote no component".to_owned()))?;
    // Renamed, so that no reader sees half of it.
    let file = tempfile::NamedTempFile::new_in(&build_dir)?;
    fs::write(file.path(), made)?;
    file.persist(project.artefact()).map_err(|error| error.error)?;
    if let Some(files) = files {
        stamp::put(project, &files)?;
    }
    Ok(())
}

/// A folder for one build, which goes with it.
struct Work {
    dir: tempfile::TempDir,
    /// Folders that modules are imported from; componentize-py calls them by their number.
    paths: Vec<PathBuf>,
}

impl Work {
    fn begin(project: &PythonProject, build_dir: &Path) -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix(".work-").tempdir_in(build_dir)?;
        let at = |name: &str| dir.path().join(name);
        write_all(&at("wit"), HTTP_WIT)?;
        fs::create_dir_all(at("environment/lib/python3/site-packages"))?;
        fs::create_dir_all(at("entry"))?;
        fs::write(at("entry").join(format!("{ENTRY}.py")), entry(&project.module))?;
        let sdk = match &project.sdk {
            Some(sdk) => sdk.clone(),
            None => {
                write_all(&at("sdk"), SDK)?;
                at("sdk")
            }
        };
        let mut paths = vec![at("entry")];
        paths.extend(project.paths.iter().cloned());
        if !paths.contains(&sdk) {
            paths.push(sdk);
        }
        Ok(Self { dir, paths })
    }

    fn component(&self) -> PathBuf {
        self.dir.path().join("component.wasm")
    }

    fn run(&self, project: &PythonProject, tool: &Tool, progress: &dyn Progress) -> Result<Output, Failure> {
        let mut command = tool.command(&project.folder, &self.dir.path().join("environment"));
        command.arg("-d").arg(self.dir.path().join("wit"));
        command.args(["-w", "executor-http", "componentize", ENTRY]);
        for path in &self.paths {
            command.arg("-p").arg(path);
        }
        command.arg("-o").arg(self.component());
        process::capture(&mut command, BUILD_LIMIT, progress).map_err(Failure::Process)
    }

    /// A file that the project's module or the SDK wrote while it was imported.
    fn read(&self, name: &str) -> Option<String> {
        let path = self.dir.path().join("entry").join(name);
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

fn write_all(dir: &Path, files: &[(&str, &str)]) -> io::Result<()> {
    files.iter().try_for_each(|(name, text)| {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap_or(dir))?;
        fs::write(path, text)
    })
}
