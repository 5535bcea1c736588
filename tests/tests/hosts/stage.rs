//! Where attempts are executed: each ends when the house says so.

use std::{
    collections::{BTreeMap, HashMap},
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
};

use phasm::{
    Outcome,
    clock::TimeSource as _,
    engine::time::Millis,
    executor::{Executor, Invocation, Observer},
};
use phasm_tests::stepped::Stepped;
use tokio::sync::oneshot;

use super::random::Random;

/// One dispatch of a run: task run, attempt, dispatch.
pub(crate) type Call = (String, u32, u32);

#[derive(Default)]
struct Attempts {
    /// When the first that executed a call will have ended.
    ends: HashMap<Call, Option<Millis>>,
    /// Those who execute a call, by when it ends; the first to be asked is the first to answer.
    open: BTreeMap<(Millis, Call, u64), oneshot::Sender<()>>,
    calls: u64,
}

/// What all hosts of a house execute on.
pub(crate) struct Stage {
    seed: u64,
    time: Arc<Stepped>,
    attempts: Mutex<Attempts>,
}

impl Stage {
    pub(crate) fn new(seed: u64, time: Arc<Stepped>) -> Self {
        Self { seed, time, attempts: Mutex::default() }
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

    /// How a call ends is chance, but the same whoever executes it, and however often.
    fn act(&self, call: &Call, task: &str) -> (Option<Millis>, Outcome) {
        let mut seed = self.seed;
        for byte in call.0.bytes().chain(call.1.to_le_bytes()).chain(call.2.to_le_bytes()) {
            seed = (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let act = Random(seed).answer(task, call.1);
        (act.takes.map(|takes| act.start_after + takes), act.outcome)
    }
}

impl Executor for Stage {
    fn execute(
        &self,
        invocation: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let number = invocation.task_run_id.rsplit('-').next().unwrap_or_default().to_owned();
        let call = (number, invocation.attempt, invocation.dispatch);
        let (takes, outcome) = self.act(&call, &invocation.task);
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
                // Whoever is never told is never asked again.
                if ends.await.is_err() {
                    std::future::pending::<()>().await;
                }
                outcome
            });
        }
        drop(attempts);
        Box::pin(std::future::pending())
    }
}
