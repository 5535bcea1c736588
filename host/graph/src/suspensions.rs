//! Suspensions of task runs, from the journal: a run itself knows only the current one.

use std::collections::BTreeMap;

use phasm_engine::{
    event::{Event, PhaseChange, TaskId},
    phase::Phase,
    time::Timestamp,
};

/// Latest suspensions of a task run that are remembered.
const MAX_SUSPENSIONS_PER_TASK: usize = 64;

/// One suspension of a task run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspension {
    pub(crate) from: Timestamp,
    /// `None` while it lasts.
    pub(crate) to: Option<Timestamp>,
}

/// Suspensions of the task runs of one run, from its journal.
#[derive(Clone, Debug, Default)]
pub struct Suspensions(BTreeMap<TaskId, Vec<Suspension>>);

impl Suspensions {
    /// Reads the events of one record.
    pub fn note(&mut self, time: Timestamp, events: &[Event]) {
        for event in events {
            let Event::Phase(PhaseChange { task, from, to, .. }) = event else { continue };
            if *to == Phase::Suspended {
                self.begin(*task, time);
            } else if *from == Phase::Suspended {
                self.end(*task, time);
            }
        }
    }

    fn begin(&mut self, task: TaskId, time: Timestamp) {
        let all = self.0.entry(task).or_default();
        if all.len() == MAX_SUSPENSIONS_PER_TASK {
            all.remove(0);
        }
        all.push(Suspension { from: time, to: None });
    }

    fn end(&mut self, task: TaskId, time: Timestamp) {
        if let Some(last) = self.0.get_mut(&task).and_then(|all| all.last_mut()) {
            last.to = Some(time);
        }
    }

    pub(crate) fn of(&self, task: TaskId) -> &[Suspension] {
        self.0.get(&task).map(Vec::as_slice).unwrap_or_default()
    }
}
