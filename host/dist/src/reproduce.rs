//! Two release builds in different folders, compared.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
    process::Command,
    time::Instant,
};

use sha2::{Digest as _, Sha256};

use crate::{DistResult, build, build::Places, folder, root, run};

/// Builds the commit that is checked out twice, in clones below `dir`, and fails if the commands differ.
pub(crate) fn compare(target: &str, dir: &Path) -> DistResult {
    folder::make_empty(dir)?;
    let dir = fs::canonicalize(dir)?;
    let mut digests = Vec::new();
    // The lengths differ, so that a path in a file moves everything behind it.
    for name in ["one", "another-one"] {
        let places =
            Places { checkout: dir.join(name).join("checkout"), target: dir.join(name).join("target") };
        run(Command::new("git").args(["clone", "--quiet"]).arg(root()).arg(&places.checkout))?;
        let start = Instant::now();
        let binary = build::command(&places, target)?;
        let digest: String =
            Sha256::digest(fs::read(&binary)?).iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(io::stdout(), "{digest}  {} after {:.0?}", binary.display(), start.elapsed())?;
        digests.push(digest);
        // Two of them do not fit on every disk.
        fs::copy(&binary, dir.join(format!("phasm-{name}")))?;
        fs::remove_dir_all(dir.join(name))?;
    }
    if digests.windows(2).all(|pair| pair.first() == pair.last()) {
        Ok(())
    } else {
        Err(format!(
            "the two commands differ: {}; compare the files in {}",
            digests.join(", "),
            dir.display()
        )
        .into())
    }
}
