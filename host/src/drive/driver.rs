//! One run's loop: take what has happened, step the engine, make the events durable, carry out the commands.
//!
//! ```text
//!  inbox ──▶ batch ──▶ Run::step … ──▶ events ──▶ store (durable) ──▶ watchers
//!    ▲                     │                            │
//!    │                     └──▶ commands ───────────────┴──▶ dispatcher ──▶ executor
//!    └──────────────── started, finished, gone, lent ◀────────┘
//! ```
//!
//! Everything that waits while a batch becomes durable makes the next batch, so that a busy run commits in groups. Attempts of which
//! nobody outside can tell whether they have begun do not wait for it: they begin meanwhile, and what comes of them makes the next batch.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    sync::{Arc, atomic::Ordering},
    task::Poll,
    time::Duration,
};

use phasm_engine::{
    event::{Command, Dispatch, Event, Fence, Input, InputValue, RunningQuota, TaskId},
    metered::Metered,
    outcome::Outcome,
    phase::Phase,
    plan::Pinned,
    run::{Run, Step, TaskRun},
    time::{Millis, Timestamp},
    value::Value,
};
use tokio::{
    sync::mpsc::{self, error::TryRecvError},
    task::AbortHandle,
};

use crate::{
    clock::RunClock,
    core::Shared,
    dispatch::{
        backlog::Upcoming,
        dispatcher::{Attempt, Bounds, Signal},
        run_task::{FOLLOWING, is_lent, lend_caller, take_lent},
        slots::{Exchanged, Party},
        wire::offered,
    },
    journal::{Body, Moment},
    metrics::Driven,
    notify::Hearers,
    run::{
        lifecycle::Became,
        message::{Look, Message, ReplyTo, Request, RequestError, Standing},
        registry::Entry,
        request::{LetterBody, LetterReply},
    },
    store::{AttemptLog, Lease, Note, Pending, Record, Reply, RunStatus, StoreError},
    tenants::environment::Realm,
    watch::{
        hub::Notice,
        observer::Ear,
        spans::{Calls, DrivenSpans},
    },
};
use phasm_sandbox::executor::Invocation;

/// Inputs taken into one batch at most: bounds a record's size and how long commands wait.
const MOST_PER_BATCH: usize = 1024;

/// A batch takes no more once it says so much: what fits into a record by itself must not fail for what came at the same time.
const BATCH_BYTES: usize = 16 << 20;

/// A run whose next clock is nearer than so many times the host's patience stays: loading it has its price.
const FAR: u32 = 60;

/// How long what nobody waits for waits for what else is to be recorded: that attempts have begun, as most are over by then, and what
/// sealed ones came to beside others that are being computed. Whoever takes the run up in between begins them once more, as any.
const LONGEST_HELD: Duration = Duration::from_millis(25);

/// Nor does it wait once it says so much.
const MOST_HELD: usize = 256 << 10;

/// Drives one run to its end.
pub(crate) struct Driver {
    shared: Arc<Shared>,
    entry: Arc<Entry>,
    run: Run,
    clock: RunClock,
    lease: Lease,
    party: Party,
    sender: mpsc::UnboundedSender<Message>,
    inbox: mpsc::UnboundedReceiver<Message>,
    attempts: BTreeMap<TaskId, Begun>,
    batch: Batch,
    /// Commands that wait until the events of their step are durable; those that are sealed by themselves, where these wait as well.
    withheld: Vec<Command>,
    withheld_sealed: Vec<Command>,
    /// What has come in while a batch became durable, and waits for that.
    unread: Vec<Message>,
    /// Slots that the run may use and does not yet.
    spare: u32,
    upcoming: Upcoming,
    /// What executor types that were asked for stand for.
    types: BTreeMap<Arc<str>, Arc<str>>,
    /// What its row says of its tenant's quota.
    noted: Option<u32>,
    /// Who is told of it.
    hearers: Hearers,
    _counted: Driven,
    /// What it takes, where it belongs to a trace.
    spans: Option<DrivenSpans>,
}

/// An attempt that the dispatcher has.
struct Begun {
    fence: Fence,
    handle: Option<AbortHandle>,
    ear: Arc<Ear>,
    /// Nobody outside could tell (R-D6).
    is_sealed: bool,
}

/// Replies to a request once its batch is durable, or tells that it is not.
type Replying = Box<dyn FnOnce(Option<&Arc<StoreError>>) + Send>;

/// What one batch of inputs has led to so far.
#[derive(Default)]
struct Batch {
    first_seq: u64,
    /// What has happened, in order; never without events.
    moments: Vec<Moment>,
    /// How much that says.
    bytes: usize,
    /// To be carried out once it is durable.
    commands: Vec<Command>,
    /// To be carried out as soon as may be (R-D6).
    sealed: Vec<Command>,
    /// Attempts of it have begun already.
    began: bool,
    /// Something is in it besides beginnings of attempts.
    presses: bool,
    /// Something has ended that somebody outside could tell of: it must not happen again.
    was_told: bool,
    /// Until when it may wait, as it does not press.
    held: Option<Millis>,
    /// Slots that came back, less those that were taken.
    slots: i64,
    /// What attempts wrote that are over.
    logs: Vec<AttemptLog>,
    /// Replies to give once the batch is durable.
    replies: Vec<Replying>,
    /// Who wants to see the run: as it is once the batch is durable.
    looks: Vec<Look>,
    /// Replies to letters, which become durable with the batch.
    letters: Vec<Reply>,
    /// What the row is to say from then on.
    note: Option<Option<Note>>,
}

impl Driver {
    pub(crate) fn new(shared: Arc<Shared>, entry: Arc<Entry>, run: Run, lease: Lease, party: Party) -> Self {
        let (sender, inbox) = mpsc::unbounded_channel();
        let clock = RunClock::from(shared.clock.clone(), run.now());
        let hearers = shared.outlets.hearers(&lease.head, &run.plan().notify);
        let counted = shared.gauges.drives();
        let spans = DrivenSpans::of(&run, shared.tracer.as_ref());
        Self {
            shared,
            entry,
            run,
            clock,
            lease,
            party,
            sender,
            inbox,
            attempts: BTreeMap::new(),
            batch: Batch::default(),
            withheld: Vec::new(),
            withheld_sealed: Vec::new(),
            unread: Vec::new(),
            spare: 0,
            upcoming: Upcoming::default(),
            types: BTreeMap::new(),
            noted: None,
            hearers,
            _counted: counted,
            spans,
        }
    }

    /// From now on the run is reached here, first by `messages`.
    pub(crate) fn begin(&self, messages: Vec<Message>) {
        for message in messages {
            // The inbox is this driver's own.
            let _own = self.sender.send(message);
        }
        self.entry.standing.send_if_modified(|standing| {
            let lost = matches!(standing, Standing::Lost(_));
            if lost {
                *standing = Standing::Active;
            }
            lost
        });
        self.entry.epoch.store(self.lease.epoch, Ordering::Release);
        self.entry.set_driver(Some(self.sender.clone()));
    }

    /// Makes the step that a run is driven on from durable, before anybody hears of it (R-D2). Whoever `lends` this thread has it execute
    /// small attempts.
    pub(crate) async fn record_first(&mut self, step: Step, lends: bool) -> Result<(), StoreError> {
        let events = u64::try_from(step.events.len()).unwrap_or(u64::MAX);
        self.batch.first_seq = self.run.seq().saturating_sub(events);
        self.collect(step);
        // What a new run begins with needs no record of its own. One that was taken up hears first what it is asked.
        let is_new = self.batch.first_seq == 0;
        if is_new {
            self.fill_slots(self.run.now());
        }
        if is_new && lends && !self.entry.watchers.any() {
            let control = self.shared.control.clone();
            lend_caller(&control, FOLLOWING, || self.run_ahead());
        }
        let recorded = self.commit(is_new).await;
        if recorded.is_err() {
            self.stop_attempts();
            self.return_slots();
        }
        recorded
    }

    /// Executes what a run begins with here and now, as long as that is one small attempt at a time of which nobody outside can tell (R-D6):
    /// what they come to shares its first record.
    fn run_ahead(&mut self) {
        while is_lent() && self.begins_one_brief() {
            self.begin_sealed();
            self.unread.extend(std::iter::from_fn(|| self.inbox.try_recv().ok()));
            self.take_results();
        }
    }

    fn begins_one_brief(&mut self) -> bool {
        let [Command::Dispatch(dispatch)] = &*self.batch.sealed else { return false };
        let executor_type = Arc::clone(&dispatch.executor_type);
        let stands_for = self.stands_for(&executor_type);
        self.batch.commands.is_empty() && self.shared.dispatcher.is_brief(&stands_for)
    }

    /// What a first record that was refused would have begun has taken its slots already.
    fn return_slots(&mut self) {
        let slots = &self.shared.dispatcher.slots;
        slots.exchange(&self.party, &self.sender, self.slots_in_hand(), 0);
        let queued = drain(&mut self.inbox);
        let returned = self.unread.iter().chain(&queued).map(Message::slots).sum();
        slots.exchange(&self.party, &self.sender, returned, 0);
    }

    /// Drives the run until it and its hooks have ended, or its store fails.
    pub(crate) async fn drive(mut self) {
        // What somebody asked of a run that was recovered for it comes before anything is begun.
        self.unread.extend(std::iter::from_fn(|| self.inbox.try_recv().ok()));
        let result = loop {
            if let Err(error) = self.turn().await {
                break Err(Arc::new(error));
            }
            let has_more = !self.batch.moments.is_empty() && self.batch.held.is_none();
            if self.run.is_over() && !has_more {
                break Ok(());
            }
            let quiet = !has_more && self.unread.is_empty() && self.next_messages().await;
            if quiet {
                match self.give_back().await {
                    Ok(true) => return,
                    Ok(false) => {}
                    Err(error) => break Err(Arc::new(error)),
                }
            }
            if self.unread.iter().any(|message| matches!(message, Message::Leave(_))) {
                break Err(Arc::new(self.lease.fenced()));
            }
        };
        self.entry.set_driver(None);
        self.unread.extend(drain(&mut self.inbox));
        self.leave(result);
    }

    /// One batch: everything that has come in, the slots there are, one durable record.
    async fn turn(&mut self) -> Result<(), StoreError> {
        if self.batch.moments.is_empty() {
            self.batch.first_seq = self.run.seq();
        }
        let now = self.clock.follow(|| self.run.lengths_end());
        // An answer would begin an attempt: where nothing is begun any more, letters wait for whoever goes on with the run.
        if self.shared.begins() && self.unread.iter().any(|message| matches!(message, Message::Mail)) {
            self.take_mail(now).await?;
        }
        self.take_unread(now, |_| true);
        // Every other input has served what is due as well.
        let is_due = self.run.next_wait().is_some_and(|at| at <= now);
        if is_due && self.batch.bytes < BATCH_BYTES {
            self.batch.presses = true;
            self.step(now, Input::Tick);
        }
        self.fill_slots(now);
        if self.holds() {
            self.begin_sealed();
            return Ok(());
        }
        let parked = self.run.is_parked();
        let result = self.commit(true).await;
        if result.is_ok() {
            // Whoever is answered finds the run standing as the answer says.
            self.tell_standing(parked);
        }
        let failed = result.as_ref().err().cloned().map(Arc::new);
        for reply in self.batch.replies.drain(..) {
            reply(failed.as_ref());
        }
        result?;
        self.batch.looks.drain(..).for_each(|look| look(&self.run));
        let (commands, sealed) =
            (std::mem::take(&mut self.withheld), std::mem::take(&mut self.withheld_sealed));
        self.carry_out(commands, false);
        self.carry_out(sealed, true);
        Ok(())
    }

    /// Takes what has come in, as long as it `is_taken`, into the batch. The rest makes the next one.
    fn take_unread(&mut self, now: Timestamp, is_taken: impl Fn(&Message) -> bool) {
        let mut unread = std::mem::take(&mut self.unread);
        unread.reverse();
        while self.batch.bytes < BATCH_BYTES
            && let Some(message) = unread.pop_if(|message| is_taken(message))
        {
            self.take(now, message);
        }
        unread.reverse();
        self.unread = unread;
    }

    /// Whether a batch can wait for what comes next: neither anything that could be told outside waits for it, nor anybody who wants to hear of
    /// it, and something is about to come.
    fn holds(&mut self) -> bool {
        let Batch { moments, bytes, presses, was_told, commands, sealed, letters, .. } = &self.batch;
        let tells_outside =
            *was_told || !commands.is_empty() || !self.withheld.is_empty() || !letters.is_empty();
        if moments.is_empty() || tells_outside || self.asked() || self.run.is_over() || *bytes > MOST_HELD {
            return false;
        }
        let something_comes = !sealed.is_empty() || self.upcoming.is_busy();
        if *presses && (self.entry.watchers.any() || !something_comes) {
            return false;
        }
        let clock = &self.shared.clock;
        *self.batch.held.get_or_insert_with(|| clock.after(LONGEST_HELD)) > clock.elapsed()
    }

    /// Whether somebody waits for what the run is after the batch.
    fn asked(&self) -> bool {
        !(self.batch.replies.is_empty() && self.batch.looks.is_empty())
    }

    /// Waits for messages or the next clock; true if the run could rest and nobody had anything to ask.
    async fn next_messages(&mut self) -> bool {
        let wait = self.clock.next(self.run.next_wait());
        let patience = self.shared.patience.filter(|patience| self.could_rest(*patience));
        let lingers = patience.map(|patience| self.shared.clock.after(patience));
        let received = self.inbox.recv_many(&mut self.unread, MOST_PER_BATCH);
        match [wait, lingers, self.batch.held].into_iter().flatten().min() {
            None => {
                received.await;
                false
            }
            Some(at) => tokio::select! {
                biased;
                _ = received => false,
                // The end of a wait is a tick: the turn that follows serves whatever is due.
                () = self.shared.clock.sleep_until(at) => lingers.is_some(),
            },
        }
    }

    /// Whether nothing but a person or a far-off clock could make something happen.
    fn could_rest(&self, patience: Duration) -> bool {
        let near = |at: Timestamp| u128::from(at.since(self.run.now())) < (patience * FAR).as_millis();
        self.attempts.is_empty() && self.run.wanted_slots() == 0 && !self.run.next_wait().is_some_and(near)
    }

    /// Gives the run back to the store and forgets it; false if somebody has asked something meanwhile.
    async fn give_back(&mut self) -> Result<bool, StoreError> {
        let entry = Arc::clone(&self.entry);
        let _alone = tokio::select! {
            biased;
            // Whoever has the run in hand may have something to say to it, and wait for an answer.
            _ = self.inbox.recv_many(&mut self.unread, MOST_PER_BATCH) => return Ok(false),
            alone = entry.turning.lock() => alone,
        };
        entry.set_driver(None);
        self.unread.extend(drain(&mut self.inbox));
        let wake_at = self.run.next_wait();
        if self.unread.is_empty() {
            // One that was taken over meanwhile is given back by nobody, however often that is tried.
            self.shared.store.release(&self.lease, wake_at).await?;
            // Whoever claims what is due learns of its clock, and of a letter that has just come.
            self.shared.due.notify_one();
            // Whoever waits for the run hears of it from the store now.
            entry.standing.send_modify(|_| {});
            self.shared.gauges.given_back.one_more();
            self.shared.tidings.tell(&self.lease.head, Became::GivenBack(wake_at));
            return Ok(true);
        }
        (self.sender, self.inbox) = mpsc::unbounded_channel();
        entry.set_driver(Some(self.sender.clone()));
        Ok(false)
    }

    /// Carries out what letters ask for.
    async fn take_mail(&mut self, now: Timestamp) -> Result<(), StoreError> {
        for letter in self.shared.store.mail(&self.lease).await? {
            if self.batch.bytes >= BATCH_BYTES {
                // The others are read by the next batch. The inbox is this driver's own.
                let _own = self.sender.send(Message::Mail);
                break;
            }
            let said = match LetterBody::read(&letter.body).map(|body| body.request(&self.run)) {
                Some(Ok(Some(request))) => self.request(now, request).map_err(|error| error.to_string()),
                Some(Ok(None)) => Ok(false),
                Some(Err(error)) => Err(error.to_string()),
                None => Err("the letter cannot be read; it was written by another Phasm".to_owned()),
            };
            let gauges = &self.shared.gauges;
            if said.is_ok() { &gauges.letters_carried_out } else { &gauges.letters_refused }.one_more();
            self.batch.letters.push(Reply { letter: letter.id, body: LetterReply::from(said).bytes() });
        }
        Ok(())
    }

    /// Asks the run; what is answered if the batch becomes durable.
    fn request(&mut self, now: Timestamp, request: Request) -> Result<bool, RequestError> {
        request.check_size()?;
        let refused = request.refusal(&self.run);
        if self.step(now, request.into()) { refused } else { Ok(true) }
    }

    fn take(&mut self, now: Timestamp, message: Message) {
        match message {
            Message::Signal(signal) => self.take_signal(now, signal),
            Message::Ask { request, reply } => {
                let said = self.request(now, request);
                self.reply(reply, said);
            }
            Message::Look(look) => self.batch.looks.push(look),
            // Taken before the batch, or by it.
            Message::Mail | Message::Tick | Message::Leave(_) => {}
        }
    }

    fn take_signal(&mut self, now: Timestamp, signal: Signal) {
        match signal {
            Signal::Lent(slots) => self.batch.slots += i64::from(slots),
            Signal::Started(fence, elapsed) => {
                let at = elapsed.map_or(now, |elapsed| self.clock.at(elapsed));
                self.step(at.max(self.run.now()).min(now), Input::Started(fence));
            }
            Signal::Finished(fence, outcome) => {
                self.release(fence);
                let outcome = self.realm().secrets.hide_in(outcome);
                self.step(now, Input::Finished(fence, outcome));
            }
            Signal::Interrupted(fence) => {
                self.step(now, Input::Interrupted(fence));
                self.release(fence);
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
            Signal::Wrote(fence, log) => {
                if self.begun(fence).is_some() {
                    self.batch.logs.push(log);
                }
            }
        }
    }

    fn release(&mut self, fence: Fence) {
        self.batch.slots += 1;
        if self.begun(fence).is_some()
            && let Some(begun) = self.attempts.remove(&fence.task)
        {
            self.batch.was_told |= !begun.is_sealed;
            self.batch.logs.extend(begun.ear.close());
        }
    }

    /// The attempt of that fence, if it is the one that the dispatcher has.
    fn begun(&self, fence: Fence) -> Option<&Begun> {
        self.attempts.get(&fence.task).filter(|begun| begun.fence == fence)
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
        let is_dropped = self.run.dropped_inputs() > dropped;
        let used = self.used(&step.commands);
        self.collect(step);
        for (fence, metered) in used {
            let step = self.run.step(now, Input::Metered(fence, metered));
            self.collect(step);
        }
        is_dropped
    }

    /// What attempts have used that are to be stopped: they have no outcome that says it.
    fn used(&self, commands: &[Command]) -> Vec<(Fence, Metered)> {
        let stopped = commands.iter().filter_map(|command| {
            let Command::Abort(fence) = command else { return None };
            self.begun(*fence)
        });
        let used = stopped.map(|begun| (begun.fence, begun.ear.metered()));
        used.filter(|(_, metered)| !metered.is_nothing()).collect()
    }

    fn collect(&mut self, step: Step) {
        let Step { events, commands, bytes } = step;
        self.batch.presses |= !events.iter().all(is_beginning);
        self.batch.bytes = self.batch.bytes.saturating_add(bytes);
        self.batch.slots -= dispatches(&commands);
        for command in commands {
            let is_sealed = self.is_sealed(&command);
            if is_sealed { &mut self.batch.sealed } else { &mut self.batch.commands }.push(command);
        }
        let time = self.run.now();
        match self.batch.moments.last_mut() {
            _ if events.is_empty() => {}
            Some(moment) if moment.time == time => Arc::make_mut(&mut moment.events).extend(events),
            Some(_) | None => self.batch.moments.push(Moment { time, events: Arc::new(events) }),
        }
    }

    /// Settles slots with the dispatcher and uses what it grants, until neither changes anything.
    fn fill_slots(&mut self, now: Timestamp) {
        loop {
            if self.batch.bytes >= BATCH_BYTES {
                // The rest begins with the next batch. The inbox is this driver's own.
                let _own = self.sender.send(Message::Tick);
                return;
            }
            let wanted = self.run.wanted_slots();
            let needless = self.spare.saturating_sub(wanted);
            self.spare -= needless;
            let returned = std::mem::take(&mut self.batch.slots) + i64::from(needless);
            let (slots, wanted) = (&self.shared.dispatcher.slots, wanted - self.spare);
            let Exchanged { lent, quota } = slots.exchange(&self.party, &self.sender, returned, wanted);
            self.spare += lent;
            let used = self.spare.min(self.room());
            if used == 0 {
                return self.tell_held(now, quota);
            }
            self.spare -= used;
            self.batch.slots += i64::from(used);
            self.step(now, Input::Lent(used));
        }
    }

    /// Has the run say what keeps its leaves from slots, while some wait for one.
    fn tell_held(&mut self, now: Timestamp, quota: Option<u32>) {
        let waits = self.run.wanted_slots() > self.spare;
        let is_news = quota.is_some() || self.run.quota().is_some();
        if is_news && waits {
            let tenant = || Arc::clone(&self.party.tenant);
            let quota = quota.map(|running| RunningQuota { tenant: tenant(), running });
            self.batch.presses = true;
            self.step(now, Input::Held(quota));
        }
        self.note(now, quota.filter(|_| waits));
    }

    /// Has the run's row say that a quota keeps leaves waiting, and when none does any more.
    fn note(&mut self, since: Timestamp, quota: Option<u32>) {
        if self.noted == quota {
            return;
        }
        self.noted = quota;
        let key = format!("`running` under `[tenants.{}.quotas]`", self.party.tenant);
        let note =
            quota.map(|running| Note { why: format!("{running} running at most ({key})").into(), since });
        self.batch.note = Some(note);
    }

    /// How many attempts more may wait for a thread. Others that have one may take what is beyond, so it is not held back from them.
    fn room(&self) -> u32 {
        if self.shared.dispatcher.sends_out() {
            return u32::MAX;
        }
        self.upcoming.room(u32::try_from(self.undispatched()).unwrap_or(u32::MAX))
    }

    /// Slots that are neither used nor with the dispatcher.
    fn slots_in_hand(&self) -> i64 {
        self.batch.slots + self.undispatched() + i64::from(self.spare)
    }

    /// Attempts that are to begin and are not with the dispatcher.
    fn undispatched(&self) -> i64 {
        let Batch { commands, sealed, .. } = &self.batch;
        [&self.withheld, &self.withheld_sealed, commands, sealed]
            .map(|commands| dispatches(commands))
            .iter()
            .sum()
    }

    /// Makes the batch durable, then lets watchers hear of it. Sealed attempts may begin before, if the run `may_go_on`.
    async fn commit(&mut self, may_go_on: bool) -> Result<(), StoreError> {
        (self.batch.held, self.batch.bytes) = (None, 0);
        (self.batch.presses, self.batch.was_told) = (false, false);
        self.keep_logs();
        self.withheld.append(&mut self.batch.commands);
        let moments = std::mem::take(&mut self.batch.moments);
        let letters = std::mem::take(&mut self.batch.letters);
        let mut body = Body { moments, basis: None };
        let (Some(last), Some(events)) = (body.moments.last(), body.count()) else {
            self.withheld_sealed.append(&mut self.batch.sealed);
            if !letters.is_empty() {
                self.shared.store.reply(&self.lease, letters).await?;
                self.entry.tell_commit();
            }
            return Ok(());
        };
        let (first_seq, time) = (self.batch.first_seq, last.time);
        let document = (first_seq == 0).then(|| self.shared.planner.document(self.run.plan()));
        body.basis = document.as_ref().map(|document| Arc::clone(&document.digest));
        let notices = self.hearers.notices(&self.lease.head, &self.run, first_seq, &body.moments);
        let body = Arc::new(body);
        let encode = Arc::clone(&body) as _;
        let record = Record { first_seq, events, time, body: encode, document: document.clone(), notices };
        let status = RunStatus::of(&self.run);
        let spans = self.spans.as_ref().map(|spans| spans.ended(&self.run, &body.moments));
        let Shared { store, gauges, .. } = &*self.shared;
        // Nobody else's records share the commit, nor has anybody else anything to do here meanwhile.
        let alone = gauges.drives_one();
        // To wake others costs a lone run more than its first attempt takes.
        let goes_on = may_go_on && self.goes_on() && !(alone && first_seq == 0);
        self.batch.began = false;
        let appended = if alone && !goes_on {
            store.append_here(&self.lease, status, record, letters)
        } else {
            store.append(&self.lease, status, record, letters)
        };
        if let Some(note) = self.batch.note.take() {
            // It shares the commit. Whoever looks at the row only misses it, where it is not written.
            drop(self.shared.store.note(&self.lease, note));
        }
        if goes_on {
            self.go_on_until(appended).await?;
        } else {
            self.withheld_sealed.append(&mut self.batch.sealed);
            appended.await?;
        }
        self.shared.gauges.recorded(body.moments.iter().flat_map(|moment| moment.events.iter()));
        if first_seq == 0 {
            self.shared.gauges.submitted();
        }
        // Before anybody hears that it is over, and leaves.
        if let (Some(driven), Some(spans)) = (&self.spans, spans) {
            driven.tell(spans);
        }
        self.entry.tell_commit();
        if self.entry.watchers.any() {
            for told in body.told(first_seq, document.as_ref()) {
                self.entry.watchers.send(&Notice::Record(told));
            }
        }
        Ok(())
    }

    /// Has the store keep what attempts wrote before the record that says they are over: once that is durable, so are these.
    fn keep_logs(&mut self) {
        for command in &self.batch.commands {
            if let Command::Abort(fence) = command
                && let Some(log) = self.begun(*fence).and_then(|begun| begun.ear.close())
            {
                self.batch.logs.push(log);
            }
        }
        for log in self.batch.logs.drain(..) {
            drop(self.shared.store.keep_log(&self.lease, log));
        }
    }

    /// Waits until the batch is durable, which `appended` tells. Sealed attempts begin meanwhile, as do those that follow them; what comes
    /// of them makes the next batch.
    async fn go_on_until(&mut self, mut appended: Pending<()>) -> Result<(), StoreError> {
        if let Poll::Ready(result) = poll_fn(|context| Poll::Ready(appended.as_mut().poll(context))).await {
            self.withheld_sealed.append(&mut self.batch.sealed);
            return result;
        }
        self.batch.first_seq = self.run.seq();
        self.carry_out_sealed();
        while self.unread.is_empty() && self.batch.bytes < BATCH_BYTES && !self.attempts.is_empty() {
            tokio::select! {
                biased;
                result = &mut appended => return result,
                _ = self.inbox.recv_many(&mut self.unread, MOST_PER_BATCH) => {}
            }
            self.take_results();
            self.begin_sealed();
        }
        appended.await
    }

    /// Takes what has come of attempts into a batch that is not written yet.
    fn take_results(&mut self) {
        let now = self.clock.follow(|| self.run.lengths_end());
        self.take_unread(now, |message| matches!(message, Message::Signal(_)));
        self.fill_slots(now);
    }

    /// Begins those attempts of a batch that are sealed before it is written.
    fn begin_sealed(&mut self) {
        self.batch.began |= !self.batch.sealed.is_empty();
        self.carry_out_sealed();
    }

    fn carry_out_sealed(&mut self) {
        let sealed = std::mem::take(&mut self.batch.sealed);
        self.carry_out(sealed, true);
    }

    /// Whether the run can go on before what has happened is durable: there are sealed attempts, and nobody waits to see it as it is now.
    fn goes_on(&self) -> bool {
        let began = self.batch.began && !self.attempts.is_empty();
        let may = !self.shared.store.is_immediate() && !self.asked();
        may && (began || !self.batch.sealed.is_empty())
    }

    /// Whether nobody outside could tell that a command was carried out (R-D6).
    fn is_sealed(&mut self, command: &Command) -> bool {
        let Command::Dispatch(dispatch) = command else { return false };
        let executor_type = self.stands_for(&dispatch.executor_type);
        self.shared.dispatcher.is_sealed(&self.run.plan().namespace, &executor_type)
    }

    /// What a type stood for when the run was submitted, whatever it would stand for by now.
    fn stands_for(&mut self, executor_type: &Arc<str>) -> Arc<str> {
        if let Some(known) = self.types.get(executor_type) {
            return Arc::clone(known);
        }
        let pinned = self.run.plan().executors.get(executor_type).and_then(Pinned::reference);
        let stands_for = pinned.map_or_else(|| Arc::clone(executor_type), Arc::from);
        self.types.insert(Arc::clone(executor_type), Arc::clone(&stands_for));
        stands_for
    }

    fn carry_out(&mut self, commands: Vec<Command>, is_sealed: bool) {
        // The others would wait for it.
        let lent = dispatches(&commands) == 1 && take_lent();
        for command in commands {
            match command {
                Command::Dispatch(dispatch) => self.dispatch(dispatch, is_sealed, lent),
                Command::Abort(fence) => self.abort(fence),
            }
        }
    }

    fn abort(&mut self, fence: Fence) {
        self.begun(fence).and_then(|begun| begun.handle.as_ref()).map(AbortHandle::abort);
    }

    fn dispatch(&mut self, dispatch: Dispatch, is_sealed: bool, lent: bool) {
        let fence = dispatch.fence;
        let wanted = |task: &TaskRun| task.in_flight() && task.fence() == fence;
        if !self.run.task(fence.task).is_some_and(wanted) {
            // The same batch has ended it: what is stopped before it began is not begun.
            let _own = self.sender.send(Signal::Gone(fence).into());
            return;
        }
        let due = Some(self.clock.elapsed_at(dispatch.due));
        let bounds = Bounds { max_runtime: dispatch.max_runtime, max_inactivity: dispatch.max_inactivity };
        // What others would need to know, who have secrets of their own.
        let shares = self.shared.dispatcher.sends_out().then(|| dispatch.clone());
        let invocation = match self.invocation(dispatch) {
            Ok(invocation) => invocation,
            Err(message) => {
                let finished = Signal::Finished(fence, Outcome::error(message));
                // The inbox is this driver's own.
                let _own = self.sender.send(finished.into());
                return;
            }
        };
        let Shared { dispatcher, kept_log, .. } = self.shared.as_ref();
        let realm = self.realm();
        let ear = Ear::new(self.entry.watchers.clone(), &self.run, fence, &realm.secrets, *kept_log);
        let ear = Arc::new(ear.tracing(Calls::of(self.shared.tracer.as_ref(), &invocation)));
        let (observer, inbox) = (Arc::clone(&ear) as _, self.sender.clone());
        let body = |invocation: &Invocation| {
            let dispatch = shares.as_ref()?;
            let pinned = self.run.plan().executors.get(&dispatch.executor_type);
            offered(dispatch, invocation, bounds, pinned, realm.plugins.is_none())
        };
        let (upcoming, tenant) = (self.upcoming.clone(), Some(Arc::clone(&self.party.tenant)));
        let attempt = Attempt { fence, invocation, bounds, observer, inbox, upcoming, tenant, due, lent };
        let (epoch, priority) = (self.lease.epoch, self.lease.head.priority);
        let whose = || (Arc::clone(&self.party.tenant), self.shared.realms.weight(&self.party.tenant));
        let offer =
            |number, invocation: &Invocation| Some(body(invocation)?.offer(number, epoch, whose(), priority));
        let handle = dispatcher.start(attempt, offer);
        self.attempts.insert(fence.task, Begun { fence, handle, ear, is_sealed });
    }

    /// Reads secrets, at each dispatch anew (R-B9).
    fn invocation(&mut self, dispatch: Dispatch) -> Result<Invocation, String> {
        let executor_type = self.stands_for(&dispatch.executor_type);
        let Dispatch { fence, .. } = dispatch;
        let mut inputs = Vec::with_capacity(dispatch.inputs.len());
        for binding in dispatch.inputs.iter() {
            let value = match &binding.value {
                InputValue::Value(value) => value.clone(),
                InputValue::SecretKeyRef(secret) => match self.realm().secrets.get(secret) {
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
        let pinned = plan.executors.get(&dispatch.executor_type);
        let given = || inputs.iter().map(|(name, value)| (name, value));
        if let Some(complaint) = pinned.and_then(|pinned| pinned.check_inputs(&dispatch.config, given())) {
            return Err(complaint);
        }
        Ok(Invocation {
            run_id: self.run.id().clone(),
            workflow: plan.name.clone(),
            namespace: plan.namespace.clone(),
            task_run_id: self.run.task_run_id(fence.task).into(),
            task: dispatch.task_name,
            executor_type,
            attempt: fence.attempt,
            dispatch: fence.dispatch,
            resumed: dispatch.resumed,
            deadline: dispatch.deadline.and_then(|at| self.clock.instant(at)),
            config: dispatch.config,
            inputs: Arc::new(inputs),
            memory: dispatch.memory,
            trace: self.spans.as_ref().map(DrivenSpans::context),
        })
    }

    /// What its runs find here.
    fn realm(&self) -> &Realm {
        self.shared.realms.of(&self.lease.head.namespace)
    }

    /// As it is after what has become durable.
    fn tell_standing(&self, parked: bool) {
        self.entry.standing.send_if_modified(|standing| match (&*standing, parked) {
            (Standing::Active, true) => {
                *standing = Standing::Parked;
                true
            }
            (Standing::Parked, false) => {
                *standing = Standing::Active;
                true
            }
            (
                Standing::Active
                | Standing::Parked
                | Standing::Closed
                | Standing::Ended(_)
                | Standing::Lost(_),
                _,
            ) => false,
        });
    }

    fn count(&self, result: &Result<(), Arc<StoreError>>) {
        let gauges = &self.shared.gauges;
        match result {
            Ok(()) => gauges.ended(self.run.phase()),
            Err(error) if matches!(**error, StoreError::Fenced { .. }) => gauges.lost.one_more(),
            Err(_) => gauges.interrupted.one_more(),
        }
    }

    fn stop_attempts(&self) {
        self.attempts.values().filter_map(|begun| begun.handle.as_ref()).for_each(AbortHandle::abort);
    }

    /// Stops what still runs, gives every slot back, answers whoever waits and says how it ended. A store that may be well again is
    /// asked again.
    fn leave(mut self, result: Result<(), Arc<StoreError>>) {
        self.stop_attempts();
        // What a record that was refused would have begun has taken its slots already.
        let mut returned = self.slots_in_hand();
        let mut unheard: Vec<_> = self.batch.looks.drain(..).map(Message::Look).collect();
        let mut waiting = Vec::new();
        for message in std::mem::take(&mut self.unread) {
            returned += message.slots();
            match message {
                Message::Signal(_) | Message::Mail | Message::Tick => {}
                Message::Ask { request, reply } => {
                    let said = match &result {
                        Ok(()) => request.refusal(&self.run),
                        Err(error) => Err(RequestError::Lost(Arc::clone(error))),
                    };
                    let _unheard = reply.send(said);
                }
                Message::Look(look) if result.is_ok() => look(&self.run),
                // What was not recorded is shown to nobody.
                Message::Look(_) => unheard.push(message),
                // Told at the very end.
                Message::Leave(left) => waiting.push(left),
            }
        }
        self.shared.dispatcher.slots.exchange(&self.party, &self.sender, returned, 0);
        self.count(&result);
        self.shared.tidings.tell(
            &self.lease.head,
            match &result {
                Ok(()) => Became::Ended(self.run.phase()),
                Err(error) => Became::Stopped(error.to_string()),
            },
        );
        if result.is_ok() {
            self.shared.tell_schedule(&self.lease.head);
        }
        match result {
            Ok(()) => drop(self.entry.standing.send_replace(Standing::Ended(Arc::new(self.run)))),
            Err(error) if error.is_passing() => {
                let shared = Arc::clone(&self.shared);
                self.shared.control.spawn(shared.retake(self.entry, error, unheard));
            }
            Err(error) if matches!(*error, StoreError::TooLarge { .. }) => {
                self.shared.control.spawn(give_up(Arc::clone(&self.shared), self.entry, self.lease, error));
            }
            Err(error) => self.entry.lose(error),
        }
        drop(waiting);
    }
}

/// Closes an inbox and takes what is in it. Whoever has been told that a message was sent may still be about to put it there, which
/// `try_recv` says is not the end: a caller would wait for nobody, or a slot be gone. That takes a moment and no lock, and is waited for in one
/// step, as a driver must not be dropped between leaving its entry and giving back what it has.
fn drain(inbox: &mut mpsc::UnboundedReceiver<Message>) -> Vec<Message> {
    inbox.close();
    let mut rest = Vec::new();
    loop {
        match inbox.try_recv() {
            Ok(message) => rest.push(message),
            Err(TryRecvError::Empty) => std::thread::yield_now(),
            Err(TryRecvError::Disconnected) => return rest,
        }
    }
}

async fn give_up(shared: Arc<Shared>, entry: Arc<Entry>, lease: Lease, error: Arc<StoreError>) {
    if let Err(failed) = shared.give_up(&entry, lease, &error).await {
        tracing::warn!(error = &failed as &dyn std::error::Error, "run {} cannot be ended", entry.id);
        entry.lose(error);
    }
}

/// Whether it only says that an attempt has been dispatched, or has started.
fn is_beginning(event: &Event) -> bool {
    let begins = |phase| matches!(phase, Phase::Ready | Phase::Running);
    match event {
        Event::AttemptStarted(_) => true,
        Event::Phase(change) => begins(change.to),
        Event::RunPhase(phase) => begins(*phase),
        Event::Submitted(_)
        | Event::CancelRequested
        | Event::Held(_)
        | Event::ScopeOpened(_)
        | Event::Repeated(_)
        | Event::Reused(_)
        | Event::AttemptEnded(_)
        | Event::Metered(..)
        | Event::TimedOut(..)
        | Event::Resumed(..)
        | Event::PolicyEvaluated(_)
        | Event::RetryScheduled(_)
        | Event::TaskEnded(..)
        | Event::HookFired(_)
        | Event::HookFailed(_)
        | Event::Warning(_)
        | Event::Broken(_) => false,
    }
}

/// Slots that commands take.
fn dispatches(commands: &[Command]) -> i64 {
    let dispatches = commands.iter().filter(|command| matches!(command, Command::Dispatch(_))).count();
    i64::try_from(dispatches).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn what_was_sent_is_heard_while_the_inbox_is_closed() {
        for _ in 0..2_000 {
            let (sender, mut inbox) = mpsc::unbounded_channel();
            let (sent, mut heard) = (sender.clone(), 0);
            let sending =
                thread::spawn(move || (0..).take_while(|_| sent.send(Message::Tick).is_ok()).count());
            while heard < 10 {
                heard += inbox.recv_many(&mut Vec::new(), 10).await;
            }
            heard += drain(&mut inbox).len();
            assert_eq!(sending.join().unwrap(), heard);
        }
    }
}
