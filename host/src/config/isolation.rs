//! `isolation`: what stands between a guest and everything else.

use phasm_engine::form::{Form, Words, word};

use phasm_sandbox::Isolation;

/// The isolation tier by its name in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Tier(pub(super) Isolation);

impl Words for Tier {
    const WORDS: &'static [(&'static str, Self)] =
        &[("shared", Self(Isolation::Shared)), ("process", Self(Isolation::Process))];
}

pub(super) const ISOLATION: Form<Tier> = word();
