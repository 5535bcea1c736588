//! The process dies, and another takes the run up.

use std::sync::Arc;

use phasm_engine::{
    event::{Command, Event, Fence, Input},
    plan::Plan,
    run::{Run, Step, TaskRun},
    time::Timestamp,
};

use super::{Script, World};

impl<S: Script> World<S> {
    /// Forgets all but the journal, and resumes from its bytes at `back`. The work of executors is lost.
    ///
    /// # Errors
    /// The journal is inconsistent, or is not read back as it was written.
    pub fn crash(&mut self, back: Timestamp) -> Result<(), String> {
        let journal = reread(&self.journal)?;
        let records = journal.iter().map(|(time, events)| (*time, events.as_slice()));
        let replayed = Run::replay(Arc::new(replan(&journal)?), records);
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

/// The plan of the document that was recorded.
fn replan(journal: &[(Timestamp, Vec<Event>)]) -> Result<Plan, String> {
    let Some(Event::Submitted(submitted)) = journal.first().and_then(|(_, events)| events.first()) else {
        return Err("the journal does not begin with the submission".to_owned());
    };
    submitted.plan().map_err(|problems| format!("{problems:?}"))
}

/// Checks that a host that resumes a run the moment its process dies decides nothing, and executes exactly what is in flight
/// again (R-D3).
pub(super) fn check_recover(run: &Run) -> Result<(), String> {
    let mut taken_up = run.clone();
    let Step { events, commands, .. } = taken_up.recover(run.now());
    let dispatched: Vec<Fence> = commands.iter().filter_map(dispatched).collect();
    let in_flight: Vec<Fence> =
        run.tasks().iter().filter(|task| task.in_flight()).map(TaskRun::fence).collect();
    let decided = events.iter().any(|event| !matches!(event, Event::AttemptStarted(_)));
    if !decided && dispatched == in_flight {
        return Ok(());
    }
    Err(format!("in flight {in_flight:?}, dispatched again {dispatched:?}, decided {events:?}"))
}

fn dispatched(command: &Command) -> Option<Fence> {
    match command {
        Command::Dispatch(dispatch) => Some(dispatch.fence),
        Command::Abort(_) => None,
    }
}

fn is_of_executor(input: &Input) -> bool {
    match input {
        Input::Started(_) | Input::Finished(..) | Input::Interrupted(_) | Input::Inactive(_) => true,
        Input::Metered(..) | Input::Held(_) => false,
        Input::Lent(_)
        | Input::Resumed(..)
        | Input::Cancelled(_)
        | Input::TaskCancelled(..)
        | Input::Tick => false,
    }
}
