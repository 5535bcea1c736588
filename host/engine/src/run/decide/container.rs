//! Containers: opening, and following their first leaf.

use super::{Decider, MAX_TASK_RUNS, env::TaskEnv, loops::Items, room::add_inputs};
use crate::{
    event::{Bindings, Event, Reason, ScopeOpening},
    expr::Doubts,
    phase::{Phase, TaskKind},
    plan::{Level, MaxAttempts, Node, Recovery, Work},
    run::state::TaskIndex,
};

impl Decider<'_> {
    /// Every dependency is satisfied: `when` is asked, once; a container opens, a leaf stays in the queue (R-S1).
    pub(super) fn became_ready(&mut self, id: TaskIndex) {
        let task = &self[id];
        let node = self.node(task);
        if task.phase != Phase::Created {
            return;
        }
        if task.attempt > 0 {
            // Only wrappers come here with attempts in Created: the next attempt begins.
            return if self.is_timed_out(id) { self.task_timed_out(id) } else { self.open(id) };
        }
        if let Some(when) = &node.when {
            let mut doubts = Doubts::default();
            let answer = when.test(&TaskEnv::new(self, task, Level::Node), &mut doubts);
            self.warn_doubts(id, doubts);
            match answer {
                Ok(true) => {}
                Ok(false) => return self.set_phase(id, Phase::Skipped, Some(Reason::When), None),
                Err(error) => {
                    return self.end_without_attempt(id, Phase::Error, None, format!("when: {error}"));
                }
            }
        }
        if never_runs(node) {
            return self.set_phase(id, Phase::Skipped, Some(Reason::MaxAttempts0), None);
        }
        if self.reuse(id) {
            return;
        }
        match &node.work {
            Work::Executor(_) => {}
            Work::Container(_) | Work::Wrapper(_) => self.open(id),
        }
    }

    /// Opens a container, or begins a wrapper's next attempt.
    fn open(&mut self, id: TaskIndex) {
        match self.bind_container(id) {
            Ok((inputs, Items { items, cut, doubts })) => {
                self.warn_doubts(id, doubts);
                let length = items.as_ref().map_or(0, |items| items.len());
                self.emit(Event::ScopeOpened(Box::new(ScopeOpening { task: id.into(), inputs, items })));
                if cut > 0 {
                    let message = format!("maxIterations cut off {cut} items; the loop runs over {length}");
                    self.warn(Some(id), "max-iterations", message);
                }
                self.opened(id);
            }
            Err(message) => self.end_without_attempt(id, Phase::Error, None, message),
        }
    }

    /// Inputs, bound once (R-R6), and what a loop runs over.
    fn bind_container(&mut self, id: TaskIndex) -> Result<(Bindings, Items), String> {
        let task = &self[id];
        let inputs =
            if task.attempt > 0 && !task.rebind { task.inputs.clone() } else { self.bind_inputs(id)? };
        let items = self.items(id, &inputs)?;
        self.room_for(self.children_at_first(&self[id], items.items.as_deref()))?;
        self.make_room(|weight| {
            add_inputs(weight, &inputs);
            items.items.iter().flat_map(|items| items.iter()).for_each(|item| weight.add(item));
        })?;
        Ok((inputs, items))
    }

    /// Whether the run may have so many more task runs.
    pub(super) fn room_for(&self, more: usize) -> Result<(), String> {
        if self.tasks().len().saturating_add(more) <= MAX_TASK_RUNS {
            return Ok(());
        }
        Err(format!("the run would have more than {MAX_TASK_RUNS} task runs"))
    }

    /// A scope without children ends as it opens.
    fn opened(&mut self, id: TaskIndex) {
        if let Some(scope) = self[id].scope.filter(|scope| self[*scope].open == 0) {
            self.finalise(scope);
        }
    }

    /// Containers follow their first leaf to Ready and to Running (R-P5); a wrapper's attempt starts with it.
    pub(super) fn promote(&mut self, leaf: TaskIndex, to: Phase) {
        let mut parent = self[leaf].parent;
        while let Some(scope) = parent {
            let container = &self[self[scope].owner];
            let (id, fence, kind) = (container.index(), container.fence(), self.kind(container));
            if !container.phase.may_become(to, TaskKind::Container) {
                return;
            }
            parent = container.parent;
            self.set_phase(id, to, None, None);
            if kind == TaskKind::Wrapper && to == Phase::Running {
                self.emit(Event::AttemptStarted(fence));
            }
        }
    }
}

fn never_runs(node: &Node) -> bool {
    matches!(&node.settings.recovery, Some(Recovery::Retry(policy)) if policy.max_attempts == MaxAttempts::Limited(0))
}
