//! Tarball with the command and `install.sh`, and its SHA-256 in a file next to it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use sha2::{Digest as _, Sha256};

use crate::{DistResult, VERSION, files, folder, licence, licences, machine, run};

/// Name of the folder in the tarball.
pub(crate) fn name(architecture: &str) -> String {
    format!("phasm-{VERSION}-{architecture}-linux")
}

/// Makes the tarball in `out`, and returns its path.
pub(crate) fn make(binary: &Path, out: &Path) -> DistResult<PathBuf> {
    let (work, name) = (out.join("work/tarball"), name(machine::architecture(binary)?));
    let dir = work.join(&name);
    folder::copy(binary, &dir.join("phasm"), 0o755)?;
    folder::copy(&files().join("install.sh"), &dir.join("install.sh"), 0o755)?;
    folder::copy(&licence(), &dir.join("LICENSE"), 0o644)?;
    folder::copy(&out.join("work").join(licences::FILE), &dir.join(licences::FILE), 0o644)?;
    let file = format!("{name}.tar.gz");
    let path = out.join(&file);
    archive(&work, &name, &path)?;
    let digest: String = Sha256::digest(fs::read(&path)?).iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(out.join(format!("{file}.sha256")), format!("{digest}  {file}\n"))?;
    Ok(path)
}

/// Writes the folder `name` of `work` to a compressed archive: the same content gives the same archive.
pub(crate) fn archive(work: &Path, name: &str, path: &Path) -> DistResult {
    folder::settle(work)?;
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=ustar", "-I", "gzip -n"]);
    run(tar.arg("-cf").arg(path).arg("-C").arg(work).arg(name))?;
    Ok(())
}
