//! A child that calls guests, as its parent sees it.

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream as Socket},
    process::Stdio,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
};

use super::{
    Children, attempt,
    running::{Running, command},
    wire::{Call, LENGTH, Setup, Told, frame, length, message},
};
use crate::{
    call::Ended, capability::Grants, limits::Limits, program::Program, transcript::Transcript, whose::Whose,
};

/// What a process needs beside the memory of its guest.
const OWN_MEMORY: u64 = 256 << 20;
/// How much longer than what a guest hands over at once the longest frame may be.
const BESIDE: u64 = 1 << 20;

/// What is read of it at once.
const AT_ONCE: usize = 64 << 10;

/// A child that is locked in, and waits for calls. Dropping it ends it.
pub(crate) struct Worker {
    running: Running,
    socket: BufReader<UnixStream>,
    /// Its end tells the child that nobody is here any more.
    _open: Socket,
    heard: Vec<u8>,
}

impl Worker {
    /// Starts a child for `program` with `grants`.
    pub(crate) async fn start(
        children: &Children,
        program: &Program,
        grants: &Grants,
        limits: &Limits,
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
        ours.set_nonblocking(true)?;
        let socket = BufReader::with_capacity(AT_ONCE, UnixStream::from_std(ours)?);
        let mut worker = Self { running, socket, _open: open, heard: Vec::new() };
        worker.socket.write_all(&frame(&Setup { limits: limits.clone(), grants: grants.clone() })?).await?;
        worker.socket.write_all(&length(code.len())?).await?;
        worker.socket.write_all(&code).await?;
        if worker.hear(BESIDE).await.is_err() {
            return Err(io::Error::other(worker.running.last_status().await));
        }
        match message(&worker.heard)? {
            Told::Ready => Ok(worker),
            Told::NoCall(why) => Err(io::Error::other(why)),
            Told::Said(_) | Told::Ended(_) => Err(io::Error::other("it says what it was not asked")),
        }
    }

    /// Whether the process has ended, without having been told to.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.running.has_ended()
    }

    /// Makes one call; what the guest says meanwhile goes to `transcript`.
    ///
    /// # Errors
    /// What to tell the user when the process did not do as it should.
    pub(crate) async fn call(&mut self, whose: &Whose, transcript: &Transcript) -> Result<Ended, String> {
        match self.talk(whose, transcript).await {
            Ok(ended) => ended,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.running.last_status().await)
            }
            Err(error) => Err(format!("host fault: the process of the attempt: {error}")),
        }
    }

    async fn talk(&mut self, whose: &Whose, transcript: &Transcript) -> io::Result<Result<Ended, String>> {
        let limits = whose.limits();
        self.socket.write_all(&frame(&Call::of(whose))?).await?;
        let longest = limits.hostcall.max(limits.output).saturating_mul(2).saturating_add(BESIDE);
        loop {
            self.hear(longest).await?;
            match message(&self.heard)? {
                Told::Said(said) => {
                    // The child counts, too, and ends the call; one that does not is not heard any longer.
                    if let Err(exceeded) = transcript.hear(&said) {
                        return Ok(Err(exceeded.told(whose.named())));
                    }
                }
                Told::Ended(returned) => return Ok(Ok(returned.into())),
                Told::NoCall(why) => return Ok(Err(why)),
                Told::Ready => return Err(io::Error::other("it says what it was not asked")),
            }
        }
    }

    async fn hear(&mut self, longest: u64) -> io::Result<()> {
        let mut length = [0; LENGTH];
        self.socket.read_exact(&mut length).await?;
        let length = u32::from_le_bytes(length);
        if u64::from(length) > longest {
            return Err(io::Error::other("it says too much at once"));
        }
        self.heard.clear();
        let heard = (&mut self.socket).take(length.into()).read_to_end(&mut self.heard).await?;
        if heard == length as usize { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

fn job(code: &[u8], grants: &Grants, limits: &Limits) -> Vec<String> {
    let beside = limits.output.max(limits.hostcall).saturating_mul(4).saturating_add(code.len() as u64 * 2);
    let memory = limits.memory.saturating_add(beside).saturating_add(OWN_MEMORY);
    // Of what there is, a plugin gets a quarter.
    let files = (u64::from(limits.descriptors) + grants.dirs.len() as u64).saturating_mul(4);
    vec![attempt::JOB.to_owned(), memory.to_string(), files.to_string()]
}
