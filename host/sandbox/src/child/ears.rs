//! What a child says, heard by whoever does not trust it.

use std::io;

use tokio::{
    io::{AsyncReadExt as _, BufReader},
    net::UnixStream,
    sync::{Notify, mpsc::Sender},
};

use super::wire::{LENGTH, News, Told, frame, message};
use crate::{
    attempt::so_far,
    attempt_context::AttemptContext,
    call_result::CallResult,
    capability::{
        dirs::{Clerk, Entry},
        http::Requests,
    },
    text::cut,
    transcript::Transcript,
};

/// How much longer than what a guest hands over at once the longest frame may be.
pub(super) const BESIDE: u64 = 1 << 20;

/// What is read of it at once.
const AT_ONCE: usize = 64 << 10;

/// What is kept of the reason why there is no call.
const LONGEST_REASON: usize = 4 << 10;

/// What is done for a child while it makes a call.
pub(super) struct Services {
    pub(super) requests: Requests,
    pub(super) clerk: Clerk,
    pub(super) frames: Sender<Vec<u8>>,
}

impl Services {
    async fn enter(&mut self, entry: Entry) -> io::Result<()> {
        if let Some(answer) = self.clerk.hear(entry).await? {
            // Who is not there any more wants no answer.
            let _ = self.frames.send(frame(&News::Books(answer))?).await;
        }
        Ok(())
    }
}

/// What a child says.
pub(super) struct Ears {
    pub(super) socket: BufReader<UnixStream>,
    pub(super) heard: Vec<u8>,
}

impl Ears {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self { socket: BufReader::with_capacity(AT_ONCE, socket), heard: Vec::new() }
    }

    /// Hears all that is said until the call has ended, and notes when what was used is told.
    pub(super) async fn listen(
        &mut self,
        attempt: &AttemptContext,
        transcript: &Transcript,
        services: &mut Services,
        answered: &Notify,
    ) -> io::Result<Result<CallResult, String>> {
        let limits = &attempt.limits;
        let longest = limits.hostcall.max(limits.output).saturating_mul(2).saturating_add(BESIDE);
        loop {
            self.hear(longest).await?;
            match message(&self.heard)? {
                Told::Said(said) => {
                    // The child counts, too, and ends the call; one that does not is not heard any longer.
                    if let Err(exceeded) = transcript.hear(&said) {
                        return Ok(Err(exceeded.told(attempt.named())));
                    }
                }
                Told::Asks(asked) => services.requests.hear(asked)?,
                Told::Enters(entry) => services.enter(entry).await?,
                Told::Used(metered) => {
                    transcript.used(so_far(services.requests.with(metered)));
                    answered.notify_one();
                }
                Told::Ended(returned) => return Ok(Ok(returned.into())),
                Told::NoCall(why) => return Ok(Err(cut(&why, LONGEST_REASON).to_owned())),
                Told::Ready => return Err(io::Error::other("it says what it was not asked")),
            }
        }
    }

    /// Hears the next frame.
    pub(super) async fn hear(&mut self, longest: u64) -> io::Result<()> {
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
