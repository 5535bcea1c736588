//! Two release builds of one commit, compared.

use std::{
    env, fs,
    io::{self, Write as _},
    os::unix::fs::symlink,
    path::Path,
    process::Command,
    time::Instant,
};

use sha2::{Digest as _, Sha256};

use crate::{DistResult, build, folder, run};

/// Makes all packages of the commit that is checked out twice, below `dir`, with crates from another folder the second time, as
/// another user has them. Prints the digests.
///
/// # Errors
///
/// A build fails, or a file is not the same both times.
pub(crate) fn compare(target: &str, dir: &Path) -> DistResult {
    folder::make_empty(dir)?;
    let dir = fs::canonicalize(dir)?;
    let cargo_home = build::cargo_home().ok_or("expected CARGO_HOME or HOME to be set")?;
    let another_home = dir.join("another-cargo-home");
    symlink(&cargo_home, &another_home)?;
    let [one, another] = [("one", &cargo_home), ("another", &another_home)].map(|(name, home)| {
        let out = dir.join(name);
        let start = Instant::now();
        let mut build = Command::new(env::current_exe()?);
        run(build.args(["build", "--target", target]).arg(&out).env("CARGO_HOME", home))?;
        writeln!(io::stdout(), "{} after {:.0?}", out.display(), start.elapsed())?;
        digests(&out)
    });
    let (one, another) = (one?, another?);
    for (name, digest) in &one {
        writeln!(io::stdout(), "{digest}  {name}")?;
    }
    let names = one.iter().chain(&another).filter(|file| !(one.contains(file) && another.contains(file)));
    let mut names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        Ok(())
    } else {
        Err(format!("differ: {}; compare them in {}", names.join(", "), dir.display()).into())
    }
}

/// Names and digests of the files in a folder, in order.
fn digests(dir: &Path) -> DistResult<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let digest = Sha256::digest(fs::read(entry.path())?);
        let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        files.push((entry.file_name().to_string_lossy().into_owned(), digest));
    }
    files.sort();
    Ok(files)
}
