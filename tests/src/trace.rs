//! A journal as people compare it: one short line an event.

use phasm_engine::{
    event::{Event, PhaseChange, PhaseData, PolicyEvaluation, Requester, Resumption, RetrySchedule, TaskId},
    plan::{RuleMatch, Verdict},
    run::Run,
    time::Timestamp,
};

/// Writes records as `<ms> <task> <what>` lines.
#[must_use]
pub fn trace(run: &Run, journal: &[(Timestamp, Vec<Event>)]) -> String {
    let mut text = String::new();
    for (time, events) in journal {
        for event in events {
            text.push_str(&format!("{:>7} {}\n", time.0, line(run, event)));
        }
    }
    text
}

fn line(run: &Run, event: &Event) -> String {
    let name = |id: &TaskId| run.task(*id).map(|task| run.path(task)).unwrap_or_default();
    match event {
        Event::Submitted(submitted) => format!("run submitted{}", by_whom(submitted.by.as_ref())),
        Event::RunPhase(phase) => format!("run {phase}"),
        Event::CancelRequested => "run cancel requested".to_owned(),
        Event::CancelRequestedBy(by) => format!("run cancel requested by {by}"),
        Event::TaskCancelRequested(task, by) => {
            format!("{} cancel requested{}", name(task), by_whom(by.as_ref()))
        }
        Event::Held(quota) => match quota {
            Some(quota) => format!("run waits for the quota of {}: {} running", quota.tenant, quota.running),
            None => "run waits for slots".to_owned(),
        },
        Event::ScopeOpened(opened) => {
            let items =
                opened.items.as_ref().map(|items| format!(" over {}", json(items))).unwrap_or_default();
            format!("{} opened {}{items}", name(&opened.task), json(&opened.inputs))
        }
        Event::Repeated(task) => format!("{} repeated", name(task)),
        Event::Reused(task) => reused(run, &name(task), *task),
        Event::Phase(change) => phase(&name(&change.task), change),
        Event::AttemptStarted(fence) => {
            format!("{}[{}] started dispatch {}", name(&fence.task), fence.attempt, fence.dispatch)
        }
        Event::AttemptEnded(ended) => {
            let (task, attempt) = (name(&ended.fence.task), ended.fence.attempt);
            let mut line = format!("{task}[{attempt}] ended {} code {}", ended.phase, ended.code);
            if !ended.message.is_empty() {
                line.push_str(&format!(" {:?}", ended.message));
            }
            if !ended.outputs.is_empty() {
                line.push_str(&format!(" {}", json(&ended.outputs)));
            }
            line
        }
        Event::Metered(fence, metered) => {
            format!("{}[{}] used {} µs", name(&fence.task), fence.attempt, metered.cpu_us)
        }
        Event::TimedOut(task, clock) => format!("{} timed out: {}", name(task), clock.as_str()),
        Event::Resumed(Resumption { task, payload, by }) => {
            format!("{} resumed {}{}", name(task), json(payload), by_whom(by.as_ref()))
        }
        Event::RetryScheduled(RetrySchedule { task, attempt, delay_ms, wake_at }) => {
            format!("{} retry: attempt {attempt} in {delay_ms} ms at {}", name(task), wake_at.0)
        }
        Event::TaskEnded(task, well) => format!("{} {}", name(task), if *well { "done" } else { "failed" }),
        Event::PolicyEvaluated(evaluated) => policy(&name(&evaluated.fence.task), evaluated),
        Event::HookFired(fired) => {
            format!(
                "{} fires {}: {} {}",
                name(&fired.of),
                fired.kind.as_str(),
                name(&fired.run),
                json(&fired.inputs)
            )
        }
        Event::HookFailed(failed) => {
            format!("{} {} failed: {}", name(&failed.of), failed.kind.as_str(), failed.message)
        }
        Event::Warning(warning) => {
            let task = warning.task.as_ref().map(name).unwrap_or_default();
            format!("{task} warning {}: {}", warning.code, warning.message)
        }
        Event::Broken(message) => format!("broken: {message}"),
    }
}

fn by_whom(by: Option<&Requester>) -> String {
    by.map(|by| format!(" by {by}")).unwrap_or_default()
}

fn reused(run: &Run, name: &str, id: TaskId) -> String {
    let of = run.rerun_of().map(AsRef::as_ref).unwrap_or_default();
    let outputs = run.task(id).map(|task| json(&task.outputs)).unwrap_or_default();
    format!("{name} reused of {of} {outputs}")
}

fn policy(name: &str, evaluated: &PolicyEvaluation) -> String {
    let rule = match evaluated.rule {
        RuleMatch::Rule(index) => index.to_string(),
        RuleMatch::Else => "else".to_owned(),
        RuleMatch::Default => "default".to_owned(),
    };
    let mut line = format!("{name}[{}] rule {rule}: {}", evaluated.fence.attempt, evaluated.verdict.as_str());
    match evaluated.verdict {
        Verdict::Retry { delay_ms: Some(delay), .. } => line.push_str(&format!(" in {delay} ms")),
        Verdict::Retry { delay_ms: None, .. } => line.push_str(", exhausted"),
        Verdict::Jump(to) => line.push_str(&format!(" to #{to}")),
        Verdict::Continue | Verdict::Break | Verdict::Fail => {}
    }
    for (what, values) in [("iter", &evaluated.iter), ("ctx", &evaluated.ctx)] {
        if !values.is_empty() {
            line.push_str(&format!(" {what} {}", json(values)));
        }
    }
    line
}

fn phase(name: &str, change: &PhaseChange) -> String {
    let mut line = format!("{name} {} -> {}", change.from, change.to);
    if let Some(reason) = change.reason {
        line.push_str(&format!(" ({})", reason.as_str()));
    }
    match change.with.as_deref() {
        Some(PhaseData::Bound { inputs, config }) => {
            if !inputs.is_empty() {
                line.push_str(&format!(" inputs {}", json(inputs)));
            }
            if config.as_object().is_some_and(|config| !config.is_empty()) {
                line.push_str(&format!(" config {config}"));
            }
        }
        Some(PhaseData::Partial { message, outputs } | PhaseData::Result { message, outputs }) => {
            if !message.is_empty() {
                line.push_str(&format!(" {message:?}"));
            }
            if !outputs.is_empty() {
                line.push_str(&format!(" {}", json(outputs)));
            }
        }
        Some(PhaseData::Refused { reason, by }) => {
            line.push_str(&format!(" refused {reason:?}{}", by_whom(by.as_ref())));
        }
        None => {}
    }
    line
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
