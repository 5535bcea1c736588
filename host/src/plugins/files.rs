//! Reading what lies in plugin directories, which anybody may have put there: regular files of a bounded size, and of the
//! kind that their name says.

use std::{io, path::Path};

use crate::plugins::trust::MAX_SIGNATURE_BYTES;
use phasm_files::{read_adjacent_text, read_regular};

/// A component of JavaScript is 12 MB; what is much larger was not meant to be one.
const MAX_COMPONENT_BYTES: u64 = 256 << 20;

/// The largest manifest, embedded or beside the component.
pub(super) const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// Whether a file holds a component compiled ahead of time.
pub(super) fn is_artefact(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "cwasm")
}

/// Reads the component, or the artefact, in `path`.
///
/// # Errors
/// A message for the user: the file, and what it contains instead.
pub fn read_component(path: &Path) -> Result<Vec<u8>, String> {
    let bytes =
        read_regular(path, MAX_COMPONENT_BYTES).map_err(|error| format!("{}: {error}", path.display()))?;
    match kind(&bytes) {
        None => Ok(bytes),
        // Whether the bytes are what they should be is found out when they are authenticated.
        Some(_) if is_artefact(path) => Ok(bytes),
        Some(kind) => {
            Err(format!("{} is not a WebAssembly component but {kind}; build it again", path.display()))
        }
    }
}

/// The signature of the component in `path`, from the file `NAME.wasm.minisig` next to it; none if there is no such file.
///
/// # Errors
/// A message for the user when the file cannot be read.
pub fn signature_beside(path: &Path) -> Result<Option<String>, String> {
    let path = path.with_added_extension("minisig");
    match read_adjacent_text(&path, MAX_SIGNATURE_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// The text of a manifest, a plugin's or a crate's. Messages quote it, and anyone who may write in the
/// directory can lay a link there.
///
/// # Errors
/// When it cannot be read, is a link or another user's, has more than 1 MiB, or is no text.
pub fn manifest(path: &Path) -> io::Result<String> {
    read_adjacent_text(path, MAX_MANIFEST_BYTES)
}

/// Names the kind of bytes that are not a component, by how they begin. The contents of a component are left to the compiler.
fn kind(bytes: &[u8]) -> Option<String> {
    match bytes {
        [b'\0', b'a', b's', b'm', version, _, 1, 0, ..] if *version > 1 => None,
        [b'\0', b'a', b's', b'm', 1, 0, 0, 0, ..] => Some("a core WebAssembly module".to_owned()),
        [b'\0', b'a', b's', b'm', ..] => Some("WebAssembly of an unknown version".to_owned()),
        [] => Some("an empty file".to_owned()),
        [0x7f, b'E', b'L', b'F', ..] => Some("a program of this machine (ELF)".to_owned()),
        _ if std::str::from_utf8(bytes).is_ok() => Some("a text".to_owned()),
        // Its bytes are not repeated: the name may be a link to a file that only this process may read.
        _ => Some("a file of another kind".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
            (b"\xff\xfe\0\0\0", "a file of another kind"),
        ];
        for (bytes, kind) in rows {
            fs::write(&path, bytes).unwrap();
            let expected =
                format!("{} is not a WebAssembly component but {kind}; build it again", path.display());
            assert_eq!(read_component(&path), Err(expected));
        }
        let artefact = path.with_extension("cwasm");
        fs::write(&artefact, b"anything").unwrap();
        assert_eq!(read_component(&artefact).map(|bytes| bytes.len()), Ok(8));
        fs::write(&path, b"\0asm\x0d\0\x01\0").unwrap();
        assert_eq!(read_component(&path).map(|bytes| bytes.len()), Ok(8));
    }

    /// R-I47: what lies next to a component by a link is not read, and nothing of it is repeated.
    #[cfg(unix)]
    #[test]
    fn nothing_of_a_file_behind_a_link_is_repeated() {
        use std::os::unix::fs::symlink;

        use crate::plugins::{Manifest, is_plugin};
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("secret"), "token = hunter2\n[package.metadata.phasm]\n").unwrap();
        let component = b"\0asm\x0d\0\x01\0";
        for beside in ["x.toml", "x.json"] {
            symlink("secret", at(beside)).unwrap();
            let why = Manifest::of(component, Some(&at("x.wasm"))).unwrap_err();
            assert!(why.ends_with("a link; expected a regular file") && !why.contains("hunter2"), "{why}");
            fs::remove_file(at(beside)).unwrap();
            fs::hard_link(at("secret"), at(beside)).unwrap();
            let why = Manifest::of(component, Some(&at("x.wasm"))).unwrap_err();
            assert!(why.contains("hard links") && !why.contains("hunter2"), "{why}");
            fs::remove_file(at(beside)).unwrap();
        }
        symlink("secret", at("x.wasm.minisig")).unwrap();
        let why = signature_beside(&at("x.wasm")).unwrap_err();
        assert!(why.ends_with("a link; expected a regular file"), "{why}");
        fs::create_dir(at("made")).unwrap();
        fs::write(at("secret"), "[package.metadata.phasm]\n").unwrap();
        symlink("../secret", at("made/Cargo.toml")).unwrap();
        assert!(!is_plugin(&at("made")));
    }
}
