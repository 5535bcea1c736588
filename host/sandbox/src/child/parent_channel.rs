//! What a child is told while it makes a call.

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

/// So often at most whoever computes is asked what it has used. Who waits is asked once.
const EPOCH_INTERVAL: Duration = Duration::from_millis(10);

/// The way to a child. Its end tells the child that nobody is here any more.
pub(super) struct ParentChannel {
    socket: UnixStream,
    /// Whether the child was told the beginning of something.
    pub(super) is_sending: bool,
}

impl ParentChannel {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self { socket, is_sending: false }
    }

    /// Passes frames on until that fails.
    pub(super) async fn forward(&mut self, mut frames: Receiver<Vec<u8>>) -> io::Error {
        while let Some(frame) = frames.recv().await {
            self.is_sending = true;
            if let Err(error) = self.socket.write_all(&frame).await {
                return error;
            }
            self.is_sending = false;
        }
        // There will be none; the call goes on.
        pending().await
    }
}

/// Tells of epochs until that fails, of each when the last was answered.
pub(super) async fn send_epochs(frames: &Sender<Vec<u8>>, answered: &Notify) -> io::Error {
    let epoch = match frame(&ParentMessage::Epoch) {
        Ok(epoch) => epoch,
        Err(error) => return error,
    };
    loop {
        sleep(EPOCH_INTERVAL).await;
        // Nobody passes it on any more when the call ends.
        let _ = frames.send(epoch.clone()).await;
        answered.notified().await;
    }
}
