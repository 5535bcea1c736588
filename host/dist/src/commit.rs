//! Commit that is built, for `phasm --version`.

use std::process::Command;

use crate::{DistResult, root, run};

/// End of the id of a commit with changes that are not committed.
pub(crate) const CHANGED: &str = "-dirty";

/// Returns the variables that a build of the command records, a line each; none where this is no checkout of git.
pub(crate) fn variables() -> DistResult<String> {
    if !root().join(".git").exists() {
        return Ok(String::new());
    }
    let id = git(&["rev-parse", "HEAD"])?;
    let date = git(&["show", "--no-patch", "--format=%cs", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    let dirty = if changed.trim().is_empty() { "" } else { CHANGED };
    Ok(format!("PHASM_COMMIT={}{dirty}\nPHASM_COMMIT_DATE={}\n", id.trim(), date.trim()))
}

fn git(arguments: &[&str]) -> DistResult<String> {
    run(Command::new("git").arg("-C").arg(root()).args(arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-L61: the commit is the one that is checked out, in the form that the build of the command takes.
    #[test]
    fn the_commit_is_that_of_the_checkout() {
        let said = variables().unwrap();
        let lines: Vec<&str> = said.lines().collect();
        if !root().join(".git").exists() {
            assert!(lines.is_empty());
            return;
        }
        let [commit, date] = lines.as_slice() else { panic!("{said}") };
        let commit = commit.strip_prefix("PHASM_COMMIT=").unwrap();
        let id = commit.strip_suffix("-dirty").unwrap_or(commit);
        assert!(id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{said}");
        let date = date.strip_prefix("PHASM_COMMIT_DATE=").unwrap();
        assert_eq!((date.len(), date.split('-').count()), (10, 3), "{said}");
    }
}
