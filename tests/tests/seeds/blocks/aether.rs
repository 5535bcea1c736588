//! Seeds 000 and 001.

use phasm_engine::{
    event::{Input, Reason},
    phase::Phase,
};

use super::play::{acts, ended, hangs, inner, plan, play, returns, submit, workflow};

const BASIC: &str = include_str!("../../../seeds/000-basic-configuration.json");
const EXPRESSION: &str = include_str!("../../../seeds/000-expression.json");
const EXHAUSTED: &str = include_str!("../../../seeds/000-retry-exhausted.json");
const TASK_TIMEOUT: &str = include_str!("../../../seeds/000-task-timeout.json");
const WORKFLOW_TIMEOUT: &str = include_str!("../../../seeds/000-workflow-timeout.json");
const RETRY_AND_TIMEOUT: &str = include_str!("../../../seeds/000-retry-and-timeout.json");
const CONDITIONS: &str = include_str!("../../../seeds/001-phase-conditions.json");

const FLAKY: &str = "task: {name: flaky-task, executor: {type: echo}}";
const DOOMED: &str = "task: {name: always-fail, executor: {type: echo}}";

/// R-R1, R-R12, R-R4: limit 3 is three retries; the expression replaces the filter, so that Failed is tried again.
#[test]
fn basic_configuration() {
    let document = workflow(&[BASIC, FLAKY], "");
    let again = [0, 0, 0];
    for (codes, expected, phase) in [
        (vec![0], ended(1, &[], Phase::Succeeded, None), Phase::Succeeded),
        (vec![2, 3, 4, 0], ended(4, &again, Phase::Succeeded, None), Phase::Succeeded),
        (vec![4, 3, 2], ended(4, &again, Phase::Failed, Some(Reason::RetryExhausted)), Phase::Failed),
        (vec![2, 2, 2, 3], ended(4, &again, Phase::Error, Some(Reason::RetryExhausted)), Phase::Error),
    ] {
        let played = play(&document, acts([("flaky", codes.iter().map(|code| returns(*code)).collect())]));
        assert_eq!(played.ended("flaky"), expected, "{codes:?}");
        assert_eq!(played.phase(), phase, "{codes:?}");
    }
}

/// R-R12: with the expression any phase but Succeeded is tried again; without it Failed is not.
#[test]
fn expression_against_default() {
    let node = |retry: &str| {
        let node = format!(r#"{{"name": "flaky", "template": "flaky-task", {retry}}}"#);
        workflow(&[&format!(r#"{{"dag": {{"name": "main", "tasks": [{node}]}}}}"#), FLAKY], "")
    };
    let with = node(inner(EXPRESSION));
    let without = node(r#""retry": {"limit": 3}"#);
    let exhausted = |phase| ended(4, &[0, 0, 0], phase, Some(Reason::RetryExhausted));
    for (code, replaced, default) in [
        (2, exhausted(Phase::Failed), ended(1, &[], Phase::Failed, None)),
        (3, exhausted(Phase::Error), exhausted(Phase::Error)),
        (4, exhausted(Phase::Timeout), exhausted(Phase::Timeout)),
    ] {
        let acts = acts([("flaky", vec![returns(code)])]);
        assert_eq!(play(&with, acts.clone()).ended("flaky"), replaced);
        assert_eq!(play(&without, acts).ended("flaky"), default);
    }
}

/// R-R1, R-R7: "exhausts its two retries (attempts 1, 2, 3 total) and then transitions to PhaseFailed, causing the DAG
/// to fail unless continueOn.failed is set".
#[test]
fn retry_exhausted() {
    let doomed = acts([("doomed", vec![returns(2)])]);
    let expected = ended(3, &[0, 0], Phase::Failed, Some(Reason::RetryExhausted));
    let played = play(&workflow(&[EXHAUSTED, DOOMED], ""), doomed.clone());
    assert_eq!((played.ended("doomed"), played.phase()), (expected, Phase::Failed));

    let tolerated = EXHAUSTED.replace(r#""retry": {"#, r#""continueOn": {"failed": true}, "retry": {"#);
    let played = play(&workflow(&[&tolerated, DOOMED], ""), doomed);
    assert_eq!((played.ended("doomed").phase, played.phase()), (Phase::Failed, Phase::Succeeded));
}

fn waiting() -> String {
    let dag = format!(
        r#"{{"dag": {{"name": "main", "tasks": [
{{"name": "prepare", "template": "flaky-task"}},
{TASK_TIMEOUT},
{{"name": "finalize", "template": "flaky-task", "dependencies": ["wait-external"]}}]}}}}"#
    );
    workflow(&[&dag, FLAKY], "")
}

/// R-T10, R-T3, R-S2: no resume within a second: Timeout, and finalize still runs.
#[test]
fn task_timeout() {
    let played = play(&waiting(), acts([("wait-external", vec![returns(1)])]));
    assert_eq!(played.inputs("wait-external"), serde_json::json!({"suspend": true}));
    assert_eq!(played.ended("wait-external"), ended(1, &[], Phase::Timeout, None));
    assert_eq!(played.ended("finalize").phase, Phase::Succeeded);
    assert_eq!((played.phase(), played.finished_at()), (Phase::Succeeded, 1000 + 1000 + 1000));
}

/// R-S9, R-T7: a resume within the second wins; the executor is called again.
#[test]
fn task_resumed_in_time() {
    let quick = |code| phasm_tests::world::Act { takes: Some(10), ..returns(code) };
    let waits = submit(&waiting(), acts([("wait-external", vec![quick(1), quick(0)])]));
    let id = waits.task("wait-external");
    let played = waits.at(1500, Input::Resumed(id, Default::default(), None)).through();
    assert_eq!(played.ended("wait-external"), ended(1, &[], Phase::Succeeded, None));
    assert_eq!(played.finished_at(), 1510 + 1000);
}

/// R-T10: the block has no templates, which is a problem; with one the run ends after 30 minutes.
#[test]
fn workflow_timeout() {
    let head = r#""apiVersion": "aether/v1", "kind": "Workflow", "metadata": {"name": "seed"}"#;
    let document = format!("{{{head}, {}}}", inner(WORKFLOW_TIMEOUT));
    let problems = plan(&document).unwrap_err();
    assert!(problems.iter().all(|problem| problem.path.starts_with("spec.")), "{problems:?}");

    let main = r#"[{"dag": {"name": "main", "tasks": [{"name": "a", "executor": {"type": "echo"}}]}}]"#;
    let document = document.replace("[]", main);
    let played = play(&document, acts([("a", vec![hangs()])]));
    assert_eq!(played.ended("a"), ended(1, &[], Phase::Cancelled, Some(Reason::WorkflowTimeout)));
    assert_eq!((played.phase(), played.finished_at()), (Phase::Timeout, 30 * 60 * 1000));
}

fn bounded() -> String {
    workflow(&[&format!(r#"{{"dag": {{"name": "main", "tasks": [{RETRY_AND_TIMEOUT}]}}}}"#), FLAKY], "")
}

/// R-T2: the deadline is set once. After 10 s no retry follows.
#[test]
fn retry_and_timeout() {
    let played = play(&bounded(), acts([("flaky", vec![hangs()])]));
    let expected = ended(1, &[], Phase::Timeout, None);
    assert_eq!((played.ended("flaky"), played.finished_at()), (expected, 10_000));

    let played = play(&bounded(), acts([("flaky", vec![returns(3), returns(3), hangs()])]));
    let expected = ended(3, &[0, 0], Phase::Timeout, None);
    assert_eq!((played.ended("flaky"), played.finished_at()), (expected, 10_000));
}

/// R-T2, R-R12: in time, Error and an executor's own Timeout are tried again, Failed is not.
#[test]
fn retries_within_the_timeout() {
    for (codes, started, delays, phase) in
        [(vec![3, 4, 0], 3, vec![0, 0], Phase::Succeeded), (vec![3, 2], 2, vec![0], Phase::Failed)]
    {
        let codes = codes.iter().map(|code| returns(*code)).collect();
        let played = play(&bounded(), acts([("flaky", codes)]));
        assert_eq!(played.ended("flaky"), ended(started, &delays, phase, None));
    }
}

/// R-C2: codes 0 to 4 give Succeeded, Failed, Failed, Error, Succeeded; seed 001's code 1 does not suspend.
#[test]
fn phase_conditions() {
    let node = format!(r#"{{"name": "run", "template": "flaky-task", {}}}"#, inner(CONDITIONS));
    let dag = format!(r#"{{"dag": {{"name": "main", "tasks": [{node}]}}}}"#);
    let document = workflow(&[&dag, FLAKY], "");
    let phases = [Phase::Succeeded, Phase::Failed, Phase::Failed, Phase::Error, Phase::Succeeded];
    for (code, phase) in (0..).zip(phases) {
        let played = play(&document, acts([("run", vec![returns(code)])]));
        assert_eq!(played.ended("run"), ended(1, &[], phase, None), "code {code}");
        assert_eq!(played.phase(), phase, "code {code}");
    }
}
