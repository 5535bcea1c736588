//! Hooks: task templates that run beside the phases (R-S12).

use std::sync::Arc;

use super::{
    MOST_TASK_RUNS, Run,
    bind::{Call, LeafBound},
    env::View,
    node_at,
};
use crate::{
    event::{Event, HookFailed, HookFired, TaskId},
    phase::Phase,
    plan::{HookId, HookType, Hooks},
    run::state::HookOf,
};

impl Run {
    /// Fires the hooks of a task run's change from `from`, then those of the run if it was the root's. `first` if it
    /// was never Running before.
    pub(in crate::run) fn fire_hooks(&mut self, id: TaskId, from: Phase, first: bool) {
        let Some(task) = self.task(id).filter(|task| task.hook.is_none()) else { return };
        let (to, place) = (task.phase, task.place);
        let own = !self.node(task).settings.hooks.is_empty() && task.dispatched_at.is_some();
        let of_run = id == TaskId::ROOT && !self.plan.hooks.is_empty();
        if !(own || of_run) {
            return;
        }
        let plan = Arc::clone(&self.plan);
        if own {
            self.fire_each(id, &node_at(&plan, place).settings.hooks, from, to, first);
        }
        if of_run {
            self.fire_each(id, &plan.hooks, from, to, first);
        }
    }

    fn fire_each(&mut self, id: TaskId, hooks: &Hooks, from: Phase, to: Phase, first: bool) {
        let kind = kind_of(hooks, from, to, first);
        let exit = to.is_terminal().then_some(HookType::OnExit);
        for kind in kind.into_iter().chain(exit) {
            if let Some(hook) = hooks.get(&kind) {
                self.fire(id, kind, *hook);
            }
        }
    }

    /// Binds a hook to what it is to see at this moment; a hook that cannot be fired is a warning.
    fn fire(&mut self, of: TaskId, kind: HookType, hook: HookId) {
        match self.bind_hook(of, kind, hook) {
            None => {}
            // Hooks of a run that is full of tasks still run, but not without end.
            Some(Ok(_)) if self.tasks.len() >= 2 * MOST_TASK_RUNS => {
                self.hook_failed(HookOf { task: of, kind }, None, "the run has too many task runs");
            }
            Some(Ok(LeafBound { inputs, config })) => {
                let run = self.next_id();
                self.emit(Event::HookFired(Box::new(HookFired { run, of, kind, hook, inputs, config })));
            }
            Some(Err(message)) => self.hook_failed(HookOf { task: of, kind }, None, &message),
        }
    }

    /// What the hook run is bound to; `None` if its `when` is false.
    fn bind_hook(&mut self, of: TaskId, kind: HookType, id: HookId) -> Option<Result<LeafBound, String>> {
        let plan = Arc::clone(&self.plan);
        let hook = plan.hook(id)?;
        let view = View { hook: Some(kind), ..View::new(self, self.task(of)?, hook.level) };
        match hook.when.as_ref().map_or(Ok(true), |when| when.test(&view)) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => return Some(Err(format!("when: {error}"))),
        }
        let call = Call { view, node: &hook.node, given: None, lenient: true };
        Some(call.bind().map(|(bound, nulls)| {
            self.warn_nulls(of, nulls);
            bound
        }))
    }

    /// A hook run has ended.
    pub(in crate::run) fn hook_ended(&mut self, id: TaskId, hook: HookOf) {
        let Some(task) = self.task(id) else { return };
        if matches!(task.phase, Phase::Succeeded | Phase::Skipped) {
            return;
        }
        let separator = if task.message.is_empty() { "" } else { ": " };
        let message = format!("ended {}{separator}{}", task.phase, task.message);
        self.hook_failed(hook, Some(id), &message);
    }

    /// The failure of a hook changes nothing but the warnings.
    fn hook_failed(&mut self, HookOf { task: of, kind }: HookOf, run: Option<TaskId>, message: &str) {
        self.emit(Event::HookFailed(Box::new(HookFailed { of, kind, run, message: message.into() })));
        self.warn(Some(of), "hook", format!("{} {message}", kind.as_str()));
    }
}

/// The hook that a change of phase fires, besides onExit.
fn kind_of(hooks: &Hooks, from: Phase, to: Phase, first: bool) -> Option<HookType> {
    match to {
        Phase::Running if from == Phase::Suspended => Some(HookType::OnResume),
        Phase::Running if first => Some(HookType::OnStart),
        Phase::Suspended => Some(HookType::OnSuspend),
        Phase::Succeeded => Some(HookType::OnSuccess),
        Phase::Failed => Some(HookType::OnFailure),
        Phase::Error => Some(HookType::OnError),
        Phase::Timeout if hooks.contains_key(&HookType::OnTimeout) => Some(HookType::OnTimeout),
        Phase::Timeout => Some(HookType::OnError),
        Phase::Cancelled => Some(HookType::OnCancel),
        Phase::Created | Phase::Ready | Phase::Running | Phase::Skipped => None,
    }
}
