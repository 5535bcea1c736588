//! A handle of one run.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use phasm_engine::{
    event::Requester,
    run::{Run, RunView},
    value::{Map, Value},
};
use tokio::sync::{OwnedMutexGuard, oneshot, watch};

use crate::{
    core::HostCore,
    drive::{follow::Watch, load, remote},
    journal::{LargeValues, RecoverError, outline::Outline},
    run::{
        envelope::RequestEnvelope,
        message::{DriveStatus, Message},
        registry::Entry,
        request::{RequestError, RunRequest},
    },
    store::StoreError,
};
use phasm_sandbox::fair_queue::Holder;

/// Why a run has no end to show.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RunError {
    /// The run's decisions could not be recorded: the store failed, or another host has advanced the run. Its journal is the
    /// truth, and the host that recovers the run continues from there.
    #[error("the run stopped here, because what happened could not be recorded")]
    Lost(#[source] Arc<StoreError>),
    /// The host was dropped.
    #[error("the host was closed before the run ended")]
    Closed,
}

impl From<RunError> for RequestError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Lost(error) => Self::Lost(error),
            RunError::Closed => Self::Closed,
        }
    }
}

/// One run of a host, whether it is in memory or waits in its store.
#[derive(Clone)]
pub struct RunHandle {
    /// A handle does not keep the host, nor its store, from being closed.
    core: Weak<HostCore>,
    entry: Arc<Entry>,
    status: watch::Receiver<DriveStatus>,
    /// The caller that requests are made by.
    by: Option<Requester>,
    /// The client that reading the run counts for.
    holder: Option<Holder>,
}

impl std::fmt::Debug for RunHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunHandle").field("id", self.id()).finish_non_exhaustive()
    }
}

/// How a wait for a run ended.
#[derive(Clone, Debug)]
pub enum WaitOutcome {
    /// The run has ended; its final view.
    Ended(Box<RunView>),
    /// Only suspended tasks keep the run open: it waits for people.
    Parked(Box<RunView>),
}

/// State in which nothing of a run happens by itself any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestingState {
    /// The run has ended.
    Ended,
    /// Only suspended tasks keep the run open: it waits for people.
    Waiting,
}

impl RunHandle {
    /// The run's id.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.entry.id
    }

    pub(crate) fn new(core: &Arc<HostCore>, entry: &Arc<Entry>) -> Self {
        let status = entry.status.subscribe();
        Self { core: Arc::downgrade(core), entry: Arc::clone(entry), status, by: None, holder: None }
    }

    /// The same handle for a caller: what it asks of the run is recorded with that name. Otherwise the caller is not known, and
    /// an approval that names its approvers refuses the response.
    #[must_use]
    pub fn by(self, caller: impl Into<Option<Requester>>) -> Self {
        Self { by: caller.into(), ..self }
    }

    /// The same handle for a client that has a share of the turns in which journals are read.
    #[must_use]
    pub fn counted_for(self, holder: Holder) -> Self {
        Self { holder: Some(holder), ..self }
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// [`RunError`] when the run's store failed or its host was dropped.
    pub async fn wait(&self) -> Result<RunView, RunError> {
        let run = self.ended().await?;
        Ok(RunView::of(&run))
    }

    /// Waits until the run has ended or only suspended tasks keep it open.
    ///
    /// # Errors
    /// [`RunError`] when the run's store failed or its host was dropped.
    pub async fn wait_or_park(&self) -> Result<WaitOutcome, RunError> {
        match self.come_to_rest().await? {
            RestingState::Ended => Ok(WaitOutcome::Ended(Box::new(RunView::of(&*self.recorded().await?)))),
            RestingState::Waiting => Ok(WaitOutcome::Parked(Box::new(self.view().await?))),
        }
    }

    /// [`Self::wait_or_park`] without reading the run.
    ///
    /// # Errors
    /// [`RunError`] when the run's store failed or its host was dropped.
    pub async fn come_to_rest(&self) -> Result<RestingState, RunError> {
        match self.reached(|status| !matches!(status, DriveStatus::Active)).await? {
            DriveStatus::Ended(_) | DriveStatus::EndedElsewhere => Ok(RestingState::Ended),
            DriveStatus::Lost(error) => Err(RunError::Lost(error)),
            DriveStatus::Closed => Err(RunError::Closed),
            DriveStatus::Active | DriveStatus::Parked => Ok(RestingState::Waiting),
        }
    }

    /// Waits for the end and returns the run itself, without building a view.
    ///
    /// # Errors
    /// [`RunError`] when the run's store failed or its host was dropped.
    pub async fn ended(&self) -> Result<Arc<Run>, RunError> {
        let over = |status: &DriveStatus| !matches!(status, DriveStatus::Active | DriveStatus::Parked);
        match self.reached(over).await? {
            DriveStatus::Ended(run) => Ok(run),
            DriveStatus::EndedElsewhere => self.recorded().await,
            DriveStatus::Lost(error) => Err(RunError::Lost(error)),
            DriveStatus::Active | DriveStatus::Parked | DriveStatus::Closed => Err(RunError::Closed),
        }
    }

    /// Waits until the run has such a status, whichever host drives it.
    async fn reached(&self, wanted: impl Fn(&DriveStatus) -> bool) -> Result<DriveStatus, RunError> {
        let mut status = self.status.clone();
        loop {
            if wanted(&status.borrow_and_update()) {
                return Ok(status.borrow().clone());
            }
            let mut written = match self.entry.is_loaded() {
                true => None,
                false => Some(self.core()?.store.follow(self.id())),
            };
            // From now on nothing is missed.
            if written.is_some() && !self.entry.is_loaded() {
                match remote::update_status(&*self.core()?, &self.entry).await {
                    // The driver that continues once the store is well sets the status.
                    Err(RecoverError::Store(error)) if error.is_passing() => {}
                    stands => stands.map_err(|error| self.unreachable(error))?,
                }
                if status.has_changed().unwrap_or(true) {
                    continue;
                }
            }
            tokio::select! {
                changed = status.changed() => changed.map_err(|_closed| RunError::Closed)?,
                () = changes(written.as_mut()) => {}
            }
        }
    }

    fn core(&self) -> Result<Arc<HostCore>, RunError> {
        self.core.upgrade().ok_or(RunError::Closed)
    }

    /// The run as it stands.
    ///
    /// # Errors
    /// [`RunError`] when the run's store failed or its host was dropped.
    pub async fn view(&self) -> Result<RunView, RunError> {
        self.look(RunView::of).await
    }

    /// Returns the result of `look` as [`Self::look`] does, for a view without large values: a run that is not in memory is not read
    /// into it as a whole. Values that the run lacks because of that are among the large values.
    ///
    /// # Errors
    /// [`RunError`] when the run's store failed or its host was dropped.
    pub async fn outline<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Run, &LargeValues) -> T + Send + 'static,
    ) -> Result<T, RunError> {
        match self.look_in_memory(look).await? {
            Ok(seen) => Ok(seen),
            Err(look) => {
                let outline = self.read_outline().await?;
                let (run, large) = outline.run().ok_or(RunError::Closed)?;
                Ok(look(run, large))
            }
        }
    }

    /// Returns the value that `find` returns, whole.
    ///
    /// # Errors
    /// [`RunError`] when the run's store failed or its host was dropped.
    pub async fn value(
        &self,
        find: impl FnOnce(&Run) -> Option<Value> + Send + 'static,
    ) -> Result<Option<Value>, RunError> {
        let find = match self.look_in_memory(move |run: &Run, _: &LargeValues| find(run)).await? {
            Ok(found) => return Ok(found),
            Err(find) => find,
        };
        let outline = self.read_outline().await?;
        let Some(shown) = outline.run().and_then(|(run, large)| find(run, large)) else { return Ok(None) };
        let value = outline.value(&self.core()?.journal_source(self.holder.as_ref()), self.id(), shown).await;
        value.map(Some).map_err(|error| self.unreachable(error))
    }

    /// Returns the result of `look` on a run that is in memory, and none of one that is not.
    ///
    /// # Errors
    /// [`RunError`] when the run's store failed or its host was dropped.
    pub async fn look_if_loaded<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Run) -> T + Send + 'static,
    ) -> Result<Option<T>, RunError> {
        Ok(self.look_in_memory(|run: &Run, _: &LargeValues| look(run)).await?.ok())
    }

    /// The result of `look` on a run that is in memory; `look` itself if it is not.
    async fn look_in_memory<T: Send + 'static, Look>(&self, look: Look) -> Result<Result<T, Look>, RunError>
    where
        Look: FnOnce(&Run, &LargeValues) -> T + Send + 'static,
    {
        let (answer, hears) = oneshot::channel();
        let unused = Arc::new(Mutex::new(Some(look)));
        let take = |look: &Mutex<Option<Look>>| look.lock().unwrap_or_else(PoisonError::into_inner).take();
        let look = Arc::clone(&unused);
        let inspect = move |run: &Run| {
            if let Some(look) = take(&look) {
                let _unheard = answer.send(look(run, &LargeValues::default()));
            }
        };
        if self.entry.tell(Message::Inspect(Box::new(inspect))).is_ok() {
            return hears.await.map(Ok).map_err(|_closed| RunError::Closed);
        }
        let Some(look) = take(&unused) else { return Err(RunError::Closed) };
        match self.status.borrow().clone() {
            DriveStatus::Ended(run) => Ok(Ok(look(&run, &LargeValues::default()))),
            DriveStatus::Lost(error) => Err(RunError::Lost(error)),
            DriveStatus::Closed => Err(RunError::Closed),
            DriveStatus::Active | DriveStatus::Parked | DriveStatus::EndedElsewhere => Ok(Err(look)),
        }
    }

    /// The outline of a run that is not in memory, as of its last record.
    async fn read_outline(&self) -> Result<OwnedMutexGuard<Outline>, RunError> {
        let core = self.core()?;
        let shared = core.outlines.get(self.id());
        let mut outline = Arc::clone(&shared).lock_owned().await;
        if let Err(error) =
            outline.read_on(&core.journal_source(self.holder.as_ref()), self.id(), |_, _| {}).await
        {
            core.outlines.forget(&shared);
            return Err(self.unreachable(error));
        }
        core.outlines.grown(&shared, outline.bytes());
        Ok(outline)
    }

    /// Returns the result of `look` on the run after its last durable record, whichever host drives it. If that is this host,
    /// `look` runs on a control thread, so it should be quick.
    ///
    /// # Errors
    /// [`RunError`] when the run's store failed or its host was dropped.
    pub async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Run) -> T + Send + 'static,
    ) -> Result<T, RunError> {
        let (answer, hears) = oneshot::channel();
        let look = move |run: &Run| {
            let _unheard = answer.send(look(run));
        };
        if let Err(Message::Inspect(look)) = self.entry.tell(Message::Inspect(Box::new(look))) {
            look(&*self.recorded().await?);
        }
        hears.await.map_err(|_closed| RunError::Closed)
    }

    /// The run as it was recorded last.
    async fn recorded(&self) -> Result<Arc<Run>, RunError> {
        match self.status.borrow().clone() {
            DriveStatus::Ended(run) => return Ok(run),
            DriveStatus::Lost(error) => return Err(RunError::Lost(error)),
            DriveStatus::Closed => return Err(RunError::Closed),
            DriveStatus::Active | DriveStatus::Parked | DriveStatus::EndedElsewhere => {}
        }
        let (run, _) =
            load::replay(&*self.core()?, self.id()).await.map_err(|error| self.unreachable(error))?;
        Ok(Arc::new(run))
    }

    fn unreachable(&self, error: RecoverError) -> RunError {
        if let RecoverError::Store(error) = error {
            return RunError::Lost(Arc::new(error));
        }
        let (run_id, reason) = (Arc::clone(self.id()), error.to_string());
        RunError::Lost(Arc::new(StoreError::Unreachable { run_id, reason }))
    }

    /// Answers a suspended task, named by `taskName`, `scope/taskName` or the task run's id; of several the first
    /// suspended one. Durable when it returns; false if none of that name was suspended.
    ///
    /// # Errors
    /// [`RequestError::UnknownTask`] when the run has no task run of that name.
    pub async fn resume(&self, task: &str, payload: Map) -> Result<bool, RequestError> {
        self.ask_task(RunRequest::Resume { task: task.to_owned(), payload }).await
    }

    /// Hears the run from its event `since` on, counted from 0, and what guests say.
    ///
    /// # Errors
    /// [`RunError::Closed`] when the host was dropped.
    pub fn watch(&self, since: u64) -> Result<Watch, RunError> {
        let core = self.core()?;
        Ok(Watch::new(&core, &self.entry, since, true))
    }

    /// Cancels the run: every open task run is Cancelled `user`, attempts are stopped. Durable when it returns.
    ///
    /// # Errors
    /// [`RequestError::Ended`] when the run has already ended.
    pub async fn cancel(&self) -> Result<(), RequestError> {
        self.ask(RunRequest::Cancel).await.map(drop)
    }

    /// Cancels one task, named as in [`Self::resume`]; of several the first open one. Durable when it returns; false
    /// if none of that name was open.
    ///
    /// # Errors
    /// [`RequestError::UnknownTask`] when the run has no task run of that name.
    pub async fn cancel_task(&self, task: &str) -> Result<bool, RequestError> {
        self.ask_task(RunRequest::CancelTask { task: task.to_owned() }).await
    }

    /// [`Self::ask`] once the run has shown that it has the task. An inspection waits for a driver that can record, while a driver
    /// that leaves after its store failed refuses requests.
    async fn ask_task(&self, request: RunRequest) -> Result<bool, RequestError> {
        let request = self.look(move |run| request.check_task(run).map(|()| request)).await??;
        self.ask(request).await
    }

    /// Asks something of the run. Durable when it returns; false if the task is not as it would have to be: not
    /// suspended, or not open any more. A run that waits in its store is loaded, one that another host drives is asked there.
    ///
    /// # Errors
    /// [`RequestError`] when the run has ended (to cancel it), has no such task run, or could not record it.
    pub async fn ask(&self, request: RunRequest) -> Result<bool, RequestError> {
        let (reply, hears) = oneshot::channel();
        let request = RequestEnvelope { request, by: self.by.clone() };
        let mut message = Message::Ask { request, reply };
        loop {
            match self.entry.tell(message) {
                Ok(()) => return hears.await.unwrap_or(Err(RequestError::Closed)),
                Err(unheard) => message = unheard,
            }
            let goes_on = matches!(*self.status.borrow(), DriveStatus::Active | DriveStatus::Parked);
            let reached =
                if goes_on { Some(load::reach(&self.core()?, self.id(), Vec::new()).await) } else { None };
            let Message::Ask { request, reply } = message else { return Err(RequestError::Closed) };
            match reached {
                Some(Ok(_)) => message = Message::Ask { request, reply },
                None | Some(Err(RecoverError::Ended { .. })) => {
                    return request.request.reply_of_ended(&*self.ended().await?);
                }
                Some(Err(RecoverError::Driven { .. })) => {
                    let run = self.recorded().await?;
                    return remote::request(&*self.core()?, &run, request).await;
                }
                Some(Err(error)) => return Err(self.unreachable(error).into()),
            }
        }
    }
}

/// A store that tells nothing more changes nothing.
async fn changes(written: Option<&mut watch::Receiver<()>>) {
    if let Some(written) = written
        && written.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}
