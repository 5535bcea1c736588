//! Reading what lies in plugin directories, which anybody may have put there: regular files of a bounded size, and of the
//! kind that their name says.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

/// A component of JavaScript is 12 MB; what is much larger was not meant to be one.
const LARGEST_COMPONENT: u64 = 256 << 20;

/// The largest manifest, embedded or beside the component.
pub(super) const LARGEST_MANIFEST: u64 = 1 << 20;

/// Whether a file holds a component compiled ahead of time.
pub(super) fn is_artefact(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "cwasm")
}

/// Reads the component, or the artefact, in `path`.
///
/// # Errors
/// What to tell the user: the file, and what it is instead.
pub fn read_component(path: &Path) -> Result<Vec<u8>, String> {
    let bytes = bounded(path, LARGEST_COMPONENT).map_err(|error| format!("{}: {error}", path.display()))?;
    match kind(&bytes) {
        None => Ok(bytes),
        // Whether the bytes are what they should be is found out when they are authenticated.
        Some(_) if is_artefact(path) => Ok(bytes),
        Some(kind) => {
            Err(format!("{} is no WebAssembly component but {kind}; build it again", path.display()))
        }
    }
}

/// The text of a manifest.
pub(super) fn manifest(path: &Path) -> io::Result<String> {
    String::from_utf8(bounded(path, LARGEST_MANIFEST)?).map_err(io::Error::other)
}

fn bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Before it is opened: opening a pipe waits for whoever writes.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("more than {} MiB, the most that is read", most >> 20)));
    }
    Ok(bytes)
}

/// What bytes are that are no component, by how they begin; what is in a component is for the compiler to judge.
fn kind(bytes: &[u8]) -> Option<String> {
    match bytes {
        [b'\0', b'a', b's', b'm', version, _, 1, 0, ..] if *version > 1 => None,
        [b'\0', b'a', b's', b'm', 1, 0, 0, 0, ..] => Some("a core WebAssembly module".to_owned()),
        [b'\0', b'a', b's', b'm', ..] => Some("WebAssembly of an unknown version".to_owned()),
        [] => Some("an empty file".to_owned()),
        [0x7f, b'E', b'L', b'F', ..] => Some("a program of this machine (ELF)".to_owned()),
        _ if std::str::from_utf8(bytes).is_ok() => Some("a text".to_owned()),
        _ => Some(format!("a file that begins with the bytes {:02x?}", bytes.get(..4).unwrap_or(bytes))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I12.
    #[test]
    fn what_is_no_component_is_said_to_be_what_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.wasm");
        let rows: [(&[u8], &str); 6] = [
            (b"", "an empty file"),
            (b"(component)", "a text"),
            (b"\0asm\x01\0\0\0", "a core WebAssembly module"),
            (b"\0asm", "WebAssembly of an unknown version"),
            (b"\x7fELF\x02", "a program of this machine (ELF)"),
            (b"\xff\xfe\0\0\0", "a file that begins with the bytes [ff, fe, 00, 00]"),
        ];
        for (bytes, kind) in rows {
            fs::write(&path, bytes).unwrap();
            let expected =
                format!("{} is no WebAssembly component but {kind}; build it again", path.display());
            assert_eq!(read_component(&path), Err(expected));
        }
        let artefact = path.with_extension("cwasm");
        fs::write(&artefact, b"anything").unwrap();
        assert_eq!(read_component(&artefact).map(|bytes| bytes.len()), Ok(8));
        fs::write(&path, b"\0asm\x0d\0\x01\0").unwrap();
        assert_eq!(read_component(&path).map(|bytes| bytes.len()), Ok(8));
    }

    #[test]
    fn only_regular_files_of_a_bounded_size_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let says =
            |path: &Path| bounded(path, 1 << 20).map(|bytes| bytes.len()).map_err(|error| error.to_string());
        assert_eq!(says(dir.path()), Err("not a regular file".to_owned()));
        assert_eq!(says(Path::new("/dev/zero")), Err("not a regular file".to_owned()));
        let path = dir.path().join("large");
        fs::write(&path, vec![b' '; 1 << 20]).unwrap();
        assert_eq!(says(&path), Ok(1 << 20));
        fs::write(&path, vec![b' '; (1 << 20) + 1]).unwrap();
        assert_eq!(says(&path), Err("more than 1 MiB, the most that is read".to_owned()));
    }
}
