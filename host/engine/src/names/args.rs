//! `args`: the inputs of the pipeline.

use super::{DeclarationSite, PIPELINE, Root, Shape, walk};
use crate::value::Value;

pub(super) static ARGS: Root = Root {
    name: "args",
    shape: Shape::Declared(DeclarationSite::MaybeContainer),
    value: |run, path| {
        run.pipeline_progress().map_or(Value::Null, |progress| walk(&progress.inputs.into(), path))
    },
    ..PIPELINE
};
