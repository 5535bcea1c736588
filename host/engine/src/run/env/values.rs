//! Members of what expressions see.

use std::sync::Arc;

use super::{Judged, Path};
use crate::{
    event::{Facts, Outputs},
    outcome::Output,
    phase::Phase,
    plan::Plan,
    run::state::TaskRun,
    value::{Map, Value},
};

pub(in crate::run) fn workflow_member(
    plan: &Plan,
    id: &Arc<str>,
    phase: Phase,
    parameters: &Arc<Map>,
    path: Path<'_>,
) -> Value {
    let Some((first, rest)) = path.split_first() else { return Value::Null };
    match (first.as_ref(), rest) {
        ("name", []) => plan.name.clone().into(),
        ("namespace", []) => plan.namespace.clone().into(),
        ("id", []) => id.clone().into(),
        ("phase", []) => phase.as_str().into(),
        ("parameters", rest) => member_of(parameters, rest),
        ("arguments", [key, rest @ ..]) if key.as_ref() == "parameters" => member_of(parameters, rest),
        ("labels", [label, rest @ ..]) => {
            plan.labels.get(label).map_or(Value::Null, |value| walk(value, rest))
        }
        _ => Value::Null,
    }
}

pub(in crate::run) fn system_member(facts: &Facts, path: Path<'_>) -> Value {
    match path {
        [key] if key.as_ref() == "os" => facts.os.clone().into(),
        [key] if key.as_ref() == "arch" => facts.arch.clone().into(),
        _ => Value::Null,
    }
}

pub(in crate::run) fn walk(value: &Value, path: Path<'_>) -> Value {
    path.iter().try_fold(value, |value, key| value.member(key)).cloned().unwrap_or_default()
}

pub(in crate::run) fn member_of(map: &Arc<Map>, path: Path<'_>) -> Value {
    match path.split_first() {
        None => Value::Object(Arc::clone(map)),
        Some((key, rest)) => map.get(key).map_or(Value::Null, |value| walk(value, rest)),
    }
}

/// `tasks.<name>.…`: phase, code, msg, retries, outputs.parameters.
pub(in crate::run) fn result_member(result: &Judged, path: Path<'_>) -> Value {
    let Some((key, rest)) = path.split_first() else { return result_members(result).into() };
    let value = match key.as_ref() {
        "phase" => result.phase.as_str().into(),
        "code" => result.code.map_or(Value::Null, |code| i64::from(code).into()),
        "msg" => result.message.clone().into(),
        "retries" => i64::from(result.retries).into(),
        "outputs" => return outputs_member(&result.outputs, rest),
        _ => return Value::Null,
    };
    walk(&value, rest)
}

/// All that [`result_member`] knows.
pub(in crate::run) fn result_members(result: &Judged) -> Map {
    let keys = ["phase", "code", "msg", "retries", "outputs"].map(Arc::<str>::from);
    keys.iter().map(|key| (key.clone(), result_member(result, std::slice::from_ref(key)))).collect()
}

/// `tasks.<body>` of a loop without iterations.
pub(in crate::run) fn only_outputs(outputs: &Outputs, path: Path<'_>) -> Value {
    match path.split_first() {
        None => Map::from([("outputs".into(), outputs_member(outputs, &[]))]).into(),
        Some((key, rest)) if key.as_ref() == "outputs" => outputs_member(outputs, rest),
        Some(_) => Value::Null,
    }
}

pub(in crate::run) fn task_member(task: &TaskRun, path: Path<'_>) -> Value {
    result_member(&seen(task), path)
}

/// A task run as others see it.
pub(in crate::run) fn seen(task: &TaskRun) -> Judged {
    Judged {
        phase: task.phase,
        code: task.code,
        message: task.message.clone(),
        outputs: task.outputs.clone(),
        retries: task.retries(),
        ..Judged::default()
    }
}

/// Outputs as an object of name and value; of equal names the last wins.
pub(in crate::run) fn named(outputs: &[Output]) -> Value {
    outputs.iter().map(|output| (output.name.clone(), output.value.clone())).collect::<Map>().into()
}

/// `outputs.parameters.x`; where nothing else can be meant also `outputs.x`.
pub(in crate::run) fn outputs_member(outputs: &[Output], path: Path<'_>) -> Value {
    let path = match path.split_first() {
        None => return Map::from([("parameters".into(), named(outputs))]).into(),
        Some((key, rest)) if key.as_ref() == "parameters" => rest,
        Some(_) => path,
    };
    let Some((name, rest)) = path.split_first() else { return named(outputs) };
    outputs
        .iter()
        .rfind(|output| output.name == *name)
        .map_or(Value::Null, |output| walk(&output.value, rest))
}
