//! The content of a file as the body of a request or a response.

use std::{
    fs::File,
    io::{self, Read as _},
    ops::Range,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::task::{JoinHandle, spawn_blocking};

/// Bytes that are in memory at once.
const PART_BYTES: u64 = 256 << 10;

type Read = JoinHandle<io::Result<(File, Bytes)>>;

/// A part of a file, which is read as fast as the other side takes it, on a thread that may wait for the disk.
#[derive(Debug)]
pub struct FileBody {
    file: Option<File>,
    reading: Option<Read>,
    rest: u64,
}

impl FileBody {
    /// Makes a body of the bytes in `wanted` of a file that is at their beginning.
    #[must_use]
    pub fn new(file: File, wanted: Range<u64>) -> Self {
        Self { file: Some(file), reading: None, rest: wanted.end.saturating_sub(wanted.start) }
    }
}

fn read(mut file: File, most: u64) -> io::Result<(File, Bytes)> {
    let mut part = Vec::new();
    file.by_ref().take(most).read_to_end(&mut part)?;
    Ok((file, part.into()))
}

impl Body for FileBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.rest == 0 {
            return Poll::Ready(None);
        }
        if self.reading.is_none() {
            let Some(file) = self.file.take() else { return Poll::Ready(None) };
            let most = self.rest.min(PART_BYTES);
            self.reading = Some(spawn_blocking(move || read(file, most)));
        }
        let Some(reading) = &mut self.reading else { return Poll::Ready(None) };
        let joined = ready!(Pin::new(reading).poll(cx));
        self.reading = None;
        let (file, part) = joined.map_err(io::Error::other)??;
        if part.is_empty() {
            return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into())));
        }
        self.file = Some(file);
        self.rest = self.rest.saturating_sub(part.len() as u64);
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest)
    }
}
