//! Sentence by sentence: what the specification calls a problem is one, and what it allows is none.

mod calls;
mod expressions;
mod loops;
mod policies;
mod settings;
mod values;

use super::*;

/// The codes and places of all problems, or else of all warnings, of a document with these templates.
fn findings(templates: &str) -> Vec<String> {
    let found = match build(templates) {
        Ok(plan) => plan.warnings,
        Err(problems) => problems,
    };
    found.iter().map(|problem| format!("{} {}", problem.code, problem.path)).collect()
}

/// Each row: the fields of the task `b`, which follows `a`; and what is found, its places below that task.
fn check_tasks(rows: &[(&str, &[&str])]) {
    let others = r#"{"dag": {"name": "part", "tasks": [{"name": "x", "template": "work"}]}}, {"task": {"name": "again", "template": "part"}},
        {"loop": {"name": "each", "body": "work", "items": [1]}}, {"pipeline": {"name": "steps", "tasks": [{"name": "x", "template": "work"}]}},
        {"task": {"name": "choosy", "executor": {"type": "echo"}, "inputs": {"parameters": [
            {"name": "level", "enum": ["low", "high"], "default": "low"}, {"name": "n", "type": "integer", "default": 1}]}}}"#;
    for (fields, expected) in rows {
        let templates = format!(
            r#"{{"dag": {{"name": "main", "inputs": {{"parameters": [
                {{"name": "level", "enum": ["low", "high"], "default": "low"}}, {{"name": "count", "type": "integer", "default": 1}},
                {{"name": "flag", "type": "boolean", "default": true}}, {{"name": "text", "type": "string", "default": "x"}}]}},
            "tasks": [{{"name": "a", "template": "work"}}, {{"name": "b", "dependencies": ["a"], {fields}}}]}}}}, {others},
            {{"dag": {{"name": "all", "tasks": [{{"name": "p", "template": "part"}}, {{"name": "g", "template": "again"}},
                {{"name": "e", "template": "each"}}, {{"name": "s", "template": "steps"}}, {{"name": "c", "template": "choosy"}}]}}}}"#
        );
        let found: Vec<_> = findings(&templates)
            .into_iter()
            .filter(|line| !line.starts_with("W004"))
            .map(|line| line.replace("spec.templates[0].dag.tasks[1].", ""))
            .collect();
        assert_eq!(found, *expected, "{fields}");
    }
}

/// Each row: templates, and what is found.
fn check_templates(rows: &[(&str, &[&str])]) {
    for (templates, expected) in rows {
        let found: Vec<_> =
            findings(templates).into_iter().filter(|line| !line.starts_with("W004")).collect();
        let found: Vec<_> = found.iter().map(|line| line.replace("spec.templates", "")).collect();
        assert_eq!(found, *expected, "{templates}");
    }
}
