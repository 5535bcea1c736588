//! Another attempt, or none: retry in the spellings of Aether and Steep.

use super::{Decider, attempt::NextStep, env::AttemptResult, env::TaskEnv};
use crate::{
    event::{Event, Reason, RetrySchedule},
    expr::Doubts,
    phase::Phase,
    plan::{Condition, MaxAttempts, RetryFilter, RetryPolicy},
    run::state::{TaskIndex, TaskRun},
    time::Millis,
};

impl Decider<'_> {
    pub(super) fn decide_by_retry(
        &mut self,
        id: TaskIndex,
        policy: &RetryPolicy,
        judged: &AttemptResult,
    ) -> NextStep {
        if self.may_try_again(id, policy.max_attempts) && self.filter_allows(id, policy, judged) {
            return NextStep::Retry(self.delay(id, policy));
        }
        let exhausted = !policy.max_attempts.allows_another(self[id].attempt) && self[id].attempt > 1;
        NextStep::End(judged.phase, exhausted.then_some(Reason::RetryExhausted))
    }

    /// Whether the budget has another attempt: none once the task's `timeout` has passed (R-T2), and none after the first of an
    /// executor that was missing when the run was submitted (R-I6).
    pub(super) fn may_try_again(&self, id: TaskIndex, most: MaxAttempts) -> bool {
        let task = &self[id];
        let timed_out = task.clocks.timeout.is_some_and(|at| at <= self.now());
        let missing = self.plan().pinned(self.node(task)).is_some_and(|pinned| pinned.missing);
        most.allows_another(task.attempt) && !timed_out && !missing
    }

    /// Whether the policy's filter lets this result be tried again.
    fn filter_allows(&mut self, id: TaskIndex, policy: &RetryPolicy, judged: &AttemptResult) -> bool {
        let is_error = matches!(judged.phase, Phase::Error | Phase::Timeout);
        match &policy.filter {
            RetryFilter::ErrorOrTimeout => is_error,
            RetryFilter::Retryable => is_error && !judged.is_permanent(),
            RetryFilter::AnyFailure => is_error || judged.phase == Phase::Failed,
            RetryFilter::Expression(condition) => self.condition_allows(id, condition, judged),
        }
    }

    /// Evaluates the author's expression, which is only asked while there is a budget (R-R4).
    fn condition_allows(&mut self, id: TaskIndex, condition: &Condition, judged: &AttemptResult) -> bool {
        let view = TaskEnv { result: Some(judged), ..TaskEnv::new(self, &self[id], condition.level) };
        let mut doubts = Doubts::default();
        let answer = condition.expr.test(&view, &mut doubts);
        self.warn_doubts(id, doubts);
        match answer {
            Ok(again) => again,
            Err(error) => {
                self.warn(Some(id), "retry-expression", format!("no retry: retry.expression: {error}"));
                false
            }
        }
    }

    fn delay(&self, id: TaskIndex, policy: &RetryPolicy) -> Millis {
        let task = &self[id];
        let delay = with_jitter(policy.backoff.delay_after(task.attempt), policy.jitter, self.id(), task);
        pause(task, policy.backoff.capped(delay), policy.max_attempts)
    }

    pub(super) fn retry(&mut self, id: TaskIndex, delay_ms: Millis) {
        let (task, attempt, wake_at) = (id.into(), self[id].attempt + 1, self.now().after(delay_ms));
        self.emit(Event::RetryScheduled(RetrySchedule { task, attempt, delay_ms, wake_at }));
        if self[id].phase != Phase::Created {
            self.set_phase(id, Phase::Created, None, None);
        }
    }
}

/// Returns the pause before the next attempt: at least 1 ms where nothing else keeps attempts apart, that is without a budget
/// (R-R3) and after an attempt of a wrapper that dispatched nothing.
pub(super) fn pause(task: &TaskRun, delay: Millis, most: MaxAttempts) -> Millis {
    let apart = most != MaxAttempts::Unlimited && task.phase != Phase::Created;
    if apart { delay } else { delay.max(1) }
}

/// Adds a uniform fraction of `delay`, drawn from the run's id, the task run and the attempt: no two runs alike, yet
/// the engine stays a function. The delay chosen is recorded (R-R8).
fn with_jitter(delay: Millis, jitter: f64, run: &str, task: &TaskRun) -> Millis {
    if jitter <= 0.0 {
        return delay;
    }
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let seed = run.bytes().chain(task.id.0.to_le_bytes()).chain(task.attempt.to_le_bytes());
    for byte in seed {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    // FNV's high bits are weak; one round of mixing spreads them.
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^= hash >> 32;
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    let uniform = (hash >> 11) as f64 / (1_u64 << 53) as f64;
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates"
    )]
    let extra = (delay as f64 * jitter * uniform).round() as Millis;
    delay.saturating_add(extra).min(i64::MAX.unsigned_abs())
}
