//! Hooks: task templates that run beside the phases.

use super::{
    Decider, MAX_TASK_RUNS,
    bind::{Binder, LeafBindings, NamedValues},
    env::TaskEnv,
    room::given,
};
use crate::{
    event::{Event, HookFailure, HookFiring, Reason},
    expr::Doubts,
    phase::Phase,
    plan::{HookId, HookType, Hooks},
    run::state::{HookOf, TaskIndex},
};

impl Decider<'_> {
    /// Fires the hooks of a task run's change from `from`, then those of the run if it was the root's. `first` if it
    /// was never Running before.
    pub(super) fn fire_hooks(&mut self, id: TaskIndex, from: Phase, first: bool) {
        let task = &self[id];
        let (to, hooks) = (task.phase, &self.node(task).settings.hooks);
        if task.hook.is_none() && task.dispatched_at.is_some() {
            self.fire_each(id, hooks, from, to, first);
        }
        if id == TaskIndex::ROOT {
            self.fire_each(id, &self.plan().hooks, from, to, first);
        }
    }

    fn fire_each(&mut self, id: TaskIndex, hooks: &Hooks, from: Phase, to: Phase, first: bool) {
        if hooks.is_empty() {
            return;
        }
        let kind = kind_of(hooks, from, to, first);
        // A clock that ran out is a timeout, whatever phase that led to (R-T12).
        let by_clock = self[id].reason.is_some_and(Reason::is_clock) && to.is_terminal();
        let clock =
            kind_of(hooks, from, Phase::Timeout, first).filter(|clock| by_clock && kind != Some(*clock));
        let exit = to.is_terminal().then_some(HookType::OnExit);
        for kind in clock.into_iter().chain(kind).chain(exit) {
            if let Some(hook) = hooks.get(&kind) {
                self.fire(id, kind, *hook);
            }
        }
    }

    /// Binds a hook to what it is to see at this moment; a hook that cannot be fired is a warning.
    fn fire(&mut self, of: TaskIndex, kind: HookType, hook: HookId) {
        match self.bind_hook(of, kind, hook) {
            None => {}
            // Hooks of a run that is full of tasks still run, but not without end.
            Some(Ok(_)) if self.tasks().len() >= 2 * MAX_TASK_RUNS => {
                self.hook_failed(HookOf { task: of, kind }, None, "the run has too many task runs");
            }
            Some(Ok(LeafBindings { inputs, config })) => {
                let run = self.next_id();
                self.emit(Event::HookFired(Box::new(HookFiring {
                    run,
                    of: of.into(),
                    kind,
                    hook,
                    inputs,
                    config,
                })));
            }
            Some(Err(message)) => self.hook_failed(HookOf { task: of, kind }, None, &message),
        }
    }

    /// Returns the values the hook run is bound to; `None` if its `when` is false.
    fn bind_hook(
        &mut self,
        of: TaskIndex,
        kind: HookType,
        id: HookId,
    ) -> Option<Result<LeafBindings, String>> {
        let hook = self.plan().hook(id)?;
        let view = TaskEnv { hook: Some(kind), ..TaskEnv::new(self, &self[of], hook.level) };
        let mut doubts = Doubts::default();
        let bound = match hook.when.as_ref().map_or(Ok(true), |when| when.test(&view, &mut doubts)) {
            Ok(true) => {
                let call = Binder { view, node: &hook.node, given: NamedValues::Nothing, lenient: true };
                Some(call.bind(&mut doubts))
            }
            Ok(false) => None,
            Err(error) => Some(Err(format!("when: {error}"))),
        };
        doubts.place_within(kind.as_str());
        self.warn_doubts(of, doubts);
        Some(bound?.and_then(|bound| {
            let config = "executor.config".into();
            self.make_json_room(given(&bound.inputs).chain([(&config, &bound.config)]))?;
            Ok(bound)
        }))
    }

    /// A hook run has ended.
    pub(super) fn hook_ended(&mut self, id: TaskIndex, hook: HookOf) {
        let task = &self[id];
        if matches!(task.phase, Phase::Succeeded | Phase::Skipped) {
            return;
        }
        let separator = if task.message.is_empty() { "" } else { ": " };
        let message = format!("ended {}{separator}{}", task.phase, task.message);
        self.hook_failed(hook, Some(id), &message);
    }

    /// The failure of a hook changes nothing but the warnings.
    fn hook_failed(&mut self, HookOf { task: of, kind }: HookOf, run: Option<TaskIndex>, message: &str) {
        let (run, told) = (run.map(TaskIndex::into), self.fitted_text(message.into()));
        self.emit(Event::HookFailed(Box::new(HookFailure { of: of.into(), kind, run, message: told })));
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
