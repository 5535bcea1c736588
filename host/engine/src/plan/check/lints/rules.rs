//! Rules of a policy that nothing can lead to: the first match wins.

use std::collections::BTreeMap;

use crate::{
    document::{PolicyDoc, RuleDoc},
    form::Report,
    problem::codes::warnings::UNREACHED_RULE,
};

/// Warns about every rule of `policy` that can never be applied.
pub(super) fn check(policy: &PolicyDoc, report: &Report) {
    let mut before = Before::default();
    for (position, rule) in policy.rules.iter().enumerate() {
        if let Some(why) = before.hides(rule) {
            let message = format!(
                "rule {position} is never applied, as {why}; expected a condition that may be the first to hold"
            );
            report.warning(rule.site.problem(&UNREACHED_RULE, message));
        }
        before.add(position, rule);
    }
}

/// The rules that are looked at first.
#[derive(Default)]
struct Before<'a> {
    /// The first one that always matches.
    always: Option<usize>,
    /// The first one of each condition.
    conditions: BTreeMap<&'a str, usize>,
}

impl<'a> Before<'a> {
    fn add(&mut self, position: usize, rule: &'a RuleDoc) {
        let Some(when) = &rule.when else { return };
        if when.expr.constant_truth() == Some(true) {
            self.always.get_or_insert(position);
        }
        self.conditions.entry(when.expr.source().trim()).or_insert(position);
    }

    /// Why `rule`, behind these, is never applied.
    fn hides(&self, rule: &RuleDoc) -> Option<String> {
        let when = rule.when.as_ref().map(|when| &when.expr);
        if when.is_some_and(|when| when.constant_truth() == Some(false)) {
            return Some("its condition never holds".to_owned());
        }
        if let Some(first) = self.always {
            return Some(format!("rule {first} always matches"));
        }
        let same = self.conditions.get(when?.source().trim())?;
        Some(format!("rule {same} has the same condition"))
    }
}
