//! Turns of requests on the threads that serve them.
//!
//! The runtime polls what is ready in the order in which it became ready, so that a request would wait for all requests that came before.
//! Here each poll is a turn, and the [queue](FairQueue) decides whose turn is next. A request that waits for a run, a body or a commit has
//! no turn meanwhile.

mod body;
#[cfg(test)]
mod tests;

use std::{
    future::poll_fn,
    pin::pin,
    task::{Context, Poll},
};

use phasm::fair_queue::{FairQueue, Holder};
use tokio::task::yield_now;

pub(crate) use self::body::sent_in_turns;

/// Polls `work` in turns of the holder until it ends.
pub(crate) async fn in_turns<F: Future>(turns: &FairQueue, holder: &Holder, work: F) -> F::Output {
    let mut work = pin!(work);
    loop {
        let mut turn = Some(turns.enter(holder).await);
        // A task that became ready before this one is polled first. It only enters the queue, which then knows all who want the next turn.
        yield_now().await;
        let polled = poll_fn(|cx: &mut Context<'_>| match turn.take() {
            Some(_until_polled) => work.as_mut().poll(cx).map(Some),
            // Woken again: for the next turn.
            None => Poll::Ready(None),
        });
        if let Some(output) = polled.await {
            return output;
        }
    }
}
