//! The messages of a driver.

use std::{collections::VecDeque, mem, thread};

use tokio::sync::{
    mpsc::{self, error::TryRecvError},
    oneshot,
};

use crate::run::message::Message;

/// Messages received at once: bounds a record's size, and how long commands wait.
const MAX_RECEIVED: usize = 1024;

/// A driver's channel, and what has been received from it and is not handled yet.
pub(super) struct Inbox {
    sender: mpsc::UnboundedSender<Message>,
    channel: mpsc::UnboundedReceiver<Message>,
    buffer: Vec<Message>,
    pub(super) received: VecDeque<Message>,
    /// Others may have posted requests to the store.
    pub(super) has_requests: bool,
    /// Dropped when the driver has left, which another owner of the run waits for.
    pub(super) dismissals: Vec<oneshot::Sender<()>>,
}

impl Inbox {
    pub(super) fn new() -> Self {
        let (sender, channel) = mpsc::unbounded_channel();
        Self {
            sender,
            channel,
            buffer: Vec::new(),
            received: VecDeque::new(),
            has_requests: false,
            dismissals: Vec::new(),
        }
    }

    pub(super) fn sender(&self) -> mpsc::UnboundedSender<Message> {
        self.sender.clone()
    }

    pub(super) fn as_sender(&self) -> &mpsc::UnboundedSender<Message> {
        &self.sender
    }

    /// Sends a message to the driver itself.
    pub(super) fn send(&self, message: Message) {
        // The receiver is held beside the sender: this cannot fail.
        let _own = self.sender.send(message);
    }

    /// Waits for messages.
    pub(super) async fn receive(&mut self) {
        self.channel.recv_many(&mut self.buffer, MAX_RECEIVED).await;
        self.sort();
    }

    /// Takes the messages that are there.
    pub(super) fn receive_now(&mut self) {
        self.buffer.extend(std::iter::from_fn(|| self.channel.try_recv().ok()));
        self.sort();
    }

    fn sort(&mut self) {
        for message in self.buffer.drain(..) {
            match message {
                Message::Mail => self.has_requests = true,
                Message::HandOver(left) => self.dismissals.push(left),
                Message::Tick => {}
                message @ (Message::Signal(_) | Message::Ask { .. } | Message::Inspect(_)) => {
                    self.received.push_back(message);
                }
            }
        }
    }

    /// Whether something has been received and is not handled.
    pub(super) fn is_empty(&self) -> bool {
        self.received.is_empty() && self.dismissals.is_empty() && !self.has_requests
    }

    /// Closes the channel and takes what is in it. A sender that was told that its message was sent may still be about to put it
    /// there, which `try_recv` distinguishes from the end: without waiting for it a caller would wait for ever, or a slot be lost.
    /// That takes a moment and no lock, and is waited for in one step, as a driver must not be dropped between leaving its entry and
    /// giving back what it has.
    pub(super) fn close(&mut self) {
        self.channel.close();
        loop {
            match self.channel.try_recv() {
                Ok(message) => self.buffer.push(message),
                Err(TryRecvError::Empty) => thread::yield_now(),
                Err(TryRecvError::Disconnected) => break,
            }
        }
        self.sort();
    }

    /// Opens a new channel after [`Self::close`].
    pub(super) fn reopen(&mut self) {
        let (sender, channel) = mpsc::unbounded_channel();
        self.sender = sender;
        self.channel = channel;
    }

    pub(super) fn take_received(&mut self) -> VecDeque<Message> {
        mem::take(&mut self.received)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::dispatch::signal::Signal;

    #[tokio::test]
    async fn a_message_that_was_sent_while_the_inbox_is_closed_is_received() {
        for _ in 0..2_000 {
            let mut inbox = Inbox::new();
            let sender = inbox.sender();
            let sending = thread::spawn(move || {
                (0..).take_while(|_| sender.send(Signal::Lent(1).into()).is_ok()).count()
            });
            while inbox.received.len() < 10 {
                inbox.receive().await;
            }
            inbox.close();
            assert_eq!(sending.join().unwrap(), inbox.received.len());
        }
    }
}
