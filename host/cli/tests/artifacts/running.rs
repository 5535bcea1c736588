//! A command that runs.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, ChildStderr, Command, Stdio},
};

/// A command that runs, and what it has said so far. It is killed when this is dropped.
pub(crate) struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stderr, said: String::new() }
    }

    /// Waits until all of this has been said.
    pub(crate) fn until(&mut self, words: &[&str]) {
        while !words.iter().all(|word| self.said.contains(word)) {
            assert!(self.stderr.read_line(&mut self.said).unwrap() > 0, "it ended: {}", self.said);
        }
    }

    pub(crate) fn said(&self) -> &str {
        &self.said
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}
