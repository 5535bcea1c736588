//! Every kind of problem, with its place.

use super::*;

#[test]
fn smoke() {
    let text = "apiVersion: aether/v1\nkind: Workflow\nmetadata: {name: x}\nspec:\n  entrypoint: main\n  templates:\n  - dag:\n      name: main\n      tasks:\n      - {name: a, template: wrk}\n      - {name: b, template: work, dependencies: [c], when: \"tasks.a.code == 0 && x\"}\n  - task: {name: work, executor: {type: echo}, retry: {limt: 3}}\n";
    println!("{:#?}", lines(&plan(text).unwrap_err()));
}
