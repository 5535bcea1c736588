//! Whether a component is newer than everything it was made from, told from the names, times and sizes of files.

use std::{
    collections::BTreeSet,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::folder::ScriptProject;

/// Number of files of a project that are looked at. One with more is built each time.
const MAX_FILES: usize = 20_000;
/// Depth of folders that are looked at.
const MAX_DEPTH: usize = 32;
/// Folders without sources of scripts.
const SKIPPED: [&str; 4] = ["__pycache__", "build", "node_modules", "target"];
/// Endings of files that no script reads while it is built.
const OTHERS: [&str; 4] = ["md", "yaml", "yml", "pyc"];

/// The files and tools that a component is made of.
pub(crate) struct Ingredients {
    /// Folders whose files are sources, all below them included.
    pub(crate) roots: Vec<PathBuf>,
    /// Further files, which may be absent.
    pub(crate) files: Vec<PathBuf>,
    /// Whether no component is made of a file of this name, as of a test.
    pub(crate) is_other: fn(&str) -> bool,
    /// Whether a folder has no sources.
    pub(crate) is_skipped: fn(&Path) -> bool,
    /// The tools and their versions.
    pub(crate) tools: String,
    /// Number that tells the files of this program from those of another one.
    pub(crate) carried: u64,
}

impl Ingredients {
    /// Whether the component is there, and made of these as they are now.
    pub(crate) fn are_in(&self, project: &ScriptProject) -> bool {
        let Some(files) = self.lines() else { return false };
        let now = self.text(project, &files);
        now.is_ok_and(|now| fs::read_to_string(project.stamp()).is_ok_and(|stamped| stamped == now))
    }

    /// The files that a component will be made of, as they are before its build.
    pub(super) fn lines(&self) -> Option<BTreeSet<String>> {
        let mut found: BTreeSet<String> = self.files.iter().filter_map(|file| line(file).ok()).collect();
        self.roots.iter().map(|root| self.walk(root, MAX_DEPTH, &mut found)).collect::<Option<()>>()?;
        Some(found)
    }

    /// Records that the component was made of these files. The stamp appears complete.
    pub(super) fn put(&self, project: &ScriptProject, files: &BTreeSet<String>) -> io::Result<()> {
        let mut stamp = tempfile::NamedTempFile::new_in(project.build_dir())?;
        stamp.write_all(self.text(project, files)?.as_bytes())?;
        stamp.persist(project.stamp())?;
        Ok(())
    }

    fn walk(&self, dir: &Path, depth: usize, found: &mut BTreeSet<String>) -> Option<()> {
        for entry in fs::read_dir(dir).ok()? {
            let entry = entry.ok()?;
            let (path, kind) = (entry.path(), entry.file_type().ok()?);
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                if !(self.is_skipped)(&path) {
                    self.walk(&path, depth.checked_sub(1)?, found)?;
                }
            } else if !(self.is_other)(&name) {
                found.insert(line(&path).ok()?);
            }
            if found.len() > MAX_FILES {
                return None;
            }
        }
        Some(())
    }

    fn text(&self, project: &ScriptProject, files: &BTreeSet<String>) -> io::Result<String> {
        let made = line(&project.artefact())?;
        let lines = files.iter().map(|file| format!("{file}\n")).collect::<String>();
        Ok(format!("{made}\n{}, SDK {:016x}\n{lines}", self.tools, self.carried))
    }
}

/// A number for the files of this program.
pub(crate) fn number_of(carried: &[&[(&str, &str)]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    carried.hash(&mut hasher);
    hasher.finish()
}

/// Whether a folder has no sources of scripts: one of tools, or an environment.
pub(crate) fn is_of_tools(path: &Path) -> bool {
    SKIPPED.iter().any(|name| path.ends_with(name)) || path.join("pyvenv.cfg").is_file()
}

/// Whether a change of a file leaves the components of scripts as they are: a text's does.
pub(crate) fn is_text(name: &str) -> bool {
    OTHERS.iter().any(|ending| Path::new(name).extension().is_some_and(|found| found == *ending))
}

/// A file with its time and its size, which differ once it was written again.
pub(crate) fn line(path: &Path) -> io::Result<String> {
    let meta = fs::metadata(path)?;
    let nanos = meta.modified()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    Ok(format!("{nanos} {} {}", meta.len(), path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::{Language, PythonSources};

    fn ingredients(project: &ScriptProject) -> Ingredients {
        Ingredients {
            roots: vec![project.folder.clone()],
            files: vec![project.folder.join(".lock")],
            is_other: |name| is_text(name) || name.starts_with("test_"),
            is_skipped: is_of_tools,
            tools: "made with 1.0".to_owned(),
            carried: 0,
        }
    }

    fn project() -> (tempfile::TempDir, ScriptProject) {
        let dir = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(dir.path()).unwrap();
        for file in
            ["greet.py", "pyproject.toml", "data.txt", "deep/er/x.py", "vendor/y.py", "build/greet.wasm"]
        {
            fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
            fs::write(folder.join(file), "a").unwrap();
        }
        let sources = PythonSources { module: "greet".to_owned(), sdk: None, paths: Vec::new() };
        let project = ScriptProject {
            name: "greet".to_owned(),
            version: None,
            description: None,
            folder,
            language: Language::Python(sources),
        };
        let all = ingredients(&project);
        all.put(&project, &all.lines().unwrap()).unwrap();
        (dir, project)
    }

    #[test]
    fn a_component_is_fresh_until_a_source_changes_appears_or_goes() {
        let (_dir, other) = project();
        assert!(ingredients(&other).are_in(&other));
        for file in ["greet.py", "pyproject.toml", "data.txt", "deep/er/x.py", "build/greet.wasm"] {
            let (_dir, project) = project();
            fs::write(project.folder.join(file), "longer").unwrap();
            assert!(!ingredients(&project).are_in(&project), "{file}");
        }
        let (_dir, removed) = project();
        fs::remove_file(removed.folder.join("deep/er/x.py")).unwrap();
        assert!(!ingredients(&removed).are_in(&removed));
        let (_dir, added) = project();
        fs::write(added.folder.join("json.py"), "").unwrap();
        assert!(!ingredients(&added).are_in(&added));
    }

    #[test]
    fn tests_texts_and_environments_are_no_sources() {
        let (_dir, project) = project();
        for file in [
            "test_greet.py",
            "README.md",
            "example.yaml",
            ".git/x",
            "__pycache__/x.pyc",
            "env/pyvenv.cfg",
            "env/z.py",
        ] {
            fs::create_dir_all(project.folder.join(file).parent().unwrap()).unwrap();
            fs::write(project.folder.join(file), "").unwrap();
        }
        assert!(ingredients(&project).are_in(&project));
    }

    #[test]
    fn folders_without_end_are_built_each_time() {
        let (_dir, project) = project();
        let deep = project.folder.join("d/".repeat(MAX_DEPTH + 2));
        fs::create_dir_all(deep).unwrap();
        assert!(ingredients(&project).lines().is_none() && !ingredients(&project).are_in(&project));
    }
}
