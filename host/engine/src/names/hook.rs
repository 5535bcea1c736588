//! `hook`: what fired the hook.

use super::{Members, Root, RunContext, Shape, walk};
use crate::value::{Map, Value};

pub(super) static HOOK: Root = Root {
    name: "hook",
    visible: |sees| sees.hook,
    shape: Shape::Object(&[
        ("type", Shape::Text),
        ("workflow", Shape::Object(&[("name", Shape::Text), ("id", Shape::Any), ("phase", Shape::Phase)])),
        (
            "task",
            Shape::Object(&[
                ("name", Shape::Text),
                ("phase", Shape::Phase),
                ("code", Shape::Integer),
                ("msg", Shape::Any),
                ("resumedBy", Shape::Text),
                ("outputs", Shape::Any),
            ]),
        ),
    ]),
    hint: "only the arguments and `when` of a hook see it; pass the value as an argument",
    value,
};

fn value(run: &dyn RunContext, path: Members<'_>) -> Value {
    let Some(firing) = run.firing() else { return Value::Null };
    if let [task, outputs, rest @ ..] = path
        && (task.as_ref(), outputs.as_ref()) == ("task", "outputs")
    {
        return firing.seen.output(rest);
    }
    let run = run.workflow();
    let workflow = Map::from([
        ("name".into(), run.name.clone().into()),
        ("id".into(), run.id.clone().into()),
        ("phase".into(), run.phase.as_str().into()),
    ]);
    let mut task = firing.seen.members();
    task.insert("name".into(), firing.task.into());
    let hook = Map::from([
        ("type".into(), firing.hook.as_str().into()),
        ("workflow".into(), workflow.into()),
        ("task".into(), task.into()),
    ]);
    walk(&hook.into(), path)
}
