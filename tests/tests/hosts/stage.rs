//! Where attempts are executed: each ends when the house says so.

use std::{
    collections::{BTreeMap, HashMap},
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use phasm::{
    Outcome,
    clock::TimeSource as _,
    engine::{outcome::code, time::Millis},
    executor::{Executor, Invocation, Level, Observer},
    journal,
    store::{Memory, ReadStore as _},
    tasks_named,
};
use phasm_tests::{scenario::Staged, stepped::Stepped};
use tokio::sync::oneshot;

use super::random::Random;

/// One dispatch of a run: task run, attempt, dispatch.
pub(crate) type Call = (String, u32, u32);

/// Duration below which a pure attempt is over at once.
const QUICK: Millis = 60;

#[derive(Default)]
struct Attempts {
    /// When the first that executed a call will have ended.
    ends: HashMap<Call, Option<Millis>>,
    /// Executions of calls, by their end; the first to be asked is the first to answer.
    open: BTreeMap<(Millis, Call, u64), oneshot::Sender<()>>,
    calls: u64,
}

/// Results of calls: the same on every host, however often a call is executed.
pub(crate) enum Play {
    /// Chance, by a seed.
    Seed(u64),
    /// Results of a scenario.
    Scenario(Staged),
}

/// Executors of all hosts of a house.
pub(crate) struct Stage {
    play: Play,
    store: Arc<Memory>,
    time: Arc<Stepped>,
    attempts: Mutex<Attempts>,
}

impl Stage {
    pub(crate) fn new(play: Play, time: Arc<Stepped>, store: Arc<Memory>) -> Self {
        Self { play, store, time, attempts: Mutex::default() }
    }

    /// How many calls there were.
    pub(crate) fn calls(&self) -> u64 {
        self.attempts.lock().unwrap().calls
    }

    /// When the next attempt ends. Those whose hosts have forgotten them are gone.
    pub(crate) fn next(&self) -> Option<Millis> {
        let mut attempts = self.attempts.lock().unwrap();
        attempts.open.retain(|_, ends| !ends.is_closed());
        attempts.open.first_key_value().map(|((at, ..), _)| *at)
    }

    /// Ends the next attempt, if its time has come, for everybody who executes it.
    pub(crate) fn end_one(&self, now: Millis) {
        let mut attempts = self.attempts.lock().unwrap();
        let Some((at, call)) = attempts.open.keys().next().map(|(at, call, _)| (*at, call.clone())) else {
            return;
        };
        while let Some(first) = attempts.open.first_entry()
            && (first.key().0, &first.key().1) == (at, &call)
            && at <= now
        {
            let _gone = first.remove().send(());
        }
    }

    fn act(&self, call: &Call, invocation: &Invocation) -> (Option<Millis>, Outcome) {
        let act = match &self.play {
            Play::Seed(seed) => {
                let mut seed = *seed;
                for byte in call.0.bytes().chain(call.1.to_le_bytes()).chain(call.2.to_le_bytes()) {
                    seed = (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
                }
                Random(seed).answer(&invocation.task, call.1)
            }
            Play::Scenario(staged) => staged.act(&self.path(invocation), &invocation.task, call.2),
        };
        let mut outcome = act.outcome;
        if outcome.code == code::TIMEOUT {
            // Whether a deadline met it is told by the machine's clock, which a test does not step.
            outcome.code = code::ERROR;
        }
        (act.takes.map(|takes| act.start_after + takes), outcome)
    }

    /// Returns `scope/taskName` of the called task, from the journal.
    fn path(&self, invocation: &Invocation) -> String {
        let load = pin!(self.store.load(&invocation.run_id));
        let Poll::Ready(records) = load.poll(&mut Context::from_waker(Waker::noop())) else {
            unreachable!("a store in memory answers at once")
        };
        let run = journal::replay(&invocation.run_id, &records.unwrap(), |_, _, _, _| {}).unwrap();
        let mut named = tasks_named(&run, &invocation.task_run_id);
        named.next().map(|task| run.path(task)).unwrap_or_default()
    }
}

impl Executor for Stage {
    fn execute(
        &self,
        invocation: Invocation,
        observer: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let number = invocation.task_run_id.rsplit('-').next().unwrap_or_default().to_owned();
        let call = (number, invocation.attempt, invocation.dispatch);
        observer.log(Level::Info, "begins");
        let (takes, outcome) = self.act(&call, &invocation);
        // Pure guests have mostly computed everything by the time that they are polled again.
        let is_quick = takes.is_some_and(|takes| takes < QUICK);
        if is_quick && self.is_pure(&invocation.namespace, &invocation.executor_type) {
            self.attempts.lock().unwrap().calls += 1;
            return Box::pin(std::future::ready(outcome));
        }
        let now = self.time.elapsed();
        let (sender, ends) = oneshot::channel();
        let mut attempts = self.attempts.lock().unwrap();
        attempts.calls += 1;
        let count = attempts.calls;
        let end = *attempts.ends.entry(call.clone()).or_insert_with(|| takes.map(|takes| now + takes));
        if let Some(end) = end {
            attempts.open.insert((end.max(now), call, count), sender);
            drop(attempts);
            return Box::pin(async move {
                // Without a result the future is never polled again.
                if ends.await.is_err() {
                    std::future::pending::<()>().await;
                }
                outcome
            });
        }
        drop(attempts);
        Box::pin(std::future::pending())
    }

    /// By chance too. A scenario has to find in the journal who is called.
    fn is_pure(&self, _: &Arc<str>, executor_type: &str) -> bool {
        match self.play {
            Play::Seed(seed) => executor_type.bytes().fold(seed, |sum, byte| sum + u64::from(byte)) % 3 > 0,
            Play::Scenario(_) => false,
        }
    }
}
