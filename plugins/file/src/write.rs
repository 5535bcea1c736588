//! A file with a content.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
};

use phasm_sdk::{artifact::NewArtifact, prelude::*};

use crate::{Task, bytes, problem::refused};

pub(crate) fn write(task: &Task, path: &str, task_run: &str) -> Result {
    let Task { content, encoding, append, create_dirs, max_bytes, .. } = task;
    let content = content.clone().or_error("input `content` is missing; expected the text to write")?;
    let bytes = bytes::decode(content, *encoding)?;
    if u64::try_from(bytes.len()).is_ok_and(|size| size > *max_bytes) {
        let message = format!("`content` has {} bytes; `maxBytes` allows {max_bytes}", bytes.len());
        return Err(Outcome::failed(message).kind("too-large").retryable(false));
    }
    let refused = |why: io::Error| refused("write", path, &why);
    if *create_dirs && let Some(parent) = Path::new(path).parent().filter(|parent| *parent != Path::new("")) {
        fs::create_dir_all(parent).map_err(refused)?;
    }
    let written = if *append { add_to(path, &bytes) } else { replace(path, &bytes, task_run) };
    let outcome = Outcome::succeeded().output("size", written.map_err(refused)?).output("path", path);
    Ok(match NewArtifact::at(path) {
        Some(artifact) => outcome.output("artifact", artifact),
        None => outcome,
    })
}

/// Adds the bytes at the end and gives the new size.
fn add_to(path: &str, bytes: &[u8]) -> io::Result<u64> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(bytes)?;
    Ok(file.metadata()?.len())
}

/// Writes to a file next to the target and renames it, so that readers never see half of it.
fn replace(path: &str, bytes: &[u8], task_run: &str) -> io::Result<u64> {
    let unique: String = task_run.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let beside = format!("{path}.{unique}.part");
    let size = fs::metadata(path).map(|old| old.is_dir());
    if size.is_ok_and(|is_directory| is_directory) {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.map(|()| bytes.len() as u64)
}
