//! `phasm resume`, `cancel`, `recover`, `list`, `get` and `events`: runs that are kept in a file.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
    sync::Arc,
};

use phasm::{
    engine::time::Timestamp,
    store::{Encode, Journal, Lease, ReadStore as _, Record, Sqlite},
};
use serde_json::{Value, json};

use crate::bench::{Bench, Ran};

/// Seed 000's example, with a timeout to wait for or not.
pub(crate) fn approval(bench: &Bench, timeout: &str) {
    let text = r#"apiVersion: aether/v1
kind: Workflow
metadata: { name: release }
spec:
  entrypoint: main
  templates:
    - task: { name: work, executor: { type: echo } }
    - dag:
        name: main
        outputs:
          parameters: [{ name: by, valueFrom: { path: tasks.wait-external.outputs.parameters.by } }]
        tasks:
          - { name: prepare, template: work }
          - name: wait-external
            dependencies: [prepare]
            timeout: TIMEOUT
            continueOn: { timeout: true }
            executor: { type: suspend }
          - { name: finalize, template: work, dependencies: [wait-external] }
"#;
    bench.write("release.yaml", text.replace("TIMEOUT", timeout));
}

/// Two tasks that wait for people.
pub(crate) fn two_questions(bench: &Bench) {
    bench.write(
        "ask.yaml",
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: ask }\nspec:\n  entrypoint: main\n  templates:\n    - dag:\n        \
         name: main\n        tasks:\n          - { name: one, executor: { type: suspend } }\n          - { name: two, executor: { \
         type: suspend } }\n",
    );
}

/// Runs a document until it is parked; its id.
fn park(bench: &Bench, file: &str) -> String {
    let parked = bench.phasm(&["run", file, "--store", "runs.db", "--json"]);
    assert_eq!(parked.status, 6, "{parked:?}");
    parked.json().get("runID").and_then(Value::as_str).unwrap().to_owned()
}

fn on_store(bench: &Bench, arguments: &[&str]) -> Ran {
    bench.phasm(&[arguments, &["--store", "runs.db"]].concat())
}

fn task<'v>(view: &'v Value, name: &str) -> &'v Value {
    view["tasks"].as_array().unwrap().iter().find(|task| task["taskName"] == name).unwrap()
}

fn phases(view: &Value) -> Vec<&str> {
    view["tasks"].as_array().unwrap().iter().skip(1).map(|task| task["phase"].as_str().unwrap()).collect()
}

#[test]
fn a_suspended_approval_parks_and_is_completed_by_resume() {
    let bench = Bench::new();
    approval(&bench, "1h");
    let run = park(&bench, "release.yaml");
    let view = on_store(&bench, &["get", &run, "--json"]).json();
    assert_eq!(phases(&view), ["Succeeded", "Suspended", "Created"]);
    let shown = on_store(&bench, &["get", &run]);
    assert!(shown.stdout.starts_with("release waiting for a response, 1 of 3 tasks"), "{shown:?}");
    let words = |line: &str| line.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
    let tree: Vec<_> = shown.stdout.lines().skip(1).take(4).map(words).collect();
    assert_eq!(
        tree,
        ["▸ main Running", "✓ prepare Succeeded", "‖ wait-external Waiting", "· finalize Created"]
    );
    assert!(shown.stdout.contains("waiting for a response:\n  main/wait-external  "), "{shown:?}");
    // R-I42: what its attempts used, when that is asked for.
    let used = on_store(&bench, &["get", &run, "--usage"]).stdout;
    let view = on_store(&bench, &["get", &run, "--usage", "--json"]).json();
    assert!(view["usage"].is_object(), "{view}");
    let lines: Vec<Vec<&str>> = used.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["TASK", "ATTEMPT", "CPU", "MEMORY", "IN", "OUT", "CALLS"]);
    assert_eq!(
        [lines[1][0], lines[2][0], lines[3][0]],
        ["main/prepare", "main/wait-external", "all"],
        "{used}"
    );
    let resumed =
        on_store(&bench, &["resume", &run, "wait-external", r#"{"approved": true}"#, "-p", "by=Ada"]);
    assert_eq!(resumed.status, 0, "{resumed:?}");
    assert!(resumed.stderr.contains("resumed\n"), "{resumed:?}");
    assert!(resumed.stderr.contains("main/finalize#1 Succeeded"), "{resumed:?}");
    assert!(resumed.stdout.starts_with("release Succeeded"), "{resumed:?}");
    assert!(resumed.stdout.contains("  by  Ada\n"), "{resumed:?}");
    assert!(!bench.path("runs.db-wal").exists(), "the store was closed");
    let after = on_store(&bench, &["get", &run, "--json"]).json();
    assert_eq!(phases(&after), ["Succeeded"; 3]);
    let waited = task(&after, "wait-external");
    assert_eq!((waited["attempts"].as_array().unwrap().len(), &waited["retries"]), (1, &json!(0)));
    assert_eq!(waited["suspendedAt"], task(&view, "wait-external")["suspendedAt"]);
}

/// An answer that fits nothing is told when the run is left, too.
#[test]
fn an_answer_for_nobody_is_told_when_the_run_parks() {
    let bench = Bench::new();
    approval(&bench, "1h");
    let ran = bench.phasm(&["run", "release.yaml", "--store", "runs.db", "--resume", "wait={}"]);
    assert_eq!(ran.status, 6, "{ran:?}");
    assert!(ran.stderr.contains("--resume wait=… was not used"), "{ran:?}");
}

/// Copies the store `runs.db` to `late.db` as it will be after this many minutes in which no process has its runs.
fn later(bench: &Bench, run: &str, minutes: i64) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (now, late) = (bench.path("runs.db"), bench.path("late.db"));
    let (now, late) = (Sqlite::open(now).unwrap(), Sqlite::open(late).unwrap());
    let earlier = |at: Timestamp| Timestamp(at.0 - minutes * 60_000);
    runtime.block_on(async {
        let row = now.get(run).await.unwrap().unwrap();
        let lease = Lease::first(row.head, "other-host".into());
        for record in now.load(run).await.unwrap() {
            let Record { first_seq, events, time, body, document, notices, logs, remark } = record;
            let (time, body) = (earlier(time), Arc::new(body) as Arc<dyn Encode>);
            let record = Record { first_seq, events, time, body, document, notices, logs, remark };
            late.append(&lease, row.status, record, Vec::new()).await.unwrap();
        }
    });
}

/// The task's clocks continue while no process has the run; an answer that comes too late is no answer (R-S9).
#[test]
fn an_answer_after_the_timeout_comes_too_late() {
    let bench = Bench::new();
    approval(&bench, "20m");
    let run = park(&bench, "release.yaml");
    for (minutes, answer, phase) in
        [(10, "resumed", "Succeeded"), (30, "not resumed: its time was over", "Timeout")]
    {
        later(&bench, &run, minutes);
        let ran = bench.phasm(&["resume", &run, "wait-external", "--store", "late.db", "--json"]);
        assert_eq!((ran.status, phases(&ran.json())), (0, vec!["Succeeded", phase, "Succeeded"]), "{ran:?}");
        assert!(ran.stderr.contains(answer), "{ran:?}");
        std::fs::remove_file(bench.path("late.db")).unwrap();
    }
}

#[test]
fn a_suspended_approval_is_completed_by_a_flag() {
    let bench = Bench::new();
    approval(&bench, "1h");
    for store in ["runs.db", "memory"] {
        let ran = bench.phasm(&[
            "run",
            "release.yaml",
            "--json",
            "--store",
            store,
            "--resume",
            "main/wait-external={}",
        ]);
        assert_eq!((ran.status, phases(&ran.json())), (0, vec!["Succeeded"; 3]), "{ran:?}");
    }
}

/// "If no Resume() arrives within one second, the timeout watchdog fires … the downstream finalize task still runs."
#[test]
fn in_memory_a_suspended_approval_waits_for_its_timeout() {
    let bench = Bench::new();
    approval(&bench, "1s");
    let ran = bench.phasm(&["run", "release.yaml", "--json"]);
    assert_eq!((ran.status, phases(&ran.json())), (0, vec!["Succeeded", "Timeout", "Succeeded"]), "{ran:?}");
    assert!(ran.stderr.contains("waiting: main/wait-external needs a response until "), "{ran:?}");
}

/// R-L4: a run in memory that only waits for people ends the command, which says what it could have been called with.
#[test]
fn in_memory_a_run_that_waits_for_people_ends_with_a_hint() {
    let bench = Bench::new();
    approval(&bench, "1d");
    for store in [&[][..], &["--store", "memory"]] {
        let ran = bench.phasm(&[&["run", "release.yaml"], store].concat());
        assert_eq!(ran.status, 6, "{ran:?}");
        for says in ["`--resume wait-external=JSON`", "`--wait`", "`--store FILE`"] {
            assert!(ran.stderr.contains(says), "{says}: {ran:?}");
        }
    }
}

/// A parked run's clocks continue while no process has it; `recover --wait` stays for them.
#[test]
fn recover_waits_for_a_timeout_if_it_is_told_to() {
    let bench = Bench::new();
    approval(&bench, "2s");
    let run = park(&bench, "release.yaml");
    let ran = on_store(&bench, &["recover", "--wait", "--json"]);
    let views = ran.json();
    assert_eq!((ran.status, phases(&views[0])), (0, vec!["Succeeded", "Timeout", "Succeeded"]), "{ran:?}");
    assert_eq!(views[0]["runID"].as_str(), Some(run.as_str()));
    let again = on_store(&bench, &["resume", &run, "wait-external"]);
    assert_eq!(again.status, 2, "{again:?}");
    assert!(again.stderr.contains("has already ended: Succeeded"), "{again:?}");
}

/// R-S9: the answer says whether the task was suspended. Nothing is driven on for a call that is wrong.
#[test]
fn a_wrong_answer_is_explained_and_changes_nothing() {
    let bench = Bench::new();
    approval(&bench, "1h");
    let run = park(&bench, "release.yaml");
    let before = on_store(&bench, &["events", &run]).stdout;
    for (arguments, says) in [
        (
            &["resume", "absent", "wait-external", "{}"][..],
            format!("there is no run absent; open runs:\n  {run}  release"),
        ),
        (
            &["resume", &run, "absent", "{}"],
            "has no task `absent`; waiting for a response: main/wait-external".to_owned(),
        ),
        (
            &["resume", &run, "prepare", "{}"],
            "not resumed: main/prepare is Succeeded; waiting for a response: main/wait-external".to_owned(),
        ),
        (&["resume", &run, "main/finalize", "{}"], "not resumed: main/finalize is Created".to_owned()),
        (&["resume", &run, "wait-external", "[1]"], "expected an object".to_owned()),
        (&["cancel", &run, "--task", "prepare"], "not cancelled: main/prepare is Succeeded".to_owned()),
        (&["cancel", "absent"], "there is no run absent".to_owned()),
        (&["get", "absent"], "there is no run absent".to_owned()),
        (&["events", "absent"], "there is no run absent".to_owned()),
    ] {
        let ran = on_store(&bench, arguments);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains(&says), "{arguments:?}: {ran:?}");
    }
    assert_eq!(on_store(&bench, &["events", &run]).stdout, before);
}

/// R-L11: an id, a part that only it begins or ends with, `@last`.
#[test]
fn a_run_is_named_by_a_part_of_its_id() {
    let bench = Bench::new();
    two_questions(&bench);
    let runs = [park(&bench, "ask.yaml"), park(&bench, "ask.yaml")];
    let of = |meant: &str| on_store(&bench, &["get", meant, "--json"]).json()["runID"].clone();
    let [first, last] = &runs;
    assert_eq!(of("@last"), json!(last));
    for run in &runs {
        assert_eq!((of(&run[..35]), of(&run[run.len() - 8..])), (json!(run), json!(run)));
    }
    let common: String =
        first.chars().zip(last.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    for command in [&["get"][..], &["events"], &["cancel"], &["resume"], &["recover"]] {
        let task = if command == ["resume"] { &["one"][..] } else { &[] };
        let several = on_store(&bench, &[command, &[common.as_str()], task].concat());
        let says =
            format!("{common} could be any of 2 runs:\n  {last}  ask Running\n  {first}  ask Running\n");
        assert_eq!((several.status, several.stdout.as_str()), (2, ""), "{several:?}");
        assert!(several.stderr.contains(&says), "{several:?}");
        let short = on_store(&bench, &[command, &[&last[..3]], task].concat());
        assert!(short.status == 2 && short.stderr.contains("there is no run"), "{short:?}");
    }
    let answered = on_store(&bench, &["resume", "@last", "one"]);
    assert_eq!(answered.status, 6, "{answered:?}");
    let recovered = on_store(&bench, &["recover", first, first, "--json"]);
    assert_eq!((recovered.status, recovered.json().as_array().unwrap().len()), (6, 1), "{recovered:?}");
    assert_eq!(on_store(&bench, &["cancel", &first[..35]]).status, 5);
    assert_eq!(on_store(&bench, &["recover", first]).status, 2, "it has ended");
}

/// R-L12: the commands that are printed hold all that was given, and nothing that the environment says.
#[test]
fn hints_can_be_pasted() {
    let bench = Bench::new();
    bench.task("ask.yaml", "suspend", "");
    bench.write("my config.toml", "");
    std::fs::rename(bench.path("plugins"), bench.path("my plugins")).unwrap();
    let lead = "to respond, put the values between the braces: ";
    let given = ["--store", "my runs.db", "--config", "my config.toml", "--plugins", "my plugins"];
    let ran = bench.phasm(&[&["run", "ask.yaml"][..], &given].concat());
    assert_eq!(ran.status, 6, "{ran:?}");
    let options = " '{}' --store 'my runs.db' --config 'my config.toml' --plugins 'my plugins'\n";
    assert!(ran.stdout.ends_with(options), "{ran:?}");
    assert_eq!(bench.paste(&ran.stdout, lead, &[]).status, 0);
    let variables = [
        ("PHASM_STORE", "my runs.db"),
        ("PHASM_CONFIG", "my config.toml"),
        ("PHASM_PLUGINS", "none:my plugins"),
    ];
    bench.write("none/x", "");
    let ran = bench.phasm_with(&variables, &["run", "ask.yaml"]);
    assert_eq!(ran.status, 6, "{ran:?}");
    assert!(ran.stdout.ends_with(" main '{}'\n"), "{ran:?}");
    assert_eq!(bench.paste(&ran.stdout, lead, &variables).status, 0);
    let memory =
        bench.phasm_with(&variables, &["run", "ask.yaml", "--store", "memory", "--resume", "main={}"]);
    assert_eq!(memory.status, 0, "{memory:?}");
    assert_eq!(bench.phasm_with(&variables, &["list", "--json"]).json().as_array().unwrap().len(), 2);
    let unset = bench.phasm_with(&[("PHASM_STORE", "")], &["list"]);
    assert_eq!(unset.status, 2, "{unset:?}");
    assert!(unset.stderr.contains("no store is named, and the default store"), "{unset:?}");
}

/// R-I10: what a run was submitted with and is not here is named, and nothing is recorded.
#[test]
fn a_run_whose_world_is_missing_is_not_driven_on() {
    let bench = Bench::new();
    bench.write(
        "c.toml",
        "[grants.suspend]\nenv = { GO = \"on\" }\n[secrets]\ndb = { pw = { file = \"pw\" } }\n",
    );
    bench.write("pw", "hunter2\n");
    bench.task("ask.yaml", "suspend", "");
    let text = std::fs::read_to_string(bench.path("ask.yaml")).unwrap();
    let secret = "inputs: { parameters: [{ name: pw, valueFrom: { secretKeyRef: { name: db, key: pw } } },";
    bench.write("ask.yaml", text.replace("inputs: { parameters: [", secret));
    let parked = bench.phasm(&["run", "ask.yaml", "--store", "runs.db", "--config", "c.toml", "--json"]);
    assert_eq!(parked.status, 6, "{parked:?}");
    let before = on_store(&bench, &["events", "@last"]).stdout;
    rusqlite::Connection::open(bench.path("runs.db"))
        .unwrap()
        .execute_batch("DELETE FROM components")
        .unwrap();
    std::fs::remove_file(bench.path("plugins/suspend.wasm")).unwrap();
    std::fs::remove_file(bench.path("c.toml")).unwrap();
    for command in [&["recover", "--wait"][..], &["recover", "@last"], &["resume", "@last", "main"]] {
        let ran = on_store(&bench, command);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        for missing in ["executor `suspend`", "plugin `suspend` was granted", "GO", "secret db with key pw"] {
            assert!(ran.stderr.contains(missing), "{missing}: {ran:?}");
        }
        assert!(ran.stderr.contains("nothing was recorded") && !ran.stderr.contains("hunter2"), "{ran:?}");
        assert_eq!(on_store(&bench, &["events", "@last"]).stdout, before);
    }
    let refused = on_store(&bench, &["recover", "@last"]);
    let ended = bench.paste(&refused.stderr, "end it: ", &[]);
    assert_eq!(ended.status, 5, "{ended:?}");
}

/// R-L18: a run is gone on with by the configuration and the plugins that it was submitted with, if they are still this user's alone.
#[test]
#[cfg(unix)]
fn a_run_remembers_where_its_world_lay() {
    use std::os::unix::fs::PermissionsExt as _;

    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("far")).unwrap();
    bench.write("far/c.toml", "plugins = [\"p\"]\n[grants.suspend]\nenv = { GO = \"on\" }\n");
    std::fs::rename(bench.path("plugins"), bench.path("far/p")).unwrap();
    bench.task("ask.yaml", "suspend", "");
    let park = || {
        let parked = bench.phasm(&["run", "ask.yaml", "--store", "runs.db", "--config", "far/c.toml"]);
        assert_eq!(parked.status, 6, "{parked:?}");
    };
    let resume = || on_store(&bench, &["resume", "@last", "main", "{}"]);
    park();
    let resumed = resume();
    assert_eq!(resumed.status, 0, "{resumed:?}");
    assert!(resumed.stderr.contains("as it was submitted: "), "{resumed:?}");
    assert!(resumed.stderr.contains("far/c.toml\n"), "{resumed:?}");

    park();
    std::fs::set_permissions(bench.path("far/c.toml"), std::fs::Permissions::from_mode(0o666)).unwrap();
    let refused = resume();
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(!refused.stderr.contains("far/c.toml\n"), "{refused:?}");
    let named = bench.phasm(&["recover", "@last", "--store", "runs.db", "--config", "far/c.toml"]);
    assert_eq!(named.status, 6, "{named:?}");
}

#[test]
fn a_store_that_is_not_there_is_not_made() {
    let bench = Bench::new();
    for command in [
        &["list"][..],
        &["recover"],
        &["get", "x"],
        &["events", "x"],
        &["cancel", "x"],
        &["resume", "x", "y"],
    ] {
        for (store, says) in [("none.db", "there is no store none.db"), ("memory", "ends with its process")] {
            let ran = bench.phasm(&[command, &["--store", store]].concat());
            assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
            assert!(ran.stderr.contains(says), "{ran:?}");
        }
        assert!(!bench.path("none.db").exists());
    }
}

/// R-S10.
#[test]
fn a_task_and_then_the_run_are_cancelled() {
    let bench = Bench::new();
    two_questions(&bench);
    let run = park(&bench, "ask.yaml");
    let one = on_store(&bench, &["cancel", &run, "--task", "main/one", "--json"]);
    assert_eq!((one.status, phases(&one.json())), (6, vec!["Cancelled", "Suspended"]), "{one:?}");
    assert!(one.stderr.contains("cancelled\n"), "{one:?}");
    let all = on_store(&bench, &["cancel", &run, "--events"]);
    assert_eq!(all.status, 5, "{all:?}");
    let kinds: Vec<_> = all.json_lines().iter().map(|event| event["type"].clone()).collect();
    assert!(kinds.contains(&json!("run.cancel.requested")), "{kinds:?}");
    let view = on_store(&bench, &["get", &run, "--json"]).json();
    assert_eq!((&view["phase"], &view["reason"]), (&json!("Cancelled"), &json!("user")));
    let again = on_store(&bench, &["cancel", &run]);
    assert_eq!(again.status, 2, "{again:?}");
    assert!(again.stderr.contains("has already ended: Cancelled"), "{again:?}");
}

/// One process drives the run; readers do not disturb it.
#[test]
fn a_store_that_is_held_may_be_looked_at() {
    let bench = Bench::new();
    two_questions(&bench);
    let run = park(&bench, "ask.yaml");
    let held = Sqlite::open(bench.path("runs.db")).unwrap();
    for command in [&["resume", &run, "one"][..], &["cancel", &run], &["recover"]] {
        let ran = on_store(&bench, command);
        let says = format!("is in use by process {}: one process at a time", std::process::id());
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.stderr.contains(&says), "{ran:?}");
    }
    for command in [&["list"][..], &["get", &run], &["events", &run]] {
        let ran = on_store(&bench, command);
        assert!(ran.status == 0 && !ran.stdout.is_empty(), "{ran:?}");
    }
    drop(held);
}

/// R-D1: what is printed as it happens is what is printed later.
#[test]
fn events_are_those_of_the_run() {
    let bench = Bench::new();
    approval(&bench, "1h");
    let lived = bench.phasm(&["run", "release.yaml", "--store", "runs.db", "--events"]);
    let run = lived.json_lines()[0]["runID"].as_str().unwrap().to_owned();
    assert_eq!(on_store(&bench, &["events", &run]).stdout, lived.stdout);
    let resumed = on_store(&bench, &["resume", &run, "wait-external", "--events"]);
    assert_eq!(resumed.status, 0, "{resumed:?}");
    let whole = on_store(&bench, &["events", &run]);
    assert_eq!(whole.stdout, [lived.stdout, resumed.stdout].concat());
    let seqs: Vec<_> = whole.json_lines().iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>());
}

#[test]
fn runs_are_listed_newest_first() {
    let bench = Bench::new();
    two_questions(&bench);
    bench.task("code.yaml", "code", "");
    let first = park(&bench, "ask.yaml");
    bench.phasm(&["run", "code.yaml", "--store", "runs.db"]);
    bench.phasm(&["run", "code.yaml", "--store", "runs.db", "-p", "code=2"]);
    let second = park(&bench, "ask.yaml");
    let listed = |arguments: &[&str]| -> Vec<(String, String)> {
        let all = on_store(&bench, &[&["list", "--json"], arguments].concat()).json();
        let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        all.as_array().unwrap().iter().map(|row| (text(row, "workflow"), text(row, "phase"))).collect()
    };
    let row = |workflow: &str, phase: &str| (workflow.to_owned(), phase.to_owned());
    let (ask, failed, succeeded) = (row("ask", "Running"), row("w", "Failed"), row("w", "Succeeded"));
    assert_eq!(listed(&[]), [ask.clone(), failed.clone(), succeeded.clone(), ask.clone()]);
    assert_eq!(listed(&["--limit", "2"]), [ask.clone(), failed.clone()]);
    assert_eq!(listed(&["--phase", "failed"]), [failed]);
    assert_eq!(listed(&["--workflow", "w", "--phase", "Succeeded"]), [succeeded]);
    assert_eq!(listed(&["--open"]), [ask.clone(), ask]);
    assert_eq!(listed(&["--open", "--phase", "Suspended"]), []);
    assert_eq!(listed(&["--since", "1d", "--workflow", "ask"]).len(), 2);
    for none in ["0", "2999-01-01"] {
        assert_eq!(listed(&["--since", none]), [], "{none}");
    }
    let plain = on_store(&bench, &["list", "--open"]).stdout;
    let ids: Vec<_> = plain.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(ids, ["RUN", &second, &first]);
    let columns =
        plain.lines().map(|line| (line[38..].split(' ').next(), line.find("  20"))).collect::<Vec<_>>();
    assert_eq!(
        columns,
        [(Some("STATE"), None), (Some("waiting"), Some(54)), (Some("waiting"), Some(54))],
        "{plain}"
    );
    let none = on_store(&bench, &["list", "--workflow", "absent"]);
    assert_eq!((none.status, none.stdout.as_str(), none.stderr.as_str()), (0, "", "no matching runs\n"));
    // R-L120.
    let hint = "`--waiting` lists the runs that wait for a response";
    let unknown = on_store(&bench, &["list", "--phase", "waiting"]);
    assert!(unknown.status == 2 && unknown.stderr.contains(hint), "{unknown:?}");
    let none = on_store(&bench, &["list", "--phase", "suspended"]);
    assert_eq!((none.status, none.stderr), (0, format!("no matching runs; {hint}\n")));
    // R-L13: `get` shows the status as lists do, and no host of a run that none has.
    let view = on_store(&bench, &["get", &first, "--json"]).json();
    assert_eq!((&view["status"], view.get("host")), (&"suspended".into(), None), "{view}");
}

/// R-L13: the state of a run, as far as its store tells.
#[test]
fn a_list_tells_who_goes_on() {
    let bench = Bench::new();
    two_questions(&bench);
    bench.task("code.yaml", "code", "");
    bench.task("linger.yaml", "linger", "");
    park(&bench, "ask.yaml");
    bench.phasm(&["run", "code.yaml", "--store", "runs.db"]);
    let mut running = bench.command(&["run", "linger.yaml", "--store", "runs.db", "--events"]);
    let mut running = running.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut events = BufReader::new(running.stdout.take().unwrap()).lines();
    while !events.next().unwrap().unwrap().contains("task.attempt.started") {}
    let states = || {
        let all = on_store(&bench, &["list", "--json"]).json();
        let states = all.as_array().unwrap().iter().map(|row| row["state"].as_str().unwrap().to_owned());
        states.collect::<Vec<_>>()
    };
    assert_eq!(states()[..2], ["driven", "ended"]);
    running.kill().unwrap();
    running.wait().unwrap();
    assert_eq!(states(), ["orphaned", "ended", "parked"]);
}

#[test]
fn every_open_run_is_recovered_and_the_worst_decides() {
    let bench = Bench::new();
    two_questions(&bench);
    let none = {
        bench.task("code.yaml", "code", "");
        bench.phasm(&["run", "code.yaml", "--store", "runs.db"]);
        on_store(&bench, &["recover", "--json"])
    };
    assert_eq!(
        (none.status, none.json(), none.stderr.as_str()),
        (0, json!([]), "no run is open in runs.db\n")
    );
    let runs = [park(&bench, "ask.yaml"), park(&bench, "ask.yaml")];
    let left = on_store(&bench, &["recover", "--json"]);
    assert_eq!((left.status, left.json()), (6, json!([])), "{left:?}");
    assert!(left.stderr.starts_with("2 runs are waiting for approval or a response: "), "{left:?}");
    assert!(
        bench.paste(&left.stderr, "waiting for approval or a response: ", &[]).stdout.contains("waiting"),
        "{left:?}"
    );
    let named = ["recover", &runs[0], &runs[1]];
    let parked = on_store(&bench, &[&named[..], &["--json"]].concat());
    assert_eq!(parked.status, 6, "{parked:?}");
    let ids: Vec<_> = parked.json().as_array().unwrap().iter().map(|view| view["runID"].clone()).collect();
    assert_eq!(ids, runs);
    let people = on_store(&bench, &named);
    assert!(people.stderr.contains(&format!("{}: recovered ask\n", runs[1])), "{people:?}");
    assert_eq!(people.stdout.matches("ask waiting for a response").count(), 2, "{people:?}");
}

/// R-I9: a run keeps to the component that it was submitted with, whatever lies in the plugin directory by then.
#[test]
fn an_executor_that_is_gone_is_kept_with_the_run() {
    let bench = Bench::new();
    bench.task("ask.yaml", "suspend", "");
    let run = park(&bench, "ask.yaml");
    std::fs::remove_file(bench.path("plugins/suspend.wasm")).unwrap();
    let ran = on_store(&bench, &["resume", &run, "main", "{}", "--json"]);
    assert_eq!((ran.status, &ran.json()["phase"]), (0, &json!("Succeeded")), "{ran:?}");
}

/// Seed 003's delays in hundredths, each scheduled from the end of its attempt to the millisecond.
#[test]
fn delays_are_scheduled_exactly() {
    let bench = Bench::new();
    let retry = "retry: { maxAttempts: 7, delay: 10ms, exponentialBackoff: 2, maxDelay: 100ms }";
    bench.task("flaky.yaml", "code", retry);
    let ran = bench.phasm(&["run", "flaky.yaml", "-p", "code=2", "--events"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let millis = |time: &Value| {
        let time = time.as_str().unwrap();
        let (seconds, millis) = (&time[17..19], &time[20..23]);
        seconds.parse::<i64>().unwrap() * 1000 + millis.parse::<i64>().unwrap()
    };
    let delays: Vec<_> = ran
        .json_lines()
        .into_iter()
        .filter(|event| event["type"] == "task.retry.scheduled")
        .map(|event| {
            let waited = millis(&event["data"]["wakeAt"]) - millis(&event["time"]);
            (
                event["data"]["attempt"].as_i64().unwrap(),
                event["data"]["delayMs"].as_i64().unwrap(),
                waited.rem_euclid(60_000),
            )
        })
        .collect();
    assert_eq!(delays, [(2, 10, 10), (3, 20, 20), (4, 40, 40), (5, 80, 80), (6, 100, 100), (7, 100, 100)]);
}
