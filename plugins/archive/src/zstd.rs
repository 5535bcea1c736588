//! Zstandard, frame after frame.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// Maximum size of the window, which is memory: the largest that compressors make unless they are asked to.
const MAX_WINDOW_BYTES: u64 = 8 << 20;

/// Unpacks all frames of a stream.
pub(crate) enum ZstdReader<R: BufRead> {
    Between(R),
    Within(Box<StreamingDecoder<R, FrameDecoder>>),
    Broken,
}

impl<R: BufRead> ZstdReader<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self::Between(inner)
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(self, Self::Broken) {
                Self::Broken => return Err(io::Error::other("the stream is broken")),
                Self::Between(mut inner) => {
                    if inner.fill_buf()?.is_empty() {
                        *self = Self::Between(inner);
                        return Ok(0);
                    }
                    let decoder = StreamingDecoder::new_with_max_window_size(inner, MAX_WINDOW_BYTES)
                        .map_err(io::Error::other)?;
                    *self = Self::Within(Box::new(decoder));
                }
                Self::Within(mut decoder) => {
                    let count = decoder.read(into)?;
                    if count > 0 || into.is_empty() {
                        *self = Self::Within(decoder);
                        return Ok(count);
                    }
                    *self = Self::Between(decoder.into_inner());
                }
            }
        }
    }
}
