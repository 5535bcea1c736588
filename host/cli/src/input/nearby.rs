//! Hints for a workflow file that is not there: what lies near its name.

use std::{ffi::OsStr, fs, path::Path};

use phasm::engine::did_you_mean;

use crate::{command_line::word, paths::folder_of};

/// Endings of workflow files.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];
/// Entries of a folder that are looked at.
const MAX_ENTRIES: usize = 1000;
/// Files that a hint names.
const MAX_NAMED: usize = 5;

/// Returns the hint for a name that is no file: the files of a folder, the same name with another ending, a similar name,
/// or the first folder of the path that is missing.
pub(super) fn hint(file: &Path) -> Option<String> {
    if file.is_dir() {
        return Some(in_folder(file));
    }
    if file.exists() {
        return None;
    }
    let parent = folder_of(file);
    if !parent.is_dir() {
        return Some(missing_folder(parent));
    }
    let names = workflow_files(parent);
    let stem = if has_ending(file) { file.file_stem()? } else { file.file_name()? };
    let same = names.iter().find(|name| Path::new(name).file_stem() == Some(stem));
    if let Some(name) = same {
        return Some(format!("there is {}", word(&file.with_file_name(name).to_string_lossy())));
    }
    let own = file.file_name()?.to_str()?;
    did_you_mean(own, names.iter().map(String::as_str))
        .or_else(|| did_you_mean(&format!("{own}.yaml"), names.iter().map(String::as_str)))
}

/// The workflow files of a folder, by their names.
fn in_folder(folder: &Path) -> String {
    let names = workflow_files(folder);
    if names.is_empty() {
        return "there is no workflow file in it".to_owned();
    }
    let named: Vec<_> = names.iter().take(MAX_NAMED).map(|name| folder.join(name)).collect();
    let named: Vec<_> = named.iter().map(|path| word(&path.to_string_lossy()).into_owned()).collect();
    let more = names.len().saturating_sub(MAX_NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("name one of its files: {}{rest}", named.join(", "))
}

/// The first folder of a path that is not there.
fn missing_folder(folder: &Path) -> String {
    let missing =
        folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()).last();
    let missing = missing.unwrap_or(folder);
    format!("there is no folder {}", word(&missing.to_string_lossy()))
}

/// Returns the names of workflow files in a folder, in order.
fn workflow_files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_ENTRIES);
    let files = entries.filter(|entry| has_ending(Path::new(&entry.file_name())) && entry.path().is_file());
    let mut names: Vec<_> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

fn has_ending(file: &Path) -> bool {
    let ending = file.extension().and_then(OsStr::to_str);
    ending.is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-L90.
    #[test]
    fn hints_name_what_lies_near() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["hello.yaml", "release.yml", "notes.txt"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        fs::create_dir_all(dir.path().join("many/.git")).unwrap();
        fs::create_dir(dir.path().join("empty")).unwrap();
        for number in 0..7 {
            fs::write(dir.path().join(format!("many/{number}.json")), "").unwrap();
        }
        let root = dir.path().display().to_string();
        let rows = [
            ("hello.yml", format!("there is {root}/hello.yaml")),
            ("hello", format!("there is {root}/hello.yaml")),
            ("helo.yaml", "did you mean `hello.yaml`?".to_owned()),
            ("relaese", "did you mean `release.yml`?".to_owned()),
            ("mani/0.json", format!("there is no folder {root}/mani")),
            ("a/b/c.yaml", format!("there is no folder {root}/a")),
            ("empty", "there is no workflow file in it".to_owned()),
        ];
        for (name, expected) in rows {
            assert_eq!(hint(&dir.path().join(name)), Some(expected), "{name}");
        }
        let many = hint(&dir.path().join("many")).unwrap();
        assert!(many.starts_with(&format!("name one of its files: {root}/many/0.json, ")), "{many}");
        assert!(many.ends_with("/many/4.json and 2 more"), "{many}");
        assert_eq!(hint(&dir.path().join("quite-another.yaml")), None);
        assert_eq!(hint(&dir.path().join("hello.yaml")), None);
    }
}
