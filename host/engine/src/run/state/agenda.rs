//! The agenda: leaves that wait for slots and places, delays that wait for their end, and clocks. Changes to it follow from time
//! and slots alone, so they are in no event; these are the only changes of a state besides `apply`.

use std::collections::BTreeSet;

use super::{
    Scope, ScopeIndex, State, TaskIndex, Wait, WaitKind,
    task::{MAX_DEPTH, QueueKey, QueueState, ReadySince},
    wait::Waits,
};
use crate::{phase::TaskKind, time::Timestamp};

/// Queues and waits of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Agenda {
    pub(super) waits: Waits,
    queue: BTreeSet<QueueKey>,
    hook_queue: BTreeSet<QueueKey>,
    /// Task runs that became ready while events were applied; decided on before the step ends.
    ready: Vec<TaskIndex>,
    /// Task runs in the delay before their next attempt.
    pub(super) delayed: u32,
}

impl Agenda {
    /// Whether something will be dispatched, or be woken.
    pub(super) fn is_busy(&self) -> bool {
        self.delayed > 0 || !self.queue.is_empty()
    }
}

/// For readers.
impl State {
    /// When this run next wants a [`Input::Tick`](crate::event::Input::Tick); none while nothing is waited for.
    #[must_use]
    pub fn next_wait(&self) -> Option<Timestamp> {
        self.agenda.waits.next()
    }

    /// When the last delay or `maxRuntime` that runs now is over: these are lengths of time, whereas the other waits are for
    /// instants.
    #[must_use]
    pub fn lengths_end(&self) -> Option<Timestamp> {
        self.agenda.waits.lengths_end()
    }

    /// How many slots the run could use now; lending it more is no fault.
    #[must_use]
    pub fn wanted_slots(&self) -> u32 {
        let length = |queue: &BTreeSet<_>| u32::try_from(queue.len()).unwrap_or(u32::MAX);
        let room = self.plan.parallelism.map_or(u32::MAX, |most| most.saturating_sub(self.in_flight));
        length(&self.agenda.queue).min(room).saturating_add(length(&self.agenda.hook_queue))
    }
}

/// Changes by time and slots.
impl State {
    /// Time passes; never backwards.
    pub(in crate::run) fn pass_time(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
    }

    /// Takes the next wait if it is due at `until`.
    pub(in crate::run) fn take_due(&mut self, until: Timestamp) -> Option<Wait> {
        self.agenda.waits.pop_due(until)
    }

    /// Takes the task runs that have become ready since the last time.
    pub(in crate::run) fn take_ready(&mut self) -> impl Iterator<Item = TaskIndex> {
        self.agenda.ready.drain(..)
    }

    /// A delay is over. Its end is the task run's place in the queue, also when it is noticed later: after a recovery.
    pub(in crate::run) fn wake(&mut self, id: TaskIndex) {
        let since = self[id].clocks.wake.unwrap_or(self.now);
        self.dequeue(id);
        self.again(id, since);
    }

    /// Marks an attempt as lost: it did not run while the run had no driver. Its `maxRuntime` begins anew with its next start.
    pub(in crate::run) fn lose_attempt(&mut self, id: TaskIndex) {
        self.stop_attempt_clock(id);
    }

    /// The leaf whose turn it is: hook runs first, which no limit holds (R-S12). Leaves before a full `parallelism` go to
    /// wait there.
    pub(in crate::run) fn next_leaf(&mut self) -> Option<TaskIndex> {
        if let Some(hook) = self.agenda.hook_queue.first() {
            return Some(hook.task);
        }
        while self.plan.parallelism.is_none_or(|most| self.in_flight < most) {
            let key = *self.agenda.queue.first()?;
            let Some(full) = self.full_limit(key.task) else { return Some(key.task) };
            self.agenda.queue.remove(&key);
            self.put(key, Some(full));
            self.offer_places(key.task);
        }
        None
    }
}

/// Changes by events.
impl State {
    /// A leaf joins the queue; whether it may stay (`when`) is decided before the step ends.
    pub(super) fn becomes_ready(&mut self, id: TaskIndex) {
        if self.kind(&self[id]) == TaskKind::Leaf {
            self.enqueue(id, ReadySince { at: self.now, retry: false });
        }
        self.agenda.ready.push(id);
    }

    /// The next attempt may begin: a leaf's joins the queue, a wrapper's begins before the step ends.
    pub(super) fn again(&mut self, id: TaskIndex, since: Timestamp) {
        match self.kind(&self[id]) {
            TaskKind::Leaf => self.enqueue(id, ReadySince { at: since, retry: true }),
            TaskKind::Container | TaskKind::Wrapper => self.agenda.ready.push(id),
        }
    }

    /// Puts a leaf in the queue, or behind the first full `parallelism` around it.
    fn enqueue(&mut self, id: TaskIndex, since: ReadySince) {
        let key = self.key(id, since);
        if self[id].hook.is_some() {
            self.agenda.hook_queue.insert(key);
            self.tables[id].turn = QueueState::Queued(key.since);
        } else {
            let full = self.full_limit(id);
            self.put(key, full);
        }
    }

    /// The place of a leaf in the queue, found on the way up from it.
    fn key(&self, id: TaskIndex, since: ReadySince) -> QueueKey {
        let mut position = [0; MAX_DEPTH];
        let mut at = Some(&self[id]);
        while let Some(task) = at {
            let level = (task.depth as usize).checked_sub(1);
            if let Some(slot) = level.and_then(|level| position.get_mut(level)) {
                *slot = task.place.position();
            }
            at = self.parent(task);
        }
        QueueKey { since, position, task: id }
    }

    fn put(&mut self, key: QueueKey, full: Option<ScopeIndex>) {
        self.tables[key.task].turn = match full {
            None => {
                self.agenda.queue.insert(key);
                QueueState::Queued(key.since)
            }
            Some(limit) => {
                self.tables[limit].blocked.insert(key);
                QueueState::Blocked(key.since, limit)
            }
        };
    }

    /// Takes a leaf out of whatever it waits in: a delay, the queue, a full `parallelism`.
    pub(super) fn dequeue(&mut self, id: TaskIndex) {
        let task = &mut self.tables[id];
        let (wake, turn) =
            (task.clocks.wake.take(), std::mem::replace(&mut task.turn, QueueState::Elsewhere));
        if let Some(at) = wake {
            self.agenda.waits.remove(Wait { at, kind: WaitKind::RetryWake, task: id });
            self.agenda.delayed = self.agenda.delayed.saturating_sub(1);
        }
        match turn {
            QueueState::Elsewhere => {}
            QueueState::Queued(since) => {
                let key = self.key(id, since);
                self.agenda.queue.remove(&key);
                self.agenda.hook_queue.remove(&key);
            }
            QueueState::Blocked(since, limit) => {
                let key = self.key(id, since);
                self.tables[limit].blocked.remove(&key);
            }
        }
    }

    /// The scopes with a `parallelism` around a task run, the innermost first.
    fn limits(&self, id: TaskIndex) -> impl Iterator<Item = ScopeIndex> {
        std::iter::successors(self[id].limit, |limit| self[*limit].outer_limit)
    }

    /// The innermost enclosing dag whose `parallelism` is used up.
    pub(in crate::run) fn full_limit(&self, id: TaskIndex) -> Option<ScopeIndex> {
        let full = |scope: &Scope| scope.parallelism.is_some_and(|most| scope.in_flight >= most);
        self.limits(id).find(|limit| full(&self[*limit]))
    }

    /// Keeps the counts that `parallelism` is about; freed places are offered to those that wait for them.
    pub(super) fn count_in_flight(&mut self, id: TaskIndex, more: bool) {
        if self[id].hook.is_some() {
            return;
        }
        let change = |count: &mut u32| *count = if more { *count + 1 } else { count.saturating_sub(1) };
        change(&mut self.in_flight);
        let mut limit = self[id].limit;
        while let Some(scope) = limit {
            let scope = &mut self.tables[scope];
            change(&mut scope.in_flight);
            limit = scope.outer_limit;
        }
        if !more {
            self.offer_places(id);
        }
    }

    /// A leaf has left its place under every `parallelism` around it, or does not take it: the next ones may.
    pub(super) fn offer_places(&mut self, leaf: TaskIndex) {
        let mut limit = self[leaf].limit;
        while let Some(scope) = limit {
            self.offer_place(scope);
            limit = self[scope].outer_limit;
        }
    }

    /// Lets the first leaf back into the queue that waits for a place here, and for none further inside.
    fn offer_place(&mut self, limit: ScopeIndex) {
        while let Some(key) = self.tables[limit].blocked.pop_first() {
            let full = self.full_limit(key.task);
            self.put(key, full);
            let is_inside = full.is_some_and(|full| self.is_inside(full, limit));
            if !is_inside {
                return;
            }
        }
    }

    /// Whether a scope with a `parallelism` lies inside another.
    fn is_inside(&self, inner: ScopeIndex, outer: ScopeIndex) -> bool {
        std::iter::successors(self[inner].outer_limit, |limit| self[*limit].outer_limit)
            .any(|limit| limit == outer)
    }

    /// Nothing waits for anything any more.
    pub(super) fn clear_agenda(&mut self) {
        self.agenda = Agenda::default();
    }
}
