//! Documents written to cost much: the cost grows with their size, and the text about them does not.
//!
//! Each of these once took minutes or gigabytes. Nothing is timed here: at the sizes below, a fault that is back does not
//! end within anyone's patience.

use phasm::reader;
use phasm_tests::fuzz;

/// A workflow with these tasks in its dag, beside these templates.
fn workflow(tasks: &str, templates: &str) -> String {
    format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "hostile"}}, "spec": {{"entrypoint": "main",
            "templates": [{{"dag": {{"name": "main", "tasks": [{tasks}]}}}}{templates}]}}}}"#
    )
}

fn check(document: &str) {
    fuzz::document(document.as_bytes(), reader::read);
}

/// A task whose executor's configuration this is.
fn configured(config: &str) -> String {
    workflow(&format!(r#"{{"name": "a", "executor": {{"type": "echo", "config": {config}}}}}"#), "")
}

/// `item`, so often, with commas.
fn list(item: &str, count: usize) -> String {
    vec![item; count].join(",")
}

/// A key that is a list of lists of lists, and a thousand problems below it.
#[test]
fn a_key_as_large_as_aliases_make_it() {
    let row = |name: &str, item: &str| format!("{name}: &{name} [{}]\n", list(item, 16));
    let rows = [row("a", "x"), row("b", "*a"), row("c", "*b"), row("d", "*c")].concat();
    check(&format!("{rows}? *d\n: [{}]\n", list("1e400", 999)));
}

#[test]
fn a_thousand_problems_below_a_long_key() {
    let key = "k".repeat(1 << 20);
    check(&format!(r#"{{"{key}": [{}]}}"#, list("1e400", 999)));
    check(&configured(&format!(r#"{{"{key}": [{}]}}"#, list(r#""{{ = }}""#, 999))));
}

/// Whether one name resembles another takes the product of their lengths.
#[test]
fn names_that_nearly_agree() {
    let name = "a".repeat(1 << 18);
    let templates = format!(r#",{{"task": {{"name": "{name}", "executor": {{"type": "echo"}}}}}}"#);
    check(&workflow(&format!(r#"{{"name": "a", "template": "{name}b"}}"#), &templates));
}

/// A thousand messages that each name the same long thing.
#[test]
fn messages_about_a_long_name() {
    let name = format!("tasks.{}.phase", "a".repeat(9000));
    check(&configured(&format!("[{}]", list(&format!(r#""{{{{ {name} }}}}""#), 300))));
}

/// Where each of a hundred thousand placeholders stands is not measured from the start of their text each time.
#[test]
fn one_text_with_many_placeholders() {
    for placeholder in ["{{=}}", "{{workflow.name}}", "{{tasks.b.phase}}"] {
        check(&configured(&format!(r#""{}""#, placeholder.repeat(100_000))));
        check(&configured(&format!(r#"{{"x": "{}"}}"#, placeholder.repeat(100_000))));
    }
}

/// Every template calls the next one six times; how often the last one runs is never counted out.
#[test]
fn templates_that_call_each_other_often() {
    let template = |n: usize| {
        let next = if n < 7 { format!("d{}", n + 1) } else { "missing".to_owned() };
        let argument = r#"{"name": "p", "value": "{{ inputs.parameters.p }}"}"#;
        let task = |k: usize| {
            format!(
                r#"{{"name": "t{k}", "template": "{next}", "arguments": {{"parameters": [{argument}]}}}}"#
            )
        };
        let tasks = (0..6).map(task).collect::<Vec<_>>().join(",");
        format!(
            r#",{{"dag": {{"name": "d{n}", "inputs": {{"parameters": [{{"name": "p"}}]}}, "tasks": [{tasks}]}}}}"#
        )
    };
    let templates: String = (0..8).map(template).collect();
    check(&workflow(r#"{"name": "a", "template": "d0"}"#, &templates));
}
