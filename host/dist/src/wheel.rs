//! Wheel with the command, for `pip install`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use crate::{DistResult, VERSION, c_library, folder, licence, licences, machine, run};

/// Makes the wheel in `out`, and returns its path.
pub(crate) fn make(binary: &Path, out: &Path) -> DistResult<PathBuf> {
    let dir = out.join("work/wheel");
    let info = format!("phasm-{VERSION}.dist-info");
    let tag = format!("py3-none-manylinux_2_{}_{}", c_library(binary)?, machine::architecture(binary)?);
    let command = format!("phasm-{VERSION}.data/scripts/phasm");
    folder::copy(binary, &dir.join(&command), 0o755)?;
    let metadata = format!(
        "Metadata-Version: 2.1\nName: phasm\nVersion: {VERSION}\nSummary: Runs workflows whose every step is a sandboxed \
         WebAssembly component\nLicense: Apache-2.0\nLicense-File: LICENSE\nLicense-File: {licences}\n",
        licences = licences::FILE,
    );
    let wheel = format!("Wheel-Version: 1.0\nGenerator: phasm-dist\nRoot-Is-Purelib: false\nTag: {tag}\n");
    folder::write(&dir.join(&info).join("METADATA"), metadata.as_bytes(), 0o644)?;
    folder::write(&dir.join(&info).join("WHEEL"), wheel.as_bytes(), 0o644)?;
    folder::copy(&licence(), &dir.join(&info).join("LICENSE"), 0o644)?;
    folder::copy(&out.join("work").join(licences::FILE), &dir.join(&info).join(licences::FILE), 0o644)?;
    let mut record = String::new();
    let listed = ["LICENSE", "METADATA", licences::FILE, "WHEEL"].map(|name| format!("{info}/{name}"));
    for file in [command].into_iter().chain(listed) {
        let content = fs::read(dir.join(&file))?;
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(&content));
        record += &format!("{file},sha256={digest},{}\n", content.len());
    }
    record += &format!("{info}/RECORD,,\n");
    folder::write(&dir.join(&info).join("RECORD"), record.as_bytes(), 0o644)?;
    folder::settle(&dir)?;
    let path = std::path::absolute(out)?.join(format!("phasm-{VERSION}-{tag}.whl"));
    // A zip file keeps local times.
    let mut zip = Command::new("python3");
    zip.env("TZ", "UTC").current_dir(&dir).args(["-m", "zipfile", "-c"]).arg(&path);
    run(zip.args([format!("phasm-{VERSION}.data"), info]))?;
    Ok(path)
}
