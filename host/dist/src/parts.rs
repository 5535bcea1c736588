//! Crates that a package contains: those of the command and those of the shipped executors.

use std::{
    collections::{BTreeMap, BTreeSet},
    env::{self, consts::ARCH},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

use crate::{DistResult, root, run};

/// Name and version of a crate, as `serde 1.0.0`.
pub(crate) type CrateId = String;

/// Crate that a package contains.
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Licence expression of its manifest.
    pub(crate) licence: Option<String>,
    pub(crate) authors: Vec<String>,
    pub(crate) repository: Option<String>,
    pub(crate) description: Option<String>,
    /// Folder with its source.
    pub(crate) dir: PathBuf,
    /// False for crates of this checkout.
    pub(crate) is_foreign: bool,
    /// SHA-256 of its archive in the registry, in hexadecimal.
    pub(crate) checksum: Option<String>,
    /// Crates that it depends on, without those for builds and tests.
    pub(crate) dependencies: BTreeSet<CrateId>,
}

/// All crates of a package by name and version, and those that are programs by themselves.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) architecture: &'static str,
    pub(crate) crates: BTreeMap<CrateId, Crate>,
    /// The command.
    pub(crate) command: CrateId,
    /// The executors that ship.
    pub(crate) executors: Vec<CrateId>,
}

/// Reads the crates of the command and of the executors, as cargo selects them for the packages of this machine.
pub(crate) fn read() -> DistResult<Parts> {
    read_for(ARCH)
}

/// Reads the crates of the command and of the executors, as cargo selects them for the packages of an architecture.
pub(crate) fn read_for(architecture: &'static str) -> DistResult<Parts> {
    let mut parts = Parts { architecture, ..Parts::default() };
    let target = format!("{architecture}-unknown-linux-gnu");
    let command = ["--package", "phasm-cli", "--features", "embed-executors", "--target", &target];
    let roots = add(&mut parts, &root(), &command, &target)?;
    parts.command = roots.into_iter().next().ok_or("cargo tree names no command")?;
    let guest = "wasm32-wasip2";
    parts.executors = add(&mut parts, &root().join("plugins"), &["--workspace", "--target", guest], guest)?;
    Ok(parts)
}

/// Adds the crates that a workspace builds, and returns those that none of them depends on.
fn add(parts: &mut Parts, workspace: &Path, selection: &[&str], target: &str) -> DistResult<Vec<CrateId>> {
    let shape = ["--edges", "normal", "--prefix", "depth", "--format", " {p}"];
    let tree = run(cargo(workspace).args(["tree", "--locked"]).args(shape).args(selection))?;
    let metadata = ["metadata", "--locked", "--format-version", "1", "--filter-platform", target];
    let metadata = run(cargo(workspace).args(metadata))?;
    let metadata: Metadata = serde_json::from_str(&metadata)?;
    let lock: Lock = toml::from_str(&fs::read_to_string(workspace.join("Cargo.lock"))?)?;
    let mut known: BTreeMap<CrateId, Package> =
        metadata.packages.into_iter().map(|package| (package.id(), package)).collect();
    let (edges, roots) = edges(&tree)?;
    for (id, dependencies) in edges {
        let kept = parts.crates.contains_key(&id);
        if !kept {
            let package = known.remove(&id).ok_or_else(|| format!("cargo metadata lacks {id}"))?;
            let checksum = lock.checksum(&package);
            parts.crates.insert(id.clone(), package.into_crate(checksum)?);
        }
        if let Some(one) = parts.crates.get_mut(&id) {
            one.dependencies.extend(dependencies);
        }
    }
    Ok(roots)
}

/// Crates with their dependencies.
type Edges = BTreeMap<CrateId, BTreeSet<CrateId>>;

/// Reads what `cargo tree --prefix depth` prints: the dependencies of each crate, and the crates at depth 0.
fn edges(tree: &str) -> DistResult<(Edges, Vec<CrateId>)> {
    let (mut edges, mut roots, mut above) = (Edges::new(), Vec::new(), Vec::<CrateId>::new());
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let (Some(depth), Some(name), Some(version)) = (words.next(), words.next(), words.next()) else {
            return Err(format!("cargo tree: expected a depth, a name and a version, found {line:?}").into());
        };
        let version =
            version.strip_prefix('v').ok_or_else(|| format!("cargo tree: no version in {line:?}"))?;
        let id = format!("{name} {version}");
        above.truncate(depth.parse()?);
        match above.last() {
            Some(parent) => drop(edges.entry(parent.clone()).or_default().insert(id.clone())),
            None => roots.push(id.clone()),
        }
        edges.entry(id.clone()).or_default();
        above.push(id);
    }
    Ok((edges, roots))
}

/// Cargo in the folder of a workspace.
fn cargo(workspace: &Path) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace);
    cargo
}

/// Output of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    authors: Vec<String>,
    repository: Option<String>,
    description: Option<String>,
    source: Option<String>,
    manifest_path: PathBuf,
}

impl Package {
    fn id(&self) -> CrateId {
        format!("{} {}", self.name, self.version)
    }

    fn into_crate(self, checksum: Option<String>) -> DistResult<Crate> {
        let dir = self.manifest_path.parent().ok_or("a manifest without a folder")?.to_owned();
        Ok(Crate {
            name: self.name,
            version: self.version,
            licence: self.license,
            authors: self.authors,
            repository: self.repository,
            description: self.description,
            dir,
            is_foreign: self.source.is_some(),
            checksum,
            dependencies: BTreeSet::new(),
        })
    }
}

/// Content of `Cargo.lock`.
#[derive(Deserialize)]
struct Lock {
    package: Vec<LockedPackage>,
}

#[derive(Deserialize)]
struct LockedPackage {
    name: String,
    version: String,
    checksum: Option<String>,
}

impl Lock {
    fn checksum(&self, package: &Package) -> Option<String> {
        let found =
            self.package.iter().find(|one| one.name == package.name && one.version == package.version);
        found?.checksum.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_read_into_edges() {
        let tree = "0 a v1.0.0 (/x)\n1 b v2.0.0\n2 c v3.0.0 (proc-macro)\n1 c v3.0.0 (proc-macro) (*)\n\n0 d v1.0.0\n";
        let (edges, roots) = edges(tree).unwrap();
        assert_eq!(roots, ["a 1.0.0", "d 1.0.0"]);
        let of = |id: &str| edges.get(id).unwrap().iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(of("a 1.0.0"), ["b 2.0.0", "c 3.0.0"]);
        assert_eq!(of("b 2.0.0"), ["c 3.0.0"]);
        assert!(of("c 3.0.0").is_empty() && of("d 1.0.0").is_empty());
        assert!(super::edges("0 a\n").is_err());
    }

    /// R-L64: the crates of the command and of every executor that ships are known, with their dependencies.
    #[test]
    fn the_crates_of_command_and_executors_are_read() {
        let parts = read().unwrap();
        assert!(parts.command.starts_with("phasm-cli "), "{}", parts.command);
        let names: Vec<&str> = parts.executors.iter().map(|id| id.split(' ').next().unwrap()).collect();
        assert_eq!(
            names,
            [
                "approval", "archive", "csv", "echo", "email", "file", "hash", "html", "http", "jq",
                "markdown", "parse", "postgres", "regex", "sleep", "template", "validate"
            ]
        );
        let has = |name: &str| parts.crates.values().any(|one| one.name == name);
        assert!(has("wasmtime") && has("jaq-core") && !has("proptest"), "executors and no tests");
        for one in parts.crates.values() {
            assert_eq!(one.is_foreign, one.checksum.is_some(), "{}", one.name);
            for dependency in &one.dependencies {
                assert!(parts.crates.contains_key(dependency), "{} needs {dependency}", one.name);
            }
        }
    }
}
