//! Values known before any run: declared types and enums, and the engine's own values.

use std::borrow::Cow;

use crate::{
    document::ParameterDoc,
    names::{self, DeclarationSite, Shape, TASK},
    phase::Phase,
    plan::ParameterType,
    problem::codes::{Entry, values},
    value::Value,
};

use super::visible::Visible;

/// The values that a path can read, null aside.
pub(super) struct ValueDomain<'a> {
    pub(super) kind: ParameterType,
    /// Empty: any of the type.
    pub(super) allowed: Cow<'a, [Value]>,
    /// Whether it is a declared parameter, which is bound to such values only.
    pub(super) is_parameter: bool,
}

impl<'a> Visible<'a> {
    /// Returns the known facts about the value at `path`, which is visible here.
    pub(super) fn known(&self, path: &[&str]) -> Option<ValueDomain<'a>> {
        let (root, mut rest) = path.split_first()?;
        let mut shape = names::find(root)?.shape;
        while let Some((segment, behind)) = rest.split_first() {
            shape = match shape {
                Shape::Object(members) | Shape::Open(members) => {
                    members.iter().find(|(name, _)| name == segment)?.1
                }
                Shape::Tasks => TASK,
                Shape::Declared(declared) if behind.is_empty() => {
                    return self.declared(declared, segment).map(ValueDomain::declared);
                }
                Shape::Declared(_) | Shape::Outputs | Shape::Any | Shape::Text | Shape::Integer => {
                    return None;
                }
                Shape::Phase | Shape::Words(_) => return None,
            };
            rest = behind;
        }
        ValueDomain::supplied(shape)
    }

    fn declared(&self, declared: DeclarationSite, name: &str) -> Option<&'a ParameterDoc> {
        match declared {
            DeclarationSite::Inputs => self.input(name),
            DeclarationSite::MaybeContainer => self.container_input(name),
            DeclarationSite::Workflow | DeclarationSite::MaybeWorkflow => self.doc.spec.arguments.find(name),
        }
    }
}

impl<'a> ValueDomain<'a> {
    fn of(kind: ParameterType) -> Self {
        Self { kind, allowed: Cow::Borrowed(&[]), is_parameter: false }
    }

    fn word(words: &[&'static str]) -> Self {
        let words = words.iter().copied().map(Value::from);
        Self { allowed: Cow::Owned(words.collect()), ..Self::of(ParameterType::String) }
    }

    /// Facts about a value that the engine supplies.
    fn supplied(shape: Shape) -> Option<Self> {
        match shape {
            Shape::Text => Some(Self::of(ParameterType::String)),
            Shape::Integer => Some(Self::of(ParameterType::Integer)),
            Shape::Phase => Some(Self::word(&Phase::ALL.map(Phase::as_str))),
            Shape::Words(words) => Some(Self::word(words)),
            Shape::Any | Shape::Object(_) | Shape::Open(_) | Shape::Declared(_) => None,
            Shape::Tasks | Shape::Outputs => None,
        }
    }

    /// Facts about a declared parameter.
    pub(super) fn declared(parameter: &'a ParameterDoc) -> Self {
        Self { kind: parameter.kind, allowed: Cow::Borrowed(&parameter.allowed), is_parameter: true }
    }

    /// Returns the expected value of a parameter of type `kind`, restricted to `allowed` if that is not empty, when none of the
    /// values that can be read here fits, null aside.
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
