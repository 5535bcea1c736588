//! Why a task run is in its phase: the rule, the condition or the clock that decided, in a sentence.

use phasm::{
    Phase,
    engine::{
        event::Reason,
        plan::{Node, Recovery, RuleMatch, Verdict},
        run::{Run, TaskRun, Waiting, WaitsFor},
        text,
    },
};

use super::format;

/// The sentence, as of the run's latest instant.
pub(super) fn why(run: &Run, task: &TaskRun, rule: Option<(RuleMatch, u32)>) -> String {
    let node = run.node(task);
    if let Some(of) = run.rerun_of().filter(|_| task.reused) {
        return format!(
            "It succeeded in the run {of} already, of which this is a rerun; nothing was executed."
        );
    }
    if let Some(waiting) = run.waiting(task) {
        return waits(run, task, &waiting);
    }
    match task.phase {
        Phase::Created => before(run, task),
        Phase::Ready => "Dispatched; its executor is about to start.".to_owned(),
        Phase::Running => running(run, task),
        Phase::Suspended => "Waiting for approval.".to_owned(),
        Phase::Skipped => skipped(task, node),
        Phase::Succeeded | Phase::Failed | Phase::Error | Phase::Timeout | Phase::Cancelled => {
            ended(run, task, node, rule)
        }
    }
}

fn waits(run: &Run, task: &TaskRun, waiting: &Waiting) -> String {
    let since = text::elapsed(run.now().since(waiting.since));
    match (waiting.what, &waiting.at) {
        (WaitsFor::Answer, _) => {
            let end = task.clocks.absolute();
            let end = end.map(|at| format!(" Expires at {}.", format::instant(at))).unwrap_or_default();
            format!("Waiting for approval.{end}")
        }
        (WaitsFor::Retry, _) => {
            let until = waiting.until.map(format::instant).unwrap_or_default();
            let (last, next) = (task.attempt, task.attempt + 1);
            format!("Attempt {last} did not succeed. Attempt {next} starts after the delay, at {until}.")
        }
        (WaitsFor::Parallelism, Some(at)) if !at.is_empty() => {
            format!("Waiting for a free place in {at}: its parallelism limit is reached.")
        }
        (WaitsFor::Parallelism, _) => {
            "Waiting for a free place: the limit `spec.parallelism` is reached.".to_owned()
        }
        (WaitsFor::Slot, _) => format!("Ready, and waiting for a slot of the host for {since}."),
        (WaitsFor::Quota, _) => "Ready, but its tenant's quota of running attempts is used up.".to_owned(),
        (WaitsFor::Start, _) => "Dispatched; its executor is about to start.".to_owned(),
    }
}

/// Not begun, and nothing that it waits for but others.
fn before(run: &Run, task: &TaskRun) -> String {
    let Some(parent) = run.parent(task) else { return "Nothing of it has begun.".to_owned() };
    let node = run.node(task);
    let siblings = run.children(parent);
    let open: Vec<_> = siblings
        .enumerate()
        .filter(|(at, before)| node.dependencies.contains(at) && !before.phase.is_terminal())
        .map(|(_, before)| run.label(before))
        .take(5)
        .collect();
    if open.is_empty() {
        return "Tasks that it depends on have not ended yet.".to_owned();
    }
    format!(
        "It begins when {} ended; it depends on {}.",
        if open.len() == 1 { "this has" } else { "these have" },
        open.join(", ")
    )
}

fn running(run: &Run, task: &TaskRun) -> String {
    if run.children(task).len() > 0 {
        return "Its tasks are still running.".to_owned();
    }
    let limits = [
        (task.clocks.max_runtime, "maxRuntime"),
        (task.clocks.timeout, "timeout"),
        (task.clocks.deadline, "deadline"),
    ];
    let first = limits.into_iter().filter_map(|(at, name)| Some((at?, name))).min();
    let end =
        first.map(|(at, name)| format!(" `{name}` ends it at {}.", format::instant(at))).unwrap_or_default();
    format!("Attempt {} is running.{end}", task.attempt)
}

fn skipped(task: &TaskRun, node: &Node) -> String {
    match (task.reason, &node.when) {
        (Some(Reason::When), Some(when)) => format!("Its `when` was false: {}", when.source()),
        (Some(Reason::MaxAttempts0), _) => "It may be tried 0 times (`maxAttempts`).".to_owned(),
        (Some(Reason::NotReached), _) => "Its pipeline ended before it was reached.".to_owned(),
        _ => "It was passed over.".to_owned(),
    }
}

fn ended(run: &Run, task: &TaskRun, node: &Node, rule: Option<(RuleMatch, u32)>) -> String {
    let mut parts = vec![by_clock(run, task).or_else(|| by_reason(task))];
    if parts.iter().all(Option::is_none) {
        parts = vec![Some(by_outcome(run, task, node))];
    }
    parts.push(by_rule(node, rule, task));
    parts.push(run.not_retried(task).map(|why| format!("Not retried: {why}.")));
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The clock that ended it, whatever phase that led to.
fn by_clock(run: &Run, task: &TaskRun) -> Option<String> {
    let clock = run.exceeded(task)?;
    let policy = if task.phase == Phase::Cancelled { " Its policy ends the task as Cancelled." } else { "" };
    Some(format!("Timed out: {clock}.{policy}"))
}

fn by_reason(task: &TaskRun) -> Option<String> {
    Some(match task.reason? {
        Reason::User => "Cancelled by a user.".to_owned(),
        Reason::ScopeFailed => {
            "Not started because another task of its scope had failed, and the scope fails fast.".to_owned()
        }
        Reason::ScopeTimeout => "Timed out: its scope exceeded its `timeout`.".to_owned(),
        Reason::WorkflowTimeout => "Timed out: the run exceeded `spec.timeout`.".to_owned(),
        Reason::TimeoutPolicy | Reason::Deadline | Reason::MaxRuntime | Reason::MaxInactivity => {
            "Timed out.".to_owned()
        }
        Reason::PolicyFail => "A rule said `fail`.".to_owned(),
        Reason::MaxJumps => "Its pipeline had jumped as often as it may.".to_owned(),
        Reason::RetryExhausted => {
            format!("All {} attempts are used up; {}", task.attempt, last_result(task))
        }
        Reason::When | Reason::MaxAttempts0 | Reason::NotReached | Reason::Reused => return None,
    })
}

fn last_result(task: &TaskRun) -> String {
    match task.code {
        Some(code) => format!("the last returned code {code}."),
        None => "the last returned nothing.".to_owned(),
    }
}

fn by_outcome(run: &Run, task: &TaskRun, node: &Node) -> String {
    let computed = task.code.map(phase_of);
    let condition = node.settings.phase_conditions.in_order().find(|(phase, _)| *phase == task.phase);
    if let (Some((phase, condition)), true) = (condition, computed != Some(task.phase)) {
        let (name, source) = (phase.as_str().to_lowercase(), condition.expr.source());
        return format!("`phaseConditions.{name}` held: {source}");
    }
    if run.children(task).len() > 0 {
        if task.phase == Phase::Succeeded {
            let remarks = run.remarks(task);
            return if remarks.is_empty() {
                "All of its tasks succeeded.".to_owned()
            } else {
                format!("It succeeded although {}.", remarks.join(", "))
            };
        }
        return format!("The worst in it that was not tolerated is {}.", task.phase);
    }
    match task.code {
        Some(code) => format!("Attempt {} returned code {code}, which means {}.", task.attempt, task.phase),
        None => "No attempt returned anything.".to_owned(),
    }
}

/// The phase that a code means without conditions.
fn phase_of(code: i32) -> Phase {
    match code {
        0 => Phase::Succeeded,
        1 => Phase::Suspended,
        2 => Phase::Failed,
        4 => Phase::Timeout,
        _ => Phase::Error,
    }
}

fn by_rule(node: &Node, rule: Option<(RuleMatch, u32)>, task: &TaskRun) -> Option<String> {
    let (rule, attempt) = rule?;
    let Some(Recovery::Policy(policy)) = &node.settings.recovery else { return None };
    let verdict = task.verdict.map_or("", Verdict::as_str);
    Some(match rule {
        RuleMatch::Rule(index) => {
            let rule = usize::try_from(index).ok().and_then(|index| policy.rules.get(index));
            let when = rule.and_then(|rule| rule.when.as_ref()).map(|when| when.source().to_owned());
            let when = when.map(|when| format!(" ({when})")).unwrap_or_default();
            format!("After attempt {attempt} rule {}{when} decided: {verdict}.", index + 1)
        }
        RuleMatch::Else => format!("After attempt {attempt} the rule `else` decided: {verdict}."),
        RuleMatch::Default => format!("No rule matched attempt {attempt}."),
    })
}
