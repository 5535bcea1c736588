//! The entries of an archive, one after the other, whatever the format.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

use flate2::read::MultiGzDecoder;
use phasm_sdk::prelude::*;

use crate::{
    Format,
    limits::{LimitReader, Limits, TOO_LARGE},
    problem::refused,
    zstd::ZstdReader,
};

/// Kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    /// A link, a device, an encrypted file: nothing that is written.
    Other(&'static str),
}

/// An entry with its name as the archive has it.
pub(crate) struct Entry<'a> {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) content: &'a mut dyn Read,
}

/// Code 2 for an archive that cannot be read to its end.
pub(crate) fn broken(path: &str, limits: Limits, why: &io::Error) -> Outcome {
    if why.to_string().contains(TOO_LARGE) {
        return match limits.check_bytes(u64::MAX, path) {
            Err(outcome) => outcome,
            Ok(()) => Outcome::failed(format!("`{path}` is too large")).kind("too-large").retryable(false),
        };
    }
    Outcome::failed(format!("`{path}` is broken, or no archive of its format: {why}"))
        .kind("format")
        .retryable(false)
}

/// Calls `visit` for each entry.
pub(crate) fn each(
    path: &str,
    format: Format,
    limits: Limits,
    visit: &mut dyn FnMut(Entry<'_>) -> Result<()>,
) -> Result<()> {
    let file = File::open(path).map_err(|why| refused("read", path, &why))?;
    // WASI opens directories as if they were files.
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(refused("read", path, &io::ErrorKind::IsADirectory.into()));
    }
    let file = BufReader::new(file);
    match format {
        Format::Zip => each_of_zip(path, file, limits, visit),
        Format::Tar => each_of_tar(path, file, limits, visit),
        Format::TarGz => each_of_tar(path, MultiGzDecoder::new(file), limits, visit),
        Format::TarZst => each_of_tar(path, ZstdReader::new(file), limits, visit),
        Format::Gzip => single(path, &mut MultiGzDecoder::new(file), visit),
        Format::Zstd => single(path, &mut ZstdReader::new(file), visit),
    }
}

/// The one file of a compressed stream has the name of the archive without its end.
fn single(path: &str, content: &mut dyn Read, visit: &mut dyn FnMut(Entry<'_>) -> Result<()>) -> Result<()> {
    let name =
        Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).filter(|stem| !stem.is_empty());
    let name = stem.map_or_else(|| format!("{name}.out"), str::to_owned);
    visit(Entry { name, kind: Kind::File, content })
}

fn each_of_tar(
    path: &str,
    stream: impl Read,
    limits: Limits,
    visit: &mut dyn FnMut(Entry<'_>) -> Result<()>,
) -> Result<()> {
    let broken = |why: io::Error| broken(path, limits, &why);
    let mut archive = tar::Archive::new(LimitReader::new(stream, limits.stream_bytes()));
    let mut is_empty = true;
    for entry in archive.entries().map_err(broken)? {
        is_empty = false;
        let mut entry = entry.map_err(broken)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let entry_type = entry.header().entry_type();
        if entry_type == tar::EntryType::XGlobalHeader {
            continue;
        }
        let kind = if entry_type.is_file() || entry_type.is_contiguous() || entry_type.is_gnu_sparse() {
            Kind::File
        } else if entry_type.is_dir() {
            Kind::Directory
        } else if entry_type.is_symlink() || entry_type.is_hard_link() {
            Kind::Other("it is a link")
        } else {
            Kind::Other("it is a device or of an unknown type")
        };
        visit(Entry { name, kind, content: &mut entry })?;
    }
    // Without this an empty file, or a text shorter than a header, would be an archive without entries.
    let size = std::fs::metadata(path).map_err(|why| refused("read", path, &why))?.len();
    if is_empty && size < 20 {
        return Err(broken(io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(())
}

fn each_of_zip(
    path: &str,
    file: BufReader<File>,
    limits: Limits,
    visit: &mut dyn FnMut(Entry<'_>) -> Result<()>,
) -> Result<()> {
    let failed = |why: zip::result::ZipError| broken(path, limits, &io::Error::other(why));
    let mut archive = zip::ZipArchive::new(file).map_err(failed)?;
    limits.check_entries(archive.len(), path)?;
    for at in 0..archive.len() {
        let entry = archive.by_index_raw(at).map_err(failed)?;
        let name = entry.name().map_err(failed)?.into_owned();
        let kind = if entry.is_symlink() {
            Kind::Other("it is a link")
        } else if entry.encrypted() {
            Kind::Other("it is encrypted")
        } else if name.ends_with('/') {
            Kind::Directory
        } else {
            Kind::File
        };
        drop(entry);
        if kind == Kind::File {
            let mut content = archive.by_index(at).map_err(failed)?;
            visit(Entry { name, kind, content: &mut content })?;
        } else {
            visit(Entry { name, kind, content: &mut io::empty() })?;
        }
    }
    Ok(())
}
