//! The way back from a child to its parent: at once what comes alone, together what comes in floods.

use std::{
    fs::File,
    io::{self, Write as _},
    mem,
    process::exit,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use phasm_engine::metered::Metered;

use super::{
    ALONE,
    wire::{Told, frame},
};
use crate::{
    capability::{dirs::Entry, http::Asked},
    transcript::Said,
};

/// How long something may wait for more to come, unless so much has come already.
const PAUSE: Duration = Duration::from_millis(1);
const MUCH: usize = 64 << 10;
/// A guest that calls the host all the time is alive, and need not say so each time.
const SIGNS_OF_LIFE: Duration = Duration::from_millis(5);

/// What is said to the parent.
pub(super) struct Voice {
    spoken: Mutex<Spoken>,
    /// Something waits.
    waits: Condvar,
}

struct Spoken {
    socket: File,
    waiting: Vec<u8>,
    sent: Option<Instant>,
    /// When the guest last said anything.
    alive: Option<Instant>,
}

impl Voice {
    pub(super) fn new(socket: File) -> Self {
        let spoken = Spoken { socket, waiting: Vec::new(), sent: None, alive: None };
        Self { spoken: Mutex::new(spoken), waits: Condvar::new() }
    }

    /// Says something that is waited for.
    pub(super) fn tell(&self, told: &Told<'_>) -> io::Result<()> {
        let frame = frame(told)?;
        let mut spoken = self.spoken();
        spoken.waiting.extend_from_slice(&frame);
        spoken.send()
    }

    /// Says what was used.
    pub(super) fn used(&self, metered: Metered) {
        if self.tell(&Told::Used(metered)).is_err() {
            exit(ALONE);
        }
    }

    /// Says what a guest changes.
    pub(super) fn enter(&self, entry: Entry) {
        if self.tell(&Told::Enters(entry)).is_err() {
            exit(ALONE);
        }
    }

    /// Asks for something that is waited for.
    pub(super) fn ask(&self, asked: Asked<'_>) {
        if self.tell(&Told::Asks(asked)).is_err() {
            exit(ALONE);
        }
    }

    /// Says what the guest says, soon.
    pub(super) fn forward(&self, said: Said<'_>) {
        let now = Instant::now();
        let mut spoken = self.spoken();
        let lately = |then: Option<Instant>, while_: Duration| then.is_some_and(|then| now - then < while_);
        if said == Said::Alive && lately(spoken.alive, SIGNS_OF_LIFE) {
            return;
        }
        spoken.alive = Some(now);
        let Ok(frame) = frame(&Told::Said(said)) else { exit(ALONE) };
        spoken.waiting.extend_from_slice(&frame);
        if lately(spoken.sent, PAUSE) && spoken.waiting.len() < MUCH {
            self.waits.notify_one();
        } else {
            spoken.send_or_end();
        }
    }

    /// Sends what waits for more, for ever: the guest may be at anything else by now.
    pub(super) fn keep_flushing(&self) {
        loop {
            let nothing = |spoken: &mut Spoken| spoken.waiting.is_empty();
            let spoken = self.waits.wait_while(self.spoken(), nothing);
            drop(spoken);
            thread::sleep(PAUSE);
            self.spoken().send_or_end();
        }
    }

    fn spoken(&self) -> MutexGuard<'_, Spoken> {
        self.spoken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spoken {
    fn send(&mut self) -> io::Result<()> {
        self.sent = Some(Instant::now());
        self.socket.write_all(&mem::take(&mut self.waiting))
    }

    fn send_or_end(&mut self) {
        if self.send().is_err() {
            exit(ALONE);
        }
    }
}
