//! Documents with more faults than anybody reads.

use super::{super::*, plan};

const HEAD: &str = "apiVersion: aether/v1\nkind: Workflow\nmetadata: {name: many}\nspec:\n  entrypoint: main\n  templates:\n  - dag:\n      name: main\n      tasks:\n";

fn tasks(number: usize, task: impl Fn(usize) -> String) -> String {
    let tasks: String = (0..number).map(|n| format!("      - {{{}}}\n", task(n))).collect();
    format!("{HEAD}{tasks}")
}

/// R-W2: a thousand problems are told, then that there are more, and only then.
#[test]
fn many_problems_are_cut_and_said_to_be() {
    let unknown = |number| plan(&tasks(number, |n| format!("name: t{n}, template: x{n}"))).unwrap_err();
    assert_eq!(unknown(1000).len(), 1000);
    for number in [1001, 3000] {
        let found = unknown(number);
        assert_eq!(found.len(), 1001);
        assert!(found[..1000].iter().all(|problem| problem.code == "P020"));
        let last = &found[1000];
        assert_eq!((last.code, last.line), ("P000", 0));
        assert_eq!(last.message, "more than 1000 errors; expected fewer, and the rest was not looked for");
    }
}

/// R-W2.
#[test]
fn many_warnings_are_cut_and_said_to_be() {
    let text = tasks(1500, |n| format!("name: t{n}, executor: {{type: x}}, resources: {{cpu: 1}}"));
    let warnings = plan(&text).unwrap().warnings;
    assert_eq!(warnings.len(), 1001);
    assert_eq!(warnings[1000].code, "W000");
}

/// R-W2.
#[test]
fn the_readers_cut_too() {
    let json = format!("[{}1]", "1e999, ".repeat(3000));
    for (name, text) in [("x.json", json.as_str()), ("x.yaml", json.as_str())] {
        let found = read(name, text).unwrap_err();
        assert_eq!((found.len(), found[1000].code), (1001, "P000"), "{name}");
    }
}

/// R-W2: names that are close to a slip are looked for within limits; ten thousand slips in ten thousand names end.
#[test]
fn slips_in_many_names() {
    let text = tasks(10_000, |n| {
        format!("name: task-number-{n}, executor: {{type: echo}}, dependencies: [task-numbr-{}]", n + 1)
    });
    let found = plan(&text).unwrap_err();
    assert_eq!(found.len(), 1001);
    assert_eq!(found[17].hint.as_deref(), Some("did you mean `task-number-18`?"));
}
