//! The process dies, and another takes the run up.

use std::sync::Arc;

use phasm_engine::{
    event::{Event, Input},
    run::Run,
    time::Timestamp,
};

use super::{Script, World};

impl<S: Script> World<S> {
    /// Forgets all but the journal, and goes on from its bytes at `back`. What executors were doing is lost.
    ///
    /// # Errors
    /// What does not follow in the journal, or is not read back as it was written.
    pub fn crash(&mut self, back: Timestamp) -> Result<(), String> {
        let journal = reread(&self.journal)?;
        let records = journal.iter().map(|(time, events)| (*time, events.as_slice()));
        let replayed = Run::replay(Arc::clone(self.run.plan()), records);
        self.run = replayed.map_err(|error| error.to_string())?;
        self.pending.retain(|_, input| !is_of_executor(input));
        self.now = self.now.max(back);
        let step = self.run.recover(self.now);
        self.record(step);
        self.grant();
        Ok(())
    }
}

/// The journal as another process finds it.
fn reread(journal: &[(Timestamp, Vec<Event>)]) -> Result<Vec<(Timestamp, Vec<Event>)>, String> {
    let bytes = serde_json::to_vec(journal).map_err(|error| error.to_string())?;
    let read: Vec<(Timestamp, Vec<Event>)> =
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    if read == journal { Ok(read) } else { Err("the journal is read back differently".to_owned()) }
}

fn is_of_executor(input: &Input) -> bool {
    match input {
        Input::Started(_) | Input::Finished(..) | Input::Interrupted(_) | Input::Inactive(_) => true,
        Input::Granted(_) | Input::Resumed(..) | Input::Cancelled | Input::TaskCancelled(_) | Input::Tick => {
            false
        }
    }
}
