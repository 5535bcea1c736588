//! `children`: how many children a container has, and in which phases.

use super::{Root, Shape};
use crate::value::Value;

pub(super) static CHILDREN: Root = Root {
    name: "children",
    visible: |sees| sees.children,
    shape: Shape::Object(&[
        ("total", Shape::Integer),
        ("succeeded", Shape::Integer),
        ("failed", Shape::Integer),
        ("error", Shape::Integer),
        ("timeout", Shape::Integer),
        ("skipped", Shape::Integer),
        ("cancelled", Shape::Integer),
    ]),
    hint: "only outputs and phaseConditions of dags, loops and pipelines see it",
    value: |run, path| match path {
        [name] => run.children(name).map_or(Value::Null, Value::from),
        _ => Value::Null,
    },
};
