//! Answering a suspended task (R-S9).

use std::sync::Arc;

use super::Run;
use crate::{
    event::{Event, TaskId},
    phase::Phase,
    value::Map,
};

impl Run {
    /// Merges the payload, sets Running and has the executor called again, all in one step.
    pub(in crate::run) fn resume(&mut self, id: TaskId, payload: Map) {
        match self.task(id) {
            Some(task) if task.phase == Phase::Suspended => {}
            Some(_) | None => return self.drop_input(),
        }
        self.emit(Event::Resumed(id, Arc::new(payload)));
        self.set_phase(id, Phase::Running, None, None);
        self.command_dispatch(id);
    }
}
