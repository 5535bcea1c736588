//! Whether a component is newer than everything it was made from, told from the names, times and sizes of files.

use std::{
    collections::BTreeSet,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Write},
    path::Path,
    time::SystemTime,
};

use super::{
    carried::{HTTP_WIT, SDK},
    tool::COMPONENTIZE_VERSION,
};
use crate::folder::{PythonProject, SDK_PACKAGE};

/// Number of files of a project that are looked at. One with more is built each time.
const MAX_FILES: usize = 20_000;
/// Depth of folders that are looked at.
const MAX_DEPTH: usize = 32;
/// Folders without sources.
const SKIPPED: [&str; 4] = ["__pycache__", "build", "node_modules", "target"];
/// Endings of files that no component is made of.
const OTHERS: [&str; 4] = ["md", "yaml", "yml", "pyc"];

/// Whether the component is there, and made of the files as they are now.
pub(crate) fn is_fresh(project: &PythonProject) -> bool {
    let Some(files) = files(project) else { return false };
    let now = text(project, &files);
    now.is_ok_and(|now| fs::read_to_string(project.stamp()).is_ok_and(|stamped| stamped == now))
}

/// The files that a component will be made of, as they are before its build.
pub(super) fn files(project: &PythonProject) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let sdk = project.sdk.as_ref().map(|sdk| sdk.join(SDK_PACKAGE));
    let roots = project.paths.iter().chain(&sdk);
    roots.map(|root| walk(root, MAX_DEPTH, &mut found)).collect::<Option<()>>()?;
    Some(found)
}

/// Records that the component was made of these files. The file appears complete.
pub(super) fn put(project: &PythonProject, files: &BTreeSet<String>) -> io::Result<()> {
    let mut stamp = tempfile::NamedTempFile::new_in(project.build_dir())?;
    stamp.write_all(text(project, files)?.as_bytes())?;
    stamp.persist(project.stamp())?;
    Ok(())
}

fn text(project: &PythonProject, files: &BTreeSet<String>) -> io::Result<String> {
    let made = line(&project.artefact())?;
    let carried = carried();
    let lines = files.iter().map(|file| format!("{file}\n")).collect::<String>();
    Ok(format!("{made}\ncomponentize-py {COMPONENTIZE_VERSION}, SDK {carried:016x}\n{lines}"))
}

/// Tells the files of this program from those of another one.
fn carried() -> u64 {
    let mut hasher = DefaultHasher::new();
    (SDK, HTTP_WIT).hash(&mut hasher);
    hasher.finish()
}

fn walk(dir: &Path, depth: usize, found: &mut BTreeSet<String>) -> Option<()> {
    for entry in fs::read_dir(dir).ok()? {
        let entry = entry.ok()?;
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            let is_environment = path.join("pyvenv.cfg").is_file();
            if !is_environment && !SKIPPED.contains(&name.as_ref()) {
                walk(&path, depth.checked_sub(1)?, found)?;
            }
        } else if is_source(&path, &name) {
            found.insert(line(&path).ok()?);
        }
        if found.len() > MAX_FILES {
            return None;
        }
    }
    Some(())
}

/// Whether a change of the file may change the component: not a test's or a text's.
fn is_source(path: &Path, name: &str) -> bool {
    let is_other = path.extension().is_some_and(|ending| OTHERS.iter().any(|other| ending == *other));
    let is_test = name.starts_with("test_") || name.ends_with("_test.py");
    !is_other && !is_test
}

fn line(path: &Path) -> io::Result<String> {
    let meta = fs::metadata(path)?;
    let nanos = meta.modified()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    Ok(format!("{nanos} {} {}", meta.len(), path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> (tempfile::TempDir, PythonProject) {
        let dir = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(dir.path()).unwrap();
        for file in
            ["greet.py", "pyproject.toml", "data.txt", "deep/er/x.py", "vendor/y.py", "build/greet.wasm"]
        {
            fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
            fs::write(folder.join(file), "a").unwrap();
        }
        let project = PythonProject {
            name: "greet".to_owned(),
            version: None,
            description: None,
            module: "greet".to_owned(),
            sdk: None,
            paths: vec![folder.clone()],
            folder,
        };
        put(&project, &files(&project).unwrap()).unwrap();
        (dir, project)
    }

    #[test]
    fn a_component_is_fresh_until_a_source_changes_appears_or_goes() {
        let (_dir, other) = project();
        assert!(is_fresh(&other));
        for file in ["greet.py", "pyproject.toml", "data.txt", "deep/er/x.py", "build/greet.wasm"] {
            let (_dir, project) = project();
            fs::write(project.folder.join(file), "longer").unwrap();
            assert!(!is_fresh(&project), "{file}");
        }
        let (_dir, removed) = project();
        fs::remove_file(removed.folder.join("deep/er/x.py")).unwrap();
        assert!(!is_fresh(&removed));
        let (_dir, added) = project();
        fs::write(added.folder.join("json.py"), "").unwrap();
        assert!(!is_fresh(&added));
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
        assert!(is_fresh(&project));
    }

    #[test]
    fn folders_without_end_are_built_each_time() {
        let (_dir, project) = project();
        let deep = project.folder.join("d/".repeat(MAX_DEPTH + 2));
        fs::create_dir_all(deep).unwrap();
        assert!(files(&project).is_none() && !is_fresh(&project));
    }
}
