//! Stores that say something else than what was written, and stores of another format.

use rusqlite::Connection;

use crate::bench::{Bench, Ran};

fn on_store(bench: &Bench, arguments: &[&str]) -> Ran {
    bench.phasm(&[arguments, &["--store", "runs.db"]].concat())
}

fn change(bench: &Bench, sql: &str) {
    assert_eq!(Connection::open(bench.path("runs.db")).unwrap().execute(sql, []).unwrap(), 1, "{sql}");
}

fn ids(bench: &Bench) -> Vec<String> {
    let all = on_store(bench, &["list", "--json"]).json();
    all.as_array().unwrap().iter().map(|row| row["runID"].as_str().unwrap().to_owned()).collect()
}

/// R-H5: a damaged run is named and left; the others are listed, shown and deleted.
#[test]
fn a_damaged_run_is_named_and_the_others_are_listed_and_deleted() {
    let bench = Bench::new();
    bench.task("code.yaml", "code", "");
    for _ in 0..3 {
        assert_eq!(on_store(&bench, &["run", "code.yaml"]).status, 0);
    }
    let all = ids(&bench);
    for column in ["workflow = 'wrong'", "phase = 'Failed'", "labels = 'x'", "finished_at = 7"] {
        std::fs::copy(bench.path("runs.db"), bench.path("kept.db")).unwrap();
        change(&bench, &format!("UPDATE runs SET {column} WHERE number = 2"));
        let listed = on_store(&bench, &["list"]);
        assert_eq!((listed.status, listed.stdout.lines().count()), (3, 4), "{column}: {listed:?}");
        let named = format!("run {} (number 2) is damaged: its", all[1]);
        assert!(listed.stderr.contains(&named), "{column}: {listed:?}");
        assert!(!listed.stdout.contains("wrong") && !listed.stdout.contains("Failed"), "{listed:?}");
        let shown = on_store(&bench, &["list", "--json"]);
        assert_eq!(shown.status, 3, "{shown:?}");
        let rows = shown.json();
        let damaged: Vec<bool> =
            rows.as_array().unwrap().iter().map(|row| row["damaged"].is_string()).collect();
        assert_eq!(damaged, [false, true, false], "{column}: {rows}");
        let got = on_store(&bench, &["get", &all[1]]);
        assert_eq!(got.status, 3, "{got:?}");
        assert!(got.stderr.contains("its checksum differs"), "{got:?}");
        assert_eq!(on_store(&bench, &["get", &all[0]]).status, 0);
        let dry = on_store(&bench, &["prune", "--keep", "0", "--dry-run"]);
        assert_eq!((dry.status, dry.stdout.lines().count()), (3, 2), "{dry:?}");
        let pruned = on_store(&bench, &["prune", "--keep", "0"]);
        assert_eq!(pruned.status, 3, "{pruned:?}");
        assert!(pruned.stderr.contains("2 runs deleted") && pruned.stderr.contains(&named), "{pruned:?}");
        assert_eq!(ids(&bench), [all[1].clone()]);
        assert_eq!(on_store(&bench, &["abandon", &all[1]]).status, 0);
        assert_eq!(on_store(&bench, &["prune", "--keep", "0"]).stderr, "1 run deleted\n");
        std::fs::copy(bench.path("kept.db"), bench.path("runs.db")).unwrap();
    }
}

/// R-H5.
#[test]
fn damaged_logs_and_schedules_are_named_and_the_others_are_shown() {
    let bench = Bench::new();
    bench.write(
        "w.yaml",
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: w }\nspec:\n  entrypoint: main\n  templates:\n    - dag:\n        \
         name: main\n        tasks:\n          - { name: a, executor: { type: say } }\n          - { name: b, executor: { type: say } }\n",
    );
    assert_eq!(on_store(&bench, &["run", "w.yaml"]).status, 0);
    change(
        &bench,
        "UPDATE logs SET text = CAST('info lie' AS BLOB) WHERE task = (SELECT min(task) FROM logs)",
    );
    let logs = on_store(&bench, &["logs", "@last"]);
    assert_eq!(logs.status, 3, "{logs:?}");
    assert!(logs.stdout.contains("info out1") && !logs.stdout.contains("lie"), "{logs:?}");
    assert!(logs.stderr.contains("the log of main/a@1 is damaged"), "{logs:?}");
    for name in ["one", "two"] {
        bench.write(
            "cron.yaml",
            format!(
                "apiVersion: aether/v1\nkind: CronWorkflow\nmetadata: {{ name: {name} }}\nspec:\n  schedule: '0 3 * * *'\n  workflowSpec:\n    \
                 entrypoint: main\n    templates:\n      - task: {{ name: main, executor: {{ type: echo }} }}\n"
            ),
        );
        let added = on_store(&bench, &["cron", "add", "cron.yaml"]);
        assert_eq!(added.status, 0, "{added:?}");
    }
    change(&bench, "UPDATE entries SET due = 9 WHERE name = 'one'");
    let listed = on_store(&bench, &["cron", "list"]);
    assert_eq!(listed.status, 3, "{listed:?}");
    assert!(listed.stdout.contains("two") && !listed.stdout.contains("one"), "{listed:?}");
    assert!(listed.stderr.contains("schedule default/one: it is damaged"), "{listed:?}");
}

/// R-H33: only `migrate` and `serve` bring a file of the format before up to date; other commands leave it as it is.
#[test]
fn a_store_of_the_format_before_is_migrated_by_migrate_alone() {
    let bench = Bench::new();
    bench.task("code.yaml", "code", "");
    let first = Connection::open(bench.path("runs.db")).unwrap();
    first.execute_batch(include_str!("../../../src/store/sqlite/schema.sql")).unwrap();
    first.execute_batch("PRAGMA application_id = 0x50484153; PRAGMA user_version = 1").unwrap();
    drop(first);
    let before = std::fs::read(bench.path("runs.db")).unwrap();
    for arguments in [
        &["submit", "code.yaml"][..],
        &["run", "code.yaml"],
        &["recover"],
        &["prune", "--keep", "0"],
        &["cron", "suspend", "nightly"],
        &["list"],
        &["logs", "@last"],
    ] {
        let refused = on_store(&bench, arguments);
        assert_eq!(refused.status, 2, "{arguments:?}: {refused:?}");
        let said = "has store format 1, this Phasm uses format 3: end the hosts of the earlier version, then run `phasm migrate`";
        assert!(refused.stderr.contains(said), "{arguments:?}: {refused:?}");
    }
    assert_eq!(std::fs::read(bench.path("runs.db")).unwrap(), before);
    let migrated = on_store(&bench, &["migrate"]);
    assert_eq!((migrated.status, migrated.stderr.as_str()), (0, "migrated from store format 1 to 3\n"));
    let again = on_store(&bench, &["migrate"]);
    assert_eq!(
        (again.status, again.stderr.as_str()),
        (0, "the store has the format of this version already\n")
    );
    assert_eq!(on_store(&bench, &["run", "code.yaml"]).status, 0);
    assert_eq!(ids(&bench).len(), 1);
    let absent = bench.phasm(&["migrate", "--store", "none.db"]);
    assert_eq!(absent.status, 2, "{absent:?}");
    assert!(!bench.path("none.db").exists());
}

/// R-L13: a list says what the phase alone does not.
#[test]
fn a_list_says_why_a_run_ended_and_what_was_tolerated() {
    let bench = Bench::new();
    bench.task("late.yaml", "doze", "maxRuntime: 50ms");
    bench.write(
        "some.yaml",
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: some }\nspec:\n  entrypoint: main\n  templates:\n    - dag:\n        \
         name: main\n        tasks:\n          - { name: a, executor: { type: echo } }\n          - { name: b, executor: { type: assert }, \
         continueOn: { error: true } }\n",
    );
    bench.task("code.yaml", "code", "");
    bench.task("bad.yaml", "assert", "");
    for (file, status) in [("bad.yaml", 3), ("late.yaml", 4), ("some.yaml", 0), ("code.yaml", 0)] {
        let ran = on_store(&bench, &["run", file]);
        assert_eq!(ran.status, status, "{ran:?}");
    }
    let listed = on_store(&bench, &["list"]).stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert!(
        lines[3].contains("Cancelled") && lines[3].contains("Timed out: exceeded maxRuntime"),
        "{listed}"
    );
    assert!(lines[2].contains("Succeeded, 1 of 2 failed (tolerated)"), "{listed}");
    assert!(!lines[1].contains("Succeeded,"), "{listed}");
    let rows = on_store(&bench, &["list", "--json"]).json();
    let reason: String = rows[3]["remark"].as_str().unwrap_or_default().chars().take(60).collect();
    assert!(!reason.is_empty() && lines[4].contains(&reason), "{reason}: {listed}");
    let remarks: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["remark"].as_str().unwrap_or("")).collect();
    assert_eq!(remarks[..2], ["", "1 of 2 failed (tolerated)"], "{rows}");
}
