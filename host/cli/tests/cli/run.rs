//! `phasm run`.

use std::{
    io::Read as _,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::bench::{Bench, Ran};

const DAG: &str = r#"apiVersion: aether/v1
kind: Workflow
metadata: { name: hello }
spec:
  entrypoint: main
  arguments:
    parameters:
      - { name: name, type: string, default: World }
      - { name: any, default: null }
  templates:
    - dag:
        name: main
        outputs:
          parameters:
            - { name: greeting, valueFrom: { path: tasks.a.outputs.parameters.text } }
            - { name: any, valueFrom: { path: workflow.parameters.any } }
        tasks:
          - name: a
            executor: { type: echo }
            inputs: { parameters: [{ name: text, value: "Hello {{ workflow.parameters.name }}" }] }
          - { name: b, dependencies: [a], executor: { type: say } }
          - { name: c, dependencies: [a], when: "false", executor: { type: echo } }
"#;

/// The exit status tells the phase (R-L1).
#[test]
fn the_exit_status_is_the_phase() {
    let bench = Bench::new();
    bench.task("code.yaml", "code", "");
    for (code, phase, status) in
        [("0", "Succeeded", 0), ("2", "Failed", 1), ("3", "Error", 3), ("4", "Timeout", 4), ("9", "Error", 3)]
    {
        let ran = bench.phasm(&["run", "code.yaml", "-p", &format!("code={code}")]);
        assert_eq!(ran.status, status, "{ran:?}");
        assert!(ran.stdout.starts_with(&format!("w {phase} ")), "{ran:?}");
    }
    bench.write("skip.yaml", DAG.replace("name: a\n", "name: a\n            when: \"false\"\n"));
    assert_eq!(bench.phasm(&["run", "skip.yaml"]).status, 0);
}

/// R-T12, R-L1: a clock that runs out is a timeout, also where its policy cancels the task.
#[test]
fn a_clock_that_runs_out_is_a_timeout() {
    let bench = Bench::new();
    let ran = |more: &str| {
        bench.task("sleep.yaml", "sleep", more);
        bench.phasm(&["run", "sleep.yaml", "--store", "runs.db"])
    };
    let cancelled = ran("maxRuntime: 100ms");
    assert_eq!(cancelled.status, 4, "{cancelled:?}");
    let head = "w Timed out (Cancelled, timeout-policy) in ";
    assert!(cancelled.stdout.starts_with(head), "{cancelled:?}");
    for part in [", 1 task: 1 timed out (", "\n  Timed out: exceeded maxRuntime (100 ms)\n"] {
        assert!(cancelled.stdout.contains(part), "{part}: {cancelled:?}");
    }
    assert_eq!(ran("deadline: { timeout: 100ms, errorOnTimeout: true }").status, 3);
    assert_eq!(ran("timeout: 100ms").status, 4);
    // Whatever shows it later says the same.
    bench.task("sleep.yaml", "sleep", "deadline: 100ms");
    let document = std::fs::read_to_string(bench.path("sleep.yaml")).unwrap();
    bench.write(
        "dag.yaml",
        document.replace("entrypoint: main", "entrypoint: all")
            + "    - dag: { name: all, tasks: [{ name: job, template: main }] }\n",
    );
    let ran = bench.phasm(&["run", "dag.yaml", "--store", "runs.db"]);
    let got = bench.phasm(&["get", "@last", "--store", "runs.db"]);
    for shown in [&ran, &got] {
        assert!(shown.stdout.contains("\n  Timed out: exceeded deadline (100 ms) in all/job\n"), "{shown:?}");
        assert!(
            shown.stdout.contains("  all/job  Timed out: exceeded deadline (100 ms), Cancelled code 4\n"),
            "{shown:?}"
        );
    }
    assert_eq!(ran.status, 4, "{ran:?}");
    assert_eq!(bench.phasm(&["watch", "@last", "--store", "runs.db"]).status, 4);
}

/// R-T13: the summary has the real failure, and counts the attempts that there were.
#[test]
fn the_summary_keeps_the_real_failure() {
    let bench = Bench::new();
    bench.write("lost.yaml", "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: w }\nspec:\n  entrypoint: main\n  templates:\n    \
         - dag:\n        name: main\n        tasks:\n          \
         - { name: job, timeout: 300ms, retry: { limit: 2, delay: 10s }, executor: { type: code }, \
             inputs: { parameters: [{ name: code, value: 3 }] } }\n");
    let ran = bench.phasm(&["run", "lost.yaml"]);
    assert_eq!(ran.status, 4, "{ran:?}");
    assert!(ran.stderr.contains("W024: spec.templates[0].dag.tasks[0].retry: a delay of 10 s before a retry; `timeout` ends the task after 300 ms"), "{ran:?}");
    let row = "  main/job  Timed out: exceeded timeout (300 ms), Timeout code 3: ";
    assert!(ran.stdout.contains(row), "{ran:?}");
    assert!(
        ran.stdout.contains("gave up: the task's timeout passed during the delay before attempt 2\n"),
        "{ran:?}"
    );
    assert!(!ran.stdout.contains("attempts"), "{ran:?}");
}

/// R-L10: a good end says what did not succeed.
#[test]
fn a_good_end_has_its_remarks() {
    let bench = Bench::new();
    bench.write("each.yaml", "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: w }\nspec:\n  entrypoint: main\n  templates:\n    \
         - loop: { name: main, body: one, items: [{ code: 0 }, { code: 2 }, { code: 0 }], continueOn: { failed: true } }\n    \
         - task: { name: one, executor: { type: code }, inputs: { parameters: [{ name: code }] } }\n");
    let ran = bench.phasm(&["run", "each.yaml"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("w Succeeded, 1 of 3 failed (tolerated) in "), "{ran:?}");
}

/// R-L10: the last line counts what came to what.
#[test]
fn the_count_says_what_tasks_came_to() {
    let bench = Bench::new();
    let task = |name: &str, code: u8, more: &str| {
        format!(
            "        - name: {name}\n          executor: {{ type: code }}\n          inputs: {{ parameters: [{{ name: code, value: {code} }}] }}\n{more}"
        )
    };
    let tasks = [
        task("a", 0, ""),
        task("b", 0, ""),
        task("c", 2, ""),
        task("d", 3, ""),
        task("e", 4, ""),
        task("f", 0, "          when: \"false\"\n"),
        task("g", 0, "          dependencies: [c]\n"),
    ]
    .concat();
    let head = DAG.split("  templates:").next().unwrap();
    bench.write(
        "mixed.yaml",
        format!("{head}  templates:\n    - dag:\n        name: main\n        failFast: false\n        tasks:\n{tasks}"),
    );
    let ran = bench.phasm(&["run", "mixed.yaml"]);
    let count = ", 7 tasks: 2 succeeded, 1 failed, 1 in error, 1 timed out, 1 cancelled, 1 skipped (";
    assert!(ran.stdout.contains(count), "{ran:?}");
}

/// R-T13: the summary quotes the failure before the timeout once, and no part of a sentence is left without it.
#[test]
fn a_timeout_around_a_delay_is_told_in_whole_sentences() {
    let bench = Bench::new();
    bench.write(
        "w.yaml",
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: w }\nspec:\n  entrypoint: main\n  templates:\n    - dag:\n        \
         name: main\n        timeout: 1s\n        tasks: [{ name: t, executor: { type: trap }, retry: { limit: 1, delay: 9s } }]\n",
    );
    let ran = bench.phasm(&["run", "w.yaml"]);
    assert!(ran.stdout.contains("\n  timeout of 1s expired\n"), "{ran:?}");
    assert_eq!(ran.stdout.matches("gave up").count(), 1, "{ran:?}");
}

/// R-W12: a manifest's retry is the farthest, and a plugin whose manifest has none that is one is not used.
#[test]
fn the_manifest_beside_a_plugin_brings_a_retry() {
    let bench = Bench::new();
    bench.write("plugins/code.toml", "retry = { limit = 2 }\n");
    let attempts = |more: &str| {
        bench.task("code.yaml", "code", more);
        let ran = bench.phasm(&["run", "code.yaml", "-p", "code=3", "--json"]);
        assert_eq!(ran.status, 3, "{ran:?}");
        let view = ran.json();
        (view["tasks"][0]["attempts"].as_array().unwrap().len(), view["tasks"][0]["reason"].clone())
    };
    assert_eq!(attempts(""), (3, json!("retry-exhausted")));
    assert_eq!(attempts("retry: { limit: 1 }"), (2, json!("retry-exhausted")));
    assert_eq!(attempts("maxRuntime: 1h"), (3, json!("retry-exhausted")));
    bench.write("plugins/code.toml", "retry = { limit = 2, delay = '1 week' }\n");
    let ran = bench.phasm(&["run", "code.yaml", "-p", "code=0"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(
        ran.stderr.contains("plugin `code`: manifest ")
            && ran.stderr.contains("code.toml: P030: retry.delay: "),
        "{ran:?}"
    );
}

/// However often a task is tried again, what is remembered of it stays the same.
#[test]
fn the_last_attempts_are_remembered() {
    let bench = Bench::new();
    bench.task("code.yaml", "code", "retry: { limit: 99 }");
    let view = bench.phasm(&["run", "code.yaml", "-p", "code=3", "--json"]).json();
    let attempts = view["tasks"][0]["attempts"].as_array().unwrap();
    let numbers: Vec<_> = attempts.iter().map(|attempt| attempt["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (37..=100).collect::<Vec<_>>());
    assert_eq!(view["tasks"][0]["retries"], 99);
}

/// R-L2.
#[test]
fn stdout_has_the_result_and_stderr_the_rest() {
    let bench = Bench::new();
    bench.write("hello.yaml", DAG);
    let ran = bench.phasm(&["run", "hello.yaml", "-p", "name=Ada"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("greeting  Hello Ada\n"), "{ran:?}");
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{ran:?}");
    for line in [
        "main/b#1 error one\n",
        "main/b#1 info out1\n",
        "main/b#1 warn err\n",
        "main/c Skipped (`when` is false)\n",
    ] {
        assert!(ran.stderr.contains(line), "{line}: {ran:?}");
    }
    let quiet = bench.phasm(&["run", "hello.yaml", "--log-level", "error"]);
    assert!(quiet.stderr.contains("error one") && !quiet.stderr.contains("info out1"), "{quiet:?}");
}

/// R-V1, R-V3.
#[test]
fn json_is_the_whole_run_view() {
    let bench = Bench::new();
    bench.write("hello.yaml", DAG);
    let ran = bench.phasm(&["run", "hello.yaml", "--json", "-p", "any={\"a\": [1]}"]);
    let view = ran.json();
    assert_eq!(ran.status, 0);
    let members = [
        "runID",
        "workflow",
        "namespace",
        "phase",
        "message",
        "reason",
        "outputs",
        "parameters",
        "warnings",
        "submittedAt",
        "startedAt",
        "finishedAt",
        "durationMs",
        "deadlineAt",
        "progress",
        "tasks",
        "hooks",
    ];
    let missing: Vec<_> = members.into_iter().filter(|member| view.get(member).is_none()).collect();
    assert_eq!(missing, Vec::<&str>::new());
    assert_eq!((&view["phase"], &view["progress"]), (&json!("Succeeded"), &json!("3/3")));
    assert_eq!(view["outputs"][1], json!({ "name": "any", "type": "object", "value": { "a": [1] } }));
    let members = [
        "taskRunID",
        "parentTaskRunID",
        "scope",
        "taskName",
        "templateName",
        "templateType",
        "depth",
        "phase",
        "reason",
        "code",
        "message",
        "inputs",
        "outputs",
        "retries",
        "metrics",
        "attempts",
        "createdAt",
        "startedAt",
        "suspendedAt",
        "finishedAt",
        "durationMs",
        "wakeAt",
        "deadlineAt",
    ];
    for task in view["tasks"].as_array().unwrap() {
        let missing: Vec<_> = members.into_iter().filter(|member| task.get(member).is_none()).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }
}

/// R-D1, R-V4: the journal in order, with what guests say between it.
#[test]
fn events_are_the_journal_line_by_line() {
    let bench = Bench::new();
    bench.write("hello.yaml", DAG);
    let events = bench.phasm(&["run", "hello.yaml", "--events"]).json_lines();
    let of_journal: Vec<_> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(of_journal, (0..of_journal.len() as u64).collect::<Vec<_>>());
    assert_eq!(events[0]["type"], "run.submitted");
    let last = events.iter().rfind(|event| event["type"] == "run.phase").unwrap();
    assert_eq!(last["data"]["phase"], "Succeeded");
    let log = events.iter().find(|event| event["type"] == "task.log").unwrap();
    assert_eq!(log["data"], json!({ "level": "error", "text": "one" }));
    assert_eq!((&log["scope"], &log["taskName"], &log["attempt"]), (&json!("main"), &json!("b"), &json!(1)));
    let progress = events.iter().find(|event| event["type"] == "task.progress").unwrap();
    assert_eq!(progress["data"], json!({ "fraction": 0.5, "text": "half" }));
}

/// R-L3.
#[test]
fn parameters_come_from_the_line_and_from_a_file() {
    let bench = Bench::new();
    bench.write("hello.yaml", DAG);
    bench.write("p.yaml", "name: File\nany: [1, 2]\n");
    let outputs = |arguments: &[&str]| {
        let ran = bench.phasm(&[&["run", "hello.yaml", "--json"], arguments].concat());
        let view = ran.json();
        (view["outputs"][0]["value"].clone(), view["outputs"][1]["value"].clone())
    };
    assert_eq!(outputs(&["--params", "p.yaml"]), (json!("Hello File"), json!([1, 2])));
    let both = ["--params", "p.yaml", "-p", "name=7", "-p", "any=x=y"];
    assert_eq!(outputs(&both), (json!("Hello 7"), json!("x=y")));
    assert_eq!(outputs(&["-p", "name=a", "-p", "name=b"]).0, json!("Hello b"), "the later one wins");
    bench.write("list.json", "[1]");
    bench.write("twice.yaml", "a: 1\na: 2\n");
    for (file, says) in [
        ("list.json", "expected an object"),
        ("twice.yaml", "twice.yaml:2:1"),
        ("none.yaml", "none.yaml: no such file"),
    ] {
        let ran = bench.phasm(&["run", "hello.yaml", "--params", file]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains(says), "{ran:?}");
    }
}

/// Nothing runs and nothing is stored while there is any problem (R-W2, R-L9).
#[test]
fn problems_of_the_document_and_of_the_call() {
    let bench = Bench::new();
    bench.write("hello.yaml", DAG);
    bench.write("bad.yaml", DAG.replace("entrypoint: main", "entrypoint: mian"));
    let ran = bench.phasm(&["run", "bad.yaml", "--store", "runs.db"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.starts_with("bad.yaml:5:15: P"), "{ran:?}");
    assert!(ran.stderr.contains("\n    5 |   entrypoint: mian\n      |               ^^^^\n"), "{ran:?}");
    assert!(!bench.path("runs.db").exists());
    let problems = bench.phasm(&["run", "bad.yaml", "--json"]).json();
    let problem = &problems["problems"][0];
    assert_eq!((&problem["line"], &problem["column"]), (&json!(5), &json!(15)));
    let unknown = bench.phasm(&["run", "hello.yaml", "-p", "nmae=x", "--store", "runs.db"]);
    assert_eq!(unknown.status, 2, "{unknown:?}");
    assert!(!bench.path("runs.db").exists());
    assert!(unknown.stderr.contains("nmae"), "{unknown:?}");
    bench.write("crate/Cargo.toml", "[package]\nname = \"crate\"\n");
    bench.write("cron.yaml", "apiVersion: aether/v1\nkind: CronWorkflow\n");
    for wrong in [
        &["run"][..],
        &["run", "none.yaml"],
        &["run", "hello.yaml", "-p", "novalue"],
        &["run", "hello.yaml", "--resume", "a=[1]"],
        &["run", "hello.yaml", "--json", "--events"],
        &["run", "hello.yaml", "--plugins", "none"],
        &["run", "hello.yaml", "--plugins", "crate"],
        &["run", "hello.yaml", "--store", "none/runs.db"],
        &["run", "hello.yaml", "--store", "hello.yaml"],
        &["run", "cron.yaml"],
        &["run", "hello.yaml", "--log-level", "loud"],
        &["recover"],
        &[],
    ] {
        let ran = bench.phasm(wrong);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{wrong:?}: {ran:?}");
        assert!(!ran.stderr.is_empty(), "{wrong:?}");
    }
}

#[test]
fn a_document_may_come_from_stdin() {
    let bench = Bench::new();
    bench.task("code.yaml", "code", "");
    let run = |file: &str| {
        let stdin = std::fs::File::open(bench.path(file)).unwrap();
        let output = bench.command(&["run", "-", "--json"]).stdin(stdin).output().unwrap();
        Ran::from(output)
    };
    assert_eq!(run("code.yaml").status, 0);
    bench.write("bad.yaml", "{\"apiVersion\": 1}");
    let ran = run("bad.yaml");
    assert_eq!((ran.status, &ran.json()["problems"][0]["file"]), (2, &json!("<stdin>")), "{ran:?}");
}

/// R-I6: refused before the first step, unless it is allowed to be missing.
#[test]
fn an_executor_nobody_knows_is_a_problem_or_an_error_of_the_attempt() {
    let bench = Bench::new();
    bench.task("w.yaml", "absent", "retry: { limit: 3 }");
    let refused = bench.phasm(&["run", "w.yaml", "--store", "runs.db", "--json"]);
    assert_eq!((refused.status, &refused.json()["problems"][0]["code"]), (2, &json!("P070")), "{refused:?}");
    let stored =
        bench.path("runs.db").exists().then(|| bench.phasm(&["list", "--store", "runs.db", "--json"]));
    assert!(stored.is_none_or(|listed| listed.json() == json!([])), "nothing was stored");
    for again in
        ["retry: { limit: 3 }", "policy: { rules: [{ else: { then: { do: retry, attempts: 3 } } }] }"]
    {
        bench.task("w.yaml", "absent", again);
        let ran = bench.phasm(&["run", "w.yaml", "--json", "--allow-missing"]);
        assert_eq!(ran.status, 3, "{ran:?}");
        let view = ran.json();
        assert!(view["tasks"][0]["message"].as_str().unwrap().contains("absent"), "{view}");
        assert_eq!(view["tasks"][0]["attempts"].as_array().unwrap().len(), 1, "nothing is retried: {view}");
        assert!(view["warnings"][0]["message"].as_str().unwrap().contains("absent"), "{view}");
    }
}

/// R-S5: a field of an item reaches an input that the body declares, and nothing else, whatever the executor knows.
#[test]
fn fields_of_an_item_reach_declared_inputs_only() {
    let bench = Bench::new();
    let manifest =
        r#"{"inputs": {"properties": {"known": {}, "method": {}}, "additionalProperties": false}}"#;
    bench.write("plugins/echo.json", manifest);
    let head = DAG.split("  arguments:").next().unwrap();
    let templates = "  templates:\n    - loop: { name: main, body: work, items: [{ known: 1, method: DELETE, label: a }] }\n    \
                     - task: { name: work, inputs: { parameters: [{ name: known }] }, executor: { type: echo } }\n";
    bench.write("each.yaml", format!("{head}{templates}"));
    let ran = bench.phasm(&["run", "each.yaml", "--json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.json()["tasks"][1]["inputs"], json!([{ "name": "known", "value": 1 }]));
}

/// A run of one task reserves room for that, not for thousands: 64 GiB of addresses suffice.
#[test]
#[cfg(target_os = "linux")]
fn a_small_run_reserves_what_it_can_use() {
    let bench = Bench::new();
    bench.task("w.yaml", "echo", "");
    let plain = bench.command(&["run", "w.yaml"]);
    let mut narrow = Command::new("sh");
    narrow
        .args(["-c", "ulimit -v 67108864 && exec \"$@\"", "sh"])
        .arg(plain.get_program())
        .args(plain.get_args());
    narrow.current_dir(plain.get_current_dir().unwrap()).stdin(Stdio::null());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => narrow.env(name, value),
            None => narrow.env_remove(name),
        };
    }
    let ran = Ran::from(narrow.output().unwrap());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!ran.stderr.contains("could be reserved"), "{ran:?}");
}

/// Exit status 6: with a file store a run that only waits for people is left (R-L4).
#[test]
fn a_suspended_run_parks_in_a_file() {
    let bench = Bench::new();
    bench.task("ask.yaml", "suspend", "");
    bench.task("soon.yaml", "suspend", "timeout: 50ms");
    let parked = bench.phasm(&["run", "ask.yaml", "--store", "runs.db", "--json"]);
    assert_eq!((parked.status, &parked.json()["phase"]), (6, &json!("Suspended")), "{parked:?}");
    assert!(!bench.path("runs.db-wal").exists(), "the store was closed");
    let view = parked.json();
    let run = view["runID"].as_str().unwrap();
    let shown = bench.phasm(&["get", run, "--store", "runs.db"]);
    let answer = format!(" respond {run} main '{{}}' --store runs.db\n");
    assert!(shown.stdout.contains(&answer), "{shown:?}");
    let stayed = bench.phasm(&["run", "soon.yaml", "--store", "runs.db", "--wait"]);
    assert_eq!(stayed.status, 4, "{stayed:?}");
}

/// R-L4: where nothing is left of it, or with `--wait`, it stays, and says until when at most.
#[test]
#[cfg(unix)]
fn a_suspended_run_waits_in_memory() {
    let bench = Bench::new();
    bench.task("ask.yaml", "suspend", "timeout: 1h");
    for more in [&["--wait"][..], &["--store", "runs.db", "--wait"]] {
        let mut run = crate::crash::Running::start(&bench, &[&["run", "ask.yaml"], more].concat());
        run.until(&["waiting: main needs a response until "]);
        run.signal(rustix::process::Signal::INT);
        let ended = run.end();
        assert_eq!(ended.status, 130, "it was still there: {ended:?}");
    }
}

/// R-L5.
#[test]
fn answers_are_given_once_each_in_order() {
    let bench = Bench::new();
    bench.task("ask.yaml", "suspend", "");
    let arguments = ["--resume", "main={\"n\": 1}", "--resume", "other={}"];
    for store in ["memory", "runs.db"] {
        let ran = bench.phasm(&[&["run", "ask.yaml", "--json", "--store", store], &arguments[..]].concat());
        assert_eq!(ran.status, 0, "{ran:?}");
        let outputs = &ran.json()["outputs"];
        assert!(
            outputs.as_array().unwrap().contains(&json!({ "name": "n", "type": "integer", "value": 1 })),
            "{outputs}"
        );
        assert!(ran.stderr.contains("--resume other=… was not used"), "{ran:?}");
    }
}

#[test]
fn a_store_is_used_by_one_process_at_a_time_and_keeps_every_run() {
    let bench = Bench::new();
    bench.task("code.yaml", "code", "");
    for _ in 0..2 {
        assert_eq!(bench.phasm(&["run", "code.yaml", "--store", "runs.db"]).status, 0);
    }
    let held = phasm::store::Sqlite::open(bench.path("runs.db")).unwrap();
    let refused = bench.phasm(&["run", "code.yaml", "--store", "runs.db"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.contains("is in use"), "{refused:?}");
    drop(held);
}

/// The reader of stdout may close it at any time; there is no panic.
#[test]
fn a_broken_pipe_ends_quietly() {
    let bench = Bench::new();
    bench.task("code.yaml", "code", "");
    bench.task("sleep.yaml", "sleep", "");
    for (arguments, status) in [
        (&["run", "code.yaml", "--json"][..], 0),
        (&["run", "code.yaml"], 0),
        (&["run", "sleep.yaml", "--events"], 130),
        (&["validate", "code.yaml"], 0),
        (&["plugin", "list"], 0),
    ] {
        let mut child =
            bench.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked") && !stderr.contains("error:"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn what_guests_say_does_not_steer_the_terminal() {
    let bench = Bench::new();
    bench.write("hello.yaml", DAG);
    let ran = bench.phasm(&["run", "hello.yaml", "-p", "name=\u{1b}[2J"]);
    assert!(ran.stdout.contains("Hello \\u{1b}[2J") && !ran.stdout.contains('\u{1b}'), "{ran:?}");
    let value: Value = bench.phasm(&["run", "hello.yaml", "--json", "-p", "name=\u{1b}"]).json();
    assert_eq!(value["outputs"][0]["value"], "Hello \u{1b}");
}

/// A large run is not told line by line.
#[test]
fn a_large_run_is_told_in_tenths() {
    let bench = Bench::new();
    let tasks: String =
        (0..300).map(|at| format!("          - {{ name: t{at}, executor: {{ type: echo }} }}\n")).collect();
    let head = "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: wide }\nspec:\n  entrypoint: main\n  templates:\n    \
                - dag:\n        name: main\n        tasks:\n";
    bench.write("wide.yaml", format!("{head}{tasks}"));
    let ran = bench.phasm(&["run", "wide.yaml"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 10, "{ran:?}");
    assert!(ran.stdout.contains("300 tasks: 300 succeeded"), "{ran:?}");
}

/// R-W20: no way in makes another number of a number; text keeps all digits.
#[test]
fn numbers_are_kept_or_refused_on_every_way_in() {
    let bench = Bench::new();
    bench.write("hello.yaml", DAG);
    for number in [
        "123456789012345678901234567890",
        "-9223372036854775809",
        "9007199254740993.0",
        "1e400",
        "[{\"id\": 1e-400}]",
    ] {
        let given = format!("any={number}");
        bench.write("p.json", format!("{{\"any\": {number}}}"));
        let response = format!("a={{\"x\": {number}}}");
        for call in [["-p", &given], ["--params", "p.json"], ["--resume", &response]] {
            let ran = bench.phasm(&[&["run", "hello.yaml", "--json"][..], &call].concat());
            assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{call:?}: {ran:?}");
            assert!(ran.stderr.contains("cannot be kept exactly"), "{call:?}: {ran:?}");
        }
        bench.write("in.yaml", DAG.replace("default: null", &format!("default: {number}")));
        assert_eq!(bench.phasm(&["validate", "in.yaml"]).status, 2, "{number}");
    }
    for (given, kept) in [
        ("any=18446744073709551615", json!(u64::MAX)),
        ("any=9007199254740993", json!(9_007_199_254_740_993_i64)),
        ("any=0.1", json!(0.1)),
        ("any=\"18446744073709551616\"", json!("18446744073709551616")),
        ("any=18446744073709551616 apples", json!("18446744073709551616 apples")),
    ] {
        let view = bench.phasm(&["run", "hello.yaml", "--json", "-p", given]).json();
        let output = view["outputs"]
            .as_array()
            .unwrap()
            .iter()
            .find(|output| output["name"] == "any")
            .unwrap()
            .clone();
        assert_eq!(output["value"], kept, "{given}");
    }
    let ran = bench.phasm(&["run", "hello.yaml", "--json", "-p", "name=18446744073709551616"]).json();
    assert_eq!(ran["outputs"][0]["value"], "Hello 18446744073709551616", "{ran}");
}
