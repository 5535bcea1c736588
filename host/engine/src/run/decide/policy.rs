//! Policy rules: what an attempt's outcome leads to.

use std::sync::Arc;

use super::{
    Decider,
    attempt::NextStep,
    env::{AttemptResult, TaskEnv},
    retry::pause,
};
use crate::{
    event::{Event, PolicyEvaluation, Reason},
    expr::{Doubts, ValueTemplate},
    phase::Phase,
    plan::{Backoff, MaxAttempts, Policy, PolicyRule, RuleAction, RuleMatch, Verdict},
    run::state::TaskIndex,
    time::Millis,
    value::Map,
};

impl Decider<'_> {
    /// Asks the rules what follows an attempt, and records the answer (R-N6).
    pub(super) fn evaluate_policy(
        &mut self,
        id: TaskIndex,
        policy: &Policy,
        judged: &AttemptResult,
    ) -> Verdict {
        let (matched, rule) = self.matching(id, policy, judged);
        let (iter, ctx) = rule.map_or_else(Default::default, |rule| {
            (
                self.assigned(id, policy, judged, &rule.set_iter),
                self.assigned(id, policy, judged, &rule.set_ctx),
            )
        });
        let verdict = match rule.map(|rule| &rule.action) {
            Some(RuleAction::Continue) => Verdict::Continue,
            Some(RuleAction::Jump(to)) => Verdict::Jump(*to),
            Some(RuleAction::Break) => Verdict::Break,
            Some(RuleAction::Fail) => Verdict::Fail,
            Some(RuleAction::Retry { attempts, backoff }) => Verdict::Retry {
                attempts: *attempts,
                delay_ms: self.may_try_again(id, *attempts).then(|| self.rule_delay(id, *backoff, *attempts)),
            },
            None if policy.fail_unmatched && judged.phase != Phase::Succeeded => Verdict::Fail,
            None => Verdict::Continue,
        };
        // An ok outcome is not doubtful where the author has said which outcomes fail.
        if rule.is_none() && !(policy.fail_unmatched && verdict == Verdict::Continue) {
            let then = verdict.as_str();
            self.warn(Some(id), "policy-unmatched", format!("no rule matched and there is no else: {then}"));
        }
        self.emit(Event::PolicyEvaluated(Box::new(PolicyEvaluation {
            fence: self[id].fence(),
            rule: matched,
            verdict,
            iter,
            ctx,
        })));
        verdict
    }

    /// Translates a verdict into the next step.
    pub(super) fn follow(verdict: Verdict, judged: &AttemptResult, attempt: u32) -> NextStep {
        // An ok outcome that may not stand is a failure; an error outcome keeps its phase.
        let failed = if judged.phase == Phase::Succeeded { Phase::Failed } else { judged.phase };
        match verdict {
            Verdict::Continue | Verdict::Jump(_) | Verdict::Break => NextStep::End(judged.phase, None),
            Verdict::Retry { delay_ms: Some(delay), .. } => NextStep::Retry(delay),
            Verdict::Retry { attempts, delay_ms: None } => {
                let exhausted = !attempts.allows_another(attempt) && attempt > 1;
                NextStep::End(failed, exhausted.then_some(Reason::RetryExhausted))
            }
            Verdict::Fail => NextStep::End(failed, Some(Reason::PolicyFail)),
        }
    }

    /// The first rule that matches. A condition that fails does not match (R-N10).
    fn matching<'p>(
        &mut self,
        id: TaskIndex,
        policy: &'p Policy,
        judged: &AttemptResult,
    ) -> (RuleMatch, Option<&'p PolicyRule>) {
        for (index, rule) in policy.rules.iter().enumerate() {
            let Some(when) = &rule.when else { return (RuleMatch::Else, Some(rule)) };
            let mut doubts = Doubts::default();
            let matched = when.test(&self.rule_view(id, policy, judged), &mut doubts);
            self.warn_doubts(id, doubts);
            match matched {
                Ok(true) => return (RuleMatch::Rule(u32::try_from(index).unwrap_or(u32::MAX)), Some(rule)),
                Ok(false) => {}
                Err(error) => {
                    let message = format!("rules[{index}].when does not match: {error}");
                    self.warn(Some(id), "policy-when", message);
                }
            }
        }
        (RuleMatch::Default, None)
    }

    fn rule_view<'a>(&'a self, id: TaskIndex, policy: &Policy, judged: &'a AttemptResult) -> TaskEnv<'a> {
        TaskEnv { result: Some(judged), ..TaskEnv::new(self, &self[id], policy.level) }
    }

    /// The values of `set_iter` or `set_ctx`; one that fails changes nothing, with a warning.
    fn assigned(
        &mut self,
        id: TaskIndex,
        policy: &Policy,
        judged: &AttemptResult,
        assignments: &[(Arc<str>, ValueTemplate)],
    ) -> Map {
        let (mut values, mut doubts) = (Map::new(), Doubts::default());
        for (name, written) in assignments {
            let value = written.eval(&self.rule_view(id, policy, judged), &mut doubts);
            doubts.place(|| name.to_string());
            match value {
                Ok(value) => match self.make_json_room([(name, &value)]) {
                    Ok(()) => {
                        values.insert(name.clone(), value);
                    }
                    Err(too_large) => self.warn_unset(id, name, &too_large),
                },
                Err(error) => self.warn_unset(id, name, &error.to_string()),
            }
        }
        self.warn_doubts(id, doubts);
        values
    }

    fn warn_unset(&mut self, id: TaskIndex, name: &str, why: &str) {
        self.warn(Some(id), "policy-set", format!("{name} is left as it was: {why}"));
    }

    fn rule_delay(&self, id: TaskIndex, backoff: Backoff, attempts: MaxAttempts) -> Millis {
        pause(&self[id], backoff.delay_after(self[id].attempt), attempts)
    }
}
