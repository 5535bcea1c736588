use std::{io, path::PathBuf};

/// Why a folder is not a plugin.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder is missing, or is not one.
    #[error("{}: no such folder; expected a plugin's: a Rust crate, a project in Python, JavaScript, TypeScript, Go, C or C++, or a finished component NAME.wasm", folder.display())]
    NoFolder {
        /// The path that was given.
        folder: PathBuf,
    },
    /// Neither a crate, nor a project in another language, nor a component.
    #[error(
        "{}: not a plugin; expected a Cargo.toml (a Rust crate whose `[lib]` has crate-type `cdylib`), a \
         pyproject.toml with a table `[tool.phasm]`, a package.json with a member `phasm`, a \
         plugin.toml with a table `[c]` or `[go]`, or one finished component NAME.wasm",
        folder.display()
    )]
    NotAPlugin {
        /// The folder.
        folder: PathBuf,
    },
    /// Several components and nothing that says which one is meant.
    #[error(
        "{}: several components ({}); expected one, or one named like the folder",
        folder.display(),
        names.join(", ")
    )]
    SeveralComponents {
        /// The folder.
        folder: PathBuf,
        /// Their file names, sorted.
        names: Vec<String>,
    },
    /// A `Cargo.toml` without a package.
    #[error("{}: a workspace without a package of its own; name the folders of its members", manifest.display())]
    WorkspaceOnly {
        /// The manifest.
        manifest: PathBuf,
    },
    /// The crate is not built as a component.
    #[error(
        "{}: crate `{package}` is not a component; add `crate-type = [\"cdylib\"]` to its `[lib]`",
        manifest.display()
    )]
    NotCdylib {
        /// The manifest.
        manifest: PathBuf,
        /// `package.name`.
        package: String,
    },
    /// A file or folder that could not be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// Which one.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A project that cannot be a plugin.
    #[error("{}: {}", manifest.display(), problems.join("; "))]
    Project {
        /// Its `pyproject.toml` or `package.json`.
        manifest: PathBuf,
        /// Everything that is wrong, each with its field.
        problems: Vec<String>,
    },
    /// A project in C, C++ or Go that cannot be a plugin.
    #[error("{}: {}", manifest.display(), problems.join("; "))]
    PluginToml {
        /// Its `plugin.toml`.
        manifest: PathBuf,
        /// Everything that is wrong, each with its field.
        problems: Vec<String>,
    },
    /// A `Cargo.toml`, `pyproject.toml` or `plugin.toml` that is none.
    #[error("{}: {source}", manifest.display())]
    Manifest {
        /// The manifest.
        manifest: PathBuf,
        /// The error, with line and column.
        source: Box<toml::de::Error>,
    },
    /// A `package.json` that is none.
    #[error("{}: {source}", manifest.display())]
    Package {
        /// The manifest.
        manifest: PathBuf,
        /// The error, with line and column.
        source: serde_json::Error,
    },
}
