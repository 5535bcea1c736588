//! Containers hear of children that ended, and end themselves.

use std::{collections::VecDeque, sync::Arc};

use super::{Decider, env::AttemptResult};
use crate::{
    event::{PhaseData, Reason},
    phase::{Phase, TaskKind},
    plan::TemplateKind,
    run::state::{ContainerProgress, PipelineNext, ScopeIndex, TaskIndex, TaskRun},
};

impl Decider<'_> {
    /// A task run has ended: what that means to whatever it belongs to.
    pub(super) fn ended(&mut self, id: TaskIndex) {
        let task = &self[id];
        if let Some(hook) = task.hook {
            return self.hook_ended(id, hook);
        }
        let Some(scope) = task.parent else { return };
        let container = &self[self[scope].owner];
        if container.phase.is_terminal() {
            return;
        }
        match self.kind(container) {
            TaskKind::Wrapper => self.wrapped_ended(scope, id),
            TaskKind::Container | TaskKind::Leaf => self.child_ended(scope, id),
        }
    }

    /// A child has ended: its failure may end what was never dispatched (R-S3); the last one ends the container.
    fn child_ended(&mut self, scope: ScopeIndex, id: TaskIndex) {
        let (_, failed) = self.weigh(&self[id]);
        if self[scope].open > 0 {
            match self[scope].pipeline().map(|progress| progress.next) {
                Some(PipelineNext::End) if !failed => self.skip_unreached(scope),
                Some(PipelineNext::TooManyJumps) => self.cancel_undispatched(scope),
                Some(PipelineNext::Task(_) | PipelineNext::End) | None if !failed => {}
                Some(_) | None if self.fails_fast(scope) => self.cancel_undispatched(scope),
                Some(_) | None => self.cancel_dependants(scope, id),
            }
        }
        if self[scope].open == 0 {
            self.all_ended(scope);
        }
    }

    /// No child is open any more: a do-while loop may go on, everything else ends.
    fn all_ended(&mut self, scope: ScopeIndex) {
        let may_repeat = matches!(self[scope].progress, ContainerProgress::Loop(_))
            && self[scope].failures.worst().is_none();
        match if may_repeat { self.repeat(scope) } else { Ok(false) } {
            Ok(true) => {}
            Ok(false) => self.finalise(scope),
            Err(message) => self.finalise_as(self[scope].owner, Phase::Error, None, message.into()),
        }
    }

    fn fails_fast(&self, scope: ScopeIndex) -> bool {
        match self.plan().kind(self[scope].template) {
            Some(TemplateKind::Dag(dag)) => dag.fail_fast,
            Some(
                TemplateKind::Task
                | TemplateKind::Wrapper(_)
                | TemplateKind::Loop(_)
                | TemplateKind::Pipeline(_),
            )
            | None => true,
        }
    }

    /// A pipeline has ended well: what it never came to is skipped (R-N3).
    fn skip_unreached(&mut self, scope: ScopeIndex) {
        for id in self.undispatched(scope) {
            self.set_phase(id, Phase::Skipped, Some(Reason::NotReached), None);
        }
    }

    /// `failFast`: whatever this scope never dispatched is cancelled.
    fn cancel_undispatched(&mut self, scope: ScopeIndex) {
        for id in self.undispatched(scope) {
            self.close(id, Reason::ScopeFailed, None);
        }
    }

    fn undispatched(&self, scope: ScopeIndex) -> Vec<TaskIndex> {
        if self[scope].undispatched == 0 {
            return Vec::new();
        }
        let children = self[scope].children.iter().copied();
        children.filter(|id| never_dispatched(&self[*id])).collect()
    }

    /// `failFast: false`: only those that could never run any more are cancelled, at once.
    fn cancel_dependants(&mut self, scope: ScopeIndex, id: TaskIndex) {
        let mut lost = VecDeque::from([id]);
        while let Some(id) = lost.pop_front() {
            for index in &self.node(&self[id]).dependents {
                let dependent = self[scope].children.get(*index).copied();
                if let Some(dependent) = dependent.filter(|id| never_dispatched(&self[*id])) {
                    self.close(dependent, Reason::ScopeFailed, None);
                    lost.push_back(dependent);
                }
            }
        }
    }

    /// All children have ended: the container's phase follows (R-S4).
    pub(super) fn finalise(&mut self, scope: ScopeIndex) {
        let id = self[scope].owner;
        if let Some(progress) = self[scope].pipeline()
            && progress.next == PipelineNext::TooManyJumps
        {
            let (reason, message) = match self.room_for(1) {
                Ok(()) => {
                    let jumps = progress.jumps;
                    (Some(Reason::MaxJumps), format!("more than {jumps} jumps; maxJumps allows no more"))
                }
                Err(full) => (None, full),
            };
            return self.finalise_as(id, Phase::Error, reason, message.into());
        }
        let Some(worst) = self[scope].failures.worst() else {
            return self.finalise_as(id, Phase::Succeeded, None, Arc::default());
        };
        let phase = worst.phase;
        let reason = worst.reason.filter(|_| phase == Phase::Cancelled);
        let message = self.failure_message(worst);
        self.finalise_as(id, phase, reason, message.into());
    }

    /// Ends a container with the computed phase, after its conditions have seen it (R-C5; never Cancelled, R-C3).
    pub(super) fn finalise_as(
        &mut self,
        id: TaskIndex,
        phase: Phase,
        reason: Option<Reason>,
        message: Arc<str>,
    ) {
        let node = self.node(&self[id]);
        let aggregated = self.aggregated(id);
        let mut judged = AttemptResult { phase, message, aggregated, ..AttemptResult::default() };
        judged.outputs = self.container_outputs(id, &judged);
        if phase != Phase::Cancelled {
            self.judge(id, &node.settings.phase_conditions, &mut judged);
        }
        let reason = reason.filter(|_| judged.condition.is_none());
        let with = PhaseData::Result { message: judged.message, outputs: judged.outputs };
        self.set_phase(id, judged.phase, reason, Some(with));
    }
}

fn never_dispatched(task: &TaskRun) -> bool {
    task.phase == Phase::Created && task.dispatched_at.is_none()
}
