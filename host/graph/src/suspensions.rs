//! When task runs were suspended, which a run itself only knows of the last time.

use std::collections::BTreeMap;

use phasm_engine::{
    event::{Event, PhaseChanged, TaskId},
    phase::Phase,
    time::Timestamp,
};

/// Suspensions that are kept of a task run: the last.
const KEPT: usize = 64;

/// From then, until then if it is over.
pub(crate) type Suspended = (Timestamp, Option<Timestamp>);

/// When task runs of one run were suspended, as its journal tells.
#[derive(Clone, Debug, Default)]
pub struct Suspensions(BTreeMap<TaskId, Vec<Suspended>>);

impl Suspensions {
    /// Notes what the events of one record say.
    pub fn note(&mut self, time: Timestamp, events: &[Event]) {
        for event in events {
            let Event::Phase(PhaseChanged { task, from, to, .. }) = event else { continue };
            if *to == Phase::Suspended {
                self.begin(*task, time);
            } else if *from == Phase::Suspended {
                self.end(*task, time);
            }
        }
    }

    fn begin(&mut self, task: TaskId, time: Timestamp) {
        let all = self.0.entry(task).or_default();
        if all.len() == KEPT {
            all.remove(0);
        }
        all.push((time, None));
    }

    fn end(&mut self, task: TaskId, time: Timestamp) {
        if let Some((_, end)) = self.0.get_mut(&task).and_then(|all| all.last_mut()) {
            *end = Some(time);
        }
    }

    pub(crate) fn of(&self, task: TaskId) -> &[Suspended] {
        self.0.get(&task).map(Vec::as_slice).unwrap_or_default()
    }
}
