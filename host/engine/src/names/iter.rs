//! `iter`: what `set_iter` has set in this pipeline.

use super::{PIPELINE, Root, member_of};
use crate::value::Value;

pub(super) static ITER: Root = Root {
    name: "iter",
    value: |sight, path| sight.course().map_or(Value::Null, |course| member_of(course.iter, path)),
    ..PIPELINE
};
