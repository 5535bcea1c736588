//! The invariants after every step of every run, told from the events and the state alone.

use std::collections::BTreeMap;

use phasm_engine::{
    event::{Event, Fence, PhaseChange, PolicyEvaluation, Reason, TaskId, TimeLimit},
    phase::{Phase, TaskKind},
    plan::{MaxAttempts, Recovery, RuleAction, TemplateKind, Tolerance, Verdict, Work},
    run::{Run, TaskRun},
    time::Timestamp,
};
use phasm_tests::world::World;

use super::random::Random;

/// The history of a run so far.
#[derive(Default)]
pub(crate) struct Watch {
    records: usize,
    dispatches: usize,
    phases: BTreeMap<TaskId, Phase>,
    clocks: BTreeMap<TaskId, [Option<Timestamp>; 2]>,
    /// The last attempt that ended.
    ended: BTreeMap<TaskId, u32>,
    last: BTreeMap<TaskId, Fence>,
    verdicts: BTreeMap<TaskId, Verdict>,
    timed_out: BTreeMap<TaskId, TimeLimit>,
    /// How often each hook was fired.
    hooks: BTreeMap<(TaskId, &'static str), u32>,
}

type Checked = Result<(), String>;

impl Watch {
    /// Checks everything that was recorded and asked for since the last time.
    pub(crate) fn look(&mut self, world: &World<Random>) -> Checked {
        for (_, events) in world.journal.iter().skip(self.records) {
            for event in events {
                self.event(&world.run, event).map_err(|error| format!("{error} ({event:?})"))?;
            }
        }
        self.records = world.journal.len();
        for dispatch in world.dispatched.iter().skip(self.dispatches) {
            self.dispatched(&world.run, dispatch.fence)?;
        }
        self.dispatches = world.dispatched.len();
        self.clocks_stand(&world.run)?;
        self.agrees(&world.run)
    }

    fn event(&mut self, run: &Run, event: &Event) -> Checked {
        match event {
            Event::Phase(change) => self.phase(run, change),
            Event::PolicyEvaluated(evaluated) => {
                let PolicyEvaluation { fence, verdict, .. } = evaluated.as_ref();
                self.verdicts.insert(fence.task, *verdict);
                Ok(())
            }
            Event::TimedOut(task, clock) => {
                self.timed_out.insert(*task, *clock);
                Ok(())
            }
            Event::AttemptEnded(ended) => {
                let Fence { task, attempt, .. } = ended.fence;
                match self.ended.insert(task, attempt) {
                    Some(last) if last >= attempt => Err("an attempt ended twice".to_owned()),
                    Some(_) | None => Ok(()),
                }
            }
            Event::HookFired(fired) => {
                let times = self.hooks.entry((fired.of, fired.kind.as_str())).or_default();
                *times += 1;
                let again = ["onSuspend", "onResume"].contains(&fired.kind.as_str());
                // The root's own hooks and those of the run may both be fired once.
                let most = if fired.of == TaskId::ROOT { 2 } else { 1 };
                if again || *times <= most { Ok(()) } else { Err("a hook was fired twice".to_owned()) }
            }
            Event::Submitted(_)
            | Event::RunPhase(_)
            | Event::CancelRequested
            | Event::CancelRequestedBy(_)
            | Event::TaskCancelRequested(..)
            | Event::ScopeOpened(_)
            | Event::Repeated(_)
            | Event::Reused(_)
            | Event::AttemptStarted(_)
            | Event::Resumed(..)
            | Event::RetryScheduled(_)
            | Event::TaskEnded(..)
            | Event::Metered(..)
            | Event::Held(_)
            | Event::HookFailed(_)
            | Event::Warning(_) => Ok(()),
            Event::Broken(message) => Err(message.to_string()),
        }
    }

    fn phase(&mut self, run: &Run, change: &PhaseChange) -> Checked {
        let known = self.phases.insert(change.task, change.to).unwrap_or(Phase::Created);
        if known != change.from {
            return Err(format!("it was {known}"));
        }
        let task = run.task(change.task).ok_or("no such task run")?;
        if !edges(run.kind(task)).iter().any(|(from, to)| *from == change.from && to.contains(&change.to)) {
            return Err("no such edge (R-P2)".to_owned());
        }
        if change.to.is_terminal() && run.kind(task) == TaskKind::Container {
            self.container_ended(run, task)?;
        }
        Ok(())
    }

    /// All children have ended, and the phase is that of R-S4.
    fn container_ended(&self, run: &Run, task: &TaskRun) -> Checked {
        if run.scope(task).is_none() {
            return Ok(());
        }
        let children: Vec<&TaskRun> = run.children(task).collect();
        if let Some(open) = children.iter().find(|child| !child.phase.is_terminal()) {
            return Err(format!("{} ended before {}", run.path(task), run.path(open)));
        }
        let settings = &run.node(task).settings;
        let conditions = settings.phase_conditions.in_order().next().is_some();
        // Other rules than that of the children: a clock, an action from outside, an error of the container's own.
        let outside = self.timed_out.contains_key(&task.id)
            || matches!(
                task.reason,
                Some(
                    Reason::User
                        | Reason::ScopeFailed
                        | Reason::ScopeTimeout
                        | Reason::WorkflowTimeout
                        | Reason::MaxJumps
                )
            )
            || (task.phase == Phase::Error
                && (task.message.starts_with("repeatCondition")
                    || task.message.starts_with("the run would")))
            || (task.phase == Phase::Timeout && task.id == TaskId::ROOT);
        if conditions || outside {
            return Ok(());
        }
        let worst =
            children.iter().filter_map(|child| self.failure(run, child)).max_by_key(|phase| severity(*phase));
        let expected = worst.unwrap_or(Phase::Succeeded);
        if task.phase == expected {
            return Ok(());
        }
        Err(format!("{} is {}, and its children give {expected} (R-S4)", run.path(task), task.phase))
    }

    /// The phase of a child that counts as a failure without a tolerance (R-S2, R-S3).
    fn failure(&self, run: &Run, child: &TaskRun) -> Option<Phase> {
        if self.verdicts.get(&child.id).is_some_and(|verdict| verdict.tolerates()) {
            return None;
        }
        let Tolerance { failed, error, timeout } = run.node(child).settings.continue_on;
        let tolerated = match (child.phase, child.reason) {
            (Phase::Failed, _) => failed,
            (Phase::Error, _) => error,
            (Phase::Timeout, _) | (Phase::Cancelled, Some(Reason::TimeoutPolicy)) => timeout,
            (Phase::Cancelled, Some(Reason::User)) => false,
            _ => true,
        };
        (!tolerated).then_some(child.phase)
    }

    /// Nothing is dispatched after its end, or under numbers that were used before (R-R11).
    fn dispatched(&mut self, run: &Run, fence: Fence) -> Checked {
        let task = run.task(fence.task).ok_or("a dispatch of no task run")?;
        let path = run.path(task);
        if task.fence() == fence && task.phase.is_terminal() && task.finished_at < Some(run.now()) {
            return Err(format!("{path} is dispatched after its end"));
        }
        match self.last.insert(fence.task, fence) {
            Some(last) if (last.attempt, last.dispatch) > (fence.attempt, fence.dispatch) => {
                Err(format!("{path}: {fence:?} after {last:?}"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Deadlines never move (R-T2).
    fn clocks_stand(&mut self, run: &Run) -> Checked {
        for task in run.tasks() {
            let now = [task.clocks.timeout, task.clocks.deadline];
            let known = self.clocks.entry(task.id).or_insert(now);
            if known.iter().zip(now).any(|(known, now)| known.is_some() && *known != now) {
                return Err(format!("a clock of {} moved from {known:?} to {now:?}", run.path(task)));
            }
            *known = now;
        }
        Ok(())
    }

    /// The counts that a run keeps are those of its task runs.
    fn agrees(&self, run: &Run) -> Checked {
        let leaves =
            || run.tasks().iter().filter(|task| task.hook.is_none() && run.kind(task) == TaskKind::Leaf);
        let count = |holds: &dyn Fn(&TaskRun) -> bool| leaves().filter(|task| holds(task)).count();
        let in_flight = count(&|task| task.in_flight());
        if in_flight != run.in_flight() as usize {
            return Err(format!("{in_flight} are in flight, not {}", run.in_flight()));
        }
        let (done, all) = (count(&|task| task.phase.is_terminal()), count(&|_| true));
        if (done, all) != (run.progress().done as usize, run.progress().total as usize) {
            return Err(format!("{done} of {all} have ended, not {}", run.progress()));
        }
        for task in run.tasks() {
            if most_attempts(run, task).is_some_and(|most| task.attempt > most) {
                return Err(format!("{} is in attempt {}", run.path(task), task.attempt));
            }
            let jumps =
                run.scope(task).and_then(|scope| scope.pipeline()).map_or(0, |progress| progress.jumps);
            if jumps > most_jumps(run, task) {
                return Err(format!("{} jumped {jumps} times", run.path(task)));
            }
        }
        if run.plan().parallelism.is_some_and(|most| run.in_flight() > most + resumed(run)) {
            return Err("spec.parallelism is exceeded (R-S11)".to_owned());
        }
        Ok(())
    }
}

/// A resume is no dispatch from Created, and may exceed a limit.
fn resumed(run: &Run) -> u32 {
    u32::try_from(run.tasks().iter().filter(|task| task.in_flight() && task.resumed).count())
        .unwrap_or(u32::MAX)
}

fn severity(phase: Phase) -> u8 {
    match phase {
        Phase::Error => 4,
        Phase::Timeout => 3,
        Phase::Failed => 2,
        Phase::Cancelled => 1,
        Phase::Created
        | Phase::Ready
        | Phase::Running
        | Phase::Suspended
        | Phase::Succeeded
        | Phase::Skipped => 0,
    }
}

/// R-P2, written down a second time.
fn edges(kind: TaskKind) -> &'static [(Phase, &'static [Phase])] {
    use Phase::{Cancelled, Created, Error, Failed, Ready, Running, Skipped, Succeeded, Suspended, Timeout};
    match kind {
        TaskKind::Leaf => &[
            (Created, &[Ready, Skipped, Cancelled, Error]),
            (Ready, &[Running, Created, Succeeded, Failed, Error, Timeout, Cancelled]),
            (Running, &[Suspended, Created, Succeeded, Failed, Error, Timeout, Cancelled]),
            (Suspended, &[Running, Created, Succeeded, Failed, Error, Timeout, Cancelled]),
        ],
        TaskKind::Container => &[
            (Created, &[Ready, Succeeded, Failed, Error, Timeout, Skipped, Cancelled]),
            (Ready, &[Running, Succeeded, Failed, Error, Timeout, Cancelled]),
            (Running, &[Succeeded, Failed, Error, Timeout, Cancelled]),
        ],
        TaskKind::Wrapper => &[
            (Created, &[Ready, Succeeded, Failed, Error, Timeout, Skipped, Cancelled]),
            (Ready, &[Running, Created, Succeeded, Failed, Error, Timeout, Cancelled]),
            (Running, &[Created, Succeeded, Failed, Error, Timeout, Cancelled]),
        ],
    }
}

/// The most attempts that a task run can have; none where there is no limit.
fn most_attempts(run: &Run, task: &TaskRun) -> Option<u32> {
    let node = run.node(task);
    let limit = |attempts: MaxAttempts| match attempts {
        MaxAttempts::Unlimited => None,
        MaxAttempts::Limited(most) => Some(most),
    };
    match &node.settings.recovery {
        None => Some(1),
        Some(Recovery::Retry(retry)) => limit(retry.max_attempts),
        Some(Recovery::Policy(policy)) => policy
            .rules
            .iter()
            .map(|rule| match rule.action {
                RuleAction::Retry { attempts, .. } => limit(attempts),
                RuleAction::Continue | RuleAction::Jump(_) | RuleAction::Break | RuleAction::Fail => Some(1),
            })
            .try_fold(1, |most, attempts| Some(most.max(attempts?))),
    }
}

fn most_jumps(run: &Run, task: &TaskRun) -> u32 {
    let Work::Container(template) = run.node(task).work else { return 0 };
    match run.plan().kind(template) {
        Some(TemplateKind::Pipeline(pipeline)) => pipeline.max_jumps,
        Some(
            TemplateKind::Task | TemplateKind::Wrapper(_) | TemplateKind::Dag(_) | TemplateKind::Loop(_),
        )
        | None => 0,
    }
}

/// Whether everything has ended.
pub(crate) fn at_the_end(run: &Run) -> Checked {
    if !run.phase().is_terminal() {
        return Err("nothing more will happen, and the run is open".to_owned());
    }
    if let Some(open) = run.tasks().iter().find(|task| !task.phase.is_terminal()) {
        return Err(format!("the run has ended, and {} is {}", run.path(open), open.phase));
    }
    if run.next_wait().is_some() {
        return Err("the run has ended, and waits for something".to_owned());
    }
    Ok(())
}
