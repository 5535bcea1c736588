//! Wrappers: tasks whose attempts run a container.

use super::{Decider, env::AttemptResult};
use crate::{
    event::PhaseData,
    outcome::{Outcome, code},
    phase::Phase,
    run::state::{ScopeIndex, TaskIndex},
};

impl Decider<'_> {
    /// Ends a wrapper's attempt when its content has ended (R-R9).
    pub(super) fn wrapped_ended(&mut self, scope: ScopeIndex, child: TaskIndex) {
        let wrapper = self[scope].owner;
        if !self[wrapper].has_open_attempt() || self[scope].children.last() != Some(&child) {
            return;
        }
        let child = &self[child];
        let code = match child.phase {
            Phase::Failed => code::FAILED,
            Phase::Error => code::ERROR,
            Phase::Timeout => code::TIMEOUT,
            Phase::Cancelled => {
                let (message, outputs) = (child.message.clone(), child.outputs.clone());
                let (phase, reason) = (child.phase, child.reason);
                let judged = AttemptResult { phase, message, outputs, ..AttemptResult::default() };
                let outputs = self.whitelisted(wrapper, &judged);
                let with = PhaseData::Result { message: judged.message, outputs };
                return self.end_with(wrapper, phase, reason, Some(with));
            }
            Phase::Succeeded
            | Phase::Skipped
            | Phase::Created
            | Phase::Ready
            | Phase::Running
            | Phase::Suspended => code::SUCCEEDED,
        };
        let outputs = child.outputs.to_vec();
        let message = child.message.clone();
        let outcome = Outcome { code, message, outputs, ..Outcome::default() };
        self.conclude(wrapper, outcome, None);
    }
}
