//! `loop`, and NoETL's words for it: the nearest iteration around the task.

use super::{Members, Root, RunContext, Shape, Visibility, walk};
use crate::value::{Map, Value};

const MEMBERS: &[(&str, Shape)] = &[("index", Shape::Integer), ("item", Shape::Any)];

pub(super) static LOOP: Root = Root { name: "loop", ..ROOT };

pub(super) static ITERATOR: Root = Root { name: "iterator", ..ROOT };

/// The item's fields are members of it too.
pub(super) static LOOP_ITER: Root = Root {
    name: "loop_iter",
    shape: Shape::Open(MEMBERS),
    value: |run, path| value(run, path, true),
    ..ROOT
};

const ROOT: Root = Root {
    name: "",
    visible,
    shape: Shape::Object(MEMBERS),
    hint: "only the body of a loop sees it",
    value: |run, path| value(run, path, false),
};

fn visible(sees: Visibility) -> bool {
    sees.iteration
}

/// The item, if `path` is one of its fields behind `loop_iter`.
pub(super) fn owner_of_field(run: &dyn RunContext, path: Members<'_>) -> Option<Value> {
    let [root, field] = path else { return None };
    let is_field = **root == *LOOP_ITER.name && MEMBERS.iter().all(|(name, _)| **field != **name);
    if is_field { run.iteration().map(|(_, item)| item) } else { None }
}

fn value(run: &dyn RunContext, path: Members<'_>, fields: bool) -> Value {
    let Some((index, item)) = run.iteration() else { return Value::Null };
    let index = Value::from(i64::from(index));
    match path.split_first() {
        None => Map::from([("index".into(), index), ("item".into(), item)]).into(),
        Some((key, rest)) if key.as_ref() == "index" => walk(&index, rest),
        Some((key, rest)) if key.as_ref() == "item" => walk(&item, rest),
        Some(_) if fields => walk(&item, path),
        Some(_) => Value::Null,
    }
}
