//! Listing directories, read in batches as the guest asks.

use std::{collections::VecDeque, io, sync::Arc};

use cap_primitives::fs::{DirEntry, FileType, FileTypeExt as _, ReadDir, read_base_dir};
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorType, DirectoryEntry, ErrorCode};

use super::{handle::Handle, open::Refusal};
use crate::shared_budget::Permit;

/// Number of entries in a batch.
const BATCH_ENTRIES: usize = 32;

type Entry = Result<DirectoryEntry, ErrorCode>;

/// A directory that is being listed, with a descriptor of its own.
pub(super) struct Listing {
    handle: Arc<Handle>,
    /// Rest of the listing; `None` at the end.
    rest: Option<ReadDir>,
    read: VecDeque<Entry>,
    _permit: Permit,
}

impl Listing {
    pub(super) async fn of(handle: Arc<Handle>) -> Result<Self, Refusal> {
        let permit = handle.root.lease.take()?;
        let rest = handle.run(read_base_dir).await?;
        Ok(Self { handle, rest: Some(rest), read: VecDeque::new(), _permit: permit })
    }

    /// Returns the next entry, if there is one.
    pub(super) async fn next(&mut self) -> Result<Option<DirectoryEntry>, Refusal> {
        if self.read.is_empty()
            && let Some(rest) = self.rest.take()
        {
            let (read, rest) = self.handle.run(|_| Ok(batch(rest))).await?;
            self.read = read;
            self.rest = rest;
        }
        Ok(self.read.pop_front().transpose()?)
    }
}

/// Reads a batch of entries. Returns the rest as well, if there is more.
fn batch(mut rest: ReadDir) -> (VecDeque<Entry>, Option<ReadDir>) {
    let read: VecDeque<_> = rest.by_ref().take(BATCH_ENTRIES).map(entry_of).collect();
    let rest = (read.len() == BATCH_ENTRIES).then_some(rest);
    (read, rest)
}

fn entry_of(entry: io::Result<DirEntry>) -> Entry {
    let entry = entry?;
    let name = entry.file_name().into_string().map_err(|_| ErrorCode::IllegalByteSequence)?;
    let mut type_ = kind(entry.file_type()?);
    // Some file systems do not list the type.
    if type_ == DescriptorType::Unknown {
        type_ = entry.metadata().map_or(type_, |metadata| kind(metadata.file_type()));
    }
    Ok(DirectoryEntry { type_, name })
}

/// Converts a file type for the guest.
pub(super) fn kind(of: FileType) -> DescriptorType {
    match of {
        of if of.is_file() => DescriptorType::RegularFile,
        of if of.is_dir() => DescriptorType::Directory,
        of if of.is_symlink() => DescriptorType::SymbolicLink,
        of if of.is_fifo() => DescriptorType::Fifo,
        of if of.is_socket() => DescriptorType::Socket,
        of if of.is_block_device() => DescriptorType::BlockDevice,
        of if of.is_char_device() => DescriptorType::CharacterDevice,
        _ => DescriptorType::Unknown,
    }
}
