//! R-W30 to R-W33: timeouts, delays and counts that are expressions of parameters.

use super::*;

/// A document with these parameters, this in `spec`, and this in its only task.
fn text(dialect: &str, parameters: &str, spec: &str, task: &str) -> String {
    format!(
        r#"{{"apiVersion": "{dialect}", "kind": "Workflow", "metadata": {{"name": "test"}}, "spec": {{"entrypoint": "main",
            "arguments": {{"parameters": [{parameters}]}}{spec}, "templates": [
            {{"task": {{"name": "main", "executor": {{"type": "echo"}}{task}}}}}]}}}}"#
    )
}

fn judged(text: &str) -> Result<Arc<Plan>, Vec<Problem>> {
    let tree = Tree::from(&Value::from_json(text).unwrap());
    Draft::read(&tree).plan(&Executors::any(), &Value::Null).map(Arc::new)
}

fn planned(parameters: &str, spec: &str, task: &str) -> Arc<Plan> {
    judged(&text("phasm/v1", parameters, spec, task)).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn told(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

fn bound(plan: &Arc<Plan>, parameters: &str) -> Result<Arc<Plan>, Vec<String>> {
    let given = Value::from_json(parameters).unwrap().as_object().unwrap().clone();
    plan.bind(&given).map_err(|problems| told(&problems.into_iter().collect::<Vec<_>>()))
}

/// R-W30: every field of a duration or a count.
#[test]
fn settings_are_bound_to_the_values_of_parameters() {
    let task = r#", "timeout": "{{ workflow.parameters.limit }}", "maxRuntime": "{{ workflow.parameters.n }}s",
        "maxInactivity": {"timeout": "{{ workflow.parameters.limit }}", "errorOnTimeout": true},
        "deadline": "{{ workflow.parameters.n * 60000 }}ms",
        "retry": {"attempts": "{{ workflow.parameters.n }}", "delay": "{{ workflow.parameters.n }}ms",
            "backoff": "{{ workflow.parameters.n / 2 }}", "maxDelay": "{{ workflow.parameters.limit }}", "jitter": "{{ 1 / 4 }}"}"#;
    let spec = r#", "timeout": {"active": "{{ workflow.parameters.limit }}"}, "parallelism": "{{ workflow.parameters.n }}""#;
    let plan = planned(r#"{"name": "limit"}, {"name": "n"}"#, spec, task);
    assert_eq!(plan.warnings, []);
    assert_eq!(plan.settings.len(), 11);
    let plan = bound(&plan, r#"{"limit": "1h 30m", "n": 3}"#).unwrap();
    assert_eq!((plan.timeout, plan.timeout_pauses, plan.parallelism), (Some(5_400_000), true, Some(3)));
    let settings = &plan.root.settings;
    assert_eq!(settings.timeout, Some(5_400_000));
    assert_eq!(settings.max_runtime.unwrap().timeout, 3000);
    assert_eq!(settings.max_inactivity.unwrap(), TimeoutPolicy { timeout: 5_400_000, expiry: Expiry::Error });
    assert_eq!(settings.deadline.unwrap().timeout, 180_000);
    let Some(Recovery::Retry(retry)) = &settings.recovery else { panic!("{settings:?}") };
    assert_eq!(retry.max_attempts, MaxAttempts::Limited(3));
    assert_eq!(retry.backoff, Backoff { delay: 3, growth: Growth::Factor(1.5), max_delay: Some(5_400_000) });
    assert!((retry.jitter - 0.25).abs() < f64::EPSILON);
}

/// R-W30: the caller of a run sees no warning about its file.
#[test]
fn a_bound_duration_needs_its_unit() {
    let plan = planned(r#"{"name": "limit"}"#, "", r#", "maxRuntime": "{{ workflow.parameters.limit }}""#);
    // A number, and a text that is one.
    for limit in ["10", "\"10\""] {
        let refused = format!(
            "P030: spec.templates[0].task.maxRuntime: `{{{{ workflow.parameters.limit }}}}` is {limit}: `10` is 10 ms; expected a number \
             with its unit (give the value with its unit, such as `10s`, or write the unit behind the expression, as \
             `{{{{ workflow.parameters.limit }}}}s`)"
        );
        let given = format!(r#"{{"limit": {limit}}}"#);
        assert_eq!(bound(&plan, &given).map(drop), Err(vec![refused]));
    }
    let plan = bound(&plan, r#"{"limit": "10s"}"#).unwrap();
    assert_eq!(plan.root.settings.max_runtime.unwrap().timeout, 10_000);
}

#[test]
fn containers_have_bound_settings_too() {
    let text = r#"{"apiVersion": "phasm/v1", "kind": "Workflow", "metadata": {"name": "test"}, "spec": {"entrypoint": "main",
        "parameters": {"n": null}, "templates": [
        {"dag": {"name": "main", "parallelism": "{{ workflow.parameters.n }}", "timeout": "{{ workflow.parameters.n }}h",
            "tasks": [{"name": "a", "template": "each"}, {"name": "b", "template": "pipe"}]}},
        {"loop": {"name": "each", "body": "work", "sequence": {"count": "{{ workflow.parameters.n }}"},
            "concurrency": "{{ workflow.parameters.n - 1 }}", "maxIterations": "{{ workflow.parameters.n + 1 }}"}},
        {"pipeline": {"name": "pipe", "maxJumps": "{{ workflow.parameters.n }}", "tasks": [{"name": "p", "template": "work",
            "policy": {"rules": [{"else": {"then": {"do": "retry", "attempts": "{{ workflow.parameters.n }}",
                "delay": "{{ workflow.parameters.n }}"}}}]}}]}},
        {"task": {"name": "work", "executor": {"type": "echo"}}}]}}"#;
    let plan = judged(text).unwrap_or_else(|problems| panic!("{problems:#?}"));
    // Sizes that can never run are found as well.
    assert_eq!(
        bound(&plan, r#"{"n": 1000000}"#).map(drop),
        Err(vec![
            "P015: spec.templates[1].loop.sequence: 1000001 task runs at least; expected at most 1000000 in a run (let an iteration do \
             more, or start several runs)"
                .to_owned()
        ])
    );
    // Another number of iterations is another result, another limit is not.
    let settled = |changed: &str| {
        let determinism = Determinism::of(&plan, &std::collections::BTreeSet::from([changed.into()]));
        let calls: Vec<_> = nodes(&plan).iter().map(|call| determinism.holds(&plan, call)).collect();
        calls
    };
    assert_eq!((settled("n"), settled("m")), (vec![false, false], vec![true, true]));
    let plan = bound(&plan, r#"{"n": 4}"#).unwrap();
    let kinds: Vec<_> = plan.templates.iter().map(|template| &template.kind).collect();
    let [TemplateKind::Dag(dag), TemplateKind::Loop(each), TemplateKind::Pipeline(pipe), _] =
        kinds.as_slice()
    else {
        panic!("{kinds:?}")
    };
    assert_eq!((dag.parallelism, plan.root.settings.timeout), (Some(4), Some(4 * 3_600_000)));
    assert!(matches!(&each.over, LoopOver::Items(items) if items.len() == 4));
    assert_eq!((each.concurrency, each.max_iterations, pipe.max_jumps), (Some(3), Some(5), 4));
    let Some(Recovery::Policy(policy)) = &pipe.nodes[0].settings.recovery else { panic!("{pipe:?}") };
    let RuleAction::Retry { attempts, backoff } = &policy.rules[0].action else { panic!("{policy:?}") };
    assert_eq!((*attempts, backoff.delay), (MaxAttempts::Limited(4), 4000));
}

/// R-W31: names are checked, and a value only if it is known.
#[test]
fn expressions_are_checked_without_values() {
    let problems = |parameters: &str, runtime: &str| {
        let task = format!(r#", "maxRuntime": "{runtime}""#);
        judged(&text("phasm/v1", parameters, "", &task)).map(drop).map_err(|problems| told(&problems))
    };
    for (parameters, runtime, expected) in [
        (r#"{"name": "n"}"#, "{{ workflow.parameters.n }}", None),
        (r#"{"name": "n", "default": "5m"}"#, "{{ workflow.parameters.n }}", None),
        (r#"{"name": "n", "default": "5m"}"#, "{{ workflow.arguments.parameters.n }}", None),
        (
            r#"{"name": "n", "value": "{{ workflow.name }}", "default": 0}"#,
            "{{ workflow.parameters.n }}",
            None,
        ),
        (
            r#"{"name": "n", "default": "5 m1n"}"#,
            "{{ workflow.parameters.n }}",
            Some(
                "P030: spec.templates[0].task.maxRuntime: `{{ workflow.parameters.n }}` is \"5 m1n\": unknown unit `n`; expected \
                 ms, s, m, h, d or their long forms (milliseconds … days) (character 5) (give the parameter `n` another value, or change the expression)",
            ),
        ),
        (
            r#"{"name": "n", "default": null}"#,
            "{{ workflow.parameters.n }}",
            Some(
                "P010: spec.templates[0].task.maxRuntime: `{{ workflow.parameters.n }}` is null: found null; expected a duration, as \
                 text or whole milliseconds (give the parameter `n` another value, or change the expression)",
            ),
        ),
        (
            r#"{"name": "n", "default": {"timeout": 5}}"#,
            "{{ workflow.parameters.n }}",
            Some(
                "P010: spec.templates[0].task.maxRuntime: `{{ workflow.parameters.n }}` is {\"timeout\":5}: found object; expected a \
                 text or a number (give the parameter `n` another value, or change the expression)",
            ),
        ),
        (
            r#"{"name": "n", "default": 0}"#,
            "{{ 1 / workflow.parameters.n }}",
            Some(
                "P054: spec.templates[0].task.maxRuntime: `{{ 1 / workflow.parameters.n }}` cannot be calculated: {{ 1 / \
                 workflow.parameters.n }}: division by zero in integer 1 / integer 0; expected parameters for which it can (give the run \
                 other parameters, or change the expression)",
            ),
        ),
        (
            r#"{"name": "n"}"#,
            "{{ inputs.n }}",
            Some(
                "P041: spec.templates[0].task.maxRuntime: `inputs.n` is not known when a run is submitted, and this setting is \
                 calculated then; expected `workflow.parameters.NAME` (write `workflow.parameters.n`)",
            ),
        ),
        (
            "",
            "{{ inputs.n }}",
            Some(
                "P041: spec.templates[0].task.maxRuntime: `inputs.n` is not known when a run is submitted, and this setting is \
                 calculated then; expected `workflow.parameters.NAME` (declare `n` in `spec.parameters`, and write \
                 `workflow.parameters.n`)",
            ),
        ),
        (
            "",
            "{{ workflow.parameters.n }}",
            Some(
                "P044: spec.templates[0].task.maxRuntime: parameter `n` is not declared in spec.arguments; expected a declared one",
            ),
        ),
        ("", "{{ 5 + }}", Some("P040: ")),
    ] {
        let found = problems(parameters, runtime);
        match expected {
            None => assert_eq!(found, Ok(()), "{runtime}"),
            Some(expected) => {
                let found = found.unwrap_err();
                assert!(found.len() == 1 && found[0].starts_with(expected), "{runtime}: {found:#?}");
            }
        }
    }
}

/// R-W32: all problems at once, each with the field, the expression, its value and what was expected.
#[test]
fn values_are_checked_as_literals_are() {
    let task = r#", "maxRuntime": "{{ workflow.parameters.limit }}", "retry": {"attempts": "{{ workflow.parameters.n }}",
        "delay": "{{ workflow.parameters.n + 1 }}"}"#;
    let plan = planned(r#"{"name": "limit", "default": "1s"}, {"name": "n"}"#, "", task);
    let at = "spec.templates[0].task";
    assert_eq!(
        bound(&plan, r#"{"limit": "0s", "n": -5}"#).unwrap_err(),
        [
            format!(
                "P033: {at}.retry.attempts: `{{{{ workflow.parameters.n }}}}` is -5: found -5; expected a whole number from -1 to \
                 4294967295 (-1 is unlimited) (give the parameter `n` another value, or change the expression)"
            ),
            format!(
                "P030: {at}.retry.delay: `{{{{ workflow.parameters.n + 1 }}}}` is -4: sign `-`; expected an unsigned number (give the \
                 parameter `n` another value, or change the expression)"
            ),
            format!(
                "P031: {at}.maxRuntime: `{{{{ workflow.parameters.limit }}}}` is \"0s\": no time; expected a timeout of at least 1 ms \
                 (give the parameter `limit` another value, or change the expression)"
            ),
        ]
    );
    let failed = bound(&plan, r#"{"limit": "1s", "n": "x"}"#).unwrap_err();
    assert!(
        failed.iter().any(|problem| problem.starts_with(&format!("P054: {at}.retry.delay: "))),
        "{failed:#?}"
    );
    assert!(
        failed.iter().any(|problem| problem.starts_with(&format!("P010: {at}.retry.attempts: "))),
        "{failed:#?}"
    );
}

/// R-W33: what is recorded makes the same plan.
#[test]
fn recorded_values_make_the_same_plan() {
    let task = r#", "maxRuntime": "{{ workflow.parameters.limit }}", "retry": {"attempts": "{{ workflow.parameters.n }}"}"#;
    let plan = planned(r#"{"name": "limit", "default": "1s"}, {"name": "n"}"#, "", task);
    let run = bound(&plan, r#"{"limit": "5s", "n": 7}"#).unwrap();
    let recorded = Draft::recorded(&run.document.value(), &run.setting_values());
    let again = recorded.assemble(&run.executors, &[]).unwrap();
    assert_eq!(format!("{:?}", again.root), format!("{:?}", run.root));
    assert_eq!((&again.document, again.setting_values()), (&run.document, run.setting_values()));
    // A run's plan is bound anew for other parameters, and is the same for the same ones.
    let other = bound(&run, r#"{"limit": "5s", "n": 2}"#).unwrap();
    assert_eq!(
        format!("{:?}", other.root),
        format!("{:?}", bound(&plan, r#"{"limit": "5s", "n": 2}"#).unwrap().root)
    );
    assert!(Arc::ptr_eq(&bound(&run, r#"{"limit": "5s", "n": 7}"#).unwrap(), &run));
    // A plan without expressions is every run's.
    let plain = planned("", "", r#", "maxRuntime": "1s""#);
    assert!(Arc::ptr_eq(&bound(&plain, "{}").unwrap(), &plain));
}

/// R-W34: files of the other dialect have the problem that they had.
#[test]
fn aether_settings_are_no_expressions() {
    let found = |task: &str| told(&judged(&text("aether/v1", r#"{"name": "n"}"#, "", task)).unwrap_err());
    assert_eq!(
        found(r#", "maxRuntime": "{{ workflow.parameters.n }}""#),
        [
            "P030: spec.templates[0].task.maxRuntime: `{` where a number belongs; expected a duration such as `1h 30m` (no `{{ }}` is replaced here: write the value itself)"
        ]
    );
    assert_eq!(
        found(r#", "retry": {"limit": "{{ workflow.parameters.n }}"}"#),
        [
            "P010: spec.templates[0].task.retry.limit: found string; expected a whole number (no `{{ }}` is replaced here: write the value itself)"
        ]
    );
}
