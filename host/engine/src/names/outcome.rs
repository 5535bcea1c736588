//! `outcome`: what policy rules judge. The names listed here win over the detail's own.

use std::sync::Arc;

use super::{
    AttemptFacts, Members, Root, RunContext, Shape, TaskResult,
    tasks::{LastAttempt, named},
    walk,
};
use crate::{
    phase::Phase,
    time::Millis,
    value::{Map, Value},
};

pub(super) static OUTCOME: Root = Root {
    name: "outcome",
    visible: |sees| sees.outcome,
    shape: Shape::Open(&[
        ("status", Shape::Words(&["ok", "error"])),
        ("phase", Shape::Phase),
        ("code", Shape::Integer),
        ("meta", Shape::Open(&[("attempt", Shape::Integer)])),
    ]),
    hint: "only policy rules see it",
    value,
};

const MEMBERS: [&str; 7] = ["status", "phase", "code", "msg", "result", "error", "meta"];

fn value(run: &dyn RunContext, path: Members<'_>) -> Value {
    let (Some(TaskResult { ran: Some(ran), outputs }), Some(attempt)) = (run.judged(), run.attempted())
    else {
        return Value::Null;
    };
    let member = |name: &str| match name {
        "status" => Some(if is_well(&ran) { "ok" } else { "error" }.into()),
        "phase" => Some(ran.phase.as_str().into()),
        "code" => Some(ran.code()),
        "msg" => Some(ran.message.clone().into()),
        "result" => Some(named(&outputs)),
        "error" => Some(error_of(&ran, &attempt)),
        "meta" => Some(meta_of(&attempt)),
        _ => None,
    };
    let Some((key, rest)) = path.split_first() else {
        let mut all = attempt.detail.as_object().cloned().unwrap_or_default();
        all.extend(MEMBERS.iter().filter_map(|name| Some((Arc::from(*name), member(name)?))));
        return all.into();
    };
    member(key).map_or_else(|| walk(attempt.detail, path), |value| walk(&value, rest))
}

fn is_well(ran: &LastAttempt) -> bool {
    ran.phase == Phase::Succeeded
}

/// The executor's `detail.error`, filled up with what is known anyway; null for what went well.
fn error_of(ran: &LastAttempt, attempt: &AttemptFacts<'_>) -> Value {
    if is_well(ran) {
        return Value::Null;
    }
    let told = attempt.detail.member("error").and_then(Value::as_object);
    let kind = if attempt.expired { "timeout".to_owned() } else { ran.phase.as_str().to_lowercase() };
    let mut error = Map::from([
        ("kind".into(), kind.into()),
        ("message".into(), ran.message.clone().into()),
        ("code".into(), ran.code()),
        ("retryable".into(), matches!(ran.phase, Phase::Error | Phase::Timeout).into()),
    ]);
    let told = told.into_iter().flatten().filter(|(_, value)| !value.is_null());
    error.extend(told.map(|(name, value)| (name.clone(), value.clone())));
    error.into()
}

fn meta_of(attempt: &AttemptFacts<'_>) -> Value {
    let duration = attempt.duration.map_or(Value::Null, millis);
    Map::from([("attempt".into(), i64::from(attempt.number).into()), ("duration_ms".into(), duration)]).into()
}

fn millis(millis: Millis) -> Value {
    i64::try_from(millis).unwrap_or(i64::MAX).into()
}
