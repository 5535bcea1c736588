//! How much of a run can be in flight at once.

use super::*;

fn most(templates: &str) -> Option<u32> {
    Draft::read(&Tree::from(&Value::from_json(&document(templates)).unwrap())).max_parallelism()
}

#[test]
fn what_a_document_alone_says_is_counted() {
    let call = r#"{"name": "a", "template": "work"}"#;
    let inline = r#"{"name": "b", "executor": {"type": "echo"}}"#;
    let dag = |name: &str, tasks: &str| format!(r#"{{"dag": {{"name": "{name}", "tasks": [{tasks}]}}}}"#);
    assert_eq!(most(r#"{"task": {"name": "main", "executor": {"type": "echo"}}}"#), Some(1));
    // A call counts, and what is called.
    assert_eq!(most(&dag("main", &format!("{call}, {inline}"))), Some(3));
    let nested = format!(
        "{}, {}",
        dag("inner", &format!("{call}, {inline}")),
        dag("main", r#"{"name": "x", "template": "inner"}"#)
    );
    assert_eq!(most(&nested), Some(4));
    let many: Vec<_> =
        (0..300).map(|n| format!(r#"{{"name": "t{n}", "executor": {{"type": "echo"}}}}"#)).collect();
    assert_eq!(most(&dag("main", &many.join(","))), None);
}

#[test]
fn what_it_leaves_open_is_not() {
    let hooked = r#"{"dag": {"name": "main", "tasks": [{"name": "a", "template": "work", "hooks": {"onExit": {"template": "work"}}}]}}"#;
    let repeated = r#"{"loop": {"name": "main", "items": [1, 2], "task": {"template": "work"}}}"#;
    let circle = r#"{"dag": {"name": "main", "tasks": [{"name": "a", "template": "main"}]}}"#;
    let nowhere = r#"{"dag": {"name": "main", "tasks": [{"name": "a", "template": "nowhere"}]}}"#;
    for templates in [hooked, repeated, circle, nowhere] {
        assert_eq!(most(templates), None, "{templates}");
    }
}
