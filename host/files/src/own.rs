//! Files that are believed or written: keys, locks, addresses, ledgers. One rule holds for all of them.
//!
//! Such a file belongs to this user or to root, others cannot write it, it is a regular file with one name, and no link leads to it.
//! The rule is checked on the open file, so that nothing can take its place in between. Opening never blocks.

use std::{
    fs::{File, Metadata, OpenOptions},
    io,
    path::Path,
};

use super::regular::{bounded, open_regular, text};

/// Use of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// The content is believed.
    Read,
    /// The file is read and written, and made if it is missing. Its content stays until it is replaced.
    Write,
    /// Lines are added to it. It is made if it is missing.
    Append,
}

/// Opens a file that is believed or written. A file that is made is its owner's alone.
///
/// # Errors
/// Fails when it cannot be opened, or breaks the rule; the message says how.
pub fn open_own(path: &Path, purpose: FileUse) -> io::Result<File> {
    let mut options = OpenOptions::new();
    match purpose {
        FileUse::Read => options.read(true),
        FileUse::Write => options.read(true).write(true).create(true).truncate(false),
        FileUse::Append => options.append(true).create(true),
    };
    let file = rule::open(&mut options, path)?;
    rule::check(&file.metadata()?)?;
    Ok(file)
}

/// Reads a file that is believed, of at most `most` bytes.
///
/// # Errors
/// See [`open_own`]; also when the file is larger, or is not UTF-8.
pub fn read_own_text(path: &Path, most: u64) -> io::Result<String> {
    text(bounded(&open_own(path, FileUse::Read)?, most)?)
}

/// Reads a file of at most `most` bytes that is believed and that links may lead to, as the tools that renew certificates lay them.
///
/// # Errors
/// Fails when it cannot be opened, is no regular file, is larger, belongs to another user, or can be written by others.
pub fn read_trusted(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    rule::check_owner(&file.metadata()?)?;
    bounded(&file, most)
}

/// Reads a text file of at most `most` bytes that lies next to one that was named, such as a manifest. Messages may repeat
/// its content, so it is read only if it is a regular file with one name that belongs to this user, to root, or to the owner of its
/// directory, and if no link leads to it.
///
/// # Errors
/// Fails when it cannot be opened, is another's, is larger, or is not UTF-8.
pub fn read_adjacent_text(path: &Path, most: u64) -> io::Result<String> {
    let file = rule::open(OpenOptions::new().read(true), path)?;
    rule::check_adjacent(path, &file.metadata()?)?;
    text(bounded(&file, most)?)
}

/// Returns whether a path is a link that another user made, who is not the owner of its directory either.
#[must_use]
pub fn is_foreign_link(path: &Path) -> bool {
    rule::is_foreign_link(path)
}

/// Returns whether the owner of a file is this user or root, whose files are believed.
#[must_use]
pub fn is_trusted_owner(found: &Metadata) -> bool {
    rule::is_trusted(found)
}

/// Returns whether users other than this one and root can write a file or directory.
#[must_use]
pub fn is_writable_by_others(found: &Metadata) -> bool {
    rule::is_writable_by_others(found)
}

#[cfg(unix)]
mod rule {
    use std::{
        fs::{File, Metadata, OpenOptions},
        io,
        os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
        path::Path,
    };

    use rustix::{fs::OFlags, io::Errno, process::geteuid};

    use crate::regular::{kind, not_regular};

    const ROOT: u32 = 0;

    pub(super) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let opened = options.mode(0o600).custom_flags(flags.bits().cast_signed()).open(path);
        opened.map_err(|error| match path.symlink_metadata() {
            // A link, and a socket, cannot be opened so, and the system's error does not explain that.
            Ok(found) if !found.is_file() && error.kind() != io::ErrorKind::PermissionDenied => {
                not_regular(kind(found.file_type()))
            }
            _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => not_regular("a link"),
            _ => error,
        })
    }

    pub(super) fn check(found: &Metadata) -> io::Result<()> {
        check_form(found)?;
        check_owner(found)
    }

    pub(super) fn check_owner(found: &Metadata) -> io::Result<()> {
        if !is_trusted(found) {
            return Err(refused(&of_another(found)));
        }
        if is_writable_by_others(found) {
            return Err(refused("others can write it; make it its owner's: chmod go-w"));
        }
        Ok(())
    }

    pub(super) fn check_adjacent(path: &Path, found: &Metadata) -> io::Result<()> {
        check_form(found)?;
        if is_trusted(found) || owner_of_directory(path) == Some(found.uid()) {
            return Ok(());
        }
        Err(refused(&of_another(found)))
    }

    fn check_form(found: &Metadata) -> io::Result<()> {
        if !found.is_file() {
            return Err(not_regular(kind(found.file_type())));
        }
        // Another name may lie where others can reach it, or be that of a file which only this user may read.
        if found.nlink() > 1 {
            let names = found.nlink();
            return Err(refused(&format!(
                "it has {names} names (hard links); expected a file with one name"
            )));
        }
        Ok(())
    }

    pub(super) fn is_foreign_link(path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|found| {
            found.is_symlink() && !is_trusted(&found) && owner_of_directory(path) != Some(found.uid())
        })
    }

    fn owner_of_directory(path: &Path) -> Option<u32> {
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        Some(directory.unwrap_or(Path::new(".")).metadata().ok()?.uid())
    }

    pub(super) fn is_trusted(found: &Metadata) -> bool {
        found.uid() == geteuid().as_raw() || found.uid() == ROOT
    }

    pub(super) fn is_writable_by_others(found: &Metadata) -> bool {
        others_write(found.mode(), found.gid(), geteuid().as_raw())
    }

    /// A group with the user's own number has no other members, where every user has such a group: files are group-writable there.
    fn others_write(mode: u32, group: u32, me: u32) -> bool {
        mode & 0o002 != 0 || (mode & 0o020 != 0 && group != me)
    }

    fn of_another(found: &Metadata) -> String {
        let me = geteuid().as_raw();
        format!("it belongs to user {}; expected a file of this user, {me}, or root", found.uid())
    }

    fn refused(why: &str) -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, why)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_group_of_ones_own_is_no_other_user() {
            let rows = [
                (0o755, 7, false),
                (0o775, 7, false),
                (0o775, 8, true),
                (0o757, 7, true),
                (0o1777, 7, true),
                (0o700, 8, false),
            ];
            for (mode, group, expected) in rows {
                assert_eq!(others_write(mode, group, 7), expected, "{mode:o} {group}");
            }
        }
    }
}

/// Where files have no owner that is known here, all are taken for the user's.
#[cfg(not(unix))]
mod rule {
    use std::{
        fs::{File, Metadata, OpenOptions},
        io,
        path::Path,
    };

    use crate::regular::{kind, not_regular};

    pub(super) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
        if path.is_symlink() { Err(not_regular("a link")) } else { options.open(path) }
    }

    pub(super) fn check(found: &Metadata) -> io::Result<()> {
        if found.is_file() { Ok(()) } else { Err(not_regular(kind(found.file_type()))) }
    }

    pub(super) fn check_owner(_: &Metadata) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn check_adjacent(_: &Path, found: &Metadata) -> io::Result<()> {
        check(found)
    }

    pub(super) fn is_foreign_link(_: &Path) -> bool {
        false
    }

    pub(super) fn is_trusted(_: &Metadata) -> bool {
        true
    }

    pub(super) fn is_writable_by_others(_: &Metadata) -> bool {
        false
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::{
            fs::{PermissionsExt as _, chown, symlink},
            net::UnixListener,
        },
    };

    use super::*;

    const USES: [FileUse; 3] = [FileUse::Read, FileUse::Write, FileUse::Append];

    fn refusal(path: &Path, purpose: FileUse) -> String {
        open_own(path, purpose).map_or_else(|error| error.to_string(), |_| "opened".to_owned())
    }

    /// R-I46: whatever breaks the rule is neither believed nor written.
    #[test]
    fn what_others_could_have_laid_there_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("own"), "own").unwrap();
        symlink("own", at("link")).unwrap();
        symlink("nothing", at("dangling")).unwrap();
        fs::write(at("two"), "two").unwrap();
        fs::hard_link(at("two"), at("names")).unwrap();
        fs::write(at("open"), "open").unwrap();
        fs::set_permissions(at("open"), Permissions::from_mode(0o606)).unwrap();
        fs::create_dir(at("dir")).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        for purpose in USES {
            assert_eq!(refusal(&at("own"), purpose), "opened");
            for (name, expected) in [
                ("link", "a link; expected a regular file"),
                ("dangling", "a link; expected a regular file"),
                ("two", "it has 2 names (hard links); expected a file with one name"),
                ("names", "it has 2 names (hard links); expected a file with one name"),
                ("open", "others can write it; make it its owner's: chmod go-w"),
                ("dir", "a directory; expected a regular file"),
                ("pipe", "a pipe; expected a regular file"),
                ("socket", "a socket; expected a regular file"),
            ] {
                assert_eq!(refusal(&at(name), purpose), expected, "{name} {purpose:?}");
            }
        }
        assert!(!at("nothing").exists(), "nothing is made behind a link");
        assert_eq!(fs::read_to_string(at("two")).unwrap(), "two");
        // Only root can give files away.
        if chown(at("own"), Some(12345), None).is_ok() {
            let expected = "it belongs to user 12345; expected a file of this user, 0, or root";
            USES.iter().for_each(|purpose| assert_eq!(refusal(&at("own"), *purpose), expected));
        }
    }

    /// R-I47: nothing that another user laid next to a plugin is read, and so nothing of it is repeated.
    #[test]
    fn what_lies_next_to_a_file_is_read_if_nothing_leads_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let read = |name: &str| read_adjacent_text(&at(name), 64).map_err(|error| error.to_string());
        fs::write(at("own"), "own").unwrap();
        symlink("own", at("link")).unwrap();
        fs::write(at("two"), "two").unwrap();
        fs::hard_link(at("two"), at("names")).unwrap();
        assert_eq!(read("own").unwrap(), "own");
        assert_eq!(read("link").unwrap_err(), "a link; expected a regular file");
        assert!(read("names").unwrap_err().contains("hard links"));
        assert!(!is_foreign_link(&at("link")) && !is_foreign_link(&at("own")));
        if chown(at("own"), Some(12345), None).is_ok() {
            assert!(read("own").unwrap_err().starts_with("it belongs to user 12345"));
            std::os::unix::fs::lchown(at("link"), Some(12345), None).unwrap();
            assert!(is_foreign_link(&at("link")));
            chown(dir.path(), Some(12345), None).unwrap();
            assert_eq!(read("own").unwrap(), "own", "all of the directory is one user's");
            assert!(!is_foreign_link(&at("link")));
        }
    }

    /// R-I46: certificates may be reached by links, and belong to this user or root all the same.
    #[test]
    fn a_trusted_file_may_be_reached_by_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let read = |name: &str| read_trusted(&at(name), 8).map_err(|error| error.to_string());
        fs::write(at("own"), "12345678").unwrap();
        symlink("own", at("link")).unwrap();
        symlink("/dev/zero", at("device")).unwrap();
        fs::write(at("large"), "123456789").unwrap();
        assert_eq!(read("own").unwrap(), read("link").unwrap());
        assert_eq!(read("device").unwrap_err(), "a device; expected a regular file");
        assert_eq!(read("large").unwrap_err(), "more than 8 bytes, the most that is read");
        fs::set_permissions(at("own"), Permissions::from_mode(0o606)).unwrap();
        for name in ["own", "link"] {
            assert_eq!(read(name).unwrap_err(), "others can write it; make it its owner's: chmod go-w");
        }
        if chown(at("own"), Some(12345), None).is_ok() {
            assert!(read("link").unwrap_err().starts_with("it belongs to user 12345"));
        }
    }

    /// R-I46.
    #[test]
    fn what_is_made_is_its_owners_alone_and_what_is_read_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        for (name, purpose) in [("write", FileUse::Write), ("append", FileUse::Append)] {
            let path = dir.path().join(name);
            open_own(&path, purpose).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let path = dir.path().join("text");
        assert_eq!(open_own(&path, FileUse::Read).unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::write(&path, "12345678").unwrap();
        assert_eq!(read_own_text(&path, 8).unwrap(), "12345678");
        assert_eq!(
            read_own_text(&path, 7).unwrap_err().to_string(),
            "more than 7 bytes, the most that is read"
        );
        fs::write(&path, b"\xff").unwrap();
        assert_eq!(read_own_text(&path, 8).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
