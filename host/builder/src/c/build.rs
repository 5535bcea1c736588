//! One build: each source compiled, everything linked, the module wrapped.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use super::{
    carried::{COMPILED, FILES},
    component::component,
    sources::of_rule,
    stamp,
    tool::Tool,
};
use crate::{
    folder::{CProject, is_cpp},
    process::{self, BUILD_LIMIT},
    progress::Progress,
    script::Failure,
};

/// Bytes of the stack. It lies below the data, so that an overflow traps.
const STACK: u32 = 1 << 20;

/// Makes the component of a project.
pub(crate) fn build(project: &CProject, tool: &Tool, progress: &dyn Progress) -> Result<(), Failure> {
    progress.step(&format!("building {} with {}", project.name, tool.program().display()));
    fs::create_dir_all(project.build_dir())?;
    let work = Work::begin(project, tool)?;
    let began = fs::metadata(work.dir.path())?.modified()?;
    let (objects, files) = work.compile(progress)?;
    let module = work.link(&objects, progress)?;
    let made = component(&module, project).map_err(Failure::Said)?;
    // Renamed, so that no reader sees half of it.
    let file = tempfile::NamedTempFile::new_in(project.build_dir())?;
    fs::write(file.path(), made)?;
    file.persist(project.built("wasm")).map_err(|error| error.error)?;
    // A file that changed meanwhile may have been read before or after: without a stamp it is built again.
    if files.iter().all(|file| modified(file).is_some_and(|time| time < began)) {
        stamp::put(project, &stamp::text(project, &files)?)?;
    }
    Ok(())
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// A folder for one build, which goes with it.
struct Work<'p> {
    project: &'p CProject,
    tool: &'p Tool,
    dir: tempfile::TempDir,
    sdk: PathBuf,
}

impl<'p> Work<'p> {
    fn begin(project: &'p CProject, tool: &'p Tool) -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix(".work-").tempdir_in(project.build_dir())?;
        let carried = dir.path().join("sdk");
        let sdk = match &project.sdk {
            Some(sdk) => sdk.clone(),
            None => {
                fs::create_dir(&carried)?;
                FILES.iter().try_for_each(|(name, text)| fs::write(carried.join(name), text))?;
                carried
            }
        };
        Ok(Self { project, tool, dir, sdk })
    }

    /// Compiles everything, and returns the objects, and the files that were read and stay.
    fn compile(&self, progress: &dyn Progress) -> Result<(Vec<PathBuf>, BTreeSet<PathBuf>), Failure> {
        let (mut objects, mut files, mut said) = (Vec::new(), BTreeSet::new(), String::new());
        let of_sdk = COMPILED.map(|name| self.sdk.join(name));
        let own = self.project.sources.iter().cloned();
        for (at, source) in own.chain(of_sdk.iter().filter(|path| path.is_file()).cloned()).enumerate() {
            let (object, rule) = (self.at(&format!("{at}.o")), self.at(&format!("{at}.d")));
            let is_own = at < self.project.sources.len();
            let mut command = self.compiler(&source, is_own);
            command.arg("-MD").arg("-MF").arg(&rule).arg("-o").arg(&object).arg("-c").arg(&source);
            // Warnings are shown, too, but only with an error: a build that works says nothing.
            match self.run(&mut command, progress) {
                Ok(()) => objects.push(object),
                Err(Failure::Said(errors)) => said.push_str(&errors),
                Err(other) => return Err(other),
            }
            let rule = fs::read_to_string(&rule).unwrap_or_default();
            files.extend(of_rule(&rule, &self.project.folder));
        }
        if !said.is_empty() {
            return Err(Failure::Said(said.trim_end().to_owned()));
        }
        files.insert(self.tool.program().to_owned());
        files.retain(|file| !file.starts_with(self.dir.path()));
        Ok((objects, files))
    }

    fn compiler(&self, source: &Path, is_own: bool) -> Command {
        let is_cpp = is_cpp(source);
        let mut command = self.tool.compiler(&self.project.folder, is_cpp);
        if source.extension().is_none_or(|ending| ending != "s") {
            let standard = if is_cpp { "-std=c++20" } else { "-std=gnu11" };
            command.args([standard, "-Oz", "-Wall", "-fdiagnostics-color=never"]).arg("-I").arg(&self.sdk);
            // WebAssembly has no exceptions here; a `throw` is an error of the compiler then.
            command.args(is_cpp.then_some("-fno-exceptions"));
            command.args(if is_own { self.project.flags.as_slice() } else { &[] });
        }
        command
    }

    fn link(&self, objects: &[PathBuf], progress: &dyn Progress) -> Result<Vec<u8>, Failure> {
        let module = self.at("module.wasm");
        let mut command = self.tool.linker(&self.project.folder, self.project.has_cpp());
        command.args(["-mexec-model=reactor", "-s", "-Wl,--stack-first"]);
        command.arg(format!("-Wl,-z,stack-size={STACK}")).args(objects).arg("-o").arg(&module);
        self.run(&mut command, progress)?;
        Ok(fs::read(module)?)
    }

    fn run(&self, command: &mut Command, progress: &dyn Progress) -> Result<(), Failure> {
        let output = process::capture(command, BUILD_LIMIT, progress).map_err(Failure::Process)?;
        let said = format!("{}{}", output.stdout, output.stderr);
        if output.status.success() { Ok(()) } else { Err(Failure::Said(self.readable(&said))) }
    }

    /// Returns the words of a tool without names of temporary files.
    fn readable(&self, said: &str) -> String {
        let objects = self.project.sources.iter().enumerate();
        objects.fold(said.to_owned(), |said, (at, source)| {
            said.replace(&self.at(&format!("{at}.o")).display().to_string(), &source.display().to_string())
        })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}
