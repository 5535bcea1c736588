//! Wrappers: tasks whose attempts run a container (R-R9).

use super::{Run, env::Judged};
use crate::{
    event::{TaskId, With},
    outcome::{Outcome, code},
    phase::Phase,
    run::state::TaskRun,
};

impl Run {
    /// What a wrapper's attempt ran has ended, and so has the attempt (R-R9).
    pub(in crate::run) fn wrapped_ended(&mut self, wrapper: TaskId, child: TaskId) {
        let is_current = |task: &TaskRun| {
            let last = task.scope.as_ref().and_then(|scope| scope.children.last());
            task.has_open_attempt() && last == Some(&child)
        };
        let (Some(_), Some(child)) = (self.task(wrapper).filter(|task| is_current(task)), self.task(child))
        else {
            return;
        };
        let code = match child.phase {
            Phase::Failed => code::FAILED,
            Phase::Error => code::ERROR,
            Phase::Timeout => code::TIMEOUT,
            Phase::Cancelled => {
                let (message, outputs) = (child.message.clone(), child.outputs.clone());
                let (phase, reason) = (child.phase, child.reason);
                let judged = Judged { phase, message, outputs, ..Judged::default() };
                let outputs = self.whitelisted(wrapper, &judged);
                let with = With::Result { message: judged.message, outputs };
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
        self.conclude(wrapper, Outcome { code, message: child.message.clone(), outputs, detail: None }, None);
    }
}
