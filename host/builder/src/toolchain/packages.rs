//! Parser of apt's output, and the choice of packages for a toolchain.

use std::{fmt, str::FromStr};

/// Prefix of the names of the compiler's packages on Debian and Ubuntu: `rustc`, `rustc-web`, `rustc-1.96`.
pub(super) const COMPILER: &str = "rustc";

/// A package in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// The archive it comes from, as `http://host/debian`.
    pub(super) archive: String,
}

impl Package {
    /// Returns `name=version`, the form of apt's commands.
    pub(super) fn exactly(&self) -> String {
        format!("{}={}", self.name, self.version)
    }

    /// Upstream's version and Debian's revision, without the mark of a rebuild: what binaries of one source share.
    fn source_version(&self) -> &str {
        match self.version.rsplit_once("+b") {
            Some((version, rebuild)) if rebuild.bytes().all(|byte| byte.is_ascii_digit()) => version,
            _ => &self.version,
        }
    }
}

/// A Rust release, as `1.96.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Release([u32; 3]);

impl FromStr for Release {
    type Err = ();

    /// Reads the numbers at the start: `1.95`, `1.96.0`, `1.96.0+dfsg1-1~deb12u2`, `1.98.0-nightly`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let end = text.find(|char: char| char != '.' && !char.is_ascii_digit()).unwrap_or(text.len());
        let mut numbers = text.split_at(end).0.split('.').map(str::parse);
        let mut next = || numbers.next().unwrap_or(Ok(0)).map_err(|_| ());
        Ok(Self([next()?, next()?, next()?]))
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// Reads `apt-cache madison`: `name | version | archive release/component architecture Packages`, newest first per name.
pub(super) fn parse_madison(text: &str) -> Vec<Package> {
    let package = |line: &str| {
        let [name, version, place]: [&str; 3] =
            line.split('|').map(str::trim).collect::<Vec<_>>().try_into().ok()?;
        let binary = place.ends_with("Packages");
        let archive = place.split(' ').next()?.trim_end_matches('/');
        binary.then(|| Package { name: name.into(), version: version.into(), archive: archive.into() })
    };
    text.lines().filter_map(package).collect()
}

/// Returns the packages that `apt-get --simulate install` would unpack, as `name=version`: those that are not installed in any
/// version, and `wanted` in any case.
///
/// Newer versions of installed packages stay out: a second libc next to the system's would break every program that loads it.
pub(super) fn parse_simulation(text: &str, wanted: &[&str]) -> Vec<String> {
    let package = |line: &str| {
        let (name, rest) = line.strip_prefix("Inst ")?.split_once(' ')?;
        let version = rest.split_once('(')?.1.split_whitespace().next()?;
        let installed = rest.starts_with('[');
        (!installed || wanted.contains(&name)).then(|| format!("{name}={version}"))
    };
    text.lines().filter_map(package).collect()
}

/// The package with the source of a compiler's standard library: `rust-src` for `rustc`, `rust-1.96-src` for `rustc-1.96`.
pub(super) fn source_name(compiler: &str) -> String {
    format!("{}-src", compiler.replacen(COMPILER, "rust", 1))
}

/// The newest compiler, not older than `minimum`, whose source is there in the same version.
pub(super) fn choose(packages: &[Package], minimum: Release) -> Option<(Package, Package)> {
    let source_of = |compiler: &Package| {
        let name = source_name(&compiler.name);
        packages.iter().find(|it| it.name == name && it.source_version() == compiler.source_version())
    };
    let release = |package: &Package| package.version.parse::<Release>().ok();
    let compilers = packages.iter().filter(|package| package.name.starts_with(COMPILER));
    let usable = compilers.filter(|package| release(package) >= Some(minimum));
    // Among equals the first wins: madison lists the newest revision first.
    let pairs = usable.filter_map(|compiler| Some((compiler, source_of(compiler)?)));
    let (compiler, source) = pairs.rev().max_by_key(|(compiler, _)| release(compiler))?;
    Some((compiler.clone(), source.clone()))
}

#[cfg(test)]
mod tests;
