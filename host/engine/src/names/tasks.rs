//! `tasks`: other tasks, and the own one where it has a result.

use std::sync::Arc;

use super::{Members, Root, Shape, walk};
use crate::{
    outcome::Output,
    phase::Phase,
    value::{Map, Value},
};

pub(super) static TASKS: Root = Root {
    name: "tasks",
    visible: |sees| sees.tasks,
    shape: Shape::Tasks,
    hint: "a template sees its own inputs only; pass the value as an argument",
    value: |run, path| match path.split_first() {
        Some((name, rest)) => run.task(name).map_or(Value::Null, |task| task.member(rest)),
        None => Value::Null,
    },
};

/// The members of each task.
pub(crate) const TASK: Shape = Shape::Object(&[
    ("phase", Shape::Phase),
    ("code", Shape::Integer),
    ("msg", Shape::Text),
    ("retries", Shape::Integer),
    ("resumedBy", Shape::Text),
    ("outputs", Shape::Object(&[("parameters", Shape::Outputs)])),
]);

/// A task as others see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskResult {
    /// Absent where nothing ran, and there are outputs all the same.
    pub(crate) ran: Option<LastAttempt>,
    pub(crate) outputs: Arc<Vec<Output>>,
}

/// The result of a task's last attempt.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastAttempt {
    pub(crate) phase: Phase,
    pub(crate) code: Option<i32>,
    pub(crate) message: Arc<str>,
    pub(crate) retries: u32,
    /// The caller whose response it has.
    pub(crate) resumed_by: Option<Arc<str>>,
}

const MEMBERS: [&str; 5] = ["phase", "code", "msg", "retries", "resumedBy"];

impl TaskResult {
    /// `tasks.<name>.…`: phase, code, msg, retries, resumedBy, outputs.parameters.
    pub(super) fn member(&self, path: Members<'_>) -> Value {
        match path.split_first() {
            Some((key, rest)) => self.get(key, rest),
            None => self.members().into(),
        }
    }

    /// The member `key`, and of that the member at `rest`.
    pub(super) fn get(&self, key: &str, rest: Members<'_>) -> Value {
        match (key, &self.ran) {
            ("outputs", _) => self.output(rest),
            (key, Some(ran)) => walk(&ran.member(key), rest),
            (_, None) => Value::Null,
        }
    }

    /// All that [`TaskResult::member`] knows.
    pub(super) fn members(&self) -> Map {
        let ran = self.ran.iter().flat_map(|ran| MEMBERS.map(|key| (Arc::from(key), ran.member(key))));
        ran.chain([("outputs".into(), self.output(&[]))]).collect()
    }

    /// `outputs.parameters.x`; where nothing else can be meant also `outputs.x`.
    pub(super) fn output(&self, path: Members<'_>) -> Value {
        let path = match path.split_first() {
            None => return Map::from([("parameters".into(), named(&self.outputs))]).into(),
            Some((key, rest)) if key.as_ref() == "parameters" => rest,
            Some(_) => path,
        };
        let Some((name, rest)) = path.split_first() else { return named(&self.outputs) };
        let found = self.outputs.iter().rfind(|output| output.name == *name);
        found.map_or(Value::Null, |output| walk(&output.value, rest))
    }
}

impl LastAttempt {
    pub(super) fn code(&self) -> Value {
        self.code.map_or(Value::Null, |code| i64::from(code).into())
    }

    fn member(&self, key: &str) -> Value {
        match key {
            "phase" => self.phase.as_str().into(),
            "code" => self.code(),
            "msg" => self.message.clone().into(),
            "retries" => i64::from(self.retries).into(),
            "resumedBy" => self.resumed_by.clone().map_or(Value::Null, Value::from),
            _ => Value::Null,
        }
    }
}

/// Outputs as an object of name and value; of equal names the last wins.
pub(super) fn named(outputs: &[Output]) -> Value {
    outputs.iter().map(|output| (output.name.clone(), output.value.clone())).collect::<Map>().into()
}
