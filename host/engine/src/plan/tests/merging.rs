//! Precedence: manifest, template, call; each field as a whole.

use crate::plan::{
    Backoff, Growth, MaxAttempts, PhaseConditions, RetryFilter, RetryPolicy, RuleAction, TimeoutPolicy,
};

use super::*;

fn retry_of(task_fields: &str) -> RetryPolicy {
    let task = format!(r#"{{"name": "a", "template": "work", "retry": {task_fields}}}"#);
    let templates = format!(r#"{{"dag": {{"name": "main", "tasks": [{task}]}}}}"#);
    let mut plan = plan(&templates);
    let TemplateKind::Dag(dag) = &mut plan.templates[0].kind else { panic!("no dag") };
    match Arc::into_inner(dag.nodes.remove(0).settings).unwrap().recovery {
        Some(Recovery::Retry(policy)) => policy,
        other => panic!("{other:?}"),
    }
}

/// R-R1, R-R2, R-R3, R-R12: the table of spellings.
#[test]
fn spellings_of_retry() {
    let filter = |policy: &RetryPolicy| match policy.filter {
        RetryFilter::ErrorOrTimeout => "Error, Timeout",
        RetryFilter::Retryable => "retryable",
        RetryFilter::AnyFailure => "any",
        RetryFilter::Expression(_) => "expression",
    };
    let limited = MaxAttempts::Limited;
    let rows = [
        (r#"{}"#, limited(1), 0, "Error, Timeout"),
        (r#"{"limit": 0}"#, limited(1), 0, "Error, Timeout"),
        (r#"{"limit": 2}"#, limited(3), 0, "Error, Timeout"),
        (r#"{"limit": 100, "expression": "true"}"#, limited(101), 0, "expression"),
        (r#"{"limit": 2, "delay": "5s"}"#, limited(3), 5000, "Error, Timeout"),
        (r#"{"maxAttempts": 0}"#, limited(0), 0, "any"),
        (r#"{"maxAttempts": 3, "delay": 250}"#, limited(3), 250, "any"),
        (r#"{"maxAttempts": 3.0}"#, limited(3), 0, "any"),
        (r#"{"maxAttempts": -1}"#, MaxAttempts::Unlimited, 1, "any"),
        (
            r#"{"maxAttempts": -1, "delay": "2s", "expression": "false"}"#,
            MaxAttempts::Unlimited,
            2000,
            "expression",
        ),
    ];
    for (text, attempts, delay, expected) in rows {
        let policy = retry_of(text);
        assert_eq!(policy.max_attempts, attempts, "{text}");
        assert_eq!(policy.backoff.delay, delay, "{text}");
        assert_eq!(filter(&policy), expected, "{text}");
    }
    let steep = retry_of(
        r#"{"maxAttempts": 5, "delay": "1s", "exponentialBackoff": 2, "maxDelay": "10s", "jitter": 0.5}"#,
    );
    assert_eq!(steep.backoff, Backoff { delay: 1000, growth: Growth::Factor(2.0), max_delay: Some(10_000) });
    assert!((steep.jitter - 0.5).abs() < f64::EPSILON);
}

/// R-R2, R-N10.
#[test]
fn rules_become_actions() {
    let task = r#"{"name": "a", "template": "work", "policy": {"rules": [
        {"when": "outcome.code == 4", "then": {"do": "retry", "attempts": 10, "backoff": "exponential", "delay": 2.5}},
        {"when": "outcome.code == 3", "then": {"do": "retry", "backoff": "linear", "delay": "1m"}},
        {"when": "outcome.code == 2", "then": {"do": "retry"}},
        {"else": null, "then": {"do": "fail"}}]}}"#;
    with_node("", task, |_, node| {
        let Some(Recovery::Policy(policy)) = &node.settings.recovery else { panic!("{node:?}") };
        let retry = |attempts, delay, growth| RuleAction::Retry {
            attempts: MaxAttempts::Limited(attempts),
            backoff: Backoff { delay, growth, max_delay: None },
        };
        let actions: Vec<_> = policy.rules.iter().map(|rule| rule.action.clone()).collect();
        assert_eq!(
            actions,
            [
                retry(10, 2500, Growth::Factor(2.0)),
                retry(3, 60_000, Growth::Linear),
                retry(3, 1000, Growth::Factor(1.0)),
                RuleAction::Fail,
            ]
        );
        assert!(policy.rules[3].when.is_none());
        assert_eq!((policy.level, policy.fail_unmatched), (Level::Node, false));
    });
}

const PATIENT: &str = r#"{"task": {"name": "patient", "executor": {"type": "echo"}, "timeout": "1m",
    "maxRuntime": {"timeout": "5s", "errorOnTimeout": true}, "retry": {"limit": 2, "delay": "1s"},
    "continueOn": {"failed": true}, "resources": {"memory": "64Mi"},
    "phaseConditions": {"failed": "tasks.patient.code == 1"},
    "hooks": {"onExit": {"template": "work"}}}}"#;

/// R-W12.
#[test]
fn the_call_replaces_whole_objects_of_the_template() {
    let inherited = r#"{"name": "a", "template": "patient"}"#;
    with_node(PATIENT, inherited, |plan, node| {
        let settings = &node.settings;
        assert_eq!(settings.timeout, Some(60_000));
        assert_eq!(settings.max_runtime, Some(TimeoutPolicy { timeout: 5000, expiry: Expiry::Error }));
        assert!(
            matches!(&settings.recovery, Some(Recovery::Retry(retry)) if retry.max_attempts == MaxAttempts::Limited(3))
        );
        assert_eq!(settings.continue_on, Tolerance { failed: true, ..Tolerance::default() });
        let PhaseConditions { failed: Some(condition), .. } = &settings.phase_conditions else {
            panic!("{settings:?}")
        };
        assert_eq!(condition.level, Level::Template);
        assert_eq!(plan.hook_calls[settings.hooks[&HookType::OnExit]].level, Level::Template);
        assert!(matches!(&node.work, Work::Executor(call) if call.memory == Some(64 << 20)));
    });
    let own = r#"{"name": "a", "template": "patient", "timeout": "2m", "maxRuntime": "1s", "policy": {"rules": []},
        "continueOn": {"error": true}, "phaseConditions": {"error": "code == 7"}, "hooks": {}, "resources": {"memory": 1024}}"#;
    with_node(PATIENT, own, |_, node| {
        let settings = &node.settings;
        assert_eq!(settings.timeout, Some(120_000));
        assert_eq!(settings.max_runtime, Some(TimeoutPolicy { timeout: 1000, expiry: Expiry::Cancelled }));
        assert!(matches!(&settings.recovery, Some(Recovery::Policy(policy)) if policy.rules.is_empty()));
        assert_eq!(settings.continue_on, Tolerance { error: true, ..Tolerance::default() });
        assert!(settings.phase_conditions.failed.is_none());
        assert_eq!(settings.phase_conditions.error.as_ref().map(|c| c.level), Some(Level::Node));
        assert!(settings.hooks.is_empty());
        assert!(matches!(&node.work, Work::Executor(call) if call.memory == Some(1024)));
    });
}

/// Only `echo` is installed, with default policies.
fn plugins() -> Executors {
    let text = r#"{"retry": {"maxAttempts": 5}, "maxInactivity": "30s", "deadline": {"timeout": "1h"}}"#;
    let defaults = Value::from_json(text).unwrap().as_object().unwrap().clone();
    Executors::any()
        .with("echo", ExecutorResolution::Executor(Box::new(PinnedExecutor::with_defaults(defaults))))
        .with("other", ExecutorResolution::Unknown)
        .allow_missing(true)
}

fn with_plugins(tree: &Tree) -> Plan {
    Draft::read(tree).plan(&plugins(), &Value::Null).unwrap()
}

/// R-D1: what a run records of its submission gives the same plan, whatever is installed by then.
#[test]
fn what_is_recorded_of_manifests_gives_the_plan_again() {
    let tree = Tree::from(&Value::from_json(&document(WORK_ALONE)).unwrap());
    let plan = with_plugins(&tree);
    let draft = Draft::read(&Tree::from(&plan.document.value()));
    let again = draft.assemble(&plan.executors, &[]).unwrap();
    let of = |plan: &Plan| format!("{:?}", plan.root.settings);
    assert_eq!(of(&plan), of(&again));
    assert_ne!(of(&plan), of(&Draft::read(&tree).plan(&Executors::any(), &Value::Null).unwrap()));
    assert_eq!(plan.executors, again.executors);
}

const WORK_ALONE: &str = r#"{"task": {"name": "main", "executor": {"type": "echo"}}}"#;

/// R-W12.
#[test]
fn the_manifest_is_farthest() {
    let templates = r#"{"dag": {"name": "main", "tasks": [
        {"name": "a", "executor": {"type": "echo"}, "maxInactivity": "1s"},
        {"name": "b", "template": "work", "retry": {"limit": 0}},
        {"name": "c", "executor": {"type": "other"}}]}}"#;
    let tree = Tree::from(&Value::from_json(&document(templates)).unwrap());
    let plan = with_plugins(&tree);
    let attempts = |node: &Node| match &node.settings.recovery {
        Some(Recovery::Retry(retry)) => Some(retry.max_attempts),
        Some(Recovery::Policy(_)) | None => None,
    };
    let [a, b, c] = nodes(&plan) else { panic!("three nodes") };
    assert_eq!(attempts(a), Some(MaxAttempts::Limited(5)));
    assert_eq!(a.settings.max_inactivity.map(|policy| policy.timeout), Some(1000));
    assert_eq!(attempts(b), Some(MaxAttempts::Limited(1)));
    assert_eq!(b.settings.max_inactivity.map(|policy| policy.timeout), Some(30_000));
    assert_eq!(b.settings.deadline.map(|policy| policy.timeout), Some(3_600_000));
    assert_eq!((attempts(c), c.settings.deadline), (None, None));
    assert_eq!(plan.warnings.iter().map(|w| w.code).collect::<Vec<_>>(), ["W002"]);
}

/// R-S2.
#[test]
fn tolerance_comes_from_the_task_its_template_or_the_dag() {
    let templates = format!(
        r#"{PATIENT}, {{"dag": {{"name": "inner", "continueOn": {{"error": true}}, "tasks": [{{"name": "x", "template": "work"}}]}}}},
        {{"dag": {{"name": "main", "continueOn": {{"timeout": true}}, "tasks": [
            {{"name": "a", "template": "work"}}, {{"name": "b", "template": "patient"}},
            {{"name": "c", "template": "work", "continueOn": {{}}}}, {{"name": "d", "template": "inner"}}]}}}}"#
    );
    let plan = plan(&templates);
    let found: Vec<_> = nodes(&plan).iter().map(|node| node.settings.continue_on).collect();
    let none = Tolerance::default();
    let timeout = Tolerance { timeout: true, ..none };
    assert_eq!(found, [timeout, Tolerance { failed: true, ..none }, none, timeout]);
}

fn defaults_found(json: &str) -> Vec<String> {
    let found = check_defaults(&Tree::from(&Value::from_json(json).unwrap()));
    found.iter().map(|problem| format!("{} {}", problem.code, problem.path)).collect()
}

/// A manifest's fields are read as a document's are; policy, timeout and the rest are not among them.
#[test]
fn defaults_of_a_manifest_are_checked() {
    let rows: &[(&str, &[&str])] = &[
        ("{}", &[]),
        (
            r#"{"retry": {"limit": 3, "delay": "1s"}, "maxRuntime": 500, "deadline": {"timeout": "1h", "errorOnTimeout": true}}"#,
            &[],
        ),
        (
            r#"{"retry": {"maxAttempts": -1, "expression": "code == 3 and retries < 9 and vars.patient"}}"#,
            &[],
        ),
        (
            r#"{"retry": {"limit": -2, "delay": "1 week"}, "maxInactivity": 0}"#,
            &["P033 retry.limit", "P030 retry.delay", "P031 maxInactivity"],
        ),
        (r#"{"retry": {"limit": 1, "maxAttempts": 2}}"#, &["P032 retry"]),
        (r#"{"retry": "often"}"#, &["P010 retry"]),
        (r#"{"retry": {"limit": 1, "expression": "tasks.a.code == 1"}}"#, &["P041 retry.expression"]),
        (r#"{"retry": {"limit": 1, "expression": "code = 1"}}"#, &["P040 retry.expression"]),
        (r#"{"policy": {"rules": []}, "timeout": "1s"}"#, &["P011 policy", "P011 timeout"]),
        ("[]", &["P010 "]),
    ];
    for (json, expected) in rows {
        let mut found = defaults_found(json);
        let mut expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{json}");
    }
}

/// R-W12: each field by itself, the nearer level's whole object, retry and policy as one field.
#[test]
fn each_field_comes_from_its_nearest_level() {
    let levels = |template: &str, call: &str| {
        let templates = format!(
            r#"{{"dag": {{"name": "main", "tasks": [{{"name": "a", "template": "patient"{call}}}]}}}},
               {{"task": {{"name": "patient", "executor": {{"type": "echo"}}{template}}}}}"#
        );
        let tree = Tree::from(&Value::from_json(&document(&templates)).unwrap());
        let plan = with_plugins(&tree);
        let Settings { max_runtime, max_inactivity, deadline, recovery, .. } = &*nodes(&plan)[0].settings;
        let time = |policy: &Option<TimeoutPolicy>| {
            policy.map_or("-".to_owned(), |policy| {
                format!("{}{}", policy.timeout, if policy.expiry == Expiry::Error { "!" } else { "" })
            })
        };
        let recovery = match recovery {
            Some(Recovery::Retry(retry)) => format!("{:?} {}", retry.max_attempts, retry.backoff.delay),
            Some(Recovery::Policy(policy)) => format!("{} rules", policy.rules.len()),
            None => "-".to_owned(),
        };
        format!("{} {} {} {recovery}", time(max_runtime), time(max_inactivity), time(deadline))
    };
    let policy = r#", "policy": {"rules": [{"else": {"then": {"do": "fail"}}}]}"#;
    let rows = [
        ("", "", "- 30000 3600000 Limited(5) 0"),
        (r#", "maxRuntime": "1s""#, "", "1000 30000 3600000 Limited(5) 0"),
        ("", r#", "maxInactivity": "1s""#, "- 1000 3600000 Limited(5) 0"),
        (
            r#", "deadline": {"timeout": "1s", "errorOnTimeout": true}"#,
            r#", "deadline": "2s""#,
            "- 30000 2000 Limited(5) 0",
        ),
        (r#", "retry": {"limit": 1, "delay": "1s"}"#, "", "- 30000 3600000 Limited(2) 1000"),
        (
            r#", "retry": {"limit": 1, "delay": "1s"}"#,
            r#", "retry": {"limit": 2}"#,
            "- 30000 3600000 Limited(3) 0",
        ),
        (policy, "", "- 30000 3600000 1 rules"),
        (policy, r#", "retry": {"maxAttempts": 7}"#, "- 30000 3600000 Limited(7) 0"),
        (r#", "retry": {"limit": 1}"#, policy, "- 30000 3600000 1 rules"),
    ];
    for (template, call, expected) in rows {
        assert_eq!(levels(template, call), expected, "{template} {call}");
    }
}

/// For unknown names the nearest known one is offered; memory above the operator's limit is doubtful.
#[test]
fn executors_are_known_by_name() {
    let few = Executors::any()
        .with("ehco", ExecutorResolution::Unknown)
        .with("echo@9", ExecutorResolution::Unknown)
        .installed(vec!["echo".into(), "http".into()])
        .memory(64 << 20);
    let templates = r#"{"dag": {"name": "main", "tasks": [{"name": "a", "executor": {"type": "ehco"}}, {"name": "b", "executor": {"type": "echo@9"}},
        {"name": "c", "template": "work", "resources": {"memory": "65Mi"}}, {"name": "d", "template": "work", "resources": {"memory": "64Mi"}}]}}"#;
    let tree = Tree::from(&Value::from_json(&document(templates)).unwrap());
    let of = |found: &[Problem]| -> Vec<(&str, String, Option<String>)> {
        found.iter().map(|one| (one.code, one.message.clone(), one.hint.clone())).collect()
    };
    let memory = (
        "W015",
        "68157440 bytes of memory; expected at most the operator's limit of 67108864".to_owned(),
        Some("the limit holds all the same".to_owned()),
    );
    let unknown = |code, name, nearest: Option<&str>| {
        let message = format!("executor `{name}` is not installed; expected `echo` or `http`");
        (code, message, nearest.map(|nearest| format!("did you mean `{nearest}`?")))
    };
    let missing = |code| [unknown(code, "echo@9", None), unknown(code, "ehco", Some("echo"))];
    let problems = Draft::read(&tree).plan(&few, &Value::Null).unwrap_err();
    assert_eq!(of(&problems), missing("P070"));
    let allowed = Draft::read(&tree).plan(&few.allow_missing(true), &Value::Null).unwrap();
    assert_eq!(of(&allowed.warnings), [&[memory][..], &missing("W002")].concat());
    let missing = || PinnedExecutor { missing: true, ..PinnedExecutor::default() };
    assert_eq!(allowed.executors.values().cloned().collect::<Vec<_>>(), [missing(), missing()]);
}

/// A type that is installed and unusable says why.
#[test]
fn executors_that_cannot_be_used_are_refused_with_the_reason() {
    let tree = Tree::from(&Value::from_json(&document(WORK_ALONE)).unwrap());
    let broken = Executors::any().with("echo", ExecutorResolution::Broken("no component".into()));
    let problems = Draft::read(&tree).plan(&broken, &Value::Null).unwrap_err();
    let [problem, _of_the_other_template] = problems.as_slice() else { panic!("{problems:#?}") };
    assert_eq!((problem.code, &*problem.message), ("P071", "executor `echo` cannot be used: no component"));
    assert_eq!(problem.path, "spec.templates[0].task.executor.type");
}

/// R-I6: the first call of an executor whose manifest is not known yet has a warning, and the workflow is valid.
#[test]
fn executors_that_are_not_built_are_not_checked() {
    let tree = Tree::from(&Value::from_json(&document(WORK_ALONE)).unwrap());
    let unbuilt = Executors::any().with("echo", ExecutorResolution::Executor(Box::default())).unbuilt(
        "echo".into(),
        "it is source",
        "build it",
    );
    let plan = Draft::read(&tree).plan(&unbuilt, &Value::Null).unwrap();
    let found: Vec<_> = plan.warnings.iter().filter(|warning| warning.code == "W026").collect();
    let [warning] = found.as_slice() else { panic!("{:#?}", plan.warnings) };
    let told = (warning.code, &*warning.message, warning.hint.as_deref());
    assert_eq!(
        told,
        ("W026", "inputs and outputs of executor `echo` are not checked: it is source", Some("build it"))
    );
}

/// R-B7: a loop has the outputs that the executor of its body returns, and no others.
#[test]
fn a_loop_has_the_outputs_of_its_bodys_executor() {
    let outputs =
        r#"{"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": false}"#;
    let known = PinnedExecutor { outputs: Value::from_json(outputs).unwrap(), ..PinnedExecutor::default() };
    let executors = Executors::any().with("echo", ExecutorResolution::Executor(Box::new(known)));
    let codes = |name: &str| -> Vec<&str> {
        let templates = r#"{"dag": {"name": "main", "tasks": [{"name": "each", "template": "each"}], "outputs": {"parameters": [
            {"name": "all", "valueFrom": {"path": "tasks.each.outputs.parameters.NAME"}}]}}},
            {"loop": {"name": "each", "body": "body", "items": [1]}}, {"task": {"name": "body", "executor": {"type": "echo"}}}"#;
        let tree = Tree::from(&Value::from_json(&document(&templates.replace("NAME", name))).unwrap());
        let planned = Draft::read(&tree).plan(&executors, &Value::Null);
        planned.err().iter().flat_map(|found| found.iter().map(|problem| problem.code)).collect()
    };
    assert_eq!(codes("text"), [""; 0]);
    assert_eq!(codes("txt"), ["P043"]);
}
