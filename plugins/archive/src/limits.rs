//! Limits on entries and bytes. Bytes are counted as they are unpacked: a size that an archive declares may be wrong.

use std::io::{self, Read};

use phasm_sdk::prelude::*;

/// Bytes of headers and padding that a tar may have for each entry, next to its content.
const HEADER_BYTES: u64 = 16 << 10;

#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) entries: usize,
    pub(crate) bytes: u64,
}

impl Limits {
    /// Code 2 for more entries than allowed.
    pub(crate) fn check_entries(&self, count: usize, path: &str) -> Result<()> {
        if count <= self.entries {
            return Ok(());
        }
        let message = format!("`{path}` has more than {} entries; `maxEntries` sets the limit", self.entries);
        Err(Outcome::failed(message).kind("too-large").retryable(false))
    }

    /// Code 2 for more bytes than allowed.
    pub(crate) fn check_bytes(&self, bytes: u64, path: &str) -> Result<()> {
        if bytes <= self.bytes {
            return Ok(());
        }
        let message =
            format!("`{path}` has more than {} bytes, unpacked; `maxBytes` sets the limit", self.bytes);
        Err(Outcome::failed(message).kind("too-large").retryable(false))
    }

    /// Bytes of a whole tar, with its headers.
    pub(crate) fn stream_bytes(&self) -> u64 {
        let entries = u64::try_from(self.entries).unwrap_or(u64::MAX).saturating_add(2);
        self.bytes.saturating_add(entries.saturating_mul(HEADER_BYTES))
    }
}

/// A reader that fails behind a number of bytes.
pub(crate) struct LimitReader<R> {
    inner: R,
    left: u64,
}

/// Message of a reader that has read enough.
pub(crate) const TOO_LARGE: &str = "more bytes than allowed";

impl<R: Read> LimitReader<R> {
    pub(crate) fn new(inner: R, limit: u64) -> Self {
        Self { inner, left: limit }
    }
}

impl<R: Read> Read for LimitReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.left = self
            .left
            .checked_sub(u64::try_from(count).unwrap_or(u64::MAX))
            .ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, TOO_LARGE))?;
        Ok(count)
    }
}
