//! An answer's body, part by part: bounded in time, and told of when it is over.

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

use super::{
    budget::{Moved, Permits},
    failure::Failure,
    pending_request::PendingRequest,
};

pub(super) struct Answer {
    incoming: Incoming,
    /// The longest between two parts.
    patience: Duration,
    /// When the request is over, whatever there is still to come.
    deadline: Instant,
    alarm: Pin<Box<Sleep>>,
    pending: PendingRequest,
    moved: Arc<Moved>,
    permits: Option<Permits>,
}

impl Answer {
    pub(super) fn new(
        incoming: Incoming,
        (patience, deadline): (Duration, Instant),
        pending: PendingRequest,
        moved: Arc<Moved>,
        permits: Permits,
    ) -> Self {
        let alarm = Box::pin(sleep_until(deadline.min(Instant::now() + patience)));
        let mut answer = Self { incoming, patience, deadline, alarm, pending, moved, permits: Some(permits) };
        if answer.incoming.is_end_stream() {
            answer.end(None);
        }
        answer
    }

    fn end(&mut self, why: Option<&str>) {
        self.permits = None;
        self.pending.end(why);
    }

    fn fail(&mut self, failure: Failure) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let failure = self.moved.over().map_or(failure, |over| self.pending.over(over));
        self.pending.refuse(&failure);
        self.end(Some(&failure.why));
        Poll::Ready(Some(Err(failure.error)))
    }

    fn late(&self) -> Failure {
        if Instant::now() >= self.deadline {
            Failure::new(Error::HttpResponseTimeout, "timeout of the whole request (`time` under `[http]`)")
        } else {
            Failure::new(Error::ConnectionReadTimeout, "timeout of waiting for more of the answer")
        }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        match Pin::new(&mut self.incoming).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) if Instant::now() < self.deadline => {
                let next = self.deadline.min(Instant::now() + self.patience);
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
