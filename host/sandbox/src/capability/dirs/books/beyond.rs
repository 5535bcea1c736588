//! The side of a process that asks whether there is room.

use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
};

use super::{Answer, Entry};
use crate::capability::dirs::ledger::{Full, Usage};

/// Has the books kept by the process that started this one.
pub(crate) struct Beyond {
    tell: Box<dyn Fn(Entry) + Send + Sync>,
    heard: Sender<Answer>,
    /// Held by whoever asks, until there is an answer.
    answers: Mutex<Receiver<Answer>>,
}

impl Beyond {
    /// What is to be entered goes to `tell`.
    pub(crate) fn new(tell: impl Fn(Entry) + Send + Sync + 'static) -> Arc<Self> {
        let (heard, answers) = channel();
        Arc::new(Self { tell: Box::new(tell), heard, answers: Mutex::new(answers) })
    }

    /// Takes an answer, on a thread that asks nothing.
    pub(crate) fn hear(&self, answer: Answer) {
        // Whoever asked waits for it.
        let _ = self.heard.send(answer);
    }

    pub(super) fn tell(&self, entry: Entry) {
        (self.tell)(entry);
    }

    /// Asks, and waits: nobody else is held up in this process.
    fn ask(&self, entry: Entry) -> Option<Answer> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        self.tell(entry);
        answers.recv().ok()
    }

    /// Sees to it that there is a count.
    ///
    /// # Errors
    /// Why there is none.
    pub(in crate::capability::dirs) fn count(&self, grant: u32) -> io::Result<()> {
        match self.ask(Entry::Count(grant)) {
            Some(Answer::Failed(why)) => Err(io::Error::other(why)),
            Some(Answer::Done | Answer::Full(_)) | None => Ok(()),
        }
    }

    pub(super) fn take(&self, grant: u32, more: Usage) -> Result<(), Full> {
        if more == Usage::default() {
            return Ok(());
        }
        match self.ask(Entry::Take(grant, more)) {
            Some(Answer::Full(full)) => Err(full),
            Some(Answer::Done | Answer::Failed(_)) | None => Ok(()),
        }
    }

    pub(super) fn give(&self, grant: u32, less: Usage) {
        if less != Usage::default() {
            self.tell(Entry::Give(grant, less));
        }
    }
}
