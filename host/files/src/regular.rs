//! Reading untrusted files: regular ones, of a bounded size.

use std::{
    fs::{File, FileType, OpenOptions},
    io::{self, Read as _},
    path::Path,
};

use super::size::Size;

/// Opens a file if it is a regular one. Opening never blocks, whatever kind of file it is, and the kind is checked on the opened
/// file.
///
/// # Errors
/// Fails when it cannot be opened, or is of another kind, which the message names.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = nonblocking_options().open(path).map_err(|error| open_error(path, error))?;
    let found = file.metadata()?.file_type();
    if found.is_file() { Ok(file) } else { Err(not_regular(kind(found))) }
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
/// See [`open_regular`]; also when the file is larger.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    bounded(&open_regular(path)?, most)
}

/// Reads a regular text file of at most `most` bytes.
///
/// # Errors
/// See [`read_regular`]; also when the file is not UTF-8.
pub fn read_regular_text(path: &Path, most: u64) -> io::Result<String> {
    text(read_regular(path, most)?)
}

/// Reads at most `most` bytes of an open file.
pub(super) fn bounded(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("more than {}, the most that is read", Size(most))));
    }
    Ok(bytes)
}

pub(super) fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

#[cfg(unix)]
fn nonblocking_options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn nonblocking_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}

/// A socket cannot be opened at all, and the system's error does not explain that.
fn open_error(path: &Path, error: io::Error) -> io::Error {
    let special =
        path.metadata().ok().map(|found| found.file_type()).filter(|kind| !kind.is_file() && !kind.is_dir());
    match special {
        Some(found) if error.kind() != io::ErrorKind::PermissionDenied => not_regular(kind(found)),
        Some(_) | None => error,
    }
}

pub(super) fn not_regular(found: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{found}; expected a regular file"))
}

#[cfg(unix)]
pub(super) fn kind(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    match kind {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_symlink() => "a link",
        _ => "a device",
    }
}

#[cfg(not(unix))]
pub(super) fn kind(kind: FileType) -> &'static str {
    if kind.is_dir() { "a directory" } else { "a device" }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::net::UnixListener};

    use super::*;

    #[test]
    fn opening_a_special_file_does_not_block() {
        let dir = std::env::temp_dir().join(format!("phasm-regular-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let at = |name: &str| dir.join(name);
        let pipe = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), pipe, rustix::fs::Mode::from_raw_mode(0o600), 0)
            .unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        fs::write(at("file"), "12345678").unwrap();
        let says =
            |path: &Path, most| read_regular_text(path, most).unwrap_or_else(|error| error.to_string());
        for (path, most, expected) in [
            (at("pipe"), 8, "a pipe; expected a regular file"),
            (at("socket"), 8, "a socket; expected a regular file"),
            (dir.clone(), 8, "a directory; expected a regular file"),
            ("/dev/zero".into(), 8, "a device; expected a regular file"),
            (at("file"), 8, "12345678"),
            (at("file"), 7, "more than 7 bytes, the most that is read"),
        ] {
            assert_eq!(says(&path, most), expected);
        }
        assert_eq!(read_regular(&at("none"), 8).unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::remove_dir_all(dir).unwrap();
    }
}
