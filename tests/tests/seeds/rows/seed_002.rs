//! Seed 002, NoETL: retry as a rule of policy.

mod flow;

use std::sync::Arc;

use phasm_engine::{
    expr::{Doubts, Env},
    plan::{Backoff, Growth, MaxAttempts, Plan, Policy, Recovery, RuleAction, TemplateKind},
    problem::codes::values,
    time::Millis,
    value::Value,
};
use phasm_tests::small;
use serde_json::{Value as Json, json};

/// The document of a pipeline `main` of these tasks.
fn pipeline(tasks: &[Json]) -> Arc<Plan> {
    let pipeline = json!({ "pipeline": { "name": "main", "tasks": tasks } });
    small::plan(&[pipeline]).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// The policy of a pipeline's task with these rules, beside a task `fetch_page`.
fn with_policy<T>(rules: &Json, look: impl FnOnce(&Policy) -> T) -> T {
    let task = json!({ "t": { "kind": "http", "spec": { "policy": { "rules": rules } } } });
    let plan = pipeline(&[json!({ "fetch_page": { "kind": "http" } }), task]);
    let TemplateKind::Pipeline(pipeline) = &plan.templates[0].kind else { panic!("no pipeline") };
    let Some(Recovery::Policy(policy)) = &pipeline.nodes[1].settings.recovery else { panic!("no policy") };
    look(policy)
}

/// The data that rules see.
struct Outcome(Value);

impl Env for Outcome {
    fn get(&self, path: &[Arc<str>]) -> Value {
        let found = path.iter().try_fold(&self.0, |value, segment| value.member(segment));
        found.cloned().unwrap_or_default()
    }
}

/// The action of the first rule that matches.
fn action(policy: &Policy, outcome: &Json) -> Option<RuleAction> {
    let env = Outcome(json!({ "outcome": outcome }).into());
    let mut rules = policy.rules.iter();
    let matching = rules.find(|rule| {
        rule.when.as_ref().is_none_or(|when| when.test(&env, &mut Doubts::default()) == Ok(true))
    });
    matching.map(|rule| rule.action.clone())
}

fn retry(attempts: u32, growth: Growth, seconds: u64) -> RuleAction {
    let backoff = Backoff { delay: seconds * 1000, growth, max_delay: None };
    RuleAction::Retry { attempts: MaxAttempts::Limited(attempts), backoff }
}

const EXPONENTIAL: Growth = Growth::Factor(2.0);

fn error(detail: &Json) -> Json {
    let mut outcome = json!({ "status": "error", "error": { "kind": "http", "message": "no" } });
    for (key, value) in detail.as_object().unwrap() {
        outcome[key] = value.clone();
    }
    outcome
}

fn http(status: u16) -> Json {
    error(&json!({ "http": { "status": status } }))
}

fn check(rules: &Json, rows: &[(Json, RuleAction)]) {
    with_policy(rules, |policy| {
        for (outcome, expected) in rows {
            assert_eq!(action(policy, outcome).as_ref(), Some(expected), "{outcome}");
        }
    });
}

/// Section 1.
#[test]
fn placement() {
    let rules = json!([
        { "when": "{{ outcome.status == 'error' and outcome.http.status in [429,500,502,503,504] }}",
          "then": { "do": "retry", "attempts": 10, "backoff": "exponential", "delay": 2.0 } },
        { "when": "{{ outcome.status == 'error' }}", "then": { "do": "fail" } },
        { "else": { "then": { "do": "continue" } } },
    ]);
    let mut rows: Vec<_> =
        [429, 500, 502, 503, 504].map(|status| (http(status), retry(10, EXPONENTIAL, 2))).into();
    rows.extend([400, 401, 404, 501].map(|status| (http(status), RuleAction::Fail)));
    rows.push((error(&json!({})), RuleAction::Fail));
    rows.push((json!({ "status": "ok" }), RuleAction::Continue));
    check(&rules, &rows);
}

/// Section 2: every `do` with its own keys (R-N11).
#[test]
fn actions() {
    let rows = [
        (json!({ "do": "continue" }), RuleAction::Continue),
        (json!({ "do": "break" }), RuleAction::Break),
        (json!({ "do": "fail" }), RuleAction::Fail),
        (json!({ "do": "jump", "to": "fetch_page" }), RuleAction::Jump(0)),
        (json!({ "do": "retry", "attempts": 5, "delay": 1.0 }), retry(5, Growth::Factor(1.0), 1)),
        (
            json!({ "do": "retry", "attempts": 5, "backoff": "none", "delay": 1.0 }),
            retry(5, Growth::Factor(1.0), 1),
        ),
        (
            json!({ "do": "retry", "attempts": 5, "backoff": "linear", "delay": 1.0 }),
            retry(5, Growth::Linear, 1),
        ),
        (
            json!({ "do": "retry", "attempts": 5, "backoff": "exponential", "delay": 1.0 }),
            retry(5, EXPONENTIAL, 1),
        ),
        // R-R12: attempts=3, backoff=none, delay=1.0.
        (json!({ "do": "retry" }), retry(3, Growth::Factor(1.0), 1)),
    ];
    for (then, expected) in rows {
        let rules = json!([{ "when": "{{ outcome.status == 'error' }}", "then": then }]);
        check(&rules, &[(http(500), expected)]);
        with_policy(&rules, |policy| assert_eq!(action(policy, &json!({ "status": "ok" })), None, "{then}"));
    }
    let sets = json!({ "do": "continue", "set_iter": { "page": 2 }, "set_ctx": { "seen": true } });
    with_policy(&json!([{ "else": { "then": sets } }]), |policy| {
        let names = |set: &[(Arc<str>, _)]| set.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>();
        assert_eq!(
            (names(&policy.rules[0].set_iter), names(&policy.rules[0].set_ctx)),
            (vec!["page".to_owned()], vec!["seen".to_owned()])
        );
    });
}

/// Section 3.1.
#[test]
fn http_rules() {
    let rules = json!([
        { "when": "{{ outcome.status == 'error' and outcome.http.status in [429,500,502,503,504] }}",
          "then": { "do": "retry", "attempts": 10, "backoff": "exponential", "delay": 2.0 } },
        { "when": "{{ outcome.status == 'error' and outcome.http.status in [401,403] }}", "then": { "do": "fail" } },
        { "when": "{{ outcome.status == 'error' }}",
          "then": { "do": "retry", "attempts": 3, "backoff": "linear", "delay": 1.0 } },
        { "else": { "then": { "do": "continue" } } },
    ]);
    let mut rows: Vec<_> =
        [429, 500, 502, 503, 504].map(|status| (http(status), retry(10, EXPONENTIAL, 2))).into();
    rows.extend([401, 403].map(|status| (http(status), RuleAction::Fail)));
    rows.extend([400, 404, 501].map(|status| (http(status), retry(3, Growth::Linear, 1))));
    // A connection error has no `outcome.http`.
    rows.push((error(&json!({})), retry(3, Growth::Linear, 1)));
    rows.push((json!({ "status": "ok", "http": { "status": 500 } }), RuleAction::Continue));
    check(&rules, &rows);
}

/// Section 3.2.
#[test]
fn postgres_rules() {
    let rules = json!([
        { "when": "{{ outcome.status == 'error' and outcome.pg.code in ['40001','40P01'] }}",
          "then": { "do": "retry", "attempts": 5, "backoff": "exponential", "delay": 2.0 } },
        { "when": "{{ outcome.status == 'error' }}", "then": { "do": "fail" } },
        { "else": { "then": { "do": "continue" } } },
    ]);
    let pg = |code: Json| error(&json!({ "pg": { "code": code } }));
    let rows = [
        (pg(json!("40001")), retry(5, EXPONENTIAL, 2)),
        (pg(json!("40P01")), retry(5, EXPONENTIAL, 2)),
        (pg(json!("23505")), RuleAction::Fail),
        (pg(json!(40001)), RuleAction::Fail),
        (error(&json!({})), RuleAction::Fail),
        (json!({ "status": "ok" }), RuleAction::Continue),
    ];
    check(&rules, &rows);
}

/// Section 3.3.
#[test]
fn python_rules() {
    let rules = json!([
        { "when": "{{ outcome.status == 'error' and 'timeout' in (outcome.error.message|lower) }}",
          "then": { "do": "retry", "attempts": 3, "backoff": "linear", "delay": 1.0 } },
        { "when": "{{ outcome.status == 'error' }}", "then": { "do": "fail" } },
        { "else": { "then": { "do": "continue" } } },
    ]);
    let message = |text: &str| error(&json!({ "error": { "message": text } }));
    let rows = [
        (message("read timeout"), retry(3, Growth::Linear, 1)),
        (message("connect TIMEOUT after 5 s"), retry(3, Growth::Linear, 1)),
        (message("KeyError: 'rows'"), RuleAction::Fail),
        (error(&json!({ "error": { "message": null } })), RuleAction::Fail),
        (json!({ "status": "ok", "error": { "message": "timeout" } }), RuleAction::Continue),
    ];
    check(&rules, &rows);
}

/// "none: constant delay; linear: delay * attempt; exponential: delay * 2^(attempt-1)", with the delays of the examples.
#[test]
fn backoffs() {
    let rows: [(Growth, u64, [Millis; 9]); 6] = [
        (Growth::Factor(1.0), 1, [1, 1, 1, 1, 1, 1, 1, 1, 1]),
        (Growth::Factor(1.0), 2, [2, 2, 2, 2, 2, 2, 2, 2, 2]),
        (Growth::Linear, 1, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (Growth::Linear, 2, [2, 4, 6, 8, 10, 12, 14, 16, 18]),
        (EXPONENTIAL, 1, [1, 2, 4, 8, 16, 32, 64, 128, 256]),
        (EXPONENTIAL, 2, [2, 4, 8, 16, 32, 64, 128, 256, 512]),
    ];
    for (growth, seconds, expected) in rows {
        let backoff = Backoff { delay: seconds * 1000, growth, max_delay: None };
        let delays: Vec<Millis> = (1..=9).map(|attempt| backoff.delay_after(attempt)).collect();
        assert_eq!(delays, expected.map(|seconds| seconds * 1000), "{growth:?} {seconds}");
    }
}

/// R-R2: `delay` is seconds as a number; a duration works too.
#[test]
fn delays_are_seconds() {
    let rows =
        [(json!(1.0), 1000), (json!(2), 2000), (json!(0.25), 250), (json!(0), 0), (json!("1m 30s"), 90_000)];
    for (delay, millis) in rows {
        let rules = json!([{ "else": { "then": { "do": "retry", "attempts": 2, "delay": delay } } }]);
        let expected = Backoff { delay: millis, ..Backoff::default() };
        with_policy(&rules, |policy| {
            let found = action(policy, &http(500));
            assert_eq!(
                found,
                Some(RuleAction::Retry { attempts: MaxAttempts::Limited(2), backoff: expected })
            );
        });
    }
}

/// Section 8: the legacy block is a problem whose hint is the canonical one, line by line (R-N5).
#[test]
fn migration() {
    let retry = json!({ "max_attempts": 5, "retry_when": "{{ status_code >= 500 }}" });
    let problems = small::dag(&[json!({ "name": "t", "template": "work", "retry": retry })]).unwrap_err();
    let [problem] = problems.as_slice() else { panic!("{problems:#?}") };
    assert_eq!(problem.code, values::LEGACY_RETRY.code);
    let hint: Vec<&str> = problem.hint.as_deref().expect("the rules").lines().map(str::trim).collect();
    let canonical = r#"
policy:
rules:
- when: "{{ outcome.status == 'error' and outcome.http.status >= 500 }}"
then: { do: retry, attempts: 5, backoff: exponential, delay: 1.0 }
- when: "{{ outcome.status == 'error' }}"
then: { do: fail }
- else:
then: { do: continue }"#;
    for line in canonical.trim().lines() {
        assert!(hint.contains(&line), "{line}\nis not in\n{hint:#?}");
    }
    let rules = json!([
        { "when": "{{ outcome.status == 'error' and outcome.http.status >= 500 }}",
          "then": { "do": "retry", "attempts": 5, "backoff": "exponential", "delay": 1.0 } },
        { "when": "{{ outcome.status == 'error' }}", "then": { "do": "fail" } },
        { "else": { "then": { "do": "continue" } } },
    ]);
    let mut rows: Vec<_> =
        [500, 503, 599].map(|status| (http(status), self::retry(5, EXPONENTIAL, 1))).into();
    rows.extend([499, 404].map(|status| (http(status), RuleAction::Fail)));
    rows.push((json!({ "status": "ok" }), RuleAction::Continue));
    check(&rules, &rows);
}
