//! Whether a component is as its sources are, told from the names, times and sizes of all files that clang read.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    path::PathBuf,
};

use super::carried::FILES;
use crate::{
    folder::CProject,
    script::{line, number_of},
};

/// Whether the component is there, and made of the files as they are now.
pub(crate) fn is_fresh(project: &CProject) -> bool {
    let Ok(stamped) = fs::read_to_string(project.built("phasm-stamp")) else { return false };
    let files: BTreeSet<PathBuf> =
        stamped.lines().skip(1).filter_map(|line| line.splitn(3, ' ').nth(2)).map(PathBuf::from).collect();
    text(project, &files).is_ok_and(|now| now == stamped)
}

/// Records that the component was made of these files. The file appears complete.
pub(super) fn put(project: &CProject, text: &str) -> io::Result<()> {
    let mut stamp = tempfile::NamedTempFile::new_in(project.build_dir())?;
    stamp.write_all(text.as_bytes())?;
    stamp.persist(project.built("phasm-stamp"))?;
    Ok(())
}

/// The list for a component that is there.
pub(super) fn text(project: &CProject, files: &BTreeSet<PathBuf>) -> io::Result<String> {
    let mut all = files.clone();
    all.extend([project.built("wasm"), project.manifest()]);
    let lines: Vec<String> = all.iter().map(|file| line(file)).collect::<io::Result<_>>()?;
    let names: Vec<_> = project.sources.iter().map(|source| source.display().to_string()).collect();
    Ok(format!("SDK {:016x}, sources {}\n{}", number_of(&[FILES]), names.join(" "), lines.join("\n")))
}
