//! Reads, writes and lists files within the granted directories.

mod bytes;
mod list;
mod problem;
mod read;
mod write;

use phasm_sdk::prelude::*;

inputs! {
    /// What to do with which file.
    pub struct Task {
        operation: Operation,
        path: String,
        content: Option<String>,
        encoding: bytes::Encoding = bytes::Encoding::Utf8,
        append: bool = false,
        create_dirs as "createDirs": bool = false,
        recursive: bool = false,
        max_bytes as "maxBytes": u64 = 4 << 20,
        max_entries as "maxEntries": usize = 10_000,
    }
}

inputs! {
    /// The things that can be done.
    #[derive(Clone, Copy)]
    pub enum Operation {
        /// The content of a file.
        Read = "read",
        /// A file with a content, new or in place of the old one.
        Write = "write",
        /// What a directory holds.
        List = "list",
        /// Whether there is something, what and how large.
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
    match task.operation {
        Operation::Read => read::read(&task),
        Operation::Write => write::write(&task, &call.task_run_id),
        Operation::List => list::list(&task),
        Operation::Stat => list::stat(&task),
    }
}

executor!(file);

#[cfg(test)]
mod tests;
