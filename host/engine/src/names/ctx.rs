//! `ctx`: what `set_ctx` has set in this run.

use super::{PIPELINE, Root, member_of};
use crate::value::Value;

pub(super) static CTX: Root = Root {
    name: "ctx",
    value: |run, path| run.ctx().map_or(Value::Null, |ctx| member_of(ctx, path)),
    ..PIPELINE
};
