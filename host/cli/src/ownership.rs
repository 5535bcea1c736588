//! Ownership of files. Nothing is run that another user could have written or could change.

use std::{fs::Metadata, path::Path};

use phasm_files::{is_trusted_owner, is_writable_by_others};

/// Returns what another user could have written, and why: this path, a directory that leads to it, or, for a directory, a file in it.
/// Returns none if only this user and root can write there.
pub(super) fn doubt(path: &Path) -> Option<String> {
    owned::doubt(path).or_else(|| {
        let entries = path.read_dir().into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).find_map(|entry| owned::doubt_of_entry(&entry))
    })
}

/// How others could read a file that is its owner's alone.
pub(super) fn open_to_others(found: &Metadata) -> Option<String> {
    owned::open_to_others(found)
}

/// Whether a path itself is this user's or root's.
pub(super) fn is_own(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| is_trusted_owner(&found))
}

/// Returns a file above `folder` that its tools would read and that another user wrote.
pub(super) fn planted(folder: &Path) -> Option<String> {
    owned::planted(folder)
}

/// Files that cargo and rustup read in every directory above the one they work in.
#[cfg(unix)]
const READ_ABOVE: [&str; 4] = ["Cargo.toml", ".cargo", "rust-toolchain", "rust-toolchain.toml"];

/// Files that Node.js, esbuild and TypeScript read in the directories above theirs.
#[cfg(unix)]
const READ_ABOVE_PACKAGES: [&str; 3] = ["package.json", "node_modules", "tsconfig.json"];

#[cfg(unix)]
mod owned {
    use std::{
        fs::{self, Metadata},
        os::unix::fs::MetadataExt as _,
        path::Path,
    };

    use rustix::process::geteuid;

    use super::{is_trusted_owner, is_writable_by_others};

    const ROOT: u32 = 0;
    const STICKY: u32 = 0o1000;

    pub(super) fn doubt(path: &Path) -> Option<String> {
        let path = fs::canonicalize(path).ok()?;
        path.ancestors().enumerate().find_map(|(up, at)| {
            let found = fs::symlink_metadata(at).ok()?;
            // In a sticky directory all may create files, but none may replace those of others: what is below is as safe as its owner.
            let shared = up > 0 && found.mode() & STICKY != 0;
            why(at, &found, shared)
        })
    }

    /// Checks the entries of a directory that is trusted itself.
    pub(super) fn doubt_of_entry(path: &Path) -> Option<String> {
        match fs::symlink_metadata(path).ok()? {
            link if link.is_symlink() => doubt(path),
            found => why(path, &found, false),
        }
    }

    pub(super) fn open_to_others(found: &Metadata) -> Option<String> {
        let is_open = found.mode() & 0o077 != 0;
        is_open.then(|| "others may read or change it; make it its owner's alone: chmod 600".to_owned())
    }

    /// The owner of the folder may say how it is built.
    pub(super) fn planted(folder: &Path) -> Option<String> {
        let folder = fs::canonicalize(folder).ok()?;
        let owners = [geteuid().as_raw(), ROOT, fs::metadata(&folder).ok()?.uid()];
        let is_crate = folder.join("Cargo.toml").is_file() || !folder.join("package.json").is_file();
        let names = if is_crate { super::READ_ABOVE.as_slice() } else { &super::READ_ABOVE_PACKAGES };
        let read = folder.ancestors().skip(1).flat_map(|dir| names.iter().map(|name| dir.join(name)));
        { read }.find_map(|path| {
            let owner = fs::symlink_metadata(&path).ok()?.uid();
            (!owners.contains(&owner)).then(|| format!("{} belongs to user {owner}", path.display()))
        })
    }

    fn why(at: &Path, found: &Metadata, shared: bool) -> Option<String> {
        let at = at.display();
        if !is_trusted_owner(found) {
            return Some(format!("{at} belongs to user {}", found.uid()));
        }
        (!shared && is_writable_by_others(found)).then(|| format!("others can write {at}"))
    }
}

/// Where files have no owner that is known here, all are taken for the user's.
#[cfg(not(unix))]
mod owned {
    use std::{fs::Metadata, path::Path};

    pub(super) fn doubt(_: &Path) -> Option<String> {
        None
    }

    pub(super) fn doubt_of_entry(_: &Path) -> Option<String> {
        None
    }

    pub(super) fn open_to_others(_: &Metadata) -> Option<String> {
        None
    }

    pub(super) fn planted(_: &Path) -> Option<String> {
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::{PermissionsExt as _, symlink},
        path::PathBuf,
    };

    use super::*;

    #[test]
    fn what_others_can_write_is_in_doubt_wherever_on_the_way() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let open_to = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let plugins = root.join("a/plugins");
        fs::create_dir_all(plugins.join("x")).unwrap();
        fs::write(plugins.join("y.wasm"), "").unwrap();
        assert_eq!(
            doubt(&plugins),
            None,
            "the directory of temporary files is writable for all users, and sticky"
        );
        for (path, mode) in
            [("a/plugins/x", 0o777), ("a/plugins/y.wasm", 0o666), ("a/plugins", 0o1777), ("a", 0o777)]
        {
            let path = root.join(path);
            let before = fs::metadata(&path).unwrap().permissions();
            open_to(&path, mode);
            assert_eq!(doubt(&plugins), Some(format!("others can write {}", path.display())));
            fs::set_permissions(&path, before).unwrap();
        }
        open_to(&root.join("a"), 0o1777);
        assert_eq!(doubt(&plugins), None);
        // The target of a link counts.
        let shared = root.join("shared");
        fs::create_dir_all(shared.join("z")).unwrap();
        open_to(&shared, 0o777);
        symlink(shared.join("z"), plugins.join("z")).unwrap();
        assert_eq!(doubt(&plugins), Some(format!("others can write {}", shared.display())));
        assert_eq!(doubt(&PathBuf::from("/nowhere")), None);
    }

    #[test]
    fn what_is_ones_own_above_a_folder_is_not_planted() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("x")).unwrap();
        fs::create_dir_all(dir.path().join(".cargo")).unwrap();
        fs::create_dir_all(dir.path().join("node_modules")).unwrap();
        assert_eq!(planted(&dir.path().join("x")), None);
        fs::write(dir.path().join("x/package.json"), "{}").unwrap();
        assert_eq!(planted(&dir.path().join("x")), None);
    }
}
