//! Bodies that are received part by part from another process.

use std::{
    borrow::Cow,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame};
use tokio::sync::mpsc::Receiver;
use wasmtime_wasi_http::{Error, WasiBody};

use super::messages::{Fields, Part};

/// Next item of a body.
pub(super) type Next = Option<Result<Frame<Bytes>, Error>>;

/// Body that asks for each part when it is wanted.
pub(super) struct Remote {
    ask: Box<dyn FnMut() + Send>,
    parts: Receiver<Next>,
    is_asked: bool,
    is_over: bool,
}

impl Remote {
    pub(super) fn new(parts: Receiver<Next>, ask: impl FnMut() + Send + 'static) -> Self {
        Self { ask: Box::new(ask), parts, is_asked: false, is_over: false }
    }

    /// Makes it an empty body.
    pub(super) fn ended(self) -> Self {
        Self { is_over: true, ..self }
    }
}

impl Body for Remote {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Next> {
        if self.is_over {
            return Poll::Ready(None);
        }
        if !self.is_asked {
            self.is_asked = true;
            (self.ask)();
        }
        // Without a sender the body is broken.
        let next = ready!(self.parts.poll_recv(context)).unwrap_or(Some(Err(Error::HttpProtocolError)));
        self.is_asked = false;
        self.is_over = !matches!(next, Some(Ok(_)));
        Poll::Ready(next)
    }

    fn is_end_stream(&self) -> bool {
        self.is_over
    }
}

/// Returns the next part of `body`.
pub(super) async fn next(body: &mut WasiBody) -> Part<'static> {
    match body.frame().await {
        None => Part::End,
        Some(Err(error)) => Part::Failed((&error).into()),
        Some(Ok(frame)) => match frame.into_data() {
            Ok(data) => Part::Data(Cow::Owned(data.into())),
            Err(frame) => Part::Trailers(Fields::of(&frame.into_trailers().unwrap_or_default())),
        },
    }
}

impl Part<'_> {
    /// Converts the part to the item of a body.
    ///
    /// # Errors
    /// Fails when the part is invalid.
    pub(super) fn read(&self) -> io::Result<Next> {
        Ok(match self {
            Self::Data(data) => Some(Ok(Frame::data(Bytes::copy_from_slice(data)))),
            Self::Trailers(fields) => Some(Ok(Frame::trailers(fields.read()?))),
            Self::Failed(code) => Some(Err((*code).into())),
            Self::End => None,
        })
    }

    pub(super) fn is_last(&self) -> bool {
        matches!(self, Self::End | Self::Failed(_))
    }
}

impl Fields<'_> {
    pub(super) fn of(headers: &HeaderMap) -> Fields<'static> {
        let mut text = Vec::new();
        for (name, value) in headers {
            for part in [name.as_str().as_bytes(), b":", value.as_bytes(), b"\n"] {
                text.extend_from_slice(part);
            }
        }
        Fields(text.into())
    }

    /// Parses the headers.
    ///
    /// # Errors
    /// Fails when they are invalid, or too many.
    pub(super) fn read(&self) -> io::Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        for line in self.0.split_inclusive(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let colon = line.iter().position(|byte| *byte == b':').ok_or(io::ErrorKind::InvalidData)?;
            let (name, value) = line.split_at(colon);
            let name = HeaderName::from_bytes(name).map_err(io::Error::other)?;
            let value =
                HeaderValue::from_bytes(value.get(1..).unwrap_or_default()).map_err(io::Error::other)?;
            headers.try_append(name, value).map_err(io::Error::other)?;
        }
        Ok(headers)
    }
}
