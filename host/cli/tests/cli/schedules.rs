//! Schedules and saved workflows, as operators have them.

use phasm::{
    catalog::{self, WrittenDocument},
    engine::{
        plan::{Draft, Executors},
        time::Timestamp,
    },
    reader,
    store::Sqlite,
};
use rustix::process::Signal;

use crate::{
    bench::{Bench, Ran},
    crash::Running,
};

fn schedule(name: &str, more: &str) -> String {
    format!(
        "apiVersion: aether/v1\nkind: CronWorkflow\nmetadata: {{ name: {name} }}\nspec:\n  schedule: '0 3 * * *'\n  timezone: Europe/Berlin\n  \
         {more}\n  workflowSpec:\n    entrypoint: main\n    templates:\n      - task: {{ name: main, executor: {{ type: nap }} }}\n"
    )
}

fn cron(bench: &Bench, arguments: &[&str]) -> Ran {
    let (command, rest) = arguments.split_first().unwrap();
    bench.phasm(&[&["cron", command], rest, &["--store", "runs.db"]].concat())
}

/// R-L40, R-Z7, R-Z10: a schedule is kept, shown, paused, triggered and removed; what is printed can be pasted.
#[test]
fn a_schedule_is_kept_shown_and_removed() {
    let bench = Bench::new();
    bench.write("nightly.yaml", schedule("nightly", "startAt: '2030-01-01T00:00:00Z'"));
    let next = bench.phasm(&["cron", "next", "nightly.yaml", "-n", "2"]);
    assert_eq!(next.stdout, "2030-01-01T02:00:00.000Z\n2030-01-02T02:00:00.000Z\n", "{next:?}");
    assert!(!bench.path("runs.db").exists());

    let added = cron(&bench, &["add", "nightly.yaml"]);
    assert_eq!(added.status, 0, "{added:?}");
    assert_eq!(added.stdout, "nightly  `0 3 * * *` Europe/Berlin: next at 2030-01-01T02:00:00.000Z\n");
    assert!(added.stderr.contains("no process serves the store now; start one with: "), "{added:?}");
    assert!(added.stderr.contains("cron trigger nightly --store runs.db\n"), "{added:?}");

    let listed = cron(&bench, &["list"]);
    assert!(listed.stdout.contains("nightly  0 3 * * *  Europe/Berlin  active"), "{listed:?}");
    let listed = cron(&bench, &["list", "--json"]).json();
    assert_eq!(listed.pointer("/0/next").unwrap(), "2030-01-01T02:00:00.000Z");
    assert_eq!(listed.pointer("/0/concurrencyPolicy").unwrap(), "Allow");

    let paused = cron(&bench, &["suspend", "nightly"]);
    assert!(paused.stdout.ends_with("paused\n"), "{paused:?}");
    let run = cron(&bench, &["trigger", "nightly"]);
    assert_eq!(run.status, 0, "{run:?}");
    let shown = cron(&bench, &["get", "nightly"]);
    assert!(shown.stdout.contains("suspended"), "{shown:?}");
    assert!(shown.stdout.contains(&format!("triggered  {}  open", run.stdout.trim())), "{shown:?}");
    assert!(shown.stdout.contains("cron resume nightly --store runs.db\n"), "{shown:?}");
    let labelled =
        bench.phasm(&["list", "--label", "phasm/schedule=nightly", "--store", "runs.db", "--json"]);
    assert_eq!(labelled.json().pointer("/0/runID").unwrap(), run.stdout.trim());
    assert_eq!(cron(&bench, &["resume", "nightly"]).status, 0);
    assert_eq!(cron(&bench, &["next", "nightly", "--json"]).json().as_array().unwrap().len(), 5);
    assert_eq!(
        cron(&bench, &["get", "nightly", "--document"]).stdout,
        schedule("nightly", "startAt: '2030-01-01T00:00:00Z'")
    );

    let none = cron(&bench, &["get", "nighty"]);
    assert_eq!(none.status, 2, "{none:?}");
    assert!(none.stderr.contains("there is no schedule nighty; there are: nightly"), "{none:?}");
    assert!(cron(&bench, &["remove", "nightly"]).stderr.contains("its runs stay"));
    assert_eq!(cron(&bench, &["remove", "nightly"]).status, 2);
    assert!(cron(&bench, &["list"]).stderr.contains("there are no schedules"));
}

/// R-L40, R-L3: what a schedule declares to be a string is given as one.
#[test]
fn a_schedule_is_triggered_with_texts() {
    let bench = Bench::new();
    let document = schedule("nightly", "suspend: true").replace(
        "    entrypoint: main\n",
        "    entrypoint: main\n    arguments: { parameters: [{ name: day, type: string, default: '1' }, { name: n, default: 1 }] }\n",
    );
    bench.write("nightly.yaml", document);
    assert_eq!(cron(&bench, &["add", "nightly.yaml"]).status, 0);
    let run = cron(&bench, &["trigger", "nightly", "-p", "day=22", "-p", "n=2"]);
    assert_eq!(run.status, 0, "{run:?}");
    let view = bench.phasm(&["get", run.stdout.trim(), "--store", "runs.db", "--json"]).json();
    assert_eq!(
        (&view["parameters"][0]["value"], &view["parameters"][1]["value"]),
        (&"22".into(), &2.into()),
        "{view}"
    );
}

/// R-L40: variables of a configuration that is not named are null, which a trigger says.
#[test]
fn a_trigger_without_a_configuration_warns_of_variables() {
    let bench = Bench::new();
    bench.write("phasm.toml", "[vars]\nday = 1\n");
    let argument =
        "    entrypoint: main\n    arguments: { parameters: [{ name: day, value: '{{ vars.day }}' }] }\n";
    bench.write(
        "nightly.yaml",
        schedule("nightly", "suspend: true").replace("    entrypoint: main\n", argument),
    );
    assert_eq!(cron(&bench, &["add", "nightly.yaml", "--config", "phasm.toml"]).status, 0);
    let warning = "no configuration is named, so that `vars` is null";
    let without = cron(&bench, &["trigger", "nightly"]);
    assert!(without.status == 0 && without.stderr.contains(warning), "{without:?}");
    let with = cron(&bench, &["trigger", "nightly", "--config", "phasm.toml"]);
    assert!(with.status == 0 && !with.stderr.contains(warning), "{with:?}");
}

/// R-W4: running or submitting a schedule says what to do with it; a document without one, or with errors, is not saved.
#[test]
fn a_schedule_is_not_run_and_a_workflow_not_scheduled() {
    let bench = Bench::new();
    bench.write("nightly.yaml", schedule("nightly", "suspend: false"));
    for command in ["run", "submit"] {
        let refused = bench.phasm(&[command, "nightly.yaml", "--store", "runs.db"]);
        assert_eq!(refused.status, 2, "{refused:?}");
        for hint in ["cron add nightly.yaml --store runs.db", "cron trigger nightly --store runs.db"] {
            assert!(refused.stderr.contains(hint), "{refused:?}");
        }
    }
    bench.task("once.yaml", "nap", "");
    let refused = cron(&bench, &["add", "once.yaml"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.contains("kind Workflow has no schedule"), "{refused:?}");
    let saved = bench.phasm(&["workflow", "save", "nightly.yaml", "--store", "runs.db"]);
    assert!(saved.status == 2 && saved.stderr.contains("cron add nightly.yaml --store runs.db"), "{saved:?}");
    let needs = schedule("needs", "suspend: false").replace(
        "    entrypoint: main\n",
        "    entrypoint: main\n    arguments: { parameters: [{ name: day, type: string }] }\n",
    );
    bench.write("needs.yaml", needs);
    let refused = cron(&bench, &["add", "needs.yaml"]);
    assert!(refused.status == 2 && refused.stderr.contains("day"), "{refused:?}");
}

/// R-Z3, R-Z4: `serve` fires what is due, also what was missed before, and hears of what others change.
#[test]
fn whoever_serves_fires() {
    let bench = Bench::new();
    let document = schedule("nightly", "suspend: false");
    let draft = Draft::read(&reader::read("nightly.yaml", &document).unwrap());
    let plan = draft.plan(&Executors::any(), &phasm::Value::Null).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let store = Sqlite::open(bench.path("runs.db")).unwrap();
    let written = WrittenDocument { file: "nightly.yaml", text: &document };
    // No process has looked since.
    let long_ago = Timestamp::from_rfc3339("2026-01-01T00:00:00Z").unwrap();
    runtime.block_on(catalog::put_schedule(&store, &plan, written, None, long_ago)).unwrap();
    drop(store);

    let mut host = Running::start(&bench, &["serve", "--store", "runs.db"]);
    host.until(&["nightly Succeeded"]);
    let triggered = cron(&bench, &["trigger", "nightly"]);
    host.until(&[&format!("{} nightly Succeeded", triggered.stdout.trim())]);
    bench.write("later.yaml", schedule("later", "suspend: true"));
    let added = cron(&bench, &["add", "later.yaml"]);
    assert!(added.status == 0 && !added.stderr.contains("no process serves"), "{added:?}");
    let firings = cron(&bench, &["get", "nightly", "--json"]).json();
    let came: Vec<_> = firings["firings"].as_array().unwrap().iter().map(|one| one["what"].clone()).collect();
    // Each time that was missed, and the last of those that are not listed.
    assert_eq!(came[..20], ["missed"; 20], "{firings}");
    assert_eq!(came[20..], ["started", "triggered"], "{firings}");
    assert!(
        firings["firings"][18]["until"].is_null() && firings["firings"][19]["until"].is_string(),
        "{firings}"
    );
    host.signal(Signal::TERM);
    assert_eq!(host.end().status, 143);
}

/// R-L41, R-Z1: a document is saved with its versions, and submitted by name.
#[test]
fn a_workflow_is_saved_and_submitted_by_name() {
    let bench = Bench::new();
    let workflow = |arguments: &[&str]| {
        let (command, rest) = arguments.split_first().unwrap();
        bench.phasm(&[&["workflow", command], rest, &["--store", "runs.db"]].concat())
    };
    bench.task("w.yaml", "code", "");
    let saved = workflow(&["save", "w.yaml"]);
    assert_eq!(saved.status, 0, "{saved:?}");
    let first = saved.stdout.trim().strip_prefix("w ").unwrap().to_owned();
    assert!(saved.stderr.contains("workflow submit w --store runs.db\n"), "{saved:?}");
    let text = std::fs::read_to_string(bench.path("w.yaml")).unwrap();
    bench.write("w.yaml", text.replace("default: 0", "default: 2"));
    assert_eq!(workflow(&["save", "w.yaml"]).status, 0);
    assert_eq!(workflow(&["save", "w.yaml"]).status, 0, "the same once more is no version");
    let found = workflow(&["get", "w", "--json"]).json();
    assert_eq!(found["versions"].as_array().unwrap().len(), 2, "{found}");
    assert_eq!(workflow(&["get", "w", "--digest", &first]).stdout, text);
    assert!(workflow(&["list"]).stdout.contains("w.yaml  2\n"));

    let run = workflow(&["submit", "w", "--digest", &first, "-p", "code=0"]);
    assert_eq!(run.status, 0, "{run:?}");
    let ended = bench.phasm(&["recover", run.stdout.trim(), "--store", "runs.db"]);
    assert_eq!(ended.status, 0, "{ended:?}");
    let none = workflow(&["submit", "x"]);
    assert!(none.status == 2 && none.stderr.contains("there is no workflow x; there are: w"), "{none:?}");
    assert_eq!(workflow(&["remove", "w"]).status, 0);
    assert!(workflow(&["list"]).stderr.contains("there are no saved workflows"));
}

/// R-W4: `cron next FILE` previews what `cron add` would accept, and shows every other file's problems.
#[test]
fn a_file_with_problems_has_no_next_runs() {
    let bench = Bench::new();
    let right = schedule("nightly", "startAt: '2030-01-01T00:00:00Z'");
    for (wrong, says) in [
        (right.replace("Europe/Berlin", "Europe/Berln"), "did you mean `Europe/Berlin`?"),
        (right.replace("'2030-01-01T00:00:00Z'", "'2030-01-01'"), "startAt"),
        (right.replace("0 3 * * *", "0 22-2 * * *"), "`22-23,0-2`"),
        (right.replace("startAt", "startingDeadlineSeconds: 0\n  startAt"), "startingDeadlineSeconds"),
        (right.replace("entrypoint: main", "entrypoint: mian"), "did you mean `main`?"),
        (right.replace("{ type: nap }", "{ type: nap }, rety: {}"), "did you mean `retry`?"),
    ] {
        bench.write("wrong.yaml", wrong);
        let ran = bench.phasm(&["cron", "next", "wrong.yaml"]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{says}: {ran:?}");
        assert!(ran.stderr.contains(says), "{says}: {ran:?}");
        assert_eq!(bench.phasm(&["validate", "wrong.yaml"]).status, 2);
    }
    bench.write(
        "vars.yaml",
        right.replace("{ type: nap }", "{ type: nap, config: { town: '{{ office.town }}' } }"),
    );
    bench.write("phasm.toml", "[vars]\noffice = { town = \"Mainz\" }\n");
    assert_eq!(bench.phasm(&["cron", "next", "vars.yaml", "-n", "1"]).status, 2);
    assert_eq!(bench.phasm(&["cron", "next", "vars.yaml", "-n", "1", "--config", "phasm.toml"]).status, 0);
}
