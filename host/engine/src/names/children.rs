//! `children`: how many children a container has, in which phases, and how each of them ended.

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
        ("phases", Shape::Any),
        ("codes", Shape::Any),
        ("messages", Shape::Any),
    ]),
    hint: "only outputs and phaseConditions of dags, loops and pipelines see it",
    value: |run, path| match path {
        [name] => run.children(name).unwrap_or_default(),
        [list, index] => index
            .parse()
            .ok()
            .and_then(|at: usize| {
                let list = run.children(list)?;
                list.as_array()?.get(at).cloned()
            })
            .unwrap_or_default(),
        _ => Value::Null,
    },
};
