//! Seed 002.

use phasm_engine::{event::Reason, phase::Phase};
use phasm_tests::world::Act;
use serde_json::json;

use super::play::{Ended, Played, acts, ended, error, indented, output, plan, play, returns, workflow};

const PLACEMENT: &str = include_str!("../../../seeds/002-1-canonical-placement.yaml");
const SCHEMA: &str = include_str!("../../../seeds/002-2-rule-schema.yaml");
const HTTP: &str = include_str!("../../../seeds/002-3.1-http.yaml");
const POSTGRES: &str = include_str!("../../../seeds/002-3.2-postgres.yaml");
const PYTHON: &str = include_str!("../../../seeds/002-3.3-python.yaml");
const LEGACY: &str = include_str!("../../../seeds/002-8-legacy.yaml");
const CANONICAL: &str = include_str!("../../../seeds/002-8-canonical.yaml");

const PARAMETERS: &str = "arguments: {parameters: [{name: api_url}, {name: page_size}]}";
const EXHAUSTED: Option<Reason> = Some(Reason::RetryExhausted);
const FAILED: Option<Reason> = Some(Reason::PolicyFail);

/// A pipeline of the given items of its list.
fn pipeline(tasks: &[&str]) -> String {
    let tasks: Vec<_> = tasks.iter().map(|task| indented(task, 2)).collect();
    workflow(&[&format!("pipeline:\n  name: main\n  tasks:\n{}", tasks.join("\n"))], PARAMETERS)
}

fn status(status: i32) -> Act {
    error("", json!({"http": {"status": status, "headers": {}}}))
}

/// `2, 4, 8, …` seconds.
fn doubling(from: u64, count: u32) -> Vec<u64> {
    (0..count).map(|n| from << n).collect()
}

/// Runs a one-task document with each script; the run has the task's phase.
fn check(document: &str, task: &str, rows: Vec<(&str, Vec<Act>, Ended)>) {
    for (row, script, expected) in rows {
        let played = play(document, acts([(task, script)]));
        let phase = expected.phase;
        assert_eq!(played.ended(task), expected, "{row}");
        assert_eq!(played.phase(), phase, "{row}");
    }
}

/// R-N10, R-N11, section 1: ten attempts for busy servers, one for other errors.
#[test]
fn canonical_placement() {
    let document = pipeline(&[PLACEMENT]);
    check(
        &document,
        "fetch_page",
        vec![
            ("ok", vec![returns(0)], ended(1, &[], Phase::Succeeded, None)),
            ("429", vec![status(429)], ended(10, &doubling(2000, 9), Phase::Error, EXHAUSTED)),
            ("then ok", vec![status(504), returns(0)], ended(2, &[2000], Phase::Succeeded, None)),
            ("401", vec![status(401)], ended(1, &[], Phase::Error, FAILED)),
            ("no http", vec![error("refused", json!({}))], ended(1, &[], Phase::Error, FAILED)),
            ("a failure", vec![returns(2)], ended(1, &[], Phase::Failed, FAILED)),
        ],
    );
    let played = play(&document, acts([]));
    assert_eq!(played.inputs("fetch_page"), json!({"method": "GET", "url": "http://api/items"}));
}

/// R-N11, section 2: every key of the schema is one of ours; what it leaves open is all that is wrong with it.
#[test]
fn rule_schema() {
    let task = |block: &str| {
        pipeline(&[&format!("- a:\n    kind: echo\n{}\n- b: {{kind: echo}}", indented(block, 4))])
    };
    let problems = plan(&task(SCHEMA)).unwrap_err();
    let mut paths: Vec<_> = problems.iter().map(|p| p.path.rsplit("rules[0].").next().unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["then.do", "when"]);

    let line = |start: &str| SCHEMA.lines().find(|line| line.trim_start().starts_with(start)).unwrap();
    let retries = ["attempts:", "backoff:", "delay:"];
    let filled = |action: &str, backoff: &str| {
        let mut block = SCHEMA
            .replace("<bool expr>", "outcome.status == 'error'")
            .replace("retry|continue|jump|break|fail", action)
            .replace("none|linear|exponential", backoff)
            .replace("<task_label>", "b")
            .replace("{ ... }", "{ x: 1 }");
        let kept = |start: &str| match action {
            "retry" => start != "to:",
            "jump" => start == "to:",
            _ => false,
        };
        for start in retries.into_iter().chain(["to:"]).filter(|start| !kept(start)) {
            let written =
                line(start).replace("none|linear|exponential", backoff).replace("<task_label>", "b");
            block = block.replace(&format!("{written}\n"), "");
        }
        task(&block)
    };
    let error = |action, backoff| play(&filled(action, backoff), acts([("a", vec![returns(3)])]));
    for (backoff, delays) in [
        ("none", [1000, 1000, 1000, 1000]),
        ("linear", [1000, 2000, 3000, 4000]),
        ("exponential", [1000, 2000, 4000, 8000]),
    ] {
        assert_eq!(
            error("retry", backoff).ended("a"),
            ended(5, &delays, Phase::Error, EXHAUSTED),
            "{backoff}"
        );
    }
    let seen = |played: &Played| (played.ended("a").phase, played.ended("b").phase, played.phase());
    let (ok, bad, skipped) = (Phase::Succeeded, Phase::Error, Phase::Skipped);
    assert_eq!(seen(&error("continue", "none")), (bad, ok, ok));
    assert_eq!(seen(&error("jump", "none")), (bad, ok, ok));
    assert_eq!(seen(&error("break", "none")), (bad, skipped, ok));
    assert_eq!(seen(&error("fail", "none")), (bad, Phase::Cancelled, bad));
    assert_eq!(seen(&play(&filled("fail", "none"), acts([]))), (ok, ok, ok));
}

/// R-N1, section 2's defaults: without a policy ok continues and an error fails; without a match and an else it continues.
#[test]
fn defaults() {
    let bare = pipeline(&["- a: {kind: echo}", "- b: {kind: echo}"]);
    let unmatched =
        "- a: {kind: echo, spec: {policy: {rules: [{when: \"outcome.code == 9\", then: {do: fail}}]}}}";
    let unmatched = pipeline(&[unmatched, "- b: {kind: echo}"]);
    let (ok, bad) = (Phase::Succeeded, Phase::Error);
    for (document, code, expected) in [
        (&bare, 0, (ok, ok)),
        (&bare, 3, (Phase::Cancelled, bad)),
        (&unmatched, 0, (ok, ok)),
        (&unmatched, 3, (ok, ok)),
    ] {
        let played = play(document, acts([("a", vec![returns(code)])]));
        assert_eq!((played.ended("b").phase, played.phase()), expected, "{document}");
    }
}

/// R-N10, R-N4, section 3.1.
#[test]
fn http_retry() {
    let document = pipeline(&[HTTP]);
    let refused = || error("connection refused", json!({}));
    let bare =
        || Act { outcome: phasm_engine::outcome::Outcome { detail: None, ..refused().outcome }, ..refused() };
    check(
        &document,
        "fetch_page",
        vec![
            ("ok", vec![returns(0)], ended(1, &[], Phase::Succeeded, None)),
            ("429", vec![status(429)], ended(10, &doubling(2000, 9), Phase::Error, EXHAUSTED)),
            ("500", vec![status(500)], ended(10, &doubling(2000, 9), Phase::Error, EXHAUSTED)),
            ("401", vec![status(401)], ended(1, &[], Phase::Error, FAILED)),
            ("403", vec![status(403)], ended(1, &[], Phase::Error, FAILED)),
            ("404", vec![status(404)], ended(3, &[1000, 2000], Phase::Error, EXHAUSTED)),
            ("no http", vec![refused()], ended(3, &[1000, 2000], Phase::Error, EXHAUSTED)),
            ("no detail", vec![bare()], ended(3, &[1000, 2000], Phase::Error, EXHAUSTED)),
            (
                "recovers",
                vec![status(429), refused(), returns(0)],
                ended(3, &[2000, 2000], Phase::Succeeded, None),
            ),
            (
                "one counter",
                vec![status(503), status(503), refused()],
                ended(3, &[2000, 4000], Phase::Error, EXHAUSTED),
            ),
            ("gives up", vec![status(502), status(401)], ended(2, &[2000], Phase::Error, FAILED)),
        ],
    );
    let played = play(&document, acts([]));
    let inputs =
        json!({"method": "GET", "url": "http://api/api/v1/items", "params": {"page": null, "pageSize": 50}});
    assert_eq!(played.inputs("fetch_page"), inputs);
    assert_eq!(played.config("fetch_page"), json!({"spec": {"timeout": {"connect": 5, "read": 15}}}));
}

/// R-N10, R-N4, section 3.2: texts are compared with texts.
#[test]
fn postgres_retry() {
    let pg = |code: serde_json::Value| error("", json!({"pg": {"code": code}}));
    let document = pipeline(&[POSTGRES]);
    check(
        &document,
        "store_page",
        vec![
            ("ok", vec![returns(0)], ended(1, &[], Phase::Succeeded, None)),
            ("40001", vec![pg(json!("40001"))], ended(5, &doubling(2000, 4), Phase::Error, EXHAUSTED)),
            ("40P01", vec![pg(json!("40P01")), returns(0)], ended(2, &[2000], Phase::Succeeded, None)),
            ("23505", vec![pg(json!("23505"))], ended(1, &[], Phase::Error, FAILED)),
            ("a number", vec![pg(json!(40001))], ended(1, &[], Phase::Error, FAILED)),
            ("no pg", vec![error("no server", json!({}))], ended(1, &[], Phase::Error, FAILED)),
        ],
    );
    let played = play(&document, acts([]));
    assert_eq!(played.inputs("store_page"), json!({"auth": "pg_k8s", "command": "INSERT INTO ..."}));
}

/// R-N10, R-N7, section 3.3: the message in any case; `_prev` is what came before, with its type.
#[test]
fn python_retry() {
    let document = pipeline(&["- source: {kind: echo}", PYTHON]);
    let message = |message: &str| error(message, json!({}));
    check(
        &document,
        "transform",
        vec![
            ("ok", vec![returns(0)], ended(1, &[], Phase::Succeeded, None)),
            ("TIMEOUT", vec![message("Read TIMEOUT")], ended(3, &[1000, 2000], Phase::Error, EXHAUSTED)),
            ("timeout", vec![message("timeout"), returns(0)], ended(2, &[1000], Phase::Succeeded, None)),
            ("another", vec![message("KeyError: 'x'")], ended(1, &[], Phase::Error, FAILED)),
            ("none", vec![message("")], ended(1, &[], Phase::Error, FAILED)),
            (
                "the executor's own",
                vec![error("traceback", json!({"error": {"message": "socket.Timeout"}}))],
                ended(3, &[1000, 2000], Phase::Error, EXHAUSTED),
            ),
        ],
    );
    let played = play(&document, acts([("source", vec![output("items", json!([1, 2]))])]));
    let inputs = json!({"args": {"data": {"items": [1, 2]}}, "code": "result = do_transform(data)\n"});
    assert_eq!(played.inputs("transform"), inputs);
}

/// R-N5, section 8: the legacy block is a problem, in a dag and in a pipeline, and the hint is the canonical block.
#[test]
fn legacy_prints_the_canonical_rules() {
    let dag = format!(
        "dag:\n  name: main\n  tasks:\n  - name: a\n    executor: {{type: echo}}\n{}",
        indented(LEGACY, 4)
    );
    let labelled = format!("- a:\n    kind: echo\n{}", indented(LEGACY, 4));
    let trimmed = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    for document in [workflow(&[&dag], PARAMETERS), pipeline(&[&labelled])] {
        let problems = plan(&document).unwrap_err();
        let [problem] = problems.as_slice() else { panic!("{problems:#?}") };
        let hint = problem.hint.as_ref().unwrap();
        let printed = trimmed(hint);
        let canonical = trimmed(CANONICAL);
        let rules = canonical.strip_prefix(&["spec:".to_owned()]).unwrap();
        assert!(printed.ends_with(rules), "{hint}");
    }
}

/// R-N10, section 8: the canonical block, and the hint of the legacy one in its place, do the same.
#[test]
fn canonical_instead_of_legacy() {
    let legacy = pipeline(&[&format!("- a:\n    kind: echo\n{}", indented(LEGACY, 4))]);
    let hint = plan(&legacy).unwrap_err().pop().and_then(|problem| problem.hint).unwrap();
    let printed = hint
        .split_once("policy:")
        .map(|(_, rules)| format!("spec:\n  policy:{}", rules.replace('\n', "\n  ")))
        .unwrap();
    for block in [CANONICAL, &printed] {
        let document = pipeline(&[&format!("- a:\n    kind: echo\n{}", indented(block, 4))]);
        check(
            &document,
            "a",
            vec![
                ("ok", vec![returns(0)], ended(1, &[], Phase::Succeeded, None)),
                ("500", vec![status(500)], ended(5, &doubling(1000, 4), Phase::Error, EXHAUSTED)),
                ("599", vec![status(599), returns(0)], ended(2, &[1000], Phase::Succeeded, None)),
                ("429", vec![status(429)], ended(1, &[], Phase::Error, FAILED)),
                ("no http", vec![error("refused", json!({}))], ended(1, &[], Phase::Error, FAILED)),
            ],
        );
    }
}
