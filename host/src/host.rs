//! The embedding API: open a host, submit documents, await views.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use phasm_engine::{
    event::{Facts, TaskId},
    phase::Phase,
    plan::{Catalogue, Plan},
    problem::Problem,
    run::{Run, Submission, SubmitView},
    task::TaskRun,
    value::{Map, Value},
    view::RunView,
};
use tokio::{
    runtime::{Builder as RuntimeBuilder, Handle, Runtime},
    sync::{mpsc, oneshot, watch},
};

use crate::{
    clock::Clock,
    dispatcher::{Dispatcher, Rank},
    driver::{Driver, Message, Refused, Shared, Standing},
    executor::Executor,
    plugins::Plugins,
    reader,
    sandbox::{Grants, Limits, Sandbox, SandboxConfig},
    secrets::Secrets,
    store::{Memory, RunHead, Store, StoreError},
    watch::{Listener, Notice},
};

/// Runs workflows in this process.
///
/// Guests run on threads of their own, the engine's loop on another; the caller's runtime only awaits. Dropping the host
/// stops every run where it stands; a store that outlives the process keeps what was durable.
pub struct Host {
    shared: Arc<Shared>,
    catalogue: Arc<dyn Catalogue + Send + Sync>,
    plugins: Option<Plugins>,
    facts: Facts,
    submitted: AtomicU64,
    control: Control,
}

/// The runtime the engine's loops run on; shut down without waiting, so that a host may be dropped anywhere.
struct Control(Option<Runtime>);

impl Drop for Control {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Why a host could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Threads could not be started.
    #[error("the engine's threads could not be started")]
    Threads(#[source] std::io::Error),
    /// The sandbox could not be set up.
    #[error("the sandbox could not be set up")]
    Sandbox(#[from] crate::sandbox::SandboxError),
    /// A plugin directory could not be read.
    #[error("the plugin directory {} could not be read", path.display())]
    Plugins {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Why a document was not submitted.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The document or its parameters have problems; nothing was stored.
    #[error("{} problems: {}", .0.len(), .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Problems(Vec<Problem>),
    /// `kind: CronWorkflow` is read and validated, but nothing schedules it yet.
    #[error("kind CronWorkflow cannot be run yet: there are no schedules; use kind Workflow to run it once")]
    Cron,
    /// The run could not be made durable.
    #[error("the run could not be stored")]
    Store(#[from] StoreError),
}

/// Why a run has no end to show.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RunError {
    /// Its store failed; its journal is the truth, and a restart goes on from there.
    #[error("the run stopped, because its store failed")]
    Lost(#[source] Arc<StoreError>),
    /// The host was dropped.
    #[error("the host was closed while the run went on")]
    Closed,
}

impl From<RunError> for Refused {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Lost(error) => Self::Lost(error),
            RunError::Closed => Self::Closed,
        }
    }
}

/// Sets up a [`Host`].
#[derive(Default)]
pub struct HostBuilder {
    store: Option<Arc<dyn Store>>,
    executor: Option<Arc<dyn Executor>>,
    slots: Option<u32>,
    sandbox: SandboxConfig,
    dirs: Vec<PathBuf>,
    registered: Vec<(Arc<str>, Arc<[u8]>)>,
    grants: BTreeMap<String, Grants>,
    builder: Option<Arc<dyn crate::plugins::Builder>>,
    secrets: Secrets,
    vars: Map,
}

impl HostBuilder {
    /// Keeps runs in `store`; without it, in memory.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Registers a plugin from the bytes of its component.
    #[must_use]
    pub fn plugin(mut self, name: impl Into<Arc<str>>, component: impl Into<Arc<[u8]>>) -> Self {
        self.registered.push((name.into(), component.into()));
        self
    }

    /// Offers the plugins of a directory; of equal names the directory named first wins.
    #[must_use]
    pub fn plugin_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dirs.push(dir.into());
        self
    }

    /// Builds plugins that are there as source; without it they cannot be used.
    #[must_use]
    pub fn plugin_builder(mut self, builder: Arc<dyn crate::plugins::Builder>) -> Self {
        self.builder = Some(builder);
        self
    }

    /// Grants a plugin what it may touch; by default nothing.
    #[must_use]
    pub fn grant(mut self, plugin: impl Into<String>, grants: Grants) -> Self {
        self.grants.insert(plugin.into(), grants);
        self
    }

    /// Limits every guest.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.sandbox.limits = limits;
        self
    }

    /// Replaces the whole configuration of the sandbox.
    #[must_use]
    pub fn sandbox(mut self, config: SandboxConfig) -> Self {
        self.sandbox = config;
        self
    }

    /// How many attempts may be in flight; never more than the sandbox has room for.
    #[must_use]
    pub fn slots(mut self, slots: u32) -> Self {
        self.slots = Some(slots);
        self
    }

    /// The secrets that `secretKeyRef` names.
    #[must_use]
    pub fn secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = secrets;
        self
    }

    /// A variable that expressions read as `vars.<name>`.
    #[must_use]
    pub fn var(mut self, name: impl Into<Arc<str>>, value: impl Into<Value>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Replaces the sandbox by another executor, which runs on the engine's threads. For tests and special hosts.
    #[must_use]
    pub fn executor(mut self, executor: Arc<dyn Executor>) -> Self {
        self.executor = Some(executor);
        self
    }

    /// Opens the host.
    ///
    /// # Errors
    /// [`OpenError`] when threads, sandbox or plugin directories are not to be had.
    pub fn open(self) -> Result<Host, OpenError> {
        let control = RuntimeBuilder::new_multi_thread()
            .worker_threads(1)
            .thread_name("phasm-engine")
            .enable_all()
            .build()
            .map_err(OpenError::Threads)?;
        let clock = Clock::start();
        let engine = control.handle().clone();
        let (executor, guests, room, plugins) = match self.executor {
            Some(executor) => (executor, engine.clone(), u32::MAX, None),
            None => {
                let plugins =
                    open_plugins(self.sandbox, self.builder, self.dirs, self.registered, &self.grants)?;
                let (guests, room) = (plugins.sandbox().guest_runtime().clone(), plugins.sandbox().slots());
                (Arc::new(plugins.clone()) as Arc<dyn Executor>, guests, room, Some(plugins))
            }
        };
        let slots = self.slots.unwrap_or(DEFAULT_SLOTS).min(room);
        let dispatcher = Dispatcher::new(slots, executor, guests, engine, clock);
        let store = self.store.unwrap_or_else(|| Arc::new(Memory::default()));
        let catalogue: Arc<dyn Catalogue + Send + Sync> = match &plugins {
            Some(plugins) => Arc::new(plugins.clone()),
            None => Arc::new(()),
        };
        Ok(Host {
            shared: Arc::new(Shared {
                store,
                dispatcher: Arc::new(dispatcher),
                clock,
                secrets: self.secrets,
            }),
            catalogue,
            plugins,
            facts: facts(self.vars),
            submitted: AtomicU64::new(0),
            control: Control(Some(control)),
        })
    }
}

/// How long closing waits for the engine's thread at most.
const LONGEST_CLOSE: Duration = Duration::from_secs(10);

/// Attempts in flight unless configured: enough for a thousand that wait in host calls.
const DEFAULT_SLOTS: u32 = 2048;

fn open_plugins(
    config: SandboxConfig,
    builder: Option<Arc<dyn crate::plugins::Builder>>,
    dirs: Vec<PathBuf>,
    registered: Vec<(Arc<str>, Arc<[u8]>)>,
    grants: &BTreeMap<String, Grants>,
) -> Result<Plugins, OpenError> {
    let mut plugins = Plugins::new(Sandbox::new(config)?);
    if let Some(builder) = builder {
        plugins = plugins.with_builder(builder);
    }
    for (name, component) in registered {
        let granted = grants.get(name.as_ref()).cloned().unwrap_or_default();
        plugins.register(name, component, granted);
    }
    for path in dirs {
        plugins.add_dir(&path, grants).map_err(|source| OpenError::Plugins { path, source })?;
    }
    Ok(plugins)
}

/// The names of seed and field for where this host runs.
fn facts(vars: Map) -> Facts {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    Facts { os: os.into(), arch: arch.into(), vars: vars.into() }
}

impl Host {
    /// Begins to set up a host.
    #[must_use]
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// The same host, which keeps the runs submitted from now on in `store`.
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn Store>) -> Self {
        let Shared { dispatcher, clock, secrets, .. } = self.shared.as_ref();
        let (dispatcher, clock, secrets) = (Arc::clone(dispatcher), *clock, secrets.clone());
        self.shared = Arc::new(Shared { store, dispatcher, clock, secrets });
        self
    }

    /// Reads and validates a document. `name` is what problems call it; its extension chooses JSON or YAML.
    ///
    /// # Errors
    /// Every problem of the document at once.
    pub fn plan(&self, name: &str, text: &str) -> Result<Arc<Plan>, Vec<Problem>> {
        let tree = reader::read(name, text)?;
        Plan::build(&tree, self.catalogue.as_ref()).map(Arc::new)
    }

    /// Submits a run. When this returns, the run is durable and on its way (R-D2).
    ///
    /// # Errors
    /// [`SubmitError`]; nothing was stored.
    pub async fn submit(&self, plan: &Arc<Plan>, parameters: &Map) -> Result<RunHandle, SubmitError> {
        self.start(plan, parameters, None).await
    }

    /// [`Self::submit`], heard from the run's first event on. Notices queue in memory until they are read.
    ///
    /// # Errors
    /// [`SubmitError`]; nothing was stored.
    pub async fn submit_watched(
        &self,
        plan: &Arc<Plan>,
        parameters: &Map,
    ) -> Result<(RunHandle, mpsc::UnboundedReceiver<Notice>), SubmitError> {
        let (listener, notices) = mpsc::unbounded_channel();
        let handle = self.start(plan, parameters, Some(listener)).await?;
        Ok((handle, notices))
    }

    /// Whether [`Self::submit`] would take these parameters; nothing is stored.
    ///
    /// # Errors
    /// [`SubmitError::Problems`] or [`SubmitError::Cron`].
    pub fn check(&self, plan: &Arc<Plan>, parameters: &Map) -> Result<(), SubmitError> {
        self.bind(plan, "", parameters).map(drop)
    }

    fn bind(&self, plan: &Arc<Plan>, run_id: &str, parameters: &Map) -> Result<Map, SubmitError> {
        if plan.cron {
            return Err(SubmitError::Cron);
        }
        let run_id = run_id.into();
        let view = SubmitView { plan, run_id: &run_id, facts: &self.facts };
        let bound = phasm_engine::plan::bind_arguments(plan, parameters, &view);
        bound.map(|values| values.into_iter().collect()).map_err(SubmitError::Problems)
    }

    async fn start(
        &self,
        plan: &Arc<Plan>,
        parameters: &Map,
        listener: Option<Listener>,
    ) -> Result<RunHandle, SubmitError> {
        let run_id: Arc<str> = uuid::Uuid::now_v7().to_string().into();
        let parameters = self.bind(plan, &run_id, parameters)?;
        let submission = Submission {
            run_id: Arc::clone(&run_id),
            parameters: Arc::new(parameters),
            facts: self.facts.clone(),
        };
        let now = self.shared.clock.now();
        let (run, step) = Run::start(Arc::clone(plan), submission, now);
        let head = Arc::new(RunHead {
            run_id: Arc::clone(&run_id),
            workflow: plan.name.clone(),
            namespace: plan.namespace.clone(),
            priority: plan.priority,
            submitted_at: now,
        });
        let rank = Rank::new(plan.priority, self.submitted.fetch_add(1, Ordering::Relaxed));
        let (standing, watched) = watch::channel(Standing::Active);
        let (mut driver, sender) = Driver::new(Arc::clone(&self.shared), run, head, rank, standing);
        if let Some(listener) = listener {
            driver.watch(listener);
        }
        driver.record_first(step).await?;
        if let Some(engine) = self.engine() {
            engine.spawn(driver.drive());
        }
        Ok(RunHandle { id: run_id, sender, standing: watched })
    }

    /// Closes the host: every run stops where it stands, and nothing of it holds the store any more when this returns.
    /// Blocks for as long as the engine's thread takes to notice; not to be called on an async thread.
    pub fn close(mut self) {
        if let Some(runtime) = self.control.0.take() {
            runtime.shutdown_timeout(LONGEST_CLOSE);
        }
    }

    fn engine(&self) -> Option<&Handle> {
        self.control.0.as_ref().map(Runtime::handle)
    }

    /// The plugins of this host; none when it was opened with another executor.
    #[must_use]
    pub fn plugins(&self) -> Option<&Plugins> {
        self.plugins.as_ref()
    }
}

/// One run of a host.
#[derive(Clone, Debug)]
pub struct RunHandle {
    id: Arc<str>,
    sender: mpsc::UnboundedSender<Message>,
    standing: watch::Receiver<Standing>,
}

/// How a wait for a run ended.
#[derive(Clone, Debug)]
pub enum Waited {
    /// The run has ended; its final view.
    Ended(Box<RunView>),
    /// Only suspended tasks keep it open: the run waits for somebody.
    Parked(Box<RunView>),
}

impl RunHandle {
    /// The run's id.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.id
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
    pub async fn wait_or_park(&self) -> Result<Waited, RunError> {
        let mut standing = self.standing.clone();
        let reached = standing.wait_for(|standing| !matches!(standing, Standing::Active)).await;
        let reached = reached.map_err(|_closed| RunError::Closed)?.clone();
        match reached {
            Standing::Ended(run) => Ok(Waited::Ended(Box::new(RunView::of(&run)))),
            Standing::Lost(error) => Err(RunError::Lost(error)),
            Standing::Active | Standing::Parked => Ok(Waited::Parked(Box::new(self.view().await?))),
        }
    }

    /// Waits for the end and returns the run itself, without building a view.
    ///
    /// # Errors
    /// [`RunError`] when the run's store failed or its host was dropped.
    pub async fn ended(&self) -> Result<Arc<Run>, RunError> {
        let mut standing = self.standing.clone();
        let over = |standing: &Standing| matches!(standing, Standing::Ended(_) | Standing::Lost(_));
        let reached = standing.wait_for(over).await.map_err(|_closed| RunError::Closed)?.clone();
        match reached {
            Standing::Ended(run) => Ok(run),
            Standing::Lost(error) => Err(RunError::Lost(error)),
            Standing::Active | Standing::Parked => Err(RunError::Closed),
        }
    }

    /// The run as it stands.
    ///
    /// # Errors
    /// [`RunError`] when the run's store failed or its host was dropped.
    pub async fn view(&self) -> Result<RunView, RunError> {
        self.look(RunView::of).await
    }

    /// What `look` makes of the run as it stands. It looks on the engine's thread, so it should be quick.
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
        if let Err(mpsc::error::SendError(Message::Look(look))) =
            self.sender.send(Message::Look(Box::new(look)))
        {
            look(self.ended().await?.as_ref());
        }
        hears.await.map_err(|_closed| RunError::Closed)
    }

    /// Answers a suspended task (R-S9), named by `taskName`, `scope/taskName` or the task run's id; of several the first
    /// suspended one. Durable when it returns; false if none of that name was suspended.
    ///
    /// # Errors
    /// [`Refused::UnknownTask`] when the run has no task run of that name.
    pub async fn resume(&self, task: &str, payload: Map) -> Result<bool, Refused> {
        let suspended = |task: &TaskRun| task.phase == Phase::Suspended;
        let Some(task) = self.find(task, suspended).await? else { return Ok(false) };
        let (answer, hears) = oneshot::channel();
        match self.sender.send(Message::Resume { task, payload, answer }) {
            Ok(()) => hears.await.unwrap_or(Ok(false)),
            Err(_left) => Ok(false),
        }
    }

    /// Hears the journal from now on, and what guests say. Notices queue in memory until they are read.
    #[must_use]
    pub fn watch(&self) -> mpsc::UnboundedReceiver<Notice> {
        let (listener, notices) = mpsc::unbounded_channel();
        // A run that has ended drops the listener, which ends the notices.
        let _ended = self.sender.send(Message::Watch(listener));
        notices
    }

    /// Cancels the run: every open task run is Cancelled `user`, attempts are stopped (R-S10). Durable when it returns.
    ///
    /// # Errors
    /// [`Refused::Ended`] when the run has already ended.
    pub async fn cancel(&self) -> Result<(), Refused> {
        let (answer, hears) = oneshot::channel();
        self.sender.send(Message::Cancel { answer }).map_err(|_left| Refused::Ended)?;
        hears.await.unwrap_or(Err(Refused::Ended))
    }

    /// Cancels one task, named as in [`Self::resume`]; of several the first open one (R-S10). Durable when it returns; false
    /// if none of that name was open.
    ///
    /// # Errors
    /// [`Refused::UnknownTask`] when the run has no task run of that name.
    pub async fn cancel_task(&self, task: &str) -> Result<bool, Refused> {
        let open = |task: &TaskRun| !task.phase.is_terminal();
        let Some(task) = self.find(task, open).await? else { return Ok(false) };
        let (answer, hears) = oneshot::channel();
        match self.sender.send(Message::CancelTask { task, answer }) {
            Ok(()) => hears.await.unwrap_or(Ok(false)),
            Err(_left) => Ok(false),
        }
    }

    /// The first task run of that name which is `wanted`; none if there are only others.
    async fn find(&self, name: &str, wanted: fn(&TaskRun) -> bool) -> Result<Option<TaskId>, Refused> {
        let name = name.to_owned();
        let found = self.look(move |run| {
            let named = run.tasks().iter().filter(|task| is_named(run, task, &name));
            let mut named = named.peekable();
            named.peek()?;
            Some(named.find(|task| wanted(task)).map(|task| task.id))
        });
        found.await?.ok_or(Refused::UnknownTask)
    }
}

/// Whether `name` is a task run's id, its `scope/taskName` or its `taskName`.
fn is_named(run: &Run, task: &TaskRun, name: &str) -> bool {
    run.node(task).name.as_ref() == name || run.path(task) == name || run.task_run_id(task.id) == name
}
