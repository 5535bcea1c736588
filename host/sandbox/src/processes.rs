//! Isolated attempts: one child process per plugin and attempt, kept for the next attempt of the same plugin.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use phasm_engine::outcome::Outcome;
use tokio::{sync::Semaphore, time::timeout};

use crate::{
    call_context::CallContext,
    call_result::CallResult,
    child::{Children, Worker},
    executor::Observer,
    grants::Grants,
    limits::{Limit, UNLIMITED},
    occupancy::Occupancy,
    outcome::{conclude, transcript},
    program::Program,
    shared_budget::Lease,
};

/// Number of calls after which a child is replaced, so that leftovers of a guest do not stay for ever.
const MAX_CALLS: u32 = 1000;

/// Maximum time until a child is locked in.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Child processes of a sandbox.
pub(crate) struct Processes {
    children: Children,
    /// Permits to call guests.
    turns: Semaphore,
    /// Workers that wait for another call, the longest idle first.
    idle: Mutex<VecDeque<WarmWorker>>,
    most_idle: usize,
    at_once: u32,
    started: AtomicU64,
}

/// A child for one plugin with certain grants. It never serves another.
struct WarmWorker {
    worker: Worker,
    program: u64,
    grants: Arc<Grants>,
    calls: u32,
}

impl Processes {
    /// Makes the processes of `children`, at most `at_once` of them at a time.
    pub(crate) fn new(children: Children, at_once: u32) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self {
            children,
            turns: Semaphore::new(at_once.max(1) as usize),
            idle: Mutex::default(),
            most_idle: cores * 2,
            at_once: at_once.max(1),
            started: AtomicU64::new(0),
        }
    }

    /// Returns the number of processes.
    pub(crate) fn occupancy(&self) -> Occupancy {
        let free = u32::try_from(self.turns.available_permits()).unwrap_or(u32::MAX);
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).len();
        Occupancy {
            processes: self.at_once.saturating_sub(free),
            processes_most: self.at_once,
            processes_idle: u32::try_from(idle).unwrap_or(u32::MAX),
            processes_started: self.started.load(Relaxed),
            ..Occupancy::default()
        }
    }

    /// Calls `program` once. Dropping this ends the process, whatever the guest does.
    pub(crate) async fn call(
        &self,
        program: &Program,
        context: &CallContext,
        observer: Arc<dyn Observer>,
    ) -> Outcome {
        let Ok(_turn) = self.turns.acquire().await else {
            return Outcome::error("host fault: the sandbox is closed");
        };
        // The parent cannot see how far the guest has grown. So it reserves all memory that the guest may have, once that is
        // free.
        let memory = Lease::of_tenant(&context.sandbox.memory.pool, &context.attempt.tenant, UNLIMITED);
        memory.reserve_when_free(context.attempt.ceilings.most(Limit::Memory)).await;
        let mut warm = match self.warm(program, context).await {
            Ok(warm) => warm,
            Err(error) => return Outcome::error(format!("no process for the attempt: {error}")),
        };
        let transcript = Arc::new(transcript(observer, &context.attempt));
        match warm.worker.call(context, &transcript).await {
            Ok(ended) => {
                // A process is locked into its directories: one that has an attempt's own serves no other attempt.
                if context.attempt.invocation.dirs.is_empty() {
                    self.keep(warm, &ended);
                }
                conclude(ended, &transcript, context)
            }
            Err(why) => {
                transcript.finish();
                Outcome::error(why)
            }
        }
    }

    async fn warm(&self, program: &Program, context: &CallContext) -> io::Result<WarmWorker> {
        let grants = &context.grants;
        if let Some(warm) = self.take(program, grants) {
            return Ok(warm);
        }
        self.started.fetch_add(1, Relaxed);
        let starting = Worker::start(
            &self.children,
            program,
            grants,
            &context.attempt.limits,
            context.sandbox.net.headers(),
        );
        let worker =
            timeout(START_TIMEOUT, starting).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
        Ok(WarmWorker { worker, program: program.id, grants: Arc::clone(grants), calls: 0 })
    }

    /// Takes the worker that served last, as its caches are the warmest.
    fn take(&self, program: &Program, grants: &Arc<Grants>) -> Option<WarmWorker> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain_mut(|warm| !warm.worker.has_ended());
        let fits = |warm: &WarmWorker| {
            warm.program == program.id && (Arc::ptr_eq(&warm.grants, grants) || warm.grants == *grants)
        };
        let at = idle.iter().rposition(fits)?;
        idle.remove(at)
    }

    /// Keeps a worker for another call, unless its guest ended with a fault.
    fn keep(&self, warm: WarmWorker, ended: &CallResult) {
        let warm = WarmWorker { calls: warm.calls + 1, ..warm };
        if ended.result.is_err() || warm.calls >= MAX_CALLS || warm.worker.is_interrupted() {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push_back(warm);
        if idle.len() > self.most_idle {
            idle.pop_front();
        }
    }
}
