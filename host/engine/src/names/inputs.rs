//! `inputs`: the inputs of the template or node that the expression belongs to.

use super::{DeclarationSite, Members, Root, RunContext, Shape, walk};
use crate::value::Value;

pub(super) static INPUTS: Root = Root {
    name: "inputs",
    visible: |sees| sees.inputs,
    shape: Shape::Object(&[("parameters", Shape::Declared(DeclarationSite::Inputs))]),
    hint: "only templates have inputs; the workflow's parameters are `workflow.parameters`",
    value,
};

fn value(run: &dyn RunContext, path: Members<'_>) -> Value {
    match path {
        [key] if key.as_ref() == "parameters" => run.inputs().into(),
        [key, name, rest @ ..] if key.as_ref() == "parameters" => {
            run.input(name).map_or(Value::Null, |value| walk(&value, rest))
        }
        _ => Value::Null,
    }
}
