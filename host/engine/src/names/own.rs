//! `_task` and `_attempt`: the task's own name, and the number of its attempt from 1.

use super::{Root, Shape, walk};
use crate::value::Value;

pub(super) static TASK: Root = Root {
    name: "_task",
    shape: Shape::Text,
    value: |run, path| run.own().map_or(Value::Null, |(name, _)| walk(&name.into(), path)),
    ..OWN
};

pub(super) static ATTEMPT: Root = Root {
    name: "_attempt",
    shape: Shape::Integer,
    value: |run, path| run.own().map_or(Value::Null, |(_, n)| walk(&i64::from(n).into(), path)),
    ..OWN
};

const OWN: Root = Root { visible: |sees| sees.task, ..super::PIPELINE };
