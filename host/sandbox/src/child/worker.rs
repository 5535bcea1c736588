//! A child that calls guests, as its parent sees it.

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream as Socket},
    process::Stdio,
    sync::Arc,
};

use tokio::{
    io::AsyncWriteExt as _,
    net::UnixStream,
    select,
    sync::{Notify, mpsc::channel},
};

use super::{
    Children, attempt,
    inbound::{FRAME_OVERHEAD_BYTES, Inbound, Services},
    parent_channel::{self, ParentChannel},
    process::{ChildProcess, command},
    wire::{Call, ChildMessage, ParentMessage, Setup, decode, frame, length},
};
#[cfg(feature = "http")]
use crate::capability::sockets::TcpRelayServer;
use crate::{
    call_context::CallContext,
    call_result::CallResult,
    capability::http::{Outbox, RelayServer},
    grants::Grants,
    limits::Limits,
    program::Program,
    transcript::Transcript,
};

/// Memory that a process needs in addition to that of its guest, in bytes.
const PROCESS_MEMORY_BYTES: u64 = 256 << 20;
/// Maximum number of frames that wait to be sent.
const MAX_QUEUED_FRAMES: usize = 8;

/// A child that is locked in and waits for calls. Dropping it ends it.
pub(crate) struct Worker {
    process: ChildProcess,
    inbound: Inbound,
    channel: ParentChannel,
}

impl Worker {
    /// Starts a child for `program` with `grants`.
    pub(crate) async fn start(
        children: &Children,
        program: &Program,
        grants: &Grants,
        limits: &Limits,
        headers: u64,
    ) -> io::Result<Self> {
        let code = program.code().map_err(io::Error::other)?;
        let (ours, theirs) = Socket::pair()?;
        let (open, watched) = Socket::pair()?;
        let process = ChildProcess::of(
            command(children, &job(&code, grants, limits))
                .stdin(OwnedFd::from(theirs))
                .stdout(OwnedFd::from(watched))
                .stderr(Stdio::null())
                .spawn()?,
        )?;
        let (inbound, channel) = (Inbound::new(nonblocking(ours)?), ParentChannel::new(nonblocking(open)?));
        let mut worker = Self { process, inbound, channel };
        let setup = Setup { limits: limits.clone(), grants: grants.absolute()?, headers };
        worker.inbound.socket.write_all(&frame(&setup)?).await?;
        worker.inbound.socket.write_all(&length(code.len())?).await?;
        worker.inbound.socket.write_all(&code).await?;
        if worker.inbound.read_frame(FRAME_OVERHEAD_BYTES).await.is_err() {
            return Err(io::Error::other(worker.process.last_status().await));
        }
        match decode(&worker.inbound.frame_bytes)? {
            ChildMessage::Ready => Ok(worker),
            ChildMessage::Failure(why) => Err(io::Error::other(why)),
            ChildMessage::Output(_)
            | ChildMessage::Http(_)
            | ChildMessage::Quota(_)
            | ChildMessage::Usage(_)
            | ChildMessage::Result(_) => Err(io::Error::other("it sent a message that was not asked for")),
            #[cfg(feature = "http")]
            ChildMessage::Tcp(_) => Err(io::Error::other("it sent a message that was not asked for")),
        }
    }

    /// Returns whether the process has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.process.has_ended()
    }

    /// Returns whether the last call ended while a frame was being sent.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.channel.is_sending
    }

    /// Makes one call; the guest's output goes to `transcript` meanwhile.
    ///
    /// # Errors
    /// The message for the user when the process misbehaved.
    pub(crate) async fn call(
        &mut self,
        context: &CallContext,
        transcript: &Arc<Transcript>,
    ) -> Result<CallResult, String> {
        match self.exchange(context, transcript).await {
            Ok(ended) => ended,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.process.last_status().await)
            }
            Err(error) => Err(format!("host fault: the process of the attempt: {error}")),
        }
    }

    async fn exchange(
        &mut self,
        context: &CallContext,
        transcript: &Arc<Transcript>,
    ) -> io::Result<Result<CallResult, String>> {
        let (frames, queue) = channel(MAX_QUEUED_FRAMES);
        let CallContext { attempt, grants, sandbox } = context;
        let outbox = Outbox::new(frames.clone(), |event| frame(&ParentMessage::Http(event)));
        let requests = RelayServer::new(&sandbox.net, &grants.http, attempt, transcript, outbox);
        let quota = sandbox.dirs.quota_server(&grants.dirs, attempt);
        #[cfg(feature = "http")]
        let connections =
            TcpRelayServer::new(&sandbox.net, &grants.tcp, attempt, transcript, frames.clone(), |event| {
                frame(&ParentMessage::Tcp(event))
            });
        let mut services = Services {
            requests,
            #[cfg(feature = "http")]
            connections,
            quota,
            frames: frames.clone(),
        };
        let answered = Notify::new();
        self.inbound.socket.write_all(&frame(&Call::of(attempt))?).await?;
        let ended = select! {
            biased;
            ended = self.inbound.listen(attempt, transcript, &mut services, &answered) => ended?,
            failed = self.channel.forward(queue) => return Err(failed),
            failed = parent_channel::send_epochs(&frames, &answered) => return Err(failed),
        };
        Ok(ended.map(|mut ended| {
            services.finish(&mut ended);
            ended
        }))
    }
}

fn nonblocking(socket: Socket) -> io::Result<UnixStream> {
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}

fn job(code: &[u8], grants: &Grants, limits: &Limits) -> Vec<String> {
    let beside = limits.output.max(limits.hostcall).saturating_mul(4).saturating_add(code.len() as u64 * 2);
    let memory = limits.memory.saturating_add(beside).saturating_add(PROCESS_MEMORY_BYTES);
    // A plugin may have a quarter of the process's descriptors.
    let files = (u64::from(limits.descriptors) + grants.dirs.len() as u64).saturating_mul(4);
    vec![attempt::JOB.to_owned(), memory.to_string(), files.to_string()]
}
