//! Leaves that wait for their turn, and the counts that `parallelism` is about (R-P5, R-S1, R-S11).

use super::Run;
use crate::{
    event::TaskId,
    phase::Kind,
    plan::TemplateKind,
    run::state::scope::Scope,
    run::state::task::{MAX_DEPTH, QueueKey, Since, Turn},
    run::state::wait::{Wait, WaitKind},
};

impl Run {
    /// Puts a leaf in the queue, or behind the first full `parallelism` around it.
    pub(in crate::run) fn enqueue(&mut self, id: TaskId, retry: bool) {
        let key = self.key(id, Since { at: self.now, retry });
        if self.task(id).is_some_and(|task| task.hook.is_some()) {
            self.hook_queue.insert(key, id);
            return self.set_turn(id, Turn::Queued(key.since));
        }
        let full = self.full_limit(id);
        self.put(key, full);
    }

    /// The place of a leaf in the queue, found on the way up from it.
    fn key(&self, id: TaskId, since: Since) -> QueueKey {
        let mut position = [0; MAX_DEPTH];
        let mut at = self.task(id);
        while let Some(task) = at {
            let level = (task.depth as usize).checked_sub(1);
            if let Some(slot) = level.and_then(|level| position.get_mut(level)) {
                *slot = task.place.position();
            }
            at = task.parent.and_then(|id| self.task(id));
        }
        QueueKey { since, position, task: id }
    }

    pub(in crate::run) fn put(&mut self, key: QueueKey, full: Option<TaskId>) {
        let id = key.task;
        let turn = match full {
            None => {
                self.queue.insert(key, id);
                Turn::Queued(key.since)
            }
            Some(container) => {
                if let Some(scope) = self.scope_mut(container) {
                    scope.blocked.insert(key, id);
                }
                Turn::Blocked(key.since, container)
            }
        };
        self.set_turn(id, turn);
    }

    pub(in crate::run) fn set_turn(&mut self, id: TaskId, turn: Turn) {
        if let Some(task) = self.task_mut(id) {
            task.turn = turn;
        }
    }

    /// Takes a leaf out of whatever it waits in: a delay, the queue, a full `parallelism`.
    pub(in crate::run) fn dequeue(&mut self, id: TaskId) {
        let Some(task) = self.task_mut(id) else { return };
        let (wake, turn) = (task.clocks.wake.take(), std::mem::replace(&mut task.turn, Turn::Elsewhere));
        if let Some(at) = wake {
            self.waits.remove(Wait { at, kind: WaitKind::RetryWake, task: id });
            self.delayed = self.delayed.saturating_sub(1);
        }
        match turn {
            Turn::Elsewhere => {}
            Turn::Queued(since) => {
                let key = self.key(id, since);
                self.queue.remove(&key);
                self.hook_queue.remove(&key);
            }
            Turn::Blocked(since, container) => {
                let key = self.key(id, since);
                if let Some(scope) = self.scope_mut(container) {
                    scope.blocked.remove(&key);
                }
            }
        }
    }

    /// The innermost enclosing dag whose `parallelism` is used up.
    pub(in crate::run) fn full_limit(&self, id: TaskId) -> Option<TaskId> {
        let mut limit = self.task(id)?.limit;
        while let Some(container) = limit {
            let scope = self.task(container)?.scope.as_ref()?;
            if self.parallelism(scope).is_some_and(|most| scope.in_flight >= most) {
                return Some(container);
            }
            limit = scope.outer_limit;
        }
        None
    }

    pub(in crate::run) fn parallelism(&self, scope: &Scope) -> Option<u32> {
        match self.plan.kind(scope.template)? {
            TemplateKind::Dag(dag) => dag.parallelism,
            TemplateKind::Task
            | TemplateKind::Wrapper(_)
            | TemplateKind::Loop(_)
            | TemplateKind::Pipeline(_) => None,
        }
    }

    /// The next attempt may begin: a leaf's joins the queue, a wrapper's begins before the step ends.
    pub(in crate::run) fn again(&mut self, id: TaskId) {
        match self.task(id).map(|task| self.kind(task)) {
            Some(Kind::Leaf) => self.enqueue(id, true),
            Some(Kind::Container | Kind::Wrapper) | None => self.ready.push(id),
        }
    }

    /// A delay is over. This follows from time alone, so it is no event.
    pub(in crate::run) fn wake(&mut self, id: TaskId) {
        self.dequeue(id);
        self.again(id);
    }

    /// Keeps the counts that `parallelism` is about; freed places are offered to those that wait for them.
    pub(in crate::run) fn count_in_flight(&mut self, id: TaskId, more: bool) {
        let change = |count: &mut u32| *count = if more { *count + 1 } else { count.saturating_sub(1) };
        let Some(task) = self.task(id).filter(|task| task.hook.is_none()) else { return };
        let mut limit = task.limit;
        change(&mut self.in_flight);
        while let Some(scope) = limit.and_then(|container| self.scope_mut(container)) {
            change(&mut scope.in_flight);
            limit = scope.outer_limit;
        }
        if !more {
            self.offer_places(id);
        }
    }

    /// A leaf has left its place under every `parallelism` around it, or does not take it: the next ones may.
    pub(in crate::run) fn offer_places(&mut self, leaf: TaskId) {
        let mut limit = self.task(leaf).and_then(|task| task.limit);
        while let Some(container) = limit {
            self.offer_place(container);
            limit = self.outer_limit(container);
        }
    }

    /// Lets the first leaf back into the queue that waits for a place here, and for none further inside.
    fn offer_place(&mut self, container: TaskId) {
        while let Some((key, leaf)) = self.scope_mut(container).and_then(|scope| scope.blocked.pop_first()) {
            let full = self.full_limit(leaf);
            self.put(key, full);
            let around = |limit: &TaskId| self.outer_limit(*limit);
            let is_inside = |full| std::iter::successors(around(&full), around).any(|c| c == container);
            if !full.is_some_and(is_inside) {
                return;
            }
        }
    }

    /// The next dag with a `parallelism` around one.
    fn outer_limit(&self, container: TaskId) -> Option<TaskId> {
        self.task(container)?.scope.as_ref()?.outer_limit
    }
}
