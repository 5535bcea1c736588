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
    ears::{BESIDE, Ears, Services},
    herald::{self, Herald},
    running::{Running, command},
    wire::{Call, Setup, Told, frame, length, message},
};
use crate::{
    call_context::CallContext, call_result::CallResult, capability::http::Requests, grants::Grants,
    limits::Limits, program::Program, transcript::Transcript,
};

/// What a process needs beside the memory of its guest.
const OWN_MEMORY: u64 = 256 << 20;
/// Frames that may wait to be told.
const AHEAD: usize = 8;

/// A child that is locked in, and waits for calls. Dropping it ends it.
pub(crate) struct Worker {
    running: Running,
    ears: Ears,
    herald: Herald,
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
        let running = Running::of(
            command(children, &job(&code, grants, limits))
                .stdin(OwnedFd::from(theirs))
                .stdout(OwnedFd::from(watched))
                .stderr(Stdio::null())
                .spawn()?,
        )?;
        let (ears, herald) = (Ears::new(unblocked(ours)?), Herald::new(unblocked(open)?));
        let mut worker = Self { running, ears, herald };
        let setup = Setup { limits: limits.clone(), grants: grants.clone(), headers };
        worker.ears.socket.write_all(&frame(&setup)?).await?;
        worker.ears.socket.write_all(&length(code.len())?).await?;
        worker.ears.socket.write_all(&code).await?;
        if worker.ears.hear(BESIDE).await.is_err() {
            return Err(io::Error::other(worker.running.last_status().await));
        }
        match message(&worker.ears.heard)? {
            Told::Ready => Ok(worker),
            Told::NoCall(why) => Err(io::Error::other(why)),
            Told::Said(_) | Told::Asks(_) | Told::Enters(_) | Told::Used(_) | Told::Ended(_) => {
                Err(io::Error::other("it says what it was not asked"))
            }
        }
    }

    /// Whether the process has ended, without having been told to.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.running.has_ended()
    }

    /// Whether there is something amid which the last call ended.
    pub(crate) fn is_spoilt(&self) -> bool {
        self.herald.is_amid
    }

    /// Makes one call; what the guest says meanwhile goes to `transcript`.
    ///
    /// # Errors
    /// What to tell the user when the process did not do as it should.
    pub(crate) async fn call(
        &mut self,
        context: &CallContext,
        transcript: &Arc<Transcript>,
    ) -> Result<CallResult, String> {
        match self.talk(context, transcript).await {
            Ok(ended) => ended,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.running.last_status().await)
            }
            Err(error) => Err(format!("host fault: the process of the attempt: {error}")),
        }
    }

    async fn talk(
        &mut self,
        context: &CallContext,
        transcript: &Arc<Transcript>,
    ) -> io::Result<Result<CallResult, String>> {
        let (frames, news) = channel(AHEAD);
        let CallContext { attempt, grants, sandbox } = context;
        let requests = Requests::new(&sandbox.net, &grants.http, attempt, transcript, frames.clone());
        let clerk = sandbox.dirs.clerk(&grants.dirs, attempt);
        let mut services = Services { requests, clerk, frames: frames.clone() };
        let answered = Notify::new();
        self.ears.socket.write_all(&frame(&Call::of(attempt))?).await?;
        let ended = select! {
            biased;
            ended = self.ears.listen(attempt, transcript, &mut services, &answered) => ended?,
            failed = self.herald.pass_on(news) => return Err(failed),
            failed = herald::tell_epochs(&frames, &answered) => return Err(failed),
        };
        Ok(ended.map(|mut ended| {
            services.requests.settle(&mut ended);
            ended
        }))
    }
}

fn unblocked(socket: Socket) -> io::Result<UnixStream> {
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}

fn job(code: &[u8], grants: &Grants, limits: &Limits) -> Vec<String> {
    let beside = limits.output.max(limits.hostcall).saturating_mul(4).saturating_add(code.len() as u64 * 2);
    let memory = limits.memory.saturating_add(beside).saturating_add(OWN_MEMORY);
    // Of what there is, a plugin gets a quarter.
    let files = (u64::from(limits.descriptors) + grants.dirs.len() as u64).saturating_mul(4);
    vec![attempt::JOB.to_owned(), memory.to_string(), files.to_string()]
}
