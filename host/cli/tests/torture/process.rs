//! One process, what it says, and what is done to it.

use std::{
    io::{BufRead as _, BufReader, Read},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::clock::Clock;

/// After which a process that should end is taken to hang.
pub(crate) const LONGEST: Duration = Duration::from_secs(120);

/// A process; killed when it is dropped.
pub(crate) struct Process {
    child: Child,
    lines: Receiver<String>,
    /// All that it has said so far, on either stream.
    pub(crate) said: Vec<String>,
    /// Its wall clock, where that can be set.
    pub(crate) clock: Option<Clock>,
}

fn read(stream: impl Read + Send + 'static, lines: Sender<String>) {
    thread::spawn(move || {
        let said = BufReader::new(stream).lines().map_while(Result::ok);
        // The receiver of a dropped process is gone.
        said.for_each(|line| drop(lines.send(line)));
    });
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        read(child.stdout.take().unwrap(), sender.clone());
        read(child.stderr.take().unwrap(), sender);
        Self { child, lines, said: Vec::new(), clock: None }
    }

    /// True if it had not ended before.
    pub(crate) fn signal(&mut self, signal: Signal) -> bool {
        // The number of one that was waited for may be another's.
        let is_there = !self.has_ended();
        if is_there {
            kill_process(Pid::from_child(&self.child), signal).unwrap();
        }
        is_there
    }

    /// Listens for so long, or until it ends; true in that case.
    pub(crate) fn listen(&mut self, length: Duration) -> bool {
        self.find(length, |_| None::<()>);
        self.has_ended()
    }

    /// Listens until something is found in a line; nothing if the time or the process comes to an end before.
    pub(crate) fn find<T>(&mut self, length: Duration, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let until = Instant::now() + length;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    let found = find(&line);
                    self.said.push(line);
                    if found.is_some() {
                        return found;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Waits for its end; nothing if it does not come.
    pub(crate) fn end(&mut self) -> Option<ExitStatus> {
        // Both streams end with the process.
        self.find(LONGEST, |_| None::<()>);
        let until = Instant::now() + Duration::from_secs(5);
        while Instant::now() < until {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(2));
        }
        None
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}
