//! `phasm validate`.

use serde_json::json;

use crate::bench::Bench;

#[test]
fn valid_documents_are_told_so() {
    let bench = Bench::new();
    bench.task("a.yaml", "echo", "");
    let ran = bench.phasm(&["validate", "a.yaml", "a.yaml"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert_eq!(ran.stdout, "a.yaml: valid\na.yaml: valid\n");
    assert_eq!(
        bench.phasm(&["validate", "--json", "a.yaml"]).json(),
        json!({ "errors": [], "problems": [], "warnings": [] })
    );
}

/// The plugins are those that a run would find: by name, with what their manifests say.
#[test]
fn installed_executors_are_known() {
    let bench = Bench::new();
    bench.task("a.yaml", "ehco", "");
    bench.task("b.yaml", "mine", "resources: { memory: 2Gi }");
    bench.write("own/mine.wasm", b"\0asm\x0d\0\x01\0");
    bench.write("own/mine.toml", "retry = { limit = -2 }");
    let ran = bench.phasm(&["validate", "a.yaml", "b.yaml"]);
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (2, "a.yaml: 1 error\nb.yaml: 1 error, 1 warning\n"),
        "{ran:?}"
    );
    let ran = bench.phasm(&["validate", "--allow-missing", "a.yaml", "b.yaml"]);
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (0, "a.yaml: valid, 1 warning\nb.yaml: valid, 2 warnings\n"),
        "{ran:?}"
    );
    for says in [
        "executor `ehco` is not installed",
        "did you mean `echo`?",
        "W015",
        "executor `mine` is not installed",
    ] {
        assert!(ran.stderr.contains(says), "{says}: {ran:?}");
    }
    let ran = bench.phasm(&["validate", "b.yaml", "--plugins", "own"]);
    assert!(ran.stderr.contains("W008: spec.templates[0].task.executor.type: plugin `mine` has unusable defaults (retry.limit: found -2"), "{ran:?}");
    bench.write("phasm.toml", "plugins = [\"own\"]\n[limits]\nmemory = \"4GiB\"\n");
    bench.write("own/mine.toml", "retry = { limit = 2 }");
    let ran = bench.phasm(&["validate", "b.yaml", "--config", "phasm.toml"]);
    assert_eq!((ran.stderr.as_str(), ran.stdout.as_str()), ("", "b.yaml: valid\n"));
    assert_eq!(bench.phasm(&["validate", "a.yaml", "--plugins", "nowhere"]).status, 2);
}

/// R-L71: what a run refuses is refused, warnings are shown next to problems, and `--strict` takes them for problems.
#[test]
fn validate_is_as_strict_as_run() {
    let bench = Bench::new();
    bench.task("doubtful.yaml", "echo", "timeout: 30");
    bench.task("both.yaml", "none", "timeout: 30\n        rety: {}");
    bench.task("missing.yaml", "none", "");
    let ran = bench.phasm(&["validate", "doubtful.yaml", "both.yaml"]);
    assert_eq!(
        (ran.status, ran.stdout.lines().next()),
        (2, Some("doubtful.yaml: valid, 1 warning")),
        "{ran:?}"
    );
    for says in ["W016", "did you mean `retry`?", "executor `none` is not installed"] {
        assert!(ran.stderr.contains(says), "{says}: {ran:?}");
    }
    let found = bench.phasm(&["validate", "--json", "both.yaml"]).json();
    assert!(found["errors"].as_array().is_some_and(|all| all.len() == 2), "{found}");
    // R-L9: the earlier name stands next to the new one.
    assert_eq!(found["errors"], found["problems"]);
    assert_eq!(found["warnings"][0]["code"], "W016", "{found}");
    assert_eq!(bench.phasm(&["validate", "doubtful.yaml"]).status, 0);
    let strict = bench.phasm(&["validate", "--strict", "doubtful.yaml"]);
    assert_eq!((strict.status, strict.stdout.as_str()), (2, "doubtful.yaml: 1 warning\n"), "{strict:?}");
    for command in [
        &["run", "missing.yaml"][..],
        &["validate", "missing.yaml"],
        &["validate", "--strict", "--allow-missing", "missing.yaml"],
    ] {
        assert_eq!(bench.phasm(command).status, 2, "{command:?}");
    }
}

/// Values for spec.arguments are not asked for.
#[test]
fn missing_arguments_are_no_problem_yet() {
    let bench = Bench::new();
    bench.task("a.yaml", "echo", "");
    let text = std::fs::read_to_string(bench.path("a.yaml")).unwrap();
    bench.write("a.yaml", text.replace("{ name: code, default: 0 }", "{ name: code }"));
    assert_eq!(bench.phasm(&["validate", "a.yaml"]).status, 0);
    assert_eq!(bench.phasm(&["run", "a.yaml"]).status, 2);
}

#[test]
fn every_problem_of_every_document_at_once() {
    let bench = Bench::new();
    bench.task("good.yaml", "echo", "");
    bench.task("bad.yaml", "echo", "timeout: 5 weeks\n        rety: {}");
    let ran = bench.phasm(&["validate", "bad.yaml", "none.yaml", "good.yaml"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert_eq!(ran.stdout, "bad.yaml: 2 errors\nnone.yaml: 1 error\ngood.yaml: valid\n");
    for says in
        ["bad.yaml:11:18: P", "bad.yaml:12:9: P", "did you mean `retry`?", "none.yaml: P006: no such file"]
    {
        assert!(ran.stderr.contains(says), "{says}: {ran:?}");
    }
    let json = bench.phasm(&["validate", "--json", "bad.yaml"]);
    assert_eq!(json.status, 2);
    let problems = json.json()["problems"].as_array().unwrap().clone();
    assert_eq!(problems.len(), 2);
    for member in ["code", "path", "line", "column", "value", "message", "hint"] {
        assert!(problems.iter().all(|problem| problem.get(member).is_some()), "{member}: {problems:?}");
    }
    assert_eq!((&problems[0]["line"], &problems[0]["value"]), (&json!(11), &json!("5 weeks")));
}

/// R-W14, R-L9: what is no document is a problem like any other, for programs as well, and whatever command reads it.
#[test]
fn files_that_are_no_documents_are_problems() {
    let bench = Bench::new();
    bench.write("empty.yaml", "");
    for (name, bytes) in [
        ("utf16.yaml", &b"\xff\xfea\0"[..]),
        ("latin.yaml", b"a: \xe9"),
        ("plugin.wasm", b"\0asm\x0d\0\x01\0"),
        ("nul.yaml", b"a: \0"),
    ] {
        std::fs::write(bench.path(name), bytes).unwrap();
    }
    for (file, code) in [
        ("none.yaml", "P006"),
        (".", "P006"),
        ("/dev/zero", "P006"),
        ("empty.yaml", "P001"),
        ("nul.yaml", "P008"),
        ("utf16.yaml", "P007"),
        ("latin.yaml", "P007"),
        ("plugin.wasm", "P007"),
    ] {
        for command in ["validate", "run"] {
            let ran = bench.phasm(&[command, "--json", file]);
            let problems = ran.json()["problems"].clone();
            let [problem] = problems.as_array().unwrap().as_slice() else { panic!("{file}: {ran:?}") };
            assert_eq!((ran.status, ran.stderr.as_str()), (2, ""), "{file}: {ran:?}");
            assert_eq!((&problem["code"], &problem["file"]), (&json!(code), &json!(file)), "{ran:?}");
        }
    }
}

/// R-L9: of more problems than are listed it is said that there are more.
#[test]
fn many_problems_are_not_said_to_be_a_thousand() {
    let bench = Bench::new();
    bench.write("many.yaml", format!("apiVersion: [{}1]\n", "1e999, ".repeat(3000)));
    let ran = bench.phasm(&["validate", "many.yaml"]);
    assert_eq!(ran.stdout, "many.yaml: more than 1000 errors\n");
    assert!(ran.stderr.contains("many.yaml: P000: more than 1000 errors"), "{}", ran.stderr.len());
}

#[test]
fn codes_are_explained() {
    let bench = Bench::new();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/problems.md"))
        .unwrap();
    for code in ["P001", "w001", "C006"] {
        let ran = bench.phasm(&["validate", "--explain", code]);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(ran.stdout.starts_with(&code.to_uppercase()) && ran.stdout.contains("Right:"), "{ran:?}");
        let explanation = ran.stdout.lines().nth(2).unwrap();
        assert!(page.contains(&format!("\n{explanation}\n")), "the page says the same: {explanation}");
    }
    let unknown = bench.phasm(&["validate", "--explain", "P999"]);
    assert_eq!((unknown.status, unknown.stdout.as_str()), (2, ""), "{unknown:?}");
    assert_eq!(bench.phasm(&["validate"]).status, 2);
}

/// Byte for byte, so that the file can be made anew by hand.
#[test]
fn the_schemas_are_the_shipped_ones() {
    let shipped = [
        (&["schema"][..], include_str!("../../../engine/schema/workflow.schema.json")),
        (&["schema", "--config"], include_str!("../../../schema/config.schema.json")),
    ];
    for (command, file) in shipped {
        let ran = Bench::new().phasm(command);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
        assert!(ran.stdout == file, "{command:?}");
    }
}

#[test]
fn every_subcommand_shows_an_example() {
    let bench = Bench::new();
    for command in [
        &["run"][..],
        &["validate"],
        &["schema"],
        &["resume"],
        &["cancel"],
        &["recover"],
        &["list"],
        &["get"],
        &["events"],
        &["plugin", "build"],
        &["plugin", "list"],
        &["plugin", "inspect"],
        &["plugin", "new"],
    ] {
        let ran = bench.phasm(&[command, &["--help"]].concat());
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(ran.stdout.contains("Examples:\n  phasm "), "{command:?}: {}", ran.stdout);
    }
}

/// R-W22: to stdout, or in place; files with problems and files of the other dialect stay.
#[test]
fn files_are_converted() {
    let bench = Bench::new();
    let old = "apiVersion: aether/v1 # Language.
kind: Workflow
metadata: { name: w }
spec:
  entrypoint: main
  templates:
    - task: { name: main, executor: { type: echo }, retry: { limit: 2 } } # Thrice.
    - task: { name: other, executor: { type: echo }, retry: { maxAttempts: 2 } }
";
    let new = old
        .replace("aether/v1", "phasm/v1")
        .replace("  entrypoint", "  timeout: {active: 1h}\n  entrypoint")
        .replace("limit: 2", "attempts: 3");
    bench.write("w.yaml", old);
    let ran = bench.phasm(&["convert", "w.yaml"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, new.as_str()), "{ran:?}");
    assert!(ran.stderr.starts_with("w.yaml:8: kept as it is: `maxAttempts`"), "{ran:?}");
    let ran = bench.phasm(&["convert", "w.yaml", "--write"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{ran:?}");
    assert_eq!(std::fs::read_to_string(bench.path("w.yaml")).unwrap(), new);
    assert_eq!(bench.phasm(&["validate", "w.yaml"]).status, 0);
    let ran = bench.phasm(&["convert", "w.yaml"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, new.as_str()), "{ran:?}");
    bench.write("w.yaml", old.replace("limit: 2", "limit: -2"));
    let ran = bench.phasm(&["convert", "w.yaml"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains("P033"), "{ran:?}");
    // An alias repeats a value that would change where it is repeated, too.
    let repeated = old.replace("retry: { limit: 2 } } # Thrice.", "maxRuntime: &long 5s, timeout: *long }");
    bench.write("w.yaml", &repeated);
    let ran = bench.phasm(&["convert", "w.yaml", "--write"]);
    assert!(
        ran.status == 2 && ran.stderr.contains("aliases repeat values that would change (line 7)"),
        "{ran:?}"
    );
    assert_eq!(std::fs::read_to_string(bench.path("w.yaml")).unwrap(), repeated);
}

/// R-L8, R-I6: a plugin that lies next to the workflow file is not used, as its folder was not named; the error says how it is. If it
/// is named, what was never built is not checked, with a warning; and a manifest with errors is told with its line.
#[test]
fn plugins_in_source_next_to_the_file_are_told() {
    let bench = Bench::new();
    let manifest = "[package]\nname = 'greet'\n[dependencies]\nphasm-sdk = '0.1'\n";
    bench.write("own/greet/Cargo.toml", manifest);
    bench.task("own/w.yaml", "greet", "");
    for command in ["validate", "run"] {
        let ran = bench.phasm(&[command, "own/w.yaml"]);
        assert!(ran.status == 2 && ran.stderr.contains("executor `greet` is not installed"), "{ran:?}");
        let hint = "there is a plugin `greet` in own, where plugins are used only if the folder is named: --plugins own";
        assert!(ran.stderr.contains(hint), "{ran:?}");
    }
    let ran = bench.phasm(&["validate", "own/w.yaml", "--plugins", "own"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "own/w.yaml: valid, 1 warning\n"), "{ran:?}");
    for says in ["W026", "greet is source that is not built", " plugin build "] {
        assert!(ran.stderr.contains(says), "{says}: {ran:?}");
    }
    assert_eq!(bench.phasm(&["validate", "--strict", "own/w.yaml", "--plugins", "own"]).status, 2);
    bench.write("plugins/greet/Cargo.toml", manifest);
    let ran = bench.phasm(&["validate", "own/w.yaml"]);
    assert!(ran.status == 0 && ran.stderr.contains("W026"), "a folder that is found: {ran:?}");
    std::fs::remove_dir_all(bench.path("plugins")).unwrap();
    let ran = bench.phasm(&["validate", "own/w.yaml", "--plugins", "own/greet"]);
    let says = "own/greet is a plugin itself; expected the folder around it: own\n";
    assert!(ran.status == 2 && ran.stderr.contains(says), "{ran:?}");
    bench.write("own/greet/Cargo.toml", format!("{manifest}x = = 1\n"));
    for (command, says) in [("validate", "own/greet/Cargo.toml:5: "), ("run", "at line 5, column 5\n")] {
        let ran = bench.phasm(&[command, "own/w.yaml", "--plugins", "own"]);
        assert!(ran.status == 2 && ran.stderr.contains("P071") && ran.stderr.contains(says), "{ran:?}");
    }
}

/// R-W22: a clock in the defaults of a plugin is no part of the file, and ends tasks in another way after the conversion.
#[test]
fn a_conversion_tells_of_clocks_of_plugins() {
    let bench = Bench::new();
    bench.write(
        "plugins/echo.json",
        r#"{"maxRuntime": "5s", "deadline": {"timeout": "1h", "errorOnTimeout": true}}"#,
    );
    let task = |more: &str| {
        format!(
            "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: w }}\nspec:\n  entrypoint: main\n  templates:\n    - dag:\n        \
             name: main\n        tasks:\n          - {{ name: slow, executor: {{ type: echo }}{more} }}\n"
        )
    };
    bench.write("w.yaml", task(""));
    let ran = bench.phasm(&["convert", "w.yaml"]);
    let told = "w.yaml: task slow (echo): the default `maxRuntime` of the executor ends it as Timeout, and no longer as Cancelled; ";
    assert!(ran.status == 0 && ran.stderr.starts_with(told) && ran.stderr.lines().count() == 1, "{ran:?}");
    assert_eq!(bench.phasm(&["convert", "w.yaml", "--strict"]).status, 1);
    bench.write("w.yaml", task(", maxRuntime: 3s"));
    assert_eq!(bench.phasm(&["convert", "w.yaml"]).stderr, "");
}

/// R-W31, R-W32: `validate` checks the expressions of settings, and `run` their values; R-L66.
#[test]
fn settings_that_follow_from_parameters_are_checked() {
    let bench = Bench::new();
    let file = |parameter: &str| {
        format!(
            "apiVersion: phasm/v1\nkind: Workflow\nmetadata: {{ name: w }}\nspec:\n  entrypoint: main\n  parameters: {{ tries: {parameter} }}\n  \
             templates:\n    - dag:\n        name: main\n        tasks:\n          - name: job\n            executor: {{ type: code }}\n            \
             inputs: {{ code: 2 }}\n            retry: {{ attempts: \"{{{{ workflow.parameters.tries }}}}\" }}\n"
        )
    };
    bench.write("w.yaml", file(""));
    assert_eq!(bench.phasm(&["validate", "w.yaml", "--strict"]).status, 0);
    let problem = "P033: spec.templates[0].dag.tasks[0].retry.attempts: `{{ workflow.parameters.tries }}` is -4: found -4; expected a whole \
                   number from -1 to 4294967295 (-1 is unlimited)";
    let ran = bench.phasm(&["run", "w.yaml", "-p", "tries=-4"]);
    assert!(ran.status == 2 && ran.stderr.contains(problem), "{ran:?}");
    let ran = bench.phasm(&["run", "w.yaml", "-p", "tries=3"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("  main/job  Failed code 2"), "{ran:?}");
    assert!(ran.stdout.contains(" (not retried: `retry` applies to Error and Timeout)\n"), "{ran:?}");
    bench.write("w.yaml", file("-4"));
    let ran = bench.phasm(&["validate", "w.yaml"]);
    assert!(ran.status == 2 && ran.stderr.contains(problem), "{ran:?}");
}
