//! Body of a response, part by part: bounded in time, and reported when it is over.

use std::{
    future::Future as _,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};
use wasmtime_wasi_http::Error;

use super::{budget::Transfer, failure::Failure, net::Permits, pending_request::PendingRequest};

pub(super) struct ResponseBody {
    incoming: Incoming,
    /// Maximum time between two parts.
    max_pause: Duration,
    /// End of the request, even if the body is incomplete.
    deadline: Instant,
    alarm: Pin<Box<Sleep>>,
    pending: PendingRequest,
    transfer: Arc<Transfer>,
    permits: Option<Permits>,
}

impl ResponseBody {
    pub(super) fn new(
        incoming: Incoming,
        max_pause: Duration,
        deadline: Instant,
        pending: PendingRequest,
        transfer: Arc<Transfer>,
        permits: Permits,
    ) -> Self {
        let alarm = Box::pin(sleep_until(deadline.min(Instant::now() + max_pause)));
        let mut body =
            Self { incoming, max_pause, deadline, alarm, pending, transfer, permits: Some(permits) };
        if body.incoming.is_end_stream() {
            body.end(None);
        }
        body
    }

    fn end(&mut self, why: Option<&str>) {
        self.permits = None;
        self.pending.end(why);
    }

    fn fail(&mut self, failure: Failure) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let failure = self.transfer.over().map_or(failure, |over| self.pending.over(over));
        self.pending.refuse(&failure);
        self.end(Some(&failure.why));
        Poll::Ready(Some(Err(failure.error)))
    }

    fn late(&self) -> Failure {
        if Instant::now() >= self.deadline {
            Failure::new(Error::HttpResponseTimeout, "timeout of the whole request (`time` under `[http]`)")
        } else {
            Failure::new(Error::ConnectionReadTimeout, "timeout of waiting for more of the response")
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        match Pin::new(&mut self.incoming).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) if Instant::now() < self.deadline => {
                let next = self.deadline.min(Instant::now() + self.max_pause);
                self.alarm.as_mut().reset(next);
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Ok(_))) => {
                let late = self.late();
                self.fail(late)
            }
            Poll::Ready(Some(Err(error))) => self.fail(Failure::hyper(&error, false)),
            Poll::Ready(None) => {
                self.end(None);
                Poll::Ready(None)
            }
            Poll::Pending if self.alarm.as_mut().poll(context).is_ready() => {
                let late = self.late();
                self.fail(late)
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}
