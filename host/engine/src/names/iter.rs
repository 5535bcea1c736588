//! `iter`: what `set_iter` has set in this pipeline.

use super::{PIPELINE, Root, member_of};
use crate::value::Value;

pub(super) static ITER: Root = Root {
    name: "iter",
    value: |run, path| run.pipeline_progress().map_or(Value::Null, |progress| member_of(progress.iter, path)),
    ..PIPELINE
};
