//! Debian package with the command and a unit of systemd.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{DistResult, VERSION, c_library, files, folder, licence, licences, machine, run};

/// Variable with the name and the address of the one who answers for the package, as `Ada Lovelace <ada@example.org>`.
const MAINTAINER: &str = "PHASM_MAINTAINER";

/// Makes the package in `out`, and returns its path.
pub(crate) fn make(binary: &Path, out: &Path) -> DistResult<PathBuf> {
    let architecture = match machine::architecture(binary)? {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => return Err(format!("no Debian architecture is known for {other}").into()),
    };
    let dir = out.join("work/debian");
    folder::copy(binary, &dir.join("usr/bin/phasm"), 0o755)?;
    folder::copy(&files().join("phasm.service"), &dir.join("usr/lib/systemd/system/phasm.service"), 0o644)?;
    folder::copy(&licence(), &dir.join("usr/share/doc/phasm/copyright"), 0o644)?;
    folder::copy(
        &out.join("work").join(licences::FILE),
        &dir.join("usr/share/doc/phasm").join(licences::FILE),
        0o644,
    )?;
    let minor = c_library(binary)?;
    let maintainer = env::var(MAINTAINER).unwrap_or_else(|_| format!("unknown ({MAINTAINER} was not set)"));
    let control = format!(
        "Package: phasm\nVersion: {VERSION}\nArchitecture: {architecture}\nMaintainer: {maintainer}\n\
         Depends: libc6 (>= 2.{minor}), libgcc-s1\nSection: utils\nPriority: optional\n\
         Description: workflow engine\n Runs workflows whose every step is a sandboxed WebAssembly component.\n"
    );
    folder::write(&dir.join("DEBIAN/control"), control.as_bytes(), 0o644)?;
    folder::settle(&dir)?;
    let path = out.join(format!("phasm_{VERSION}_{architecture}.deb"));
    let mut deb = Command::new("dpkg-deb");
    deb.env("SOURCE_DATE_EPOCH", folder::TIME.to_string());
    run(deb.args(["--root-owner-group", "-Zgzip", "--build"]).arg(&dir).arg(&path))?;
    Ok(path)
}
