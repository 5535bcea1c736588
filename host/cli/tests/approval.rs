//! The approval example, through the real binary and the shipped `echo`.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

/// The command in a directory of its own, with the shipped plugins.
fn command(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phasm"));
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
    command.current_dir(dir).env_remove("PHASM_CONFIG").args(arguments).arg("--plugins").arg(plugins);
    command
}

fn output(dir: &Path, arguments: &[&str]) -> Output {
    command(dir, arguments).args(["--json", "--store", "runs.db"]).output().unwrap()
}

/// Prints something about the store, without plugins.
fn shown(dir: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phasm"));
    let ran = command.current_dir(dir).args(arguments).args(["--store", "runs.db"]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

/// Runs the command; its exit status and the run view.
fn phasm(dir: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let ran = output(dir, arguments);
    let view = serde_json::from_slice(&ran.stdout);
    (ran.status.code(), view.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr))))
}

#[test]
fn the_release_waits_for_a_word() {
    let dir = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/approval.yaml");
    let example = example.to_str().unwrap();
    let rows = [
        (r#"{"approved": true, "by": "Ada"}"#, json!("Succeeded"), [json!("Ada"), json!("phasm-1.0")]),
        (r#"{"approved": false, "by": "Ada"}"#, json!("Skipped"), [json!("Ada"), json!(null)]),
    ];
    for (answer, publish, outputs) in rows {
        let (status, parked) = phasm(dir.path(), &["run", example]);
        let run = parked["runID"].as_str().unwrap();
        assert_eq!((status, &parked["tasks"][2]["message"]), (Some(6), &json!("release it?")));
        let (status, view) = phasm(dir.path(), &["resume", run, "approve", answer]);
        assert_eq!((status, &view["tasks"][3]["phase"]), (Some(0), &publish), "{view}");
        let found = view["outputs"].as_array().unwrap().iter().map(|output| output["value"].clone());
        assert_eq!(found.collect::<Vec<_>>(), outputs);
    }
}

/// R-L33: the question is printed; the task need not be named if only one waits; a comment is kept.
#[test]
fn a_step_is_approved_and_rejected_by_commands_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/approval.yaml");
    for (words, publish, comment) in [
        (&["approve", "@last", "--comment", "as agreed"][..], json!("Succeeded"), json!("as agreed")),
        (&["approve", "@last", "main/approve"], json!("Succeeded"), json!(null)),
        (&["reject", "@last", "approve", "--comment", "not today"], json!("Skipped"), json!("not today")),
        (
            &["respond", "@last", "{\"approved\": true}", "-p", "comment=yes"],
            json!("Succeeded"),
            json!("yes"),
        ),
        (&["resume", "@last", "approve", "{\"approved\": false}"], json!("Skipped"), json!(null)),
    ] {
        assert_eq!(phasm(dir.path(), &["run", example.to_str().unwrap()]).0, Some(6));
        let ran = output(dir.path(), words);
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        let view: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!((ran.status.code(), &view["tasks"][3]["phase"]), (Some(0), &publish), "{words:?}: {told}");
        assert!(told.contains("main/approve: release it?\n"), "{words:?}: {told}");
        let outputs = view["tasks"][2]["outputs"].as_array().unwrap();
        let kept =
            outputs.iter().find(|output| output["name"] == "comment").map(|output| output["value"].clone());
        assert_eq!(kept.unwrap_or_default(), comment, "{words:?}");
    }
    // The summary off JSON says how to respond.
    let asks = command(dir.path(), &["run", example.to_str().unwrap()])
        .args(["--store", "runs.db"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&asks.stdout).into_owned();
    assert!(
        said.contains("to approve: ") && said.contains("to reject:  ") && said.contains(" reject "),
        "{said}"
    );
}

/// R-L120, R-L121, R-L122, R-L76: people read that the run waits, how to respond, a refusal once, and who approved.
#[test]
fn a_refusal_is_printed_once_and_nothing_resumes_by_it() {
    let dir = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/approval.yaml");
    let ran =
        command(dir.path(), &["run", example.to_str().unwrap(), "--store", "runs.db"]).output().unwrap();
    let (said, page) = (String::from_utf8_lossy(&ran.stderr), String::from_utf8_lossy(&ran.stdout));
    assert!(said.contains("main/approve#1 Waiting: release it?\n"), "{said}");
    assert!(page.starts_with("release waiting for approval, 1 of 3 tasks ("), "{page}");
    assert!(page.contains("waiting for a response:\n  main/approve  release it?\nto approve: "), "{page}");
    let listed = shown(dir.path(), &["list", "--waiting"]);
    assert!(
        listed.contains(" ago  ") && listed.contains(" approve ") && listed.contains(" reject "),
        "{listed}"
    );
    let rows: Value = serde_json::from_str(&shown(dir.path(), &["list", "--waiting", "--json"])).unwrap();
    let task = &rows[0]["tasks"][0];
    assert!(task["commands"].as_array().unwrap().len() == 2 && task["until"].is_string(), "{rows}");
    let respond = |words: &[&str]| {
        let ran = command(dir.path(), words).args(["--store", "runs.db"]).output().unwrap();
        let said = [ran.stderr, ran.stdout].map(|text| String::from_utf8_lossy(&text).into_owned());
        (ran.status.code(), said)
    };
    let (status, [said, page]) = respond(&["respond", "@last", r#"{"approved": "yes"}"#]);
    assert_eq!(
        (status, said.matches("refused: approved: expected true or false").count()),
        (Some(2), 1),
        "{said}"
    );
    assert!(said.contains("not resumed; ") && !said.contains("#1 resumed"), "{said}");
    assert!(page.starts_with("release waiting for approval"), "{page}");
    let (status, [said, page]) = respond(&["approve", "@last"]);
    assert_eq!((status, said.matches("#1 resumed by local:").count()), (Some(0), 1), "{said}");
    assert!(page.contains("  by        local:"), "{page}");
}

/// R-L121: a command that stays with the run prints a refusal of another command's response once.
#[test]
fn a_command_that_waits_prints_a_refusal_once() {
    let dir = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/approval.yaml");
    let mut run = command(dir.path(), &["run", example.to_str().unwrap(), "--wait", "--store", "runs.db"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines().map_while(Result::ok);
    lines.find(|line| line.contains("#1 Waiting: release it?")).unwrap();
    let refused = command(dir.path(), &["respond", "@last", r#"{"approved": "yes"}"#])
        .args(["--store", "runs.db"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let approved = command(dir.path(), &["approve", "@last", "--store", "runs.db"]).output().unwrap();
    assert!(approved.status.success(), "{approved:?}");
    let said: Vec<_> = lines.filter(|line| !line.starts_with("info ")).collect();
    run.wait().unwrap();
    let refusals = said.iter().filter(|line| line.contains("refused")).count();
    let resumed = said.iter().filter(|line| line.contains("resumed")).count();
    assert_eq!((refusals, resumed), (1, 1), "{said:?}");
    assert!(!said.iter().any(|line| line.starts_with("waiting: ") && line.contains("refused")), "{said:?}");
}

/// R-L33: nothing is guessed, and what is refused leaves the step waiting: status 2.
#[test]
fn a_response_without_its_task_is_refused_unless_one_waits() {
    let dir = tempfile::tempdir().unwrap();
    let two = "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: m }\nspec:\n  entrypoint: main\n  templates:\n    - dag:\n        \
               name: main\n        tasks:\n          - { name: one, executor: { type: approval, config: { message: first } } }\n          - { \
               name: two, executor: { type: approval, config: { message: second, schema: { type: object, required: [size], properties: { \
               size: { type: integer } } } } } }\n";
    std::fs::write(dir.path().join("two.yaml"), two).unwrap();
    assert_eq!(phasm(dir.path(), &["run", "two.yaml"]).0, Some(6));
    let refused = |words: &[&str], why: &str| {
        let ran = output(dir.path(), words);
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.code() == Some(2) && told.contains(why), "{words:?}: {told}");
    };
    refused(
        &["approve", "@last"],
        "not approved: 2 tasks wait for a response; name one of them: main/one, main/two",
    );
    refused(&["reject", "@last", "three"], "has no task `three`; waiting for a response: main/one, main/two");
    // Each waiting task has its commands.
    let page = shown(dir.path(), &["get", "@last"]);
    for (lead, command) in [
        ("to approve: ", " main/one --store"),
        ("to reject:  ", " main/one --store"),
        ("to respond, with values of your own: ", r#" main/two '{"size":1}' --store"#),
    ] {
        assert!(page.lines().any(|line| line.starts_with(lead) && line.contains(command)), "{lead}: {page}");
    }
    // R-L77: what is missing is said before anything is recorded.
    let seq = || shown(dir.path(), &["events", "@last"]).len();
    let before = seq();
    let expected =
        "main/two expects these values (missing: size); nothing was recorded\n  size  integer\nfor example: ";
    refused(&["approve", "@last", "two"], &format!("not approved: {expected}"));
    refused(&["respond", "@last", "two"], &format!("not resumed: {expected}"));
    refused(
        &["respond", "@last", "two", "-p", "size=3", "-p", "sise=4"],
        "`sise` is not one of them; did you mean `size`?",
    );
    refused(&["approve", "@last", "one", "-p", "bye=Ada"], "`bye` is not one of them; did you mean `by`?");
    refused(&["respond", "@last", "two"], r#" main/two '{"size":1}'"#);
    assert_eq!(seq(), before);
    // R-L76: all that wait, with their questions.
    let waiting: Value = shown(dir.path(), &["list", "--waiting", "--json"]).parse().unwrap();
    let tasks = waiting[0]["tasks"].as_array().unwrap();
    let named: Vec<_> = tasks.iter().map(|task| (&task["task"], &task["question"])).collect();
    assert_eq!(named, [(&json!("main/one"), &json!("first")), (&json!("main/two"), &json!("second"))]);
    let table = shown(dir.path(), &["list", "--waiting"]);
    assert!(table.contains("main/one") && table.contains("second"), "{table}");
    // The user's own JSON is the executor's to judge.
    refused(
        &["respond", "@last", "one", r#"{"approved":true,"bye":"Ada"}"#],
        "bye is not asked for; expected one of approved, by, comment",
    );
    refused(&["respond", "@last", "two", "{}"], "size is missing");
    refused(&["respond", "@last", "one", "[1]"], "expected an object");
    refused(&["respond", "@last", "[1]"], "expected an object");
    assert_eq!(phasm(dir.path(), &["approve", "@last", "one"]).0, Some(6));
    assert_eq!(phasm(dir.path(), &["respond", "@last", "-p", "size=3"]).0, Some(0));
    refused(&["approve", "@last"], "has already ended");
    assert_eq!(shown(dir.path(), &["list", "--waiting", "--json"]).trim(), "[]");
}

/// R-S15: a misspelt setting is an error before anything runs, as it would let everyone respond.
#[test]
fn a_misspelt_setting_is_found_by_validate() {
    let dir = tempfile::tempdir().unwrap();
    let ask = "apiVersion: phasm/v1\nkind: Workflow\nmetadata: { name: m }\nspec:\n  entrypoint: ask\n  templates:\n    - task: { name: \
               ask, executor: { type: approval, config: { notby: [ada], message: Deploy? } } }\n";
    std::fs::write(dir.path().join("ask.yaml"), ask).unwrap();
    let ran = output(dir.path(), &["run", "ask.yaml"]);
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    let hint = told.contains("P077") && told.contains("did you mean `notBy`?");
    assert!(ran.status.code() == Some(2) && hint, "{told}");
    std::fs::write(dir.path().join("ask.yaml"), ask.replace("notby", "notBy")).unwrap();
    assert_eq!(output(dir.path(), &["run", "ask.yaml"]).status.code(), Some(6));
}

/// R-S14: a refused answer is status 2 and leaves nothing behind, whatever was wrong with it.
#[test]
fn a_refused_answer_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let ask = "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: m }\nspec:\n  entrypoint: ask\n  templates:\n    - task:\n        \
               name: ask\n        inputs: { parameters: [{ name: message, value: \"deploy to PRODUCTION?\" }] }\n        executor: { type: \
               approval, config: { schema: { type: object, required: [approved], additionalProperties: false, properties: { approved: { \
               type: boolean } } } } }\n";
    std::fs::write(dir.path().join("ask.yaml"), ask).unwrap();
    let (status, asks) = phasm(dir.path(), &["run", "ask.yaml"]);
    let run = asks["runID"].as_str().unwrap();
    assert_eq!(status, Some(6));
    for (answer, why) in [
        (r#"{"approved": "maybe"}"#, "approved: expected"),
        (r#"{"approved": true, "by": "x"}"#, "by is not asked for"),
        (r#"{"aproved": true}"#, "approved is missing; aproved is not asked for"),
    ] {
        let (status, view) = phasm(dir.path(), &["resume", run, "ask", answer]);
        let task = &view["tasks"][0];
        assert_eq!((status, &task["outputs"]), (Some(2), &asks["tasks"][0]["outputs"]), "{view}");
        let says = |text: &Value| text.as_str().unwrap().contains(why);
        assert!(says(&task["refused"]) && says(&task["message"]), "{task}");
        assert!(task["message"].as_str().unwrap().starts_with("deploy to PRODUCTION?"), "{task}");
    }
    let (status, view) = phasm(dir.path(), &["resume", run, "ask", r#"{"approved": true}"#]);
    let outputs = view["tasks"][0]["outputs"].as_array().unwrap();
    let names: Vec<_> = outputs.iter().map(|output| output["name"].as_str().unwrap()).collect();
    assert_eq!((status, names), (Some(0), vec!["asked", "approved"]), "{view}");
}

/// R-L33: the values of an example are those that are required, and those for which the schema has one; defaults are named.
#[test]
fn an_example_shows_choices_and_defaults() {
    let dir = tempfile::tempdir().unwrap();
    let text = "apiVersion: phasm/v1\nkind: Workflow\nmetadata: { name: m }\nspec:\n  entrypoint: main\n  templates:\n    - task:\n        \
                name: main\n        executor: { type: approval, config: { message: Go?, schema: { type: object, properties: { go: { type: \
                string, enum: [\"YES\", \"NO\"], default: \"NO\" }, size: { type: integer, default: 3 }, note: { type: string } } } } }\n";
    std::fs::write(dir.path().join("ask.yaml"), text).unwrap();
    assert_eq!(phasm(dir.path(), &["run", "ask.yaml"]).0, Some(6));
    let page = shown(dir.path(), &["get", "@last"]);
    let lead = r#"to respond, with values of your own; default go="NO", size=3: "#;
    let line = page.lines().find(|line| line.starts_with(lead)).unwrap_or_else(|| panic!("{page}"));
    assert!(line.contains(r#" main '{"go":"YES","size":3}'"#), "{line}");
    let refused = output(dir.path(), &["approve", "@last"]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    for says in [
        "  go    one of \"YES\", \"NO\", default \"NO\"\n",
        "  size  integer, default 3\n",
        "  note  string, optional\n",
        r#"'{"go":"YES","size":3}'"#,
    ] {
        assert!(told.contains(says), "{says}: {told}");
    }
}
