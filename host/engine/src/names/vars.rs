//! `vars`: the operator's variables; each is also a name of its own, unless an expression may begin with it anyway.

use super::{Members, Root, RunContext, Shape, walk};
use crate::value::Value;

pub(super) static VARS: Root = Root { name: "vars", visible: |_| true, shape: Shape::Any, hint: "", value };

pub(super) fn value(run: &dyn RunContext, path: Members<'_>) -> Value {
    walk(run.system().vars, path)
}
