//! Rules of a policy that nothing can lead to: the first match wins (SPEC section 9).

use crate::document::{PolicyDoc, Report, RuleDoc};

use super::super::catalogue::warnings::UNREACHED_RULE;

/// Warns about every rule of `policy` that can never be applied.
pub(super) fn check(policy: &PolicyDoc, report: &Report) {
    for (position, rule) in policy.rules.iter().enumerate() {
        let before = policy.rules.get(..position).unwrap_or_default();
        if let Some(why) = unreached(rule, before) {
            let message = format!(
                "rule {position} is never applied, as {why}; expected a condition that may be the first to hold"
            );
            report.warning(rule.site.problem(&UNREACHED_RULE, message));
        }
    }
}

fn unreached(rule: &RuleDoc, before: &[RuleDoc]) -> Option<String> {
    let condition = |rule: &RuleDoc| rule.when.as_ref().map(|when| when.expr.source().trim().to_owned());
    let settled = |rule: &RuleDoc| rule.when.as_ref().and_then(|when| when.expr.settled());
    if settled(rule) == Some(false) {
        return Some("its condition never holds".to_owned());
    }
    if let Some(first) = before.iter().position(|rule| settled(rule) == Some(true)) {
        return Some(format!("rule {first} always matches"));
    }
    let same =
        condition(rule).and_then(|own| before.iter().position(|rule| condition(rule) == Some(own.clone())));
    same.map(|first| format!("rule {first} has the same condition"))
}
