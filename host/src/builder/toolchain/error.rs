//! Why a private toolchain was not made, and what to do about it.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{super::process::ProcessError, MINIMUM};

/// The packages that bring the tools the recipe needs.
const PACKAGES: [(&str, &str); 5] =
    [("apt-get", "apt"), ("apt-cache", "apt"), ("dpkg-deb", "dpkg"), ("tar", "tar"), ("cc", "gcc")];

#[derive(Debug, thiserror::Error)]
pub(super) enum MakeError {
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
    #[error("it does not link a guest:\n{output}")]
    DoesNotLink { output: String },
    #[error("it was made, but does not run from its final place")]
    Useless,
}

impl MakeError {
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Files { path: path.to_path_buf(), source }
    }

    /// What a person can do.
    pub(super) fn remedy(&self) -> String {
        match self {
            Self::Process(ProcessError::Missing { tool }) => missing(tool),
            Self::Process(_) => {
                "mend what the command complains of; it may need the package archive or the crates registry".to_owned()
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

fn missing(tool: &str) -> String {
    match PACKAGES.iter().find(|(name, _)| *name == tool) {
        Some((_, "apt")) => {
            "use a Debian or Ubuntu system, whose packages the private toolchain is made of".to_owned()
        }
        Some((_, package)) => format!("install `{tool}` (package {package})"),
        None => format!("install `{tool}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tool_is_named_with_its_package() {
        let rows = [
            ("dpkg-deb", "install `dpkg-deb` (package dpkg)"),
            ("cc", "install `cc` (package gcc)"),
            ("apt-get", "use a Debian or Ubuntu system, whose packages the private toolchain is made of"),
            ("other", "install `other`"),
        ];
        for (tool, remedy) in rows {
            let error = MakeError::from(ProcessError::Missing { tool: tool.to_owned() });
            assert_eq!(error.remedy(), remedy);
            assert_eq!(error.to_string(), format!("`{tool}` is not installed, or not on PATH"));
        }
    }
}
