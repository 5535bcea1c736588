//! The workflow snippets of the seeds, verbatim inside a document, on a real sandbox with the shipped `echo`.

use std::{
    path::Path,
    sync::{Arc, LazyLock},
};

use phasm::{Host, Notice, RunHandle, Watch, engine::value::Map};
use serde_json::{Value, json};

/// Seed 000, "Default vs. Expression-Controlled Retry".
const FLAKY: &str = include_str!("../../seeds/000-basic-configuration.json");

/// Seed 000, "Retry Exhausted".
const DOOMED: &str = include_str!("../../seeds/000-retry-exhausted.json");

/// Seed 000, "Per-Task Timeout".
const WAIT_EXTERNAL: &str = include_str!("../../seeds/000-task-timeout.json");

/// Seed 001, "phaseConditions".
const CONDITIONS: &str = r#"{
        "succeeded": "tasks.run.code == 0 || tasks.run.code == 4",
        "failed":    "tasks.run.code == 1 || tasks.run.code == 2"
    }"#;

fn task(name: &str, config: &Value) -> String {
    json!({ "task": { "name": name, "executor": { "type": "echo", "config": config } } }).to_string()
}

fn document(templates: &[String]) -> String {
    let templates = templates.join(",");
    format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "seed"}},
            "spec": {{"entrypoint": "main", "templates": [{templates}]}}}}"#
    )
}

/// The shipped plugin, built if need be.
static ECHO: LazyLock<Arc<[u8]>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/echo");
    let built = phasm_builder::bring_up_to_date(&[folder], &|_: &str| {}).remove(0).unwrap();
    std::fs::read(built.wasm).unwrap().into()
});

/// Runs a document and returns the result of `look`.
fn on_echo<T>(document: &str, look: impl AsyncFnOnce(RunHandle, Watch) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let host = Host::builder().plugin("echo", Arc::clone(&ECHO)).open().unwrap();
    runtime.block_on(async {
        let plan = host.plan("seed.yaml", document).await.unwrap_or_else(|problems| panic!("{problems:#?}"));
        let new = host.new_run(&plan, &Map::new()).await.unwrap();
        let notices = new.watch();
        let run = new.start().await.unwrap();
        look(run, notices).await
    })
}

/// Runs a document and returns the run view.
fn run(document: &str) -> Value {
    on_echo(document, async |run, _| serde_json::to_value(run.wait().await.unwrap()).unwrap())
}

fn found<'v>(view: &'v Value, task: &str) -> &'v Value {
    view["tasks"].as_array().unwrap().iter().find(|entry| entry["taskName"] == task).unwrap()
}

fn attempts(task: &Value) -> usize {
    task["attempts"].as_array().unwrap().len()
}

#[test]
fn an_expression_retries_failed_too() {
    let view = run(&document(&[FLAKY.to_owned(), task("flaky-task", &json!({ "fail-count": 3 }))]));
    let flaky = found(&view, "flaky");
    assert_eq!(
        (&view["phase"], &flaky["phase"], &flaky["retries"], attempts(flaky)),
        (&json!("Succeeded"), &json!("Succeeded"), &json!(3), 4)
    );
}

/// "A task that always fails exhausts its two retries (attempts 1, 2, 3 total) and then transitions to PhaseFailed."
#[test]
fn an_exhausted_retry_has_called_the_executor_three_times() {
    let view = run(&document(&[DOOMED.to_owned(), task("always-fail", &json!({ "code": 2 }))]));
    let doomed = found(&view, "doomed");
    assert_eq!((&doomed["phase"], &doomed["reason"]), (&json!("Failed"), &json!("retry-exhausted")));
    let codes: Vec<&Value> =
        doomed["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["code"]).collect();
    assert_eq!(codes, [&json!(2), &json!(2), &json!(2)]);
    assert_eq!(view["phase"], "Failed");
}

/// "If no Resume() arrives within one second, the timeout watchdog fires … the downstream finalize task still runs."
#[test]
fn a_suspended_task_times_out_and_the_run_goes_on() {
    let dag = format!(
        r#"{{"dag": {{"name": "main", "tasks": [
            {{"name": "prepare", "template": "work"}}, {WAIT_EXTERNAL},
            {{"name": "finalize", "template": "work", "dependencies": ["wait-external"]}}]}}}}"#
    );
    let view = run(&document(&[dag, task("work", &json!({}))]));
    let waited = found(&view, "wait-external");
    assert_eq!((&waited["phase"], &waited["code"]), (&json!("Timeout"), &json!(4)));
    assert!(waited["suspendedAt"].is_string());
    assert_eq!(
        (&found(&view, "finalize")["phase"], &view["phase"]),
        (&json!("Succeeded"), &json!("Succeeded"))
    );
}

/// Codes 0 to 4 give Succeeded, Failed, Failed, Error, Succeeded.
#[test]
fn conditions_override_the_table() {
    let dag = r#"{"dag": {"name": "main", "tasks": [{"name": "run", "template": "run"}]}}"#;
    for (code, phase) in ["Succeeded", "Failed", "Failed", "Error", "Succeeded"].into_iter().enumerate() {
        let run_template = format!(
            r#"{{"task": {{"name": "run", "executor": {{"type": "echo", "config": {{"code": {code}}}}},
                "phaseConditions": {CONDITIONS}}}}}"#
        );
        let view = run(&document(&[dag.to_owned(), run_template]));
        assert_eq!(
            (&view["phase"], &found(&view, "run")["phase"]),
            (&json!(phase), &json!(phase)),
            "code {code}"
        );
    }
}

/// The result of one rule of seed 002: the delays it chose, the last phase and its reason.
type Followed = (Vec<u64>, String, Option<String>);

/// Runs a block of seed 002 with `returns` as its executor's script; everything else is the seed's, but for a `code` that
/// would be echo's own.
fn followed(block: &str, kind: &str, returns: &Value) -> Followed {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(block);
    let block = std::fs::read_to_string(file).unwrap();
    let scripted = block.replace(&format!("kind: {kind}"), &format!("kind: echo\n    returns: {returns}"));
    assert_ne!(scripted, block);
    let scripted = scripted.replace("code: |", "source: |");
    let tasks: String = scripted.lines().map(|line| format!("          {line}\n")).collect();
    let document = format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: seed }}\nspec:\n  entrypoint: main\n  arguments: {{ parameters: \
         [{{ name: api_url, value: here }}, {{ name: page_size, value: 50 }}] }}\n  templates:\n    - pipeline:\n        name: main\n        \
         tasks:\n{tasks}"
    );
    let events: Vec<Value> = on_echo(&document, async |run, mut notices| {
        run.wait().await.unwrap();
        let mut events = Vec::new();
        while let Some(notice) = notices.next().await.unwrap() {
            if let Notice::Record(record) = notice {
                events.extend(notices.views(&record).map(|view| view.json()));
            }
        }
        events
    });
    let delays = events.iter().filter(|event| event["type"] == "task.retry.scheduled");
    let last =
        events.iter().rfind(|event| event["type"] == "task.phase" && event["scope"] == "main").unwrap();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    (
        delays.map(|event| event.pointer("/data/delayMs").unwrap().as_u64().unwrap()).collect(),
        text(last.pointer("/data/to").unwrap()).unwrap(),
        last.pointer("/data/reason").and_then(text),
    )
}

/// Seed 002, examples 3.1 to 3.3 (R-N1, R-N4): retry on 429 and 500, fail on 401, another rule for what has no status;
/// deadlocks, and messages that name a timeout.
#[test]
fn the_rules_of_seed_002_follow_their_outcomes() {
    let http = |status: u32| json!({ "code": 2, "detail": { "http": { "status": status } } });
    let pg = |code: &str| json!({ "code": 3, "detail": { "pg": { "code": code } } });
    let (ok, refused) = (json!({ "code": 0 }), json!({ "code": 3, "message": "connection refused" }));
    let (late, wrong) =
        (json!({ "code": 3, "message": "Read TIMEOUT" }), json!({ "code": 3, "message": "wrong" }));
    let end = |phase: &str, reason: Option<&str>| (phase.to_owned(), reason.map(str::to_owned));
    let rows = [
        ("002-3.1-http.yaml", "http", json!([http(429), ok]), vec![2000], end("Succeeded", None)),
        ("002-3.1-http.yaml", "http", json!([http(500), ok]), vec![2000], end("Succeeded", None)),
        ("002-3.1-http.yaml", "http", json!([http(401)]), vec![], end("Failed", Some("policy-fail"))),
        (
            "002-3.1-http.yaml",
            "http",
            json!([refused]),
            vec![1000, 2000],
            end("Error", Some("retry-exhausted")),
        ),
        ("002-3.2-postgres.yaml", "postgres", json!([pg("40001"), ok]), vec![2000], end("Succeeded", None)),
        (
            "002-3.2-postgres.yaml",
            "postgres",
            json!([pg("23505")]),
            vec![],
            end("Error", Some("policy-fail")),
        ),
        ("002-3.3-python.yaml", "python", json!([late, ok]), vec![1000], end("Succeeded", None)),
        ("002-3.3-python.yaml", "python", json!([wrong]), vec![], end("Error", Some("policy-fail"))),
    ];
    // They wait for the seed's own delays, all at once.
    std::thread::scope(|scope| {
        let runs =
            rows.iter().map(|(block, kind, returns, ..)| scope.spawn(|| followed(block, kind, returns)));
        for (run, (block, _, returns, delays, (phase, reason))) in
            runs.collect::<Vec<_>>().into_iter().zip(&rows)
        {
            let found = run.join().unwrap();
            assert_eq!(found, (delays.clone(), phase.clone(), reason.clone()), "{block} {returns}");
        }
    });
}

/// Seed 003's combined policy, with times that a test can wait for: whichever expires first decides (R-T4).
#[test]
fn the_policy_that_expires_first_decides() {
    let sleeper = |policies: &str| {
        format!(
            r#"{{"task": {{"name": "main", "executor": {{"type": "echo", "config": {{"sleep": "1h"}}}}, {policies}}}}}"#
        )
    };
    let view = run(&document(&[sleeper(
        r#""maxInactivity": "200ms", "deadline": {"timeout": "1h", "errorOnTimeout": true}"#,
    )]));
    assert_eq!((&view["phase"], &view["reason"]), (&json!("Cancelled"), &json!("timeout-policy")));
    let view = run(&document(&[sleeper(
        r#""maxInactivity": "1h", "deadline": {"timeout": "200ms", "errorOnTimeout": true}"#,
    )]));
    assert_eq!((&view["phase"], &view["reason"]), (&json!("Error"), &json!("deadline")));
}
