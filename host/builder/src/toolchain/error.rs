//! Why a private toolchain was not made, and what to do about it.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{super::process::ProcessError, MINIMUM};

/// The tools the recipe needs, and the packages that bring them.
pub(super) const PACKAGES: [(&str, &str); 5] =
    [("apt-get", "apt"), ("apt-cache", "apt"), ("dpkg-deb", "dpkg"), ("tar", "tar"), ("cc", "gcc")];

#[derive(Debug, thiserror::Error)]
pub(super) enum MakeError {
    #[error("not installed, or not on PATH: {}", quoted(tools))]
    MissingTools { tools: Vec<&'static str> },
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("{}: {source}", path.display())]
    Files { path: PathBuf, source: io::Error },
    #[error(
        "the package lists offer no Rust {MINIMUM} or newer with its source (found: {found}){complaints}"
    )]
    NoCompiler { found: String, complaints: String },
    #[error("the packages {} unpack to something without {what}", packages.join(", "))]
    Unexpected { packages: Vec<String>, what: &'static str },
    #[error("the package lists offer no wasi-libc")]
    NoLibc,
    #[error("the package lists offer no {package}, which has the linker for the target")]
    NoLinker { package: String },
    #[error("it does not link a guest: {source}")]
    DoesNotLink { source: ProcessError },
    #[error("it was made, but does not run from its final place")]
    Useless,
}

impl MakeError {
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Files { path: path.to_path_buf(), source }
    }

    /// Returns advice for the user.
    pub(super) fn remedy(&self) -> String {
        match self {
            // Without apt there are no packages to make anything of, whatever else is missing.
            Self::MissingTools { tools } if tools.iter().any(|tool| package(tool) == Some("apt")) => {
                "use a Debian or Ubuntu system, whose packages the private toolchain is made of".to_owned()
            }
            Self::MissingTools { tools } => format!("install {}", with_packages(tools)),
            Self::Process(_) => {
                "fix the error that the command reports; it may need the package archive or the crates registry".to_owned()
            }
            Self::Files { path, .. } => {
                format!("see to it that {} can be written and has 2 GB to spare, or set PHASM_CACHE_DIR", path.display())
            }
            Self::NoCompiler { .. } | Self::NoLibc | Self::NoLinker { .. } => {
                "let this machine reach a package archive that has them (on Debian: with its security updates)".to_owned()
            }
            Self::Unexpected { .. } | Self::DoesNotLink { .. } | Self::Useless => {
                format!("install a Rust {MINIMUM} or newer that has the target, by rustup or from the distribution")
            }
        }
    }
}

fn quoted(tools: &[&str]) -> String {
    tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ")
}

fn with_packages(tools: &[&str]) -> String {
    let named = tools.iter().map(|tool| match package(tool) {
        Some(package) => format!("`{tool}` (package {package})"),
        None => format!("`{tool}`"),
    });
    named.collect::<Vec<_>>().join(", ")
}

fn package(tool: &str) -> Option<&'static str> {
    Some(PACKAGES.iter().find(|(name, _)| *name == tool)?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_tools_are_named_with_their_packages() {
        let rows = [
            (vec!["dpkg-deb"], "`dpkg-deb`", "install `dpkg-deb` (package dpkg)"),
            (vec!["tar", "cc"], "`tar`, `cc`", "install `tar` (package tar), `cc` (package gcc)"),
            (
                vec!["apt-cache", "cc"],
                "`apt-cache`, `cc`",
                "use a Debian or Ubuntu system, whose packages the private toolchain is made of",
            ),
        ];
        for (tools, named, remedy) in rows {
            let error = MakeError::MissingTools { tools };
            assert_eq!(error.to_string(), format!("not installed, or not on PATH: {named}"));
            assert_eq!(error.remedy(), remedy);
        }
    }
}
