//! Messages to a child while it makes a call.

use std::{future::pending, io, time::Duration};

use tokio::{
    io::AsyncWriteExt as _,
    net::UnixStream,
    sync::{
        Notify,
        mpsc::{Receiver, Sender},
    },
    time::sleep,
};

use super::wire::{ParentMessage, frame};

/// Minimum interval between two requests for usage of a computing child. A child that waits is asked once.
const EPOCH_INTERVAL: Duration = Duration::from_millis(10);

/// Channel to a child. When it closes, the child knows that its parent has gone.
pub(super) struct ParentChannel {
    socket: UnixStream,
    /// Whether a frame was sent in part.
    pub(super) is_sending: bool,
}

impl ParentChannel {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self { socket, is_sending: false }
    }

    /// Sends frames until that fails.
    pub(super) async fn forward(&mut self, mut frames: Receiver<Vec<u8>>) -> io::Error {
        while let Some(frame) = frames.recv().await {
            self.is_sending = true;
            if let Err(error) = self.socket.write_all(&frame).await {
                return error;
            }
            self.is_sending = false;
        }
        // There will be none, but the call continues.
        pending().await
    }
}

/// Sends epochs until that fails, each after the last was answered.
pub(super) async fn send_epochs(frames: &Sender<Vec<u8>>, answered: &Notify) -> io::Error {
    let epoch = match frame(&ParentMessage::Epoch) {
        Ok(epoch) => epoch,
        Err(error) => return error,
    };
    loop {
        sleep(EPOCH_INTERVAL).await;
        // Sending fails only when the call has ended.
        let _ = frames.send(epoch.clone()).await;
        answered.notified().await;
    }
}
