//! Reading and writing files in slices, so that no other guest is held up.

use std::{fs::File as StdFile, io, mem, os::unix::fs::FileExt as _, sync::Arc};

use bytes::Bytes;
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::{
    handle::{BackgroundTask, Handle, Root},
    quota::usage::{OverQuota, Usage},
};
use crate::shared_budget::Permit;

/// Maximum number of bytes that are read or written at once.
pub(super) const SLICE_BYTES: usize = 64 * 1024;

/// Reads at most `size` bytes at `offset`; none at the end.
pub(super) fn read(file: &StdFile, offset: u64, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(SLICE_BYTES).min(SLICE_BYTES)];
    let count = again(|| file.read_at(&mut bytes, offset))?;
    bytes.truncate(count);
    Ok(bytes)
}

/// Position of a write.
#[derive(Clone, Copy)]
pub(super) enum At {
    Offset(u64),
    End,
}

/// Writes as much of `bytes` as one slice takes, if there is room for it.
pub(super) fn write(file: &StdFile, bytes: &[u8], at: At, root: &Root) -> io::Result<usize> {
    let bytes = bytes.get(..SLICE_BYTES).unwrap_or(bytes);
    let more = if root.quota.is_none() { 0 } else { growth(file.metadata()?.len(), bytes.len() as u64, at) };
    root.take(Usage::bytes(more)).map_err(QuotaError::error)?;
    let written = again(|| match at {
        At::Offset(offset) => file.write_at(bytes, offset),
        At::End => append(file, bytes),
    });
    let kept = *written.as_ref().unwrap_or(&0) as u64;
    // A partial write grew the file by less than was reserved; the missing bytes are those at its end.
    root.give(Usage::bytes(more.min(bytes.len() as u64 - kept)));
    root.moved.add_written(*written.as_ref().unwrap_or(&0));
    written
}

/// Returns the number of bytes by which a write of `length` bytes makes a file of `size` longer.
fn growth(size: u64, length: u64, at: At) -> u64 {
    match at {
        At::End => length,
        At::Offset(_) if length == 0 => 0,
        At::Offset(offset) => offset.saturating_add(length).saturating_sub(size),
    }
}

#[cfg(target_os = "linux")]
fn append(file: &StdFile, bytes: &[u8]) -> io::Result<usize> {
    use rustix::io::{ReadWriteFlags, pwritev2};
    Ok(pwritev2(file, &[io::IoSlice::new(bytes)], 0, ReadWriteFlags::APPEND)?)
}

/// Not atomic: of two concurrent appends one may overwrite the other.
#[cfg(not(target_os = "linux"))]
fn append(file: &StdFile, bytes: &[u8]) -> io::Result<usize> {
    file.write_at(bytes, file.metadata()?.len())
}

/// Retries a call that a signal interrupted.
fn again(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Error about a quota without room, as the inner error of an [`io::Error`].
#[derive(Debug)]
pub(super) struct QuotaError(pub(super) OverQuota);

impl QuotaError {
    pub(super) fn error(full: OverQuota) -> io::Error {
        io::Error::new(io::ErrorKind::QuotaExceeded, Self(full))
    }
}

impl std::fmt::Display for QuotaError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for QuotaError {}

/// Stream that reads a file from front to back.
pub(super) struct Reader {
    handle: Arc<Handle>,
    offset: u64,
    state: Reading,
    _permit: Permit,
}

enum Reading {
    Idle,
    Busy(BackgroundTask<Vec<u8>>),
    Read(Bytes),
    Failed(io::Error),
    Ended,
}

impl Reader {
    pub(super) fn new(handle: Arc<Handle>, offset: u64, permit: Permit) -> Self {
        Self { handle, offset, state: Reading::Idle, _permit: permit }
    }

    /// Starts to read, on this thread or in the background.
    fn begin(&mut self, size: u64) {
        let offset = self.offset;
        self.state = if self.handle.root.host_dir.may_block() {
            Reading::Busy(self.handle.begin(move |file| read(file, offset, size)))
        } else {
            Reading::from(self.handle.file().and_then(|file| read(file, offset, size)))
        };
    }
}

impl From<io::Result<Vec<u8>>> for Reading {
    fn from(read: io::Result<Vec<u8>>) -> Self {
        match read {
            Ok(bytes) if bytes.is_empty() => Self::Ended,
            Ok(bytes) => Self::Read(bytes.into()),
            Err(error) => Self::Failed(error),
        }
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Reader {
    async fn ready(&mut self) {
        // A file that is read in place needs no waiting.
        if matches!(self.state, Reading::Idle) && self.handle.root.host_dir.may_block() {
            self.begin(SLICE_BYTES as u64);
        }
        if let Reading::Busy(task) = &mut self.state {
            self.state = task.join().await.into();
        }
    }
}

impl InputStream for Reader {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if matches!(self.state, Reading::Idle) && size > 0 {
            self.begin(size as u64);
        }
        match mem::replace(&mut self.state, Reading::Ended) {
            Reading::Read(mut bytes) => {
                let wanted = bytes.split_to(bytes.len().min(size));
                self.offset += wanted.len() as u64;
                self.handle.root.moved.add_read(wanted.len());
                self.state = if bytes.is_empty() { Reading::Idle } else { Reading::Read(bytes) };
                Ok(wanted)
            }
            Reading::Failed(error) => Err(StreamError::LastOperationFailed(error.into())),
            Reading::Ended => Err(StreamError::Closed),
            waiting @ (Reading::Idle | Reading::Busy(_)) => {
                self.state = waiting;
                Ok(Bytes::new())
            }
        }
    }
}

/// Stream that writes a file from a position on.
pub(super) struct Writer {
    handle: Arc<Handle>,
    at: At,
    state: Writing,
    _permit: Permit,
}

enum Writing {
    Idle,
    Busy(BackgroundTask<usize>),
    /// Nothing is written any more.
    Failed(io::Error),
}

/// Returns an error that guests see as the same one.
fn copy_of(error: &io::Error) -> io::Error {
    let quota = error.get_ref().and_then(|inner| inner.downcast_ref::<QuotaError>());
    match (quota, error.raw_os_error()) {
        (Some(quota), _) => QuotaError::error(quota.0),
        (None, Some(number)) => io::Error::from_raw_os_error(number),
        (None, None) => error.kind().into(),
    }
}

impl Writer {
    pub(super) fn new(handle: Arc<Handle>, at: At, permit: Permit) -> Self {
        Self { handle, at, state: Writing::Idle, _permit: permit }
    }

    /// Continues after the bytes that were written.
    fn wrote(&mut self, written: io::Result<usize>) {
        self.state = match written {
            Ok(count) => {
                if let At::Offset(offset) = &mut self.at {
                    *offset += count as u64;
                }
                Writing::Idle
            }
            Err(error) => Writing::Failed(error),
        };
    }

    fn check(&mut self) -> StreamResult<()> {
        match mem::replace(&mut self.state, Writing::Idle) {
            // Libraries of guests may look at the second error only, when a part was written before the first.
            Writing::Failed(error) => {
                self.state = Writing::Failed(copy_of(&error));
                Err(StreamError::LastOperationFailed(error.into()))
            }
            other @ (Writing::Idle | Writing::Busy(_)) => {
                self.state = other;
                Ok(())
            }
        }
    }
}

/// Writes all of `bytes`.
fn write_all(file: &StdFile, bytes: &[u8], mut at: At, root: &Root) -> io::Result<usize> {
    let mut left = bytes;
    while !left.is_empty() {
        let count = write(file, left, at, root)?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        if let At::Offset(offset) = &mut at {
            *offset += count as u64;
        }
        left = left.get(count..).unwrap_or_default();
    }
    Ok(bytes.len())
}

#[wasmtime_wasi::async_trait]
impl Pollable for Writer {
    async fn ready(&mut self) {
        if let Writing::Busy(task) = &mut self.state {
            let written = task.join().await;
            self.wrote(written);
        }
    }
}

impl OutputStream for Writer {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if self.check_write()? < bytes.len() {
            return Err(StreamError::trap("more is written than check-write allowed"));
        }
        let at = self.at;
        if self.handle.root.host_dir.may_block() {
            let root = Arc::clone(&self.handle.root);
            let task = self.handle.begin(move |file| write_all(file, &bytes, at, &root));
            self.state = Writing::Busy(task);
        } else {
            let written = self.handle.file().and_then(|file| write_all(file, &bytes, at, &self.handle.root));
            self.wrote(written);
        }
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.check()
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.check()?;
        Ok(if matches!(self.state, Writing::Busy(_)) { 0 } else { SLICE_BYTES })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I19.
    #[test]
    fn only_what_makes_a_file_longer_needs_room() {
        for (size, length, at, more) in [
            (10, 5, At::Offset(0), 0),
            (10, 5, At::Offset(8), 3),
            (10, 5, At::Offset(20), 15),
            (10, 0, At::Offset(20), 0),
            (10, 5, At::Offset(u64::MAX), u64::MAX - 10),
            (10, 5, At::End, 5),
        ] {
            assert_eq!(growth(size, length, at), more, "{size} {length}");
        }
    }
}
