//! Reads, writes and lists files within the granted directories.

mod bytes;
mod list;
mod problem;
mod read;
mod write;

use phasm_sdk::{artifact::Artifact, prelude::*};

inputs! {
    /// An operation on a file or directory.
    pub struct Task {
        /// Operation to perform.
        operation: Operation,
        /// The file or directory, as the guest sees it. Without it `artifact` is needed.
        path: Option<String>,
        /// A file that another task made, in place of `path`.
        artifact: Option<Artifact>,
        /// Content to write; required for `write`.
        content: Option<String>,
        /// Encoding of the content, in both directions.
        encoding: bytes::Encoding = bytes::Encoding::Utf8,
        /// `write` adds at the end instead of replacing the file.
        append: bool = false,
        /// `write` makes the directories above the file.
        create_dirs as "createDirs": bool = false,
        /// `list` goes into directories; links are not followed.
        recursive: bool = false,
        /// A larger file is neither read nor written.
        max_bytes as "maxBytes": u64 = 4 << 20,
        /// A directory with more entries is not listed.
        max_entries as "maxEntries": usize = 10_000,
    }
}

inputs! {
    /// Operations on files and directories.
    #[derive(Clone, Copy)]
    pub enum Operation {
        /// The content of a file.
        Read = "read",
        /// A file with a content, new or in place of the old one.
        Write = "write",
        /// The entries of a directory.
        List = "list",
        /// Whether the path exists, its kind and its size.
        Stat = "stat",
    }
}

/// Does what `operation` says.
///
/// # Errors
///
/// Code 2 for what the file system answers, code 3 for bad inputs and missing grants.
pub fn file(call: Call<Task>) -> Result {
    let task = call.inputs;
    let path = path(&task)?;
    match task.operation {
        Operation::Read => read::read(&task, &path),
        Operation::Write => write::write(&task, &path, &call.task_run_id),
        Operation::List => list::list(&task, &path),
        Operation::Stat => list::stat(&path),
    }
}

/// Where the file or directory is.
fn path(task: &Task) -> Result<String> {
    match (&task.path, &task.artifact) {
        (Some(path), None) => Ok(path.clone()),
        (None, Some(artifact)) => Ok(artifact.path().to_string_lossy().into_owned()),
        (Some(_), Some(_)) => {
            Err(mistake("inputs `path` and `artifact` are both given; expected one of them"))
        }
        (None, None) => Err(mistake("input `path` is missing; expected a path, or an `artifact`")),
    }
}

fn mistake(message: &str) -> Outcome {
    Outcome::error(message).kind("input").retryable(false)
}

executor!(file, {
    outputs: {
        /// The path from the inputs, or of the artifact.
        path: String,
        /// The artifact that `write` made of a file in `/artifacts/out`.
        artifact: Option<Json>,
        /// Content of the file, with `read`.
        content: Option<String>,
        /// Size in bytes, except with `list`.
        size: Option<u64>,
        /// Entries with `name`, `path`, `kind` and `size`, sorted by path, with `list`.
        entries: Option<Vec<Json>>,
        /// Whether the path exists, with `stat`.
        exists: Option<bool>,
        /// `file`, `directory` or `other`, with `stat`.
        kind: Option<String>,
    },
});

#[cfg(test)]
mod tests;
