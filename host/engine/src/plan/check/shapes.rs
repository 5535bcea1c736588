//! Members of the objects that expressions see (R-X9).

/// What a value holds, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// Anything.
    Any,
    /// Exactly these members.
    Object(&'static [(&'static str, Shape)]),
    /// `workflow.parameters`: what spec.arguments declares.
    Arguments,
    /// `inputs.parameters`: what is declared where the expression stands.
    Inputs,
    /// `tasks`: the tasks that are visible where the expression stands.
    Tasks,
    /// A task's `outputs.parameters`: what that task declares.
    Outputs,
}

use Shape::{Any, Arguments, Inputs, Object, Outputs, Tasks};

pub(super) const WORKFLOW: Shape = Object(&[
    ("name", Any),
    ("namespace", Any),
    ("id", Any),
    ("phase", Any),
    ("parameters", Arguments),
    ("labels", Any),
    ("arguments", Object(&[("parameters", Arguments)])),
]);

pub(super) const SYSTEM: Shape = Object(&[("os", Any), ("arch", Any)]);

pub(super) const INPUTS: Shape = Object(&[("parameters", Inputs)]);

pub(super) const TASKS: Shape = Tasks;

pub(super) const TASK: Shape = Object(&[
    ("phase", Any),
    ("code", Any),
    ("msg", Any),
    ("retries", Any),
    ("outputs", Object(&[("parameters", Outputs)])),
]);

pub(super) const LOOP: Shape = Object(&[("index", Any), ("item", Any)]);

pub(super) const CHILDREN: Shape = Object(&[
    ("total", Any),
    ("succeeded", Any),
    ("failed", Any),
    ("error", Any),
    ("timeout", Any),
    ("skipped", Any),
    ("cancelled", Any),
]);

pub(super) const HOOK: Shape = Object(&[
    ("type", Any),
    ("workflow", Object(&[("name", Any), ("id", Any), ("phase", Any)])),
    ("task", Object(&[("name", Any), ("phase", Any), ("code", Any), ("msg", Any), ("outputs", Any)])),
]);
