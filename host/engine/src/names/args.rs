//! `args`: the inputs of the pipeline.

use super::{Declared, PIPELINE, Root, Shape, walk};
use crate::value::Value;

pub(super) static ARGS: Root = Root {
    name: "args",
    shape: Shape::Declared(Declared::MaybeContainer),
    value: |sight, path| sight.course().map_or(Value::Null, |course| walk(&course.inputs.into(), path)),
    ..PIPELINE
};
