//! `isolation`: what stands between a guest and everything else.

use phasm_engine::form::{Form, Words, word};

use phasm_sandbox::Isolation;

/// As it is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Tier(pub(super) Isolation);

impl Words for Tier {
    const WORDS: &'static [(&'static str, Self)] =
        &[("shared", Self(Isolation::Shared)), ("process", Self(Isolation::Process))];
}

pub(super) const ISOLATION: Form<Tier> = word();
