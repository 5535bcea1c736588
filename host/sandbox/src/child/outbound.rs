//! Messages from a child to its parent: single ones are sent at once, floods are batched.

use std::{
    fs::File,
    io::{self, Write as _},
    mem,
    process::exit,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use phasm_engine::usage::ResourceUsage;

use super::{
    EXIT_PARENT_GONE,
    wire::{ChildMessage, frame},
};
#[cfg(feature = "http")]
use crate::capability::sockets::TcpRequest;
use crate::{
    capability::{dirs::QuotaRequest, http::RelayRequest},
    transcript::GuestOutput,
};

/// Maximum time that a message waits to be batched, and the number of bytes that are sent at once anyway.
const FLUSH_INTERVAL: Duration = Duration::from_millis(1);
const FLUSH_BYTES: usize = 64 << 10;
/// Minimum interval of signs of life: a guest that calls the host all the time need not report each one.
const ALIVE_INTERVAL: Duration = Duration::from_millis(5);

/// Sender of messages to the parent.
pub(super) struct Outbound {
    buffer: Mutex<SendBuffer>,
    /// Notified when messages are pending.
    has_pending: Condvar,
}

struct SendBuffer {
    socket: File,
    pending: Vec<u8>,
    last_sent: Option<Instant>,
    /// Time of the last sign of life.
    last_alive: Option<Instant>,
}

impl Outbound {
    pub(super) fn new(socket: File) -> Self {
        let buffer = SendBuffer { socket, pending: Vec::new(), last_sent: None, last_alive: None };
        Self { buffer: Mutex::new(buffer), has_pending: Condvar::new() }
    }

    /// Sends a message that is waited for.
    pub(super) fn send(&self, message: &ChildMessage<'_>) -> io::Result<()> {
        let frame = frame(message)?;
        let mut buffer = self.buffer();
        buffer.pending.extend_from_slice(&frame);
        buffer.flush()
    }

    /// Sends usage.
    pub(super) fn send_usage(&self, metered: ResourceUsage) {
        if self.send(&ChildMessage::Usage(metered)).is_err() {
            exit(EXIT_PARENT_GONE);
        }
    }

    /// Sends a request about a quota.
    pub(super) fn send_quota(&self, request: QuotaRequest) {
        if self.send(&ChildMessage::Quota(request)).is_err() {
            exit(EXIT_PARENT_GONE);
        }
    }

    /// Sends a request that is waited for.
    pub(super) fn send_http(&self, request: RelayRequest<'_>) {
        if self.send(&ChildMessage::Http(request)).is_err() {
            exit(EXIT_PARENT_GONE);
        }
    }

    /// Sends a message about a connection that is waited for.
    #[cfg(feature = "http")]
    pub(super) fn send_tcp(&self, request: TcpRequest<'_>) {
        if self.send(&ChildMessage::Tcp(request)).is_err() {
            exit(EXIT_PARENT_GONE);
        }
    }

    /// Sends output of the guest, soon.
    pub(super) fn forward(&self, output: GuestOutput<'_>) {
        let now = Instant::now();
        let mut buffer = self.buffer();
        let is_recent =
            |then: Option<Instant>, while_: Duration| then.is_some_and(|then| now - then < while_);
        if output == GuestOutput::Alive && is_recent(buffer.last_alive, ALIVE_INTERVAL) {
            return;
        }
        buffer.last_alive = Some(now);
        let Ok(frame) = frame(&ChildMessage::Output(output)) else { exit(EXIT_PARENT_GONE) };
        buffer.pending.extend_from_slice(&frame);
        if is_recent(buffer.last_sent, FLUSH_INTERVAL) && buffer.pending.len() < FLUSH_BYTES {
            self.has_pending.notify_one();
        } else {
            buffer.flush_or_exit();
        }
    }

    /// Sends pending messages, for ever: the guest may be busy with anything else by now.
    pub(super) fn keep_flushing(&self) {
        loop {
            let nothing = |buffer: &mut SendBuffer| buffer.pending.is_empty();
            let buffer = self.has_pending.wait_while(self.buffer(), nothing);
            drop(buffer);
            thread::sleep(FLUSH_INTERVAL);
            self.buffer().flush_or_exit();
        }
    }

    fn buffer(&self) -> MutexGuard<'_, SendBuffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SendBuffer {
    fn flush(&mut self) -> io::Result<()> {
        self.last_sent = Some(Instant::now());
        self.socket.write_all(&mem::take(&mut self.pending))
    }

    fn flush_or_exit(&mut self) {
        if self.flush().is_err() {
            exit(EXIT_PARENT_GONE);
        }
    }
}
