//! Lists, extracts and creates archives within the granted directories.

mod create;
mod entries;
mod extract;
mod limits;
mod names;
mod problem;
mod zstd;

use limits::Limits;
use phasm_sdk::prelude::*;

inputs! {
    /// An archive, and the operation on it.
    pub struct Task {
        /// Operation to perform.
        operation: Operation,
        /// The archive, as the guest sees it.
        path: String,
        /// Format of the archive; absent for the one that its name ends with.
        format: Option<Format>,
        /// Directory whose files `create` packs, or the one file for `gzip`.
        from: Option<String>,
        /// Directory that `extract` writes to.
        to: Option<String>,
        /// Entries that `extract` writes, by name; without one all.
        names: Vec<String> = Vec::new(),
        /// `extract` replaces files that are there.
        overwrite: bool = true,
        /// More entries are a failure.
        max_entries as "maxEntries": usize = 10_000,
        /// More bytes, unpacked, are a failure.
        max_bytes as "maxBytes": u64 = 256 << 20,
    }
}

inputs! {
    /// Operations on archives.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub enum Operation {
        /// The entries of the archive.
        List = "list",
        /// Files from the archive.
        Extract = "extract",
        /// A new archive.
        Create = "create",
    }
}

inputs! {
    /// Formats of archives.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format {
        /// Zip, entries stored or deflated.
        Zip = "zip",
        /// Tar.
        Tar = "tar",
        /// Tar in gzip.
        TarGz = "tar.gz",
        /// Tar in Zstandard; it is read only.
        TarZst = "tar.zst",
        /// A single file in gzip.
        Gzip = "gzip",
        /// A single file in Zstandard; it is read only.
        Zstd = "zstd",
    }
}

/// Ends of names, and the formats that they stand for.
const ENDS: [(&str, Format); 9] = [
    (".tar.gz", Format::TarGz),
    (".tgz", Format::TarGz),
    (".tar.zst", Format::TarZst),
    (".tzst", Format::TarZst),
    (".zip", Format::Zip),
    (".jar", Format::Zip),
    (".tar", Format::Tar),
    (".gz", Format::Gzip),
    (".zst", Format::Zstd),
];

impl Format {
    fn of(task: &Task) -> Result<Self> {
        let name = task.path.to_ascii_lowercase();
        let by_name = || ENDS.iter().find(|(end, _)| name.ends_with(end)).map(|(_, format)| *format);
        task.format.or_else(by_name).ok_or_else(|| {
            let message = format!(
                "input `format` is missing, and `{}` ends as no format does; expected `zip`, `tar`, `tar.gz`, `tar.zst`, \
                 `gzip` or `zstd`",
                task.path
            );
            Outcome::error(message).kind("input").retryable(false)
        })
    }
}

/// Does what `operation` says.
///
/// # Errors
///
/// Code 2 for archives that are broken, unsafe or too large, and for what the file system says; code 3 for bad inputs and missing
/// grants.
pub fn archive(call: Call<Task>) -> Result {
    let task = call.inputs;
    let format = Format::of(&task)?;
    let limits = Limits { entries: task.max_entries, bytes: task.max_bytes };
    match task.operation {
        Operation::List => extract::list(&task, format, limits),
        Operation::Extract => extract::extract(&task, format, limits, &call.task_run_id),
        Operation::Create => create::create(&task, format, limits, &call.task_run_id),
    }
}

/// Returns an input that the operation needs.
fn required<'t>(name: &str, what: &str, given: Option<&'t String>) -> Result<&'t str> {
    given.map(String::as_str).ok_or_else(|| {
        Outcome::error(format!("input `{name}` is missing; expected {what}")).kind("input").retryable(false)
    })
}

/// A name for a file that is written next to another one, and renamed when it is whole.
fn unfinished(path: &str, task_run: &str) -> String {
    let unique: String = task_run.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("{path}.{unique}.part")
}

executor!(archive, {
    outputs: {
        /// The archive.
        path: String,
        /// Entries with `name`, `kind` and `size`, with `list` all, else those that were written.
        entries: Vec<Json>,
        /// Number of entries.
        count: u64,
        /// Bytes of all entries, unpacked.
        size: u64,
    },
});

#[cfg(test)]
mod tests;
