//! One run's loop: take what has happened, step the engine, make the events durable, carry out the commands.
//!
//! ```text
//!  inbox ──▶ batch ──▶ Run::step … ──▶ events ──▶ store (durable) ──▶ watchers
//!    ▲                     │                            │
//!    │                     └──▶ commands ───────────────┴──▶ dispatcher ──▶ executor
//!    └──────────────── started, finished, gone, lent ◀────────┘
//! ```
//!
//! Everything that waits while a batch becomes durable makes the next batch, so that a busy run commits in groups.

use std::{collections::BTreeMap, num::NonZeroU32, sync::Arc};

use phasm_engine::{
    event::{Command, Dispatch, Event, Fence, Input, InputValue, TaskId},
    outcome::Outcome,
    plan::Pinned,
    run::{Run, Step, TaskRun},
    time::Timestamp,
    value::Value,
};
use tokio::{
    sync::{mpsc, watch},
    task::AbortHandle,
};

use crate::{
    clock::Clock,
    dispatcher::{Bounds, Dispatcher, Rank, Signal},
    executor::Invocation,
    journal::Body,
    message::{Message, ReplyTo, RequestError, Standing},
    registry::Registry,
    secrets::Secrets,
    store::{HostId, Lease, Record, RunStatus, Store, StoreError},
    watch::{Ear, Watchers},
};

/// Inputs taken into one batch at most: bounds a record's size and how long commands wait.
const MOST_PER_BATCH: usize = 1024;

/// What all drivers of a host share.
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) dispatcher: Arc<Dispatcher<mpsc::UnboundedSender<Message>>>,
    pub(crate) clock: Clock,
    pub(crate) secrets: Secrets,
    pub(crate) registry: Registry,
    /// Whose the runs are that are driven here.
    pub(crate) host: HostId,
}

impl Shared {
    /// Tells the store that this host is there. It is queued before anything that this host writes, and durable with it.
    pub(crate) fn arrive(&self) {
        drop(self.store.heartbeat(&self.host, Timestamp(i64::MAX)));
    }

    /// Tells the store that this host is gone: others may have its runs.
    pub(crate) fn depart(&self) {
        drop(self.store.heartbeat(&self.host, Timestamp(0)));
    }
}

/// Drives one run to its end.
pub(crate) struct Driver {
    shared: Arc<Shared>,
    run: Run,
    lease: Lease,
    rank: Rank,
    sender: mpsc::UnboundedSender<Message>,
    inbox: mpsc::UnboundedReceiver<Message>,
    standing: watch::Sender<Standing>,
    attempts: BTreeMap<TaskId, (Fence, AbortHandle)>,
    watchers: Watchers,
    batch: Batch,
}

/// Replies to a request once its batch is durable, or tells that it is not.
type Replying = Box<dyn FnOnce(Option<&Arc<StoreError>>) + Send>;

/// What one batch of inputs has led to so far.
#[derive(Default)]
struct Batch {
    first_seq: u64,
    events: Vec<Event>,
    commands: Vec<Command>,
    /// Slots that came back, less those that were taken.
    slots: i64,
    /// Replies to give once the batch is durable.
    replies: Vec<Replying>,
}

impl Driver {
    pub(crate) fn new(
        shared: Arc<Shared>,
        run: Run,
        lease: Lease,
        rank: Rank,
        standing: watch::Sender<Standing>,
    ) -> (Self, mpsc::UnboundedSender<Message>) {
        let (sender, inbox) = mpsc::unbounded_channel();
        let driver = Self {
            shared,
            run,
            lease,
            rank,
            sender: sender.clone(),
            inbox,
            standing,
            attempts: BTreeMap::new(),
            watchers: Watchers::default(),
            batch: Batch::default(),
        };
        (driver, sender)
    }

    /// Has `listener` hear everything from now on.
    pub(crate) fn watch(&self, listener: crate::watch::Listener) {
        self.watchers.add(listener);
    }

    /// Makes the step that a run is driven on from durable, before anybody hears of it (R-D2).
    pub(crate) async fn record_first(&mut self, step: Step) -> Result<(), StoreError> {
        let events = u64::try_from(step.events.len()).unwrap_or(u64::MAX);
        self.batch.first_seq = self.run.seq().saturating_sub(events);
        self.collect(step);
        self.commit().await
    }

    /// Drives the run until it and its hooks have ended, or its store fails.
    pub(crate) async fn drive(mut self) {
        let mut messages = Vec::with_capacity(64);
        // What somebody asked of a run that was recovered for it comes before anything is begun.
        messages.extend(std::iter::from_fn(|| self.inbox.try_recv().ok()));
        let result = loop {
            if let Err(error) = self.turn(&mut messages).await {
                break Err(Arc::new(error));
            }
            if self.run.is_over() {
                break Ok(());
            }
            self.tell_standing();
            self.next_messages(&mut messages).await;
        };
        self.leave(result);
    }

    /// One batch: everything that has come in, the slots there are, one durable record.
    async fn turn(&mut self, messages: &mut Vec<Message>) -> Result<(), StoreError> {
        self.batch.first_seq = self.run.seq();
        let now = self.shared.clock.now();
        for message in messages.drain(..) {
            self.take(now, message);
        }
        self.step(now, Input::Tick);
        self.fill_slots(now);
        let result = self.commit().await;
        let failed = result.as_ref().err().cloned().map(Arc::new);
        for reply in self.batch.replies.drain(..) {
            reply(failed.as_ref());
        }
        result?;
        self.carry_out();
        Ok(())
    }

    async fn next_messages(&mut self, messages: &mut Vec<Message>) {
        let wait = self.run.next_wait().and_then(|at| self.shared.clock.instant(at));
        let received = self.inbox.recv_many(messages, MOST_PER_BATCH);
        match wait {
            None => {
                received.await;
            }
            Some(at) => {
                // A timeout is a tick: the turn that follows serves whatever is due.
                let _elapsed = tokio::time::timeout_at(at.into(), received).await;
            }
        }
    }

    fn take(&mut self, now: Timestamp, message: Message) {
        match message {
            Message::Signal(signal) => self.take_signal(now, signal),
            Message::Ask { request, reply } => {
                let refused = request.refusal(&self.run);
                let dropped = self.step(now, request.into());
                self.reply(reply, if dropped { refused } else { Ok(true) });
            }
            Message::Look(look) => look(&self.run),
            Message::Watch(listener) => self.watchers.add(listener),
        }
    }

    fn take_signal(&mut self, now: Timestamp, signal: Signal) {
        match signal {
            Signal::Lent(slots) => self.batch.slots += i64::from(slots),
            Signal::Started(fence) => {
                self.step(now, Input::Started(fence));
            }
            Signal::Finished(fence, outcome) => {
                self.release(fence);
                let outcome = self.shared.secrets.hide_in(outcome);
                self.step(now, Input::Finished(fence, outcome));
            }
            Signal::Interrupted(fence) => {
                self.release(fence);
                self.step(now, Input::Interrupted(fence));
            }
            Signal::Gone(fence) => {
                // Nobody asked for it to be stopped, or the engine would not take the result.
                self.release(fence);
                let outcome = Outcome::error("host fault: the attempt was lost while it ran");
                self.step(now, Input::Finished(fence, outcome));
            }
            Signal::Inactive(fence) => {
                self.step(now, Input::Inactive(fence));
            }
        }
    }

    fn release(&mut self, fence: Fence) {
        self.batch.slots += 1;
        if self.attempts.get(&fence.task).is_some_and(|(current, _)| *current == fence) {
            self.attempts.remove(&fence.task);
        }
    }

    /// Replies once the batch is durable (R-D2).
    fn reply(&mut self, reply: ReplyTo, result: Result<bool, RequestError>) {
        self.batch.replies.push(Box::new(move |lost| {
            let result = lost.map_or(result, |error| Err(RequestError::Lost(Arc::clone(error))));
            // Whoever asked may have left.
            let _unheard = reply.send(result);
        }));
    }

    /// Steps the engine; true if it dropped the input.
    fn step(&mut self, now: Timestamp, input: Input) -> bool {
        let dropped = self.run.dropped_inputs();
        let step = self.run.step(now, input);
        self.collect(step);
        self.run.dropped_inputs() > dropped
    }

    fn collect(&mut self, step: Step) {
        self.batch.slots -= dispatches(&step.commands);
        if self.batch.events.is_empty() && self.batch.commands.is_empty() {
            self.batch.events = step.events;
            self.batch.commands = step.commands;
        } else {
            self.batch.events.extend(step.events);
            self.batch.commands.extend(step.commands);
        }
    }

    /// Settles slots with the dispatcher and uses what it grants, until neither changes anything.
    fn fill_slots(&mut self, now: Timestamp) {
        loop {
            let returned = std::mem::take(&mut self.batch.slots);
            let wanted = self.run.wanted_slots();
            let lent = self.shared.dispatcher.slots.exchange(self.rank, &self.sender, returned, wanted);
            if lent == 0 {
                return;
            }
            self.batch.slots += i64::from(lent);
            self.step(now, Input::Lent(lent));
        }
    }

    /// Makes the batch durable, then lets watchers hear of it.
    async fn commit(&mut self) -> Result<(), StoreError> {
        let events = std::mem::take(&mut self.batch.events);
        let Some(count) = u32::try_from(events.len()).ok().and_then(NonZeroU32::new) else { return Ok(()) };
        let (first_seq, time) = (self.batch.first_seq, self.run.now());
        let events = Arc::new(events);
        let record =
            Record { first_seq, events: count, time, body: Arc::new(Body(Arc::clone(&events))) as _ };
        let status = RunStatus {
            phase: self.run.phase(),
            finished_at: self.run.times().finished_at,
            open: !self.run.is_over(),
        };
        self.shared.store.append(&self.lease, status, record, Vec::new()).await?;
        self.watchers.tell(&self.run, first_seq, time, &events);
        Ok(())
    }

    fn carry_out(&mut self) {
        for command in std::mem::take(&mut self.batch.commands) {
            match command {
                Command::Dispatch(dispatch) => self.dispatch(dispatch),
                Command::Abort(fence) => self.abort(fence),
            }
        }
    }

    fn abort(&mut self, fence: Fence) {
        if let Some((current, handle)) = self.attempts.get(&fence.task)
            && *current == fence
        {
            handle.abort();
        }
    }

    fn dispatch(&mut self, dispatch: Dispatch) {
        let fence = dispatch.fence;
        let wanted = |task: &TaskRun| task.in_flight() && task.fence() == fence;
        if !self.run.task(fence.task).is_some_and(wanted) {
            // The same batch has ended it: what is stopped before it began is not begun.
            let _own = self.sender.send(Signal::Gone(fence).into());
            return;
        }
        let bounds = Bounds { max_runtime: dispatch.max_runtime, max_inactivity: dispatch.max_inactivity };
        let invocation = match self.invocation(dispatch) {
            Ok(invocation) => invocation,
            Err(message) => {
                let finished = Signal::Finished(fence, Outcome::error(message));
                // The inbox is this driver's own.
                let _own = self.sender.send(finished.into());
                return;
            }
        };
        let observer = Arc::new(Ear::new(self.watchers.clone(), &self.run, fence, &self.shared.secrets));
        let dispatcher = &self.shared.dispatcher;
        let handle = dispatcher.start(fence, invocation, bounds, observer, &self.sender);
        self.attempts.insert(fence.task, (fence, handle));
    }

    /// Reads secrets, at each dispatch anew (R-B9).
    fn invocation(&self, dispatch: Dispatch) -> Result<Invocation, String> {
        let Dispatch { fence, .. } = dispatch;
        let mut inputs = Vec::with_capacity(dispatch.inputs.len());
        for binding in dispatch.inputs.iter() {
            let value = match &binding.value {
                InputValue::Value(value) => value.clone(),
                InputValue::SecretKeyRef(secret) => match self.shared.secrets.get(secret) {
                    Some(value) => Value::String(Arc::clone(value)),
                    None => {
                        return Err(format!(
                            "input {}: there is no secret {} with key {}; add it to [secrets] of the configuration",
                            binding.name, secret.name, secret.key
                        ));
                    }
                },
            };
            inputs.push((binding.name.clone(), value));
        }
        let plan = self.run.plan();
        // What the type stood for when the run was submitted, whatever it would stand for by now.
        let pinned = plan.executors.get(&dispatch.executor_type);
        let given = || inputs.iter().map(|(name, value)| (name, value));
        if let Some(complaint) = pinned.and_then(|pinned| pinned.check_inputs(&dispatch.config, given())) {
            return Err(complaint);
        }
        let pinned = pinned.and_then(Pinned::reference);
        Ok(Invocation {
            run_id: self.run.id().clone(),
            workflow: plan.name.clone(),
            namespace: plan.namespace.clone(),
            task_run_id: self.run.task_run_id(fence.task).into(),
            task: dispatch.task_name,
            executor_type: pinned.map_or(dispatch.executor_type, Arc::from),
            attempt: fence.attempt,
            dispatch: fence.dispatch,
            resumed: dispatch.resumed,
            deadline: dispatch.deadline.and_then(|at| self.shared.clock.instant(at)),
            config: dispatch.config,
            inputs: Arc::new(inputs),
            memory: dispatch.memory,
        })
    }

    fn tell_standing(&mut self) {
        let parked = self.run.is_parked();
        self.standing.send_if_modified(|standing| match (&*standing, parked) {
            (Standing::Active, true) => {
                *standing = Standing::Parked;
                true
            }
            (Standing::Parked, false) => {
                *standing = Standing::Active;
                true
            }
            (Standing::Active | Standing::Parked | Standing::Ended(_) | Standing::Lost(_), _) => false,
        });
    }

    /// Stops what still runs, gives every slot back and says how it ended.
    fn leave(mut self, result: Result<(), Arc<StoreError>>) {
        for (_, handle) in self.attempts.values() {
            handle.abort();
        }
        self.inbox.close();
        // What a record that was refused would have begun has taken its slots already.
        let mut returned = self.batch.slots + dispatches(&self.batch.commands);
        while let Ok(message) = self.inbox.try_recv() {
            match message {
                Message::Signal(Signal::Finished(..) | Signal::Interrupted(_) | Signal::Gone(_)) => {
                    returned += 1;
                }
                Message::Signal(Signal::Lent(slots)) => returned += i64::from(slots),
                Message::Signal(Signal::Started(_) | Signal::Inactive(_)) => {}
                Message::Ask { request, reply } => {
                    let _unheard = reply.send(request.refusal(&self.run));
                }
                Message::Look(look) => look(&self.run),
                Message::Watch(listener) => drop(listener),
            }
        }
        self.shared.dispatcher.slots.exchange(self.rank, &self.sender, returned, 0);
        self.shared.registry.remove(self.run.id());
        let standing = match result {
            Ok(()) => Standing::Ended(Arc::new(self.run)),
            Err(error) => Standing::Lost(error),
        };
        self.standing.send_replace(standing);
    }
}

/// Slots that commands take.
fn dispatches(commands: &[Command]) -> i64 {
    let dispatches = commands.iter().filter(|command| matches!(command, Command::Dispatch(_))).count();
    i64::try_from(dispatches).unwrap_or(i64::MAX)
}
