//! Entries are listed, and written once all of them are known to be safe.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read, Write},
    path::Path,
};

use phasm_sdk::prelude::*;

use crate::{
    Format, Task,
    entries::{self, Entry, Kind},
    limits::Limits,
    names::safe,
    problem::refused,
    required, unfinished,
};

/// Faults that a message has at most.
const MAX_SHOWN: usize = 10;

/// An entry that was read to its end.
struct Item {
    name: String,
    is_directory: bool,
    size: u64,
}

/// Entries of an archive, and what is unsafe about it.
#[derive(Default)]
struct Survey {
    entries: Vec<Item>,
    faults: Vec<String>,
    size: u64,
}

pub(crate) fn list(task: &Task, format: Format, limits: Limits) -> Result {
    let survey = survey(task, format, limits)?;
    Ok(outcome(task, survey.entries.iter(), survey.size))
}

/// Writes the entries; nothing is written if one of them is unsafe, or if there are too many or too large ones.
pub(crate) fn extract(task: &Task, format: Format, limits: Limits, task_run: &str) -> Result {
    let to = required("to", "the directory to write to", task.to.as_ref())?;
    let survey = survey(task, format, limits)?;
    let wanted = wanted(task, &survey)?;
    check_targets(task, to, &wanted)?;
    fs::create_dir_all(to).map_err(|why| refused("write", to, &why))?;
    for known in wanted.values().filter(|known| known.is_directory) {
        let path = format!("{to}/{}", known.name);
        fs::create_dir_all(&path).map_err(|why| refused("write", &path, &why))?;
    }
    let mut left = limits.bytes;
    entries::each(&task.path, format, limits, &mut |mut entry| {
        let Ok(name) = safe(&entry.name) else { return Ok(()) };
        if entry.kind == Kind::File && wanted.contains_key(name.as_str()) {
            let size = write(to, &name, &mut entry, left, task_run, task, limits)?;
            left = left.saturating_sub(size);
        }
        Ok(())
    })?;
    let size = wanted.values().map(|known| known.size).sum();
    Ok(outcome(task, wanted.values().copied(), size))
}

fn outcome<'k>(task: &Task, entries: impl Iterator<Item = &'k Item>, size: u64) -> Outcome {
    let entries: Vec<Value> = entries
        .map(|known| {
            let kind = if known.is_directory { "directory" } else { "file" };
            json!({ "name": known.name, "kind": kind, "size": known.size })
        })
        .collect();
    let count = entries.len();
    Outcome::succeeded()
        .output("path", &task.path)
        .output("entries", entries)
        .output("count", count)
        .output("size", size)
}

/// Reads the archive to its end without writing anything. Code 2 if an entry is unsafe; all of these are named.
fn survey(task: &Task, format: Format, limits: Limits) -> Result<Survey> {
    let path = &task.path;
    let mut survey = Survey::default();
    let mut known = BTreeMap::new();
    let mut count = 0_usize;
    entries::each(path, format, limits, &mut |mut entry| {
        count += 1;
        limits.check_entries(count, path)?;
        let shown: String = entry.name.chars().take(100).collect();
        let name = match (safe(&entry.name), entry.kind) {
            (Err(why), _) | (Ok(_), Kind::Other(why)) => {
                survey.faults.push(format!("`{}`: {why}", shown.escape_debug()));
                return Ok(());
            }
            (Ok(name), _) if name.is_empty() => return Ok(()),
            (Ok(name), Kind::File | Kind::Directory) => name,
        };
        let is_directory = entry.kind == Kind::Directory;
        match known.insert(name.clone(), is_directory) {
            None => {}
            Some(true) if is_directory => return Ok(()),
            Some(_) => survey.faults.push(format!("`{shown}`: another entry has the same name")),
        }
        let size = if is_directory { 0 } else { measured(&mut entry, &mut survey.size, path, limits)? };
        survey.entries.push(Item { name, is_directory, size });
        Ok(())
    })?;
    for (name, _) in known.iter().filter(|(_, is_directory)| !**is_directory) {
        if known
            .range(format!("{name}/")..)
            .next()
            .is_some_and(|(next, _)| next.starts_with(&format!("{name}/")))
        {
            survey.faults.push(format!("`{name}`: it is a file, and other entries are in it"));
        }
    }
    if survey.faults.is_empty() {
        return Ok(survey);
    }
    let more = survey.faults.len().saturating_sub(MAX_SHOWN);
    survey.faults.truncate(MAX_SHOWN);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let message =
        format!("`{path}` has unsafe entries, and nothing was written: {}{more}", survey.faults.join("; "));
    Err(Outcome::failed(message).kind("unsafe").retryable(false))
}

/// Counts the bytes of an entry.
fn measured(entry: &mut Entry<'_>, total: &mut u64, path: &str, limits: Limits) -> Result<u64> {
    let before = *total;
    let mut buffer = vec![0; 16 << 10];
    loop {
        let count = entry.content.read(&mut buffer).map_err(|why| entries::broken(path, limits, &why))?;
        if count == 0 {
            return Ok(*total - before);
        }
        *total = total.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        limits.check_bytes(*total, path)?;
    }
}

/// Entries to write by name. Code 2 for a name that the archive does not have.
fn wanted<'s>(task: &Task, survey: &'s Survey) -> Result<BTreeMap<&'s str, &'s Item>> {
    let all = survey.entries.iter().map(|known| (known.name.as_str(), known));
    if task.names.is_empty() {
        return Ok(all.collect());
    }
    let all: BTreeMap<_, _> = all.collect();
    let missing: Vec<String> = task
        .names
        .iter()
        .filter(|name| !all.contains_key(name.trim_end_matches('/')))
        .map(|name| format!("`{}`", name.chars().take(100).collect::<String>()))
        .collect();
    if !missing.is_empty() {
        let message =
            format!("`{}` has no entry {}; `list` shows its entries", task.path, missing.join(", "));
        return Err(Outcome::failed(message).kind("not-found").retryable(false));
    }
    let is_named = |name: &str| task.names.iter().any(|wanted| wanted.trim_end_matches('/') == name);
    Ok(all.into_iter().filter(|(name, _)| is_named(name)).collect())
}

/// Code 2 if a file would be written through a link, or over another one that should stay.
fn check_targets(task: &Task, to: &str, wanted: &BTreeMap<&str, &Item>) -> Result<()> {
    let mut faults = Vec::new();
    for known in wanted.values() {
        let mut path = Path::new(to).to_owned();
        for part in known.name.split('/') {
            path.push(part);
            let Ok(found) = fs::symlink_metadata(&path) else { break };
            if found.is_symlink() {
                faults.push(format!("`{}` is a link", path.display()));
                break;
            }
        }
        match fs::symlink_metadata(Path::new(to).join(&known.name)) {
            Ok(found) if found.is_dir() != known.is_directory && !found.is_symlink() => {
                faults.push(format!(
                    "`{to}/{}` is no {}",
                    known.name,
                    if known.is_directory { "directory" } else { "file" }
                ));
            }
            Ok(found) if !found.is_dir() && !task.overwrite && !found.is_symlink() => {
                faults.push(format!("`{to}/{}` is there already; `overwrite` replaces it", known.name));
            }
            Ok(_) | Err(_) => {}
        }
    }
    faults.sort();
    faults.dedup();
    if faults.is_empty() {
        return Ok(());
    }
    let more = faults.len().saturating_sub(MAX_SHOWN);
    faults.truncate(MAX_SHOWN);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let message = format!("nothing was written: {}{more}", faults.join("; "));
    Err(Outcome::failed(message).kind("exists").retryable(false))
}

/// Writes a file next to its place, and renames it.
fn write(
    to: &str,
    name: &str,
    entry: &mut Entry<'_>,
    left: u64,
    task_run: &str,
    task: &Task,
    limits: Limits,
) -> Result<u64> {
    let path = format!("{to}/{name}");
    let unfinished = unfinished(&path, task_run);
    let refused = |why: io::Error| refused("write", &path, &why);
    if let Some(parent) = Path::new(&path).parent() {
        fs::create_dir_all(parent).map_err(refused)?;
    }
    let mut file = File::create(&unfinished).map_err(refused)?;
    let copied = copy(entry.content, &mut file, left, &task.path, limits, &refused)
        .and_then(|size| fs::rename(&unfinished, &path).map(|()| size).map_err(refused));
    if copied.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    copied
}

fn copy(
    content: &mut dyn Read,
    file: &mut File,
    left: u64,
    path: &str,
    limits: Limits,
    refused: &dyn Fn(io::Error) -> Outcome,
) -> Result<u64> {
    let mut buffer = vec![0; 16 << 10];
    let mut size = 0_u64;
    loop {
        let count = content.read(&mut buffer).map_err(|why| entries::broken(path, limits, &why))?;
        if count == 0 {
            return Ok(size);
        }
        size = size.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        if size > left {
            limits.check_bytes(u64::MAX, path)?;
        }
        file.write_all(buffer.get(..count).unwrap_or_default()).map_err(refused)?;
    }
}
