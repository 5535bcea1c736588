//! Lists directories and describes entries.

use std::{
    fs::{self, Metadata},
    io,
    path::Path,
};

use phasm_sdk::prelude::*;

use crate::{
    Task,
    problem::{is_granted, refused},
};

/// Lists the directory, sorted by path. Links are not followed.
pub(crate) fn list(task: &Task, top: &str) -> Result {
    let Task { recursive, max_entries, .. } = task;
    let mut entries = Vec::new();
    let mut open = vec![top.to_owned()];
    while let Some(directory) = open.pop() {
        for (name, path, metadata) in children(&directory).map_err(|why| refused("list", &directory, &why))? {
            if *recursive && metadata.is_dir() {
                open.push(path.clone());
            }
            entries.push((path, name, metadata));
            if entries.len() > *max_entries {
                let message =
                    format!("`{top}` holds more than {max_entries} entries; `maxEntries` sets the limit");
                return Err(Outcome::failed(message).kind("too-large").retryable(false));
            }
        }
    }
    entries.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    let entries: Vec<Value> =
        entries.iter().map(|(path, name, metadata)| entry(path, name, metadata)).collect();
    Ok(Outcome::succeeded().output("entries", entries).output("path", top))
}

/// Whether there is something, what and how large.
pub(crate) fn stat(path: &str) -> Result {
    let outcome = Outcome::succeeded().output("path", path);
    match fs::metadata(path) {
        Ok(metadata) => {
            Ok(outcome.output("exists", true).output("kind", kind(&metadata)).output("size", metadata.len()))
        }
        Err(why) if why.kind() == io::ErrorKind::NotFound && is_granted(path) => {
            Ok(outcome.output("exists", false))
        }
        Err(why) => Err(refused("look at", path, &why)),
    }
}

fn children(directory: &str) -> io::Result<Vec<(String, String, Metadata)>> {
    fs::read_dir(directory)?
        .map(|entry| {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = Path::new(directory).join(&name).to_string_lossy().into_owned();
            Ok((name, path, entry.metadata()?))
        })
        .collect()
}

fn entry(path: &str, name: &str, metadata: &Metadata) -> Value {
    json!({ "name": name, "path": path, "kind": kind(metadata), "size": metadata.len() })
}

fn kind(metadata: &Metadata) -> &'static str {
    match (metadata.is_file(), metadata.is_dir()) {
        (true, _) => "file",
        (_, true) => "directory",
        _ => "other",
    }
}
