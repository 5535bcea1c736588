//! Loading runs: from a journal to a driver that goes on with it.

use std::sync::{Arc, atomic::Ordering};

use phasm_engine::{
    event::{Event, Submitted},
    run::{Run, Step},
    text,
};

use crate::{
    core::{Shared, background::RETRY_PAUSES},
    dispatch::{
        detached::Lasting,
        run_task::Seat,
        slots::{Party, Rank},
    },
    drive::{driver::Driver, handle::RunHandle},
    journal::{self, RecoverError},
    run::{
        lifecycle::Became,
        message::{Message, Request, Standing},
        registry::Entry,
        request::{LetterBody, LetterReply},
    },
    store::{Claim, Lease, Note, Reply, StoreError},
};

impl Shared {
    /// Has messages reach a run, which is loaded and driven on if it is not yet; then they reach it before anything is
    /// begun. It is done whether this is waited for or not.
    ///
    /// # Errors
    /// [`RecoverError`] when it cannot be driven on here; nothing is recorded then.
    pub(crate) async fn reach(
        self: &Arc<Self>,
        run_id: &str,
        messages: Vec<Message>,
    ) -> Result<RunHandle, RecoverError> {
        let (shared, run_id) = (Arc::clone(self), Arc::from(run_id));
        let reached = async move { shared.reach_alone(run_id, messages).await };
        Lasting::new(&self.control, reached).await
    }

    async fn reach_alone(
        self: &Arc<Self>,
        run_id: Arc<str>,
        messages: Vec<Message>,
    ) -> Result<RunHandle, RecoverError> {
        let entry = self.registry.entry(&run_id);
        let _alone = entry.turning.lock().await;
        let unheard: Vec<_> = messages.into_iter().filter_map(|message| entry.tell(message).err()).collect();
        if unheard.is_empty() && entry.is_loaded() {
            return Ok(RunHandle::new(self, &entry));
        }
        // Cancelling is how to be rid of a run that cannot go on.
        let cancels = |message: &Message| matches!(message, Message::Ask { request: Request::Cancel, .. });
        let anyway = unheard.iter().any(cancels);
        let run = self.replay_here(&entry, anyway).await?;
        // Nobody else's record comes between: one that did makes the first of this host's a conflict.
        let claimed = self.store.claim_run(&self.host, &run_id, self.clock.now()).await;
        let lease = match claimed.inspect_err(|error| self.doubt(error))? {
            Claim::Leased(lease) => lease,
            Claim::Held(_) => return Err(RecoverError::Driven { run_id }),
            Claim::Closed => return Err(RecoverError::Ended { run_id, phase: run.phase() }),
        };
        self.go_on(&entry, run, lease, unheard).await
    }

    /// Drives a run on that this host has claimed; gives it back if it cannot.
    pub(crate) async fn go_on_with(self: &Arc<Self>, lease: Lease) -> Result<RunHandle, RecoverError> {
        let entry = self.registry.entry(&lease.head.run_id);
        let _alone = entry.turning.lock().await;
        if entry.is_loaded() {
            if entry.epoch.load(Ordering::Acquire) >= lease.epoch {
                return Ok(RunHandle::new(self, &entry));
            }
            // It was another's in between, which this host has not noticed: it slept, and was taken for gone.
            entry.dismiss().await;
        }
        self.load(&entry, lease).await
    }

    /// Goes on with a run that may be this host's without its knowledge.
    pub(crate) async fn go_on_with_stray(self: &Arc<Self>, run_id: &Arc<str>) -> Result<(), RecoverError> {
        let entry = self.registry.entry(run_id);
        let _alone = entry.turning.lock().await;
        if entry.is_loaded() {
            return Ok(());
        }
        match self.store.claim_run(&self.host, run_id, self.clock.now()).await? {
            Claim::Leased(lease) => self.load(&entry, lease).await.map(drop),
            Claim::Held(_) | Claim::Closed => Ok(()),
        }
    }

    /// Drives a run on that is this host's and not loaded; gives it back if it cannot.
    async fn load(self: &Arc<Self>, entry: &Arc<Entry>, lease: Lease) -> Result<RunHandle, RecoverError> {
        match self.replay_here(entry, false).await {
            Ok(run) => self.go_on(entry, run, lease, Vec::new()).await,
            Err(error) => {
                // Still due, for whoever has what it needs.
                let now = self.clock.now();
                let note = Note { why: text::brief(&error.to_string()).into(), since: now };
                self.store.leave(&lease, Some(now), note).await?;
                Err(error)
            }
        }
    }

    /// Takes a run up again once its store is well.
    pub(crate) async fn retake(
        self: Arc<Self>,
        entry: Arc<Entry>,
        failed: Arc<StoreError>,
        unheard: Vec<Message>,
    ) {
        let (mut pause, longest) = RETRY_PAUSES;
        let run_id = &entry.id;
        tracing::warn!(
            error = &*failed as &dyn std::error::Error,
            "run {run_id} waits until its store is well"
        );
        loop {
            self.clock.sleep(pause).await;
            pause = (pause * 2).min(longest);
            match self.reach(run_id, Vec::new()).await {
                Err(RecoverError::Store(error)) if error.is_passing() && !self.is_closed() => {}
                Ok(_) => {
                    // Those that come too late are dropped, which tells whoever waits for them.
                    unheard.into_iter().for_each(|message| drop(entry.tell(message)));
                    return;
                }
                Err(RecoverError::Ended { .. }) => return,
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "run {run_id} cannot be taken up again"
                    );
                    entry.lose(failed);
                    return;
                }
            }
        }
    }

    /// Has a run read its mail, which is loaded for it if it is not; if it cannot be, its letters are refused.
    pub(crate) async fn read_mail(self: &Arc<Self>, run_id: &str) -> Result<(), StoreError> {
        if !self.begins() {
            // It waits for whoever goes on with the run.
            return Ok(());
        }
        let told = self.registry.get(run_id).is_some_and(|entry| entry.tell(Message::Mail).is_ok());
        if told {
            return Ok(());
        }
        match self.reach(run_id, vec![Message::Mail]).await {
            Ok(_) | Err(RecoverError::Ended { .. } | RecoverError::Driven { .. }) => Ok(()),
            // What it holds is not to be had for good.
            Err(RecoverError::Store(error)) if !matches!(error, StoreError::Corrupt { .. }) => Err(error),
            Err(refused) => self.refuse_mail(run_id, &refused.to_string()).await,
        }
    }

    /// A run that cannot be loaded does nothing that it is asked; but it can be ended.
    async fn refuse_mail(self: &Arc<Self>, run_id: &str, why: &str) -> Result<(), StoreError> {
        let entry = self.registry.entry(&Arc::from(run_id));
        let _alone = entry.turning.lock().await;
        let Claim::Leased(lease) = self.store.claim_run(&self.host, run_id, self.clock.now()).await? else {
            return Ok(());
        };
        let letters = self.store.mail(&lease).await?;
        let reason = letters.iter().find_map(|letter| LetterBody::abandons(&letter.body));
        if let Some(reason) = reason
            && self.abandon(&entry, lease.clone(), &reason).await.is_ok()
        {
            // The end of the run is what all of them are answered.
            entry.tell_commit();
            return Ok(());
        }
        let refused = LetterReply::Refused(why.to_owned()).bytes();
        let replies = letters.iter().map(|letter| Reply { letter: letter.id, body: Arc::clone(&refused) });
        self.store.reply(&lease, replies.collect()).await?;
        entry.tell_commit();
        self.store.release(&lease, None).await
    }

    /// Ends a run that this host has claimed and nobody can go on with; false if only its row says so, as its journal cannot be
    /// read.
    pub(crate) async fn abandon(
        self: &Arc<Self>,
        entry: &Arc<Entry>,
        lease: Lease,
        why: &str,
    ) -> Result<bool, RecoverError> {
        let now = self.clock.now();
        match self.replay(&entry.id).await {
            Ok((mut run, _)) => {
                let step = run.give_up(now, why);
                let handle = self.drive(entry, run, step, lease, Vec::new(), false).await?;
                let _ended = handle.wait().await;
                Ok(true)
            }
            Err(RecoverError::Store(error)) if error.is_passing() => Err(error.into()),
            Err(_) => {
                let seq = self.store.get(&entry.id).await?.map_or(0, |row| row.seq);
                let notices = self.outlets.hearers(&lease.head, &[]).abandoned(&lease.head, seq, now, why);
                self.store.abandon(&lease, now, notices).await?;
                Ok(false)
            }
        }
    }

    async fn go_on(
        self: &Arc<Self>,
        entry: &Arc<Entry>,
        mut run: Run,
        lease: Lease,
        mut messages: Vec<Message>,
    ) -> Result<RunHandle, RecoverError> {
        // What was asked of it while nobody drove it.
        messages.push(Message::Mail);
        let step = run.recover(self.clock.now());
        match self.drive(entry, run, step, lease.clone(), messages, false).await {
            Err(error @ StoreError::TooLarge { .. }) => self.give_up(entry, lease, &error).await,
            driven => Ok(driven?),
        }
    }

    /// Ends a run at what was recorded last, as its store cannot take what follows, now or ever.
    pub(crate) async fn give_up(
        self: &Arc<Self>,
        entry: &Arc<Entry>,
        lease: Lease,
        error: &StoreError,
    ) -> Result<RunHandle, RecoverError> {
        let (mut run, _) = self.replay(&entry.id).await?;
        let step = run.give_up(self.clock.now(), &format!("what follows cannot be recorded: {error}"));
        Ok(self.drive(entry, run, step, lease, Vec::new(), false).await?)
    }

    /// Drives a run on from a step that is not durable yet: its first, or the first after it was loaded. `messages`
    /// reach it before anything is begun.
    pub(crate) async fn drive(
        self: &Arc<Self>,
        entry: &Arc<Entry>,
        run: Run,
        step: Step,
        lease: Lease,
        messages: Vec<Message>,
        lends: bool,
    ) -> Result<RunHandle, StoreError> {
        let number = self.driven.fetch_add(1, Ordering::Relaxed);
        let head = Arc::clone(&lease.head);
        let rank = Rank::new(lease.head.priority, lease.head.submitted_at, number);
        let party = Party { tenant: self.realms.tenant(&head.namespace), rank };
        let mut driver = Driver::new(Arc::clone(self), Arc::clone(entry), run, lease, party);
        driver.record_first(step, lends).await?;
        driver.begin(messages);
        self.tidings.tell(&head, Became::Driven);
        let seat = Seat::new(driver.drive(), self.control.clone());
        entry.set_seat(Some(Arc::clone(&seat)));
        if self.is_closed() {
            entry.set_seat(None);
        }
        if lends {
            seat.poll_lent();
        } else {
            seat.poll();
        }
        Ok(RunHandle::new(self, entry))
    }

    /// A run that can be driven on here, or is to be in spite of what is missing.
    async fn replay_here(&self, entry: &Entry, anyway: bool) -> Result<Run, RecoverError> {
        let (run, submitted) = self.replay(&entry.id).await?;
        if run.is_over() {
            let phase = run.phase();
            entry.standing.send_replace(Standing::Ended(Arc::new(run)));
            return Err(RecoverError::Ended { run_id: Arc::clone(&entry.id), phase });
        }
        let missing = self.missing(run.plan(), &submitted).await;
        if !missing.is_empty() && !anyway {
            return Err(RecoverError::Missing { run_id: Arc::clone(&entry.id), missing });
        }
        Ok(run)
    }

    /// A run as its journal has it, and what it was submitted with.
    pub(crate) async fn replay(&self, run_id: &str) -> Result<(Run, Submitted), RecoverError> {
        let records = self.store.load(run_id).await?;
        let mut submitted = None;
        let mut replayed = None;
        journal::replay_with(&self.plans, &mut replayed, run_id, &records, |_, _, _, events| {
            if let (None, Some(Event::Submitted(first))) = (&submitted, events.first()) {
                submitted = Some(first.as_ref().clone());
            }
        })?;
        let not_found = || StoreError::NotFound { run_id: run_id.into() };
        Ok((replayed.ok_or_else(not_found)?, submitted.ok_or_else(not_found)?))
    }
}
