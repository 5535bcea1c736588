//! New archives. Equal files make equal archives: entries are sorted, and have neither times nor owners.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Read, Seek, Write},
    path::Path,
};

use flate2::{Compression, GzBuilder, write::GzEncoder};
use phasm_sdk::prelude::*;

use crate::{Format, Task, limits::Limits, names::safe, problem::refused, required, unfinished};

/// A file or directory to pack, with its name in the archive.
struct Source {
    name: String,
    path: String,
    is_directory: bool,
    size: u64,
}

pub(crate) fn create(task: &Task, format: Format, limits: Limits, task_run: &str) -> Result {
    let from = required("from", "the directory whose files are packed", task.from.as_ref())?;
    if matches!(format, Format::Zstd | Format::TarZst) {
        let message =
            "input `format`: Zstandard is read only; expected `zip`, `tar`, `tar.gz` or `gzip` to create";
        return Err(Outcome::error(message).kind("input").retryable(false));
    }
    let unfinished = unfinished(&task.path, task_run);
    let sources = if format == Format::Gzip { one(from)? } else { all(from, task, &unfinished, limits)? };
    let size: u64 = sources.iter().map(|source| source.size).sum();
    limits.check_bytes(size, from)?;
    let failed = |why: io::Error| refused("write", &task.path, &why);
    let written = File::create(&unfinished)
        .and_then(|file| write(BufWriter::new(file), format, &sources))
        .and_then(|()| fs::rename(&unfinished, &task.path));
    if let Err(why) = written {
        let _ = fs::remove_file(&unfinished);
        return Err(failed(why));
    }
    let entries: Vec<Value> = sources
        .iter()
        .map(|source| {
            let kind = if source.is_directory { "directory" } else { "file" };
            json!({ "name": source.name, "kind": kind, "size": source.size })
        })
        .collect();
    Ok(Outcome::succeeded()
        .output("path", &task.path)
        .output("count", entries.len())
        .output("entries", entries)
        .output("size", size))
}

/// The one file of a compressed stream.
fn one(from: &str) -> Result<Vec<Source>> {
    let found = fs::metadata(from).map_err(|why| refused("read", from, &why))?;
    if found.is_dir() {
        return Err(refused("read", from, &io::ErrorKind::IsADirectory.into()));
    }
    let name =
        Path::new(from).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(vec![Source { name, path: from.to_owned(), is_directory: false, size: found.len() }])
}

/// The files and directories below a directory, sorted by name, without the archive itself. Code 2 for links and odd names.
fn all(from: &str, task: &Task, unfinished: &str, limits: Limits) -> Result<Vec<Source>> {
    let (mut sources, mut faults) = (Vec::new(), Vec::new());
    let mut open = vec![String::new()];
    while let Some(directory) = open.pop() {
        let place = if directory.is_empty() { from.to_owned() } else { format!("{from}/{directory}") };
        let children = fs::read_dir(&place).map_err(|why| refused("read", &place, &why))?;
        for child in children {
            let child = child.map_err(|why| refused("read", &place, &why))?;
            let own = child.file_name().to_string_lossy().into_owned();
            let path = format!("{place}/{own}");
            let name = if directory.is_empty() { own } else { format!("{directory}/{own}") };
            let found = fs::symlink_metadata(&path).map_err(|why| refused("read", &path, &why))?;
            if [task.path.as_str(), unfinished].iter().any(|own| Path::new(own) == Path::new(&path)) {
                continue;
            }
            if let Err(why) = safe(&name) {
                faults.push(format!("`{path}`: {why}"));
            } else if !found.is_dir() && !found.is_file() {
                faults.push(format!("`{path}` is neither a file nor a directory"));
            }
            if found.is_dir() {
                open.push(name.clone());
            }
            let size = if found.is_dir() { 0 } else { found.len() };
            sources.push(Source { name, path, is_directory: found.is_dir(), size });
            limits.check_entries(sources.len(), from)?;
        }
    }
    if !faults.is_empty() {
        faults.truncate(10);
        let message = format!("cannot pack `{from}`: {}", faults.join("; "));
        return Err(Outcome::failed(message).kind("unsafe").retryable(false));
    }
    sources.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(sources)
}

fn write(file: impl Write + Seek, format: Format, sources: &[Source]) -> io::Result<()> {
    match format {
        Format::Zip => write_zip(file, sources),
        Format::Tar => write_tar(file, sources)?.flush(),
        Format::TarGz => write_tar(gzip(file), sources)?.finish()?.flush(),
        Format::Gzip => {
            let mut encoder = gzip(file);
            for source in sources {
                pour(source, &mut encoder)?;
            }
            encoder.finish()?.flush()
        }
        Format::Zstd | Format::TarZst => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// A gzip stream without a time.
fn gzip<W: Write>(file: W) -> GzEncoder<W> {
    GzBuilder::new().mtime(0).write(file, Compression::default())
}

/// Copies a file; one that grows meanwhile fails.
fn pour(source: &Source, into: &mut dyn Write) -> io::Result<()> {
    let copied = io::copy(&mut File::open(&source.path)?.take(source.size.saturating_add(1)), into)?;
    if copied == source.size {
        Ok(())
    } else {
        Err(io::Error::other(format!("the size of `{}` changed while it was read", source.path)))
    }
}

fn write_tar<W: Write>(file: W, sources: &[Source]) -> io::Result<W> {
    let mut archive = tar::Builder::new(file);
    for source in sources {
        let mut header = tar::Header::new_gnu();
        header.set_size(source.size);
        header.set_mode(if source.is_directory { 0o755 } else { 0o644 });
        header.set_mtime(0);
        if source.is_directory {
            header.set_entry_type(tar::EntryType::Directory);
            archive.append_data(&mut header, format!("{}/", source.name), io::empty())?;
        } else {
            let content = File::open(&source.path)?;
            if content.metadata()?.len() != source.size {
                return Err(io::Error::other(format!(
                    "the size of `{}` changed while it was read",
                    source.path
                )));
            }
            archive.append_data(&mut header, &source.name, content.take(source.size))?;
        }
    }
    archive.into_inner()
}

fn write_zip(file: impl Write + Seek, sources: &[Source]) -> io::Result<()> {
    let mut archive = zip::ZipWriter::new(file);
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .unix_permissions(0o644);
    for source in sources {
        if source.is_directory {
            archive.add_directory(source.name.as_str(), options).map_err(io::Error::other)?;
        } else {
            let options = options.large_file(source.size > u64::from(u32::MAX));
            archive.start_file(source.name.as_str(), options).map_err(io::Error::other)?;
            pour(source, &mut archive)?;
        }
    }
    archive.finish().map_err(io::Error::other)?.flush()
}
