//! Large responses, which are sent in turns.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::{
    body::{Body, Bytes, HttpBody},
    response::Response,
};
use hyper::body::{Frame, SizeHint};
use phasm::fair_queue::{FairQueue, Holder};

use super::in_turns;

/// Size of a part, in bytes. The system copies one in about 20 µs, and would copy megabytes in one call.
const PART_BYTES: usize = 64 << 10;

/// A body that is sent in parts, a turn for each.
struct BodyInTurns {
    inner: Body,
    /// Remainder of the frame that the inner body gave last.
    rest: Bytes,
    /// Set while the next part waits for its turn.
    turn: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    turns: FairQueue,
    holder: Holder,
}

/// Makes a response send its body in turns of the holder, if it is larger than one part.
pub(crate) fn sent_in_turns(response: Response, turns: &FairQueue, holder: Holder) -> Response {
    if response.body().size_hint().exact().is_none_or(|bytes| bytes <= PART_BYTES as u64) {
        return response;
    }
    let turns = turns.clone();
    response.map(|inner| Body::new(BodyInTurns { inner, rest: Bytes::new(), turn: None, turns, holder }))
}

impl HttpBody for BodyInTurns {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.inner).poll_frame(cx)).map(|read| read.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Ok(Err(other))) => return Poll::Ready(Some(Ok(other))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        let (turns, holder) = (self.turns.clone(), self.holder.clone());
        let turn = self
            .turn
            .get_or_insert_with(|| Box::pin(async move { in_turns(&turns, &holder, async {}).await }));
        ready!(turn.as_mut().poll(cx));
        self.turn = None;
        let part = self.rest.len().min(PART_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.inner.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}
