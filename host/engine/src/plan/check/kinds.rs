//! What is known of a value before any run: declared types and enums, and what the engine itself supplies.

use std::borrow::Cow;

use crate::{
    document::ParameterDoc,
    phase::Phase,
    plan::ParameterType,
    problem::codes::{Entry, values},
    value::Value,
};

use super::visible::Scope;

/// The values that a path can read, null aside.
pub(super) struct Known<'a> {
    pub(super) kind: ParameterType,
    /// Empty: any of the type.
    pub(super) allowed: Cow<'a, [Value]>,
    /// Whether somebody declared it as a parameter, which is then bound to such values only.
    pub(super) is_parameter: bool,
}

impl<'a> Scope<'a> {
    /// What is known of the value at `path`, which is visible here.
    pub(super) fn known(&self, path: &[&str]) -> Option<Known<'a>> {
        let declared = match path {
            ["inputs", "parameters", name] => self.input(name),
            ["args", name] => self.container_input(name),
            ["workflow", "parameters", name]
            | ["workflow", "arguments", "parameters", name]
            | ["workload", name] => self.doc.spec.arguments.find(name),
            _ => return supplied(path),
        };
        declared.map(Known::declared)
    }
}

/// What the engine supplies.
fn supplied(path: &[&str]) -> Option<Known<'static>> {
    match path {
        ["phase"]
        | ["workflow" | "outcome", "phase"]
        | ["tasks", _, "phase"]
        | ["hook", "workflow" | "task", "phase"] => Some(Known::word(Phase::ALL.map(Phase::as_str))),
        ["outcome", "status"] => Some(Known::word(["ok", "error"])),
        ["system", "os"] => Some(Known::word(["linux", "darwin", "windows"])),
        ["system", "arch"] => Some(Known::word(["amd64", "arm64"])),
        ["code" | "retries" | "_attempt"]
        | ["tasks", _, "code" | "retries"]
        | ["outcome", "code"]
        | ["outcome", "meta", "attempt"]
        | ["hook", "task", "code"]
        | ["children", _]
        | ["loop" | "iterator" | "loop_iter", "index"] => Some(Known::of(ParameterType::Integer)),
        ["workflow", "name" | "namespace" | "id"]
        | ["tasks", _, "msg"]
        | ["hook", "type"]
        | ["hook", "workflow" | "task", "name"]
        | ["msg" | "_task"] => Some(Known::of(ParameterType::String)),
        _ => None,
    }
}

impl<'a> Known<'a> {
    fn of(kind: ParameterType) -> Self {
        Self { kind, allowed: Cow::Borrowed(&[]), is_parameter: false }
    }

    fn word<const N: usize>(words: [&'static str; N]) -> Self {
        Self { allowed: Cow::Owned(words.map(Value::from).into()), ..Self::of(ParameterType::String) }
    }

    /// What a declaration says.
    pub(super) fn declared(parameter: &'a ParameterDoc) -> Self {
        Self { kind: parameter.kind, allowed: Cow::Borrowed(&parameter.allowed), is_parameter: true }
    }

    /// What a parameter of type `kind`, restricted to `allowed` if that is not empty, expects, when nothing but null that
    /// can be read here fits it.
    pub(super) fn never_fits(
        &self,
        kind: ParameterType,
        allowed: &[Value],
    ) -> Option<(&'static Entry, String)> {
        if let Some(first) = self.allowed.first() {
            let fits = |value: &Value| kind.demand(value, allowed).is_none();
            return if self.allowed.iter().any(fits) { None } else { kind.demand(first, allowed) };
        }
        if !self.kind.overlaps(kind) {
            return Some((&values::WRONG_LITERAL, kind.described()));
        }
        let excluded = !allowed.is_empty() && !allowed.iter().any(|value| self.kind.accepts(value));
        excluded.then(|| (&values::NOT_IN_ENUM, ParameterType::one_of(allowed)))
    }
}
