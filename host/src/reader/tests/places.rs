//! Places of what stands in texts, and what is said to those who come from other engines.

use super::{lines, plan};

const HEAD: &str =
    "apiVersion: aether/v1\nkind: Workflow\nmetadata: {name: x}\nspec:\n  entrypoint: main\n  templates:\n";

/// The problems of a document with these templates, from line 7 on.
fn found(templates: &str) -> Vec<String> {
    lines(&plan(&format!("{HEAD}{templates}")).unwrap_err())
}

#[track_caller]
fn places(templates: &str, expected: &[&str]) {
    let found = found(templates);
    let places: Vec<_> =
        found.iter().map(|line| line.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(places, expected, "{found:#?}");
}

fn task(config: &str) -> String {
    format!("  - task:\n      name: main\n      executor:\n        type: echo\n        config:\n{config}")
}

/// R-W15.
#[test]
fn parts_of_blocks_are_pointed_at() {
    let literal =
        "          text: |\n            one\n            two {{ nope.x }}\n\n              deep {{ a = }}\n";
    places(&task(literal), &["P040 16:25"]);
    let unknown = "          text: |-\n            one\n            two {{ nope.x }}\n\n              deep {{ gone }}\n";
    places(&task(unknown), &["P041 14:20", "P041 16:23"]);
    let folded =
        "          text: >\n            one\n            two {{ nope.x }}\n            three {{ gone }}\n";
    places(&task(folded), &["P041 14:20", "P041 15:22"]);
    let crlf = task(unknown).replace('\n', "\r\n");
    places(&crlf, &["P041 14:20", "P041 16:23"]);
}

/// R-W15.
#[test]
fn parts_of_other_texts_are_pointed_at() {
    let double = "          text: \"one \\u00e9 \\\"\\n {{ nope.x }}\\\n            and {{ gone }}\"\n";
    places(&task(double), &["P041 12:37", "P041 13:20"]);
    let single = "          text: 'it''s {{ nope.x }}\n\n            and {{ gone }}'\n";
    places(&task(single), &["P041 12:27", "P041 14:20"]);
    let plain = "          text: one\n            two {{ nope.x }}\n";
    places(&task(plain), &["P041 13:20"]);
    let when = "  - dag:\n      name: main\n      tasks:\n      - name: a\n        executor: {type: echo}\n        when: >-\n          1 == 1\n          and gone\n";
    places(when, &["P041 14:15"]);
}

/// R-W15: JSON, whose escapes make letters.
#[test]
fn parts_of_json_are_pointed_at() {
    let text = r#"{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {"name": "x"}, "spec": {"entrypoint": "main", "templates": [
{"task": {"name": "main", "executor": {"type": "echo", "config": {"t": "\ud83d\ude00 \n {{ gone }}"}}}}]}}"#;
    let problems = plan(text).unwrap_err();
    assert_eq!((problems[0].line, problems[0].column), (2, 92), "{problems:#?}");
}

/// R-W16.
#[test]
fn words_of_other_engines_get_their_counterpart() {
    let task = |field: &str| {
        found(&format!(
            "  - dag:\n      name: main\n      tasks:\n      - {{name: a, executor: {{type: echo}}, {field}}}\n"
        ))
    };
    for (field, hint) in [
        ("depends: b", "write `dependencies: [a, b]`"),
        ("withItems: [1]", "call a loop template: `loop: {name: …, body: …, items: […]}`"),
        ("withParam: x", "itemsFrom: …}`"),
        ("withSequence: {count: 1}", "sequence: {count: 3}}`"),
        ("loop: {times: 5}", "sequence: {count: 3}}`"),
        ("repeat: 5", "sequence: {count: 3}}`"),
        ("count: 5", "sequence: {count: 3}}`"),
        ("retryStrategy: {limit: 3}", "write `retry: {limit: 3, delay: 10s}`"),
        ("activeDeadlineSeconds: 3", "write `timeout: 30s`"),
        ("script: {}", "write `executor: {type: …}`"),
        ("onExit: a", "write `hooks: {onExit: {template: …}}`"),
        ("templateRef: {}", "write `template`"),
        ("when:yes", "write `when: yes`, with a space behind the colon"),
    ] {
        let found = task(field);
        assert!(
            found.len() == 1 && found[0].starts_with("P011 10:") && found[0].contains(hint),
            "{found:#?}"
        );
    }
    for (field, hint) in [
        ("times: 5", "write `sequence: {count: 3}`"),
        ("count: 5", "write `sequence: {count: 3}`"),
        ("withItems: [1]", "write `items: […]`"),
        ("while: x", "write `repeatCondition`"),
        ("template: a", "write `body`"),
    ] {
        let found = found(&format!("  - loop: {{name: main, body: a, {field}}}\n"));
        assert!(
            found.iter().any(|line| line.starts_with("P011 ") && line.contains(hint)),
            "{field}: {found:#?}"
        );
    }
    let template = found("  - name: main\n    container: {image: x}\n    steps: []\n");
    let has =
        |start: &str, hint: &str| template.iter().any(|line| line.starts_with(start) && line.contains(hint));
    assert!(has("P011 7:5", "this belongs into it"), "{template:#?}");
    assert!(has("P011 8:5", "write `task: {name: …, executor: {type: …}}`"), "{template:#?}");
    assert!(has("P011 9:5", "a `pipeline`, whose tasks run in order"), "{template:#?}");
}

/// R-W40: a hint is spelled as the dialect of the file has it.
#[test]
fn hints_are_spelled_in_the_dialect_of_the_file() {
    let hints = |dialect: &str| {
        let head = HEAD.replace("aether/v1", dialect);
        let tasks = "      - {name: a, executor: {type: echo}, retryStrategy: {limit: 3}}\n      - {name: b, template: c, with: {x: 1}}\n      \
                     - {name: d, executor: {type: echo}, retry: {retryPolicy: x}}\n";
        let text = format!("{head}  - dag:\n      name: main\n      tasks:\n{tasks}")
            .replace("templates:", "inputs: {}\n  templates:");
        lines(&plan(&text).unwrap_err()).join("\n")
    };
    let rows = [
        (
            "aether/v1",
            [
                "retry: {limit: 3, delay: 10s}",
                "arguments: {parameters: [{name: …, value: …}]}",
                "write `expression`;",
            ],
        ),
        ("phasm/v1", ["retry: {attempts: 4, delay: 10s}", "arguments: {name: value}", "write `when`;"]),
    ];
    for (dialect, expected) in rows {
        let found = hints(dialect);
        for hint in expected {
            assert!(found.contains(hint), "{dialect}, {hint}: {found}");
        }
    }
    assert!(hints("phasm/v1").contains("write `parameters: {name: {default: …}}`"), "{}", hints("phasm/v1"));
}

/// R-T10: the one timeout that has a default is switched off by a word.
#[test]
fn no_time_at_all_is_written_none() {
    let text = format!("{HEAD}{}", task("          x: 1\n"))
        .replace("entrypoint: main", "entrypoint: main\n  timeout: 0");
    let found = lines(&plan(&text).unwrap_err());
    assert!(found.len() == 1 && found[0].ends_with("(write `none` to have no timeout)"), "{found:#?}");
}

/// R-W50: a file of another system has one problem, with the command that converts it.
#[test]
fn a_file_of_another_system_has_one_problem() {
    let argo = format!(
        "{}  - name: main\n    dag: {{tasks: []}}\n    inputs: {{}}\n",
        HEAD.replace("aether/v1", "argoproj.io/v1alpha1")
    );
    let actions =
        "name: CI\non: [push]\njobs:\n  build: {runs-on: ubuntu-latest, steps: [{run: make}]}\n".to_owned();
    for (text, system) in [(argo, "Argo Workflows"), (actions, "GitHub Actions")] {
        let found = lines(&plan(&text).unwrap_err());
        let hint = format!("(this is a file of {system}: `phasm convert FILE` converts it)");
        assert!(found.len() == 1 && found[0].ends_with(&hint), "{found:#?}");
    }
}

/// R-W50: a file that has something of ours keeps the problems of its fields.
#[test]
fn jobs_in_a_file_of_ours_are_an_unknown_field() {
    let text = format!("{HEAD}{}jobs: {{a: {{}}}}\n", task("          x: 1\n"));
    let found = lines(&plan(&text).unwrap_err());
    assert!(found.len() == 1 && found[0].contains("unknown field `jobs`"), "{found:#?}");
}
