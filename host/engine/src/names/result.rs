//! `phase`, `code`, `msg`, `outputs`, `retries`: what is being judged, an attempt or a container.

use super::{Members, Root, RunContext, Shape, Visibility};
use crate::value::Value;

pub(super) static PHASE: Root = Root {
    name: "phase",
    visible: of_either,
    shape: Shape::Phase,
    value: |run, path| value(run, "phase", path),
    ..RESULT
};

pub(super) static CODE: Root =
    Root { name: "code", shape: Shape::Integer, value: |run, path| value(run, "code", path), ..RESULT };

pub(super) static MSG: Root = Root {
    name: "msg",
    visible: of_either,
    shape: Shape::Text,
    value: |run, path| value(run, "msg", path),
    ..RESULT
};

pub(super) static OUTPUTS: Root =
    Root { name: "outputs", visible: of_either, value: |run, path| value(run, "outputs", path), ..RESULT };

pub(super) static RETRIES: Root =
    Root { name: "retries", shape: Shape::Integer, value: |run, path| value(run, "retries", path), ..RESULT };

const RESULT: Root = Root {
    name: "",
    visible: |sees| sees.attempt,
    shape: Shape::Any,
    hint: "only phaseConditions and retry expressions see a finished attempt",
    value: |_, _| Value::Null,
};

/// Returns whether a name is visible that both attempts and containers have.
fn of_either(sees: Visibility) -> bool {
    sees.attempt || sees.container
}

fn value(run: &dyn RunContext, name: &str, path: Members<'_>) -> Value {
    run.judged().map_or(Value::Null, |judged| judged.get(name, path))
}
