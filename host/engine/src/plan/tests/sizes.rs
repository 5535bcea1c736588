//! Workflows that need more task runs than a run may have (R-S13).

use super::*;

fn found(templates: &str) -> Vec<String> {
    let found = build(templates).err().unwrap_or_default();
    found.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect()
}

#[test]
fn a_loop_beyond_what_can_run_is_a_problem() {
    let each = |over: &str, body: &str| {
        found(&format!(
            r#"{{"loop": {{"name": "main", "body": "{body}", {over}}}}},
                {{"loop": {{"name": "inner", "body": "work", "sequence": {{"count": 1000}}}}}},
                {{"dag": {{"name": "two", "tasks": [{{"name": "a", "template": "work"}}, {{"name": "b", "template": "inner", "when": "1 == 1"}}]}}}}"#
        ))
    };
    let too_many = |over: &str, count: &str| {
        [format!(
            "spec.templates[0].loop.{over}: {count} task runs at least; expected at most 1000000 in a run"
        )]
    };
    let sequence = "sequence";
    assert_eq!(each(r#""sequence": {"count": 1000000}"#, "work"), too_many(sequence, "1000001"));
    assert_eq!(each(r#""sequence": {"start": 1, "end": 1000000}"#, "work"), too_many(sequence, "1000001"));
    assert_eq!(each(r#""sequence": {"count": 999999}"#, "work"), [""; 0]);
    assert_eq!(each(r#""sequence": {"count": 1000}"#, "inner"), too_many(sequence, "1001001"));
    assert_eq!(each(r#""sequence": {"count": 998}"#, "inner"), [""; 0]);
    // A condition may leave its task out, and maxIterations cuts.
    assert_eq!(each(r#""sequence": {"count": 1000}"#, "two"), [""; 0]);
    assert_eq!(each(r#""sequence": {"count": 400000}"#, "two"), too_many(sequence, "1200001"));
    assert_eq!(each(r#""sequence": {"count": 1000000}, "maxIterations": 10"#, "work"), [""; 0]);
    assert_eq!(each(r#""itemsFrom": "[1]""#, "inner"), [""; 0]);
}

#[test]
fn several_loops_are_counted_together() {
    let found = found(
        r#"{"dag": {"name": "main", "tasks": [{"name": "a", "template": "each"}, {"name": "b", "template": "each"}]}},
            {"loop": {"name": "each", "body": "work", "sequence": {"count": 600000}}}"#,
    );
    let expected = "spec.templates[0].dag: 1200003 task runs at least; expected at most 1000000 in a run";
    assert_eq!(found, [expected]);
}
