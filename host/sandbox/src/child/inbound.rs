//! Messages of a child, which is not trusted.

use std::io;

use phasm_engine::usage::ResourceUsage;
use tokio::{
    io::{AsyncReadExt as _, BufReader},
    net::UnixStream,
    sync::{Notify, mpsc::Sender},
};

use super::wire::{ChildMessage, LENGTH_BYTES, ParentMessage, decode, frame};
#[cfg(feature = "http")]
use crate::capability::sockets::TcpRelayServer;
use crate::{
    attempt_context::AttemptContext,
    call_result::CallResult,
    capability::{
        dirs::{QuotaRequest, QuotaServer},
        http::RelayServer,
    },
    poll_state::so_far,
    text::cut,
    transcript::Transcript,
};

/// Maximum length of a frame, in addition to the data that a guest may hand over at once, in bytes.
pub(super) const FRAME_OVERHEAD_BYTES: u64 = 1 << 20;

/// Size of the read buffer, in bytes.
const READ_BUFFER_BYTES: usize = 64 << 10;

/// Bytes of the reason why a call failed.
const MAX_REASON_BYTES: usize = 4 << 10;

/// Services for a child while it makes a call.
pub(super) struct Services {
    pub(super) requests: RelayServer,
    #[cfg(feature = "http")]
    pub(super) connections: TcpRelayServer,
    pub(super) quota: QuotaServer,
    pub(super) frames: Sender<Vec<u8>>,
}

impl Services {
    /// Adds what was made for the child to the usage that it reports.
    fn with(&self, metered: ResourceUsage) -> ResourceUsage {
        let metered = self.requests.with(metered);
        #[cfg(feature = "http")]
        let metered = self.connections.with(metered);
        metered
    }

    /// Ends everything that was made for the child, and adds refusals and usage to the result of the call.
    pub(super) fn finish(self, ended: &mut CallResult) {
        self.requests.finish(ended);
        #[cfg(feature = "http")]
        self.connections.finish(ended);
    }

    async fn account(&mut self, request: QuotaRequest) -> io::Result<()> {
        if let Some(response) = self.quota.receive(request).await? {
            // A child that has gone needs no response.
            let _ = self.frames.send(frame(&ParentMessage::Quota(response))?).await;
        }
        Ok(())
    }
}

/// Receiver of a child's messages.
pub(super) struct Inbound {
    pub(super) socket: BufReader<UnixStream>,
    pub(super) frame_bytes: Vec<u8>,
}

impl Inbound {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self { socket: BufReader::with_capacity(READ_BUFFER_BYTES, socket), frame_bytes: Vec::new() }
    }

    /// Receives messages until the call has ended; `answered` is notified when usage was reported.
    pub(super) async fn listen(
        &mut self,
        attempt: &AttemptContext,
        transcript: &Transcript,
        services: &mut Services,
        answered: &Notify,
    ) -> io::Result<Result<CallResult, String>> {
        let limits = &attempt.limits;
        let longest =
            limits.hostcall.max(limits.output).saturating_mul(2).saturating_add(FRAME_OVERHEAD_BYTES);
        loop {
            self.read_frame(longest).await?;
            match decode(&self.frame_bytes)? {
                ChildMessage::Output(output) => {
                    // The child counts as well, and ends the call; one that does not is cut off.
                    if let Err(exceeded) = transcript.receive(&output) {
                        return Ok(Err(exceeded.message(attempt.owner())));
                    }
                }
                ChildMessage::Http(request) => services.requests.receive(request)?,
                #[cfg(feature = "http")]
                ChildMessage::Tcp(request) => services.connections.receive(request)?,
                ChildMessage::Quota(request) => services.account(request).await?,
                ChildMessage::Usage(metered) => {
                    transcript.used(so_far(services.with(metered)));
                    answered.notify_one();
                }
                ChildMessage::Result(returned) => return Ok(Ok(returned.into())),
                ChildMessage::Failure(why) => return Ok(Err(cut(&why, MAX_REASON_BYTES).to_owned())),
                ChildMessage::Ready => {
                    return Err(io::Error::other("it sent a message that was not asked for"));
                }
            }
        }
    }

    /// Reads the next frame.
    pub(super) async fn read_frame(&mut self, longest: u64) -> io::Result<()> {
        let mut length = [0; LENGTH_BYTES];
        self.socket.read_exact(&mut length).await?;
        let length = u32::from_le_bytes(length);
        if u64::from(length) > longest {
            return Err(io::Error::other("it says too much at once"));
        }
        self.frame_bytes.clear();
        let frame_bytes = (&mut self.socket).take(length.into()).read_to_end(&mut self.frame_bytes).await?;
        if frame_bytes == length as usize { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}
