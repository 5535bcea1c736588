//! Unpacks packages without installing them, and finds files in them.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::{
    super::{process, progress::Progress},
    error::MakeError,
};

const UNPACK_LIMIT: Duration = Duration::from_secs(10 * 60);

/// A downloaded package: `name_version_architecture.deb`.
pub(super) struct Archive(PathBuf);

impl Archive {
    pub(super) fn name(&self) -> String {
        let file = self.0.file_name().unwrap_or_default().to_string_lossy();
        file.split('_').next().unwrap_or_default().to_owned()
    }

    /// # Errors
    /// [`MakeError`].
    pub(super) fn unpack(&self, into: &Path, progress: &dyn Progress) -> Result<(), MakeError> {
        fs::create_dir_all(into).map_err(MakeError::at(into))?;
        let mut dpkg = Command::new("dpkg-deb");
        process::run(dpkg.arg("-x").arg(&self.0).arg(into), UNPACK_LIMIT, progress)?;
        // An unpacked archive is not needed any more.
        fs::remove_file(&self.0).map_err(MakeError::at(&self.0))
    }

    /// Only the folder that `pattern` stands for: a source package has as many files as a small system.
    ///
    /// # Errors
    /// [`MakeError`].
    pub(super) fn unpack_folder(
        &self,
        pattern: &str,
        into: &Path,
        progress: &dyn Progress,
    ) -> Result<(), MakeError> {
        fs::create_dir_all(into).map_err(MakeError::at(into))?;
        let (mut dpkg, mut tar) = (Command::new("dpkg-deb"), Command::new("tar"));
        tar.arg("-C").arg(into).args(["-x", "--wildcards", "--no-wildcards-match-slash", pattern]);
        process::pipe(dpkg.arg("--fsys-tarfile").arg(&self.0), &mut tar, UNPACK_LIMIT, progress)?;
        fs::remove_file(&self.0).map_err(MakeError::at(&self.0))
    }
}

/// The packages in a folder, by name.
///
/// # Errors
/// [`MakeError`].
pub(super) fn archives(dir: &Path) -> Result<Vec<Archive>, MakeError> {
    let mut files = entries(dir).map_err(MakeError::at(dir))?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "deb"));
    files.sort();
    Ok(files.into_iter().map(Archive).collect())
}

/// Every file below `root`; links are not followed.
pub(super) fn files(root: &Path) -> Vec<PathBuf> {
    let (mut files, mut dirs) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(dir) = dirs.pop() {
        for entry in entries(&dir).unwrap_or_default() {
            let real_dir = entry.symlink_metadata().is_ok_and(|meta| meta.is_dir());
            if real_dir { dirs.push(entry) } else { files.push(entry) }
        }
    }
    files
}

fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_named_by_their_package() {
        let dir = tempfile::tempdir().unwrap();
        for file in
            ["rust-web-src_1.96.0+dfsg1-1~deb12u2_all.deb", "libllvm22_1%3a22.1.8_amd64.deb", "notes.txt"]
        {
            fs::write(dir.path().join(file), "").unwrap();
        }
        let names = archives(dir.path()).unwrap().iter().map(Archive::name).collect::<Vec<_>>();
        assert_eq!(names, ["libllvm22", "rust-web-src"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_to_folders_are_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::write(dir.path().join("a/b/file"), "").unwrap();
        std::os::unix::fs::symlink(dir.path(), dir.path().join("a/loop")).unwrap();
        let mut found = files(dir.path());
        found.sort();
        assert_eq!(found, [dir.path().join("a/b/file"), dir.path().join("a/loop")]);
    }
}
