//! The dags that are measured, and the component that does their work.

use std::{fmt::Write as _, path::Path};

/// The shipped echo plugin, built if need be.
pub(crate) fn echo_component() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/echo");
    let built = phasm_builder::bring_up_to_date(&[folder], &|_: &str| {});
    let artefact = built.into_iter().next().expect("one answer a folder").expect("echo builds");
    std::fs::read(artefact.wasm).expect("the component is there")
}

/// `count` tasks that depend on nothing.
pub(crate) fn wide(count: u32) -> String {
    dag(count, |_, _| {})
}

/// `count` tasks in a chain, each with a condition on the one before and its output as an input.
pub(crate) fn deep(count: u32) -> String {
    dag(count, |task, index| {
        if let Some(before) = index.checked_sub(1) {
            let _ = write!(
                task,
                r#", "dependencies": ["t{before}"], "when": "tasks.t{before}.phase == 'Succeeded'""#
            );
        }
    })
}

/// A loop over so many numbers.
pub(crate) fn repeated(count: u32) -> String {
    format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "bench"}},
            "spec": {{"entrypoint": "main", "timeout": "none", "templates": [
                {{"task": {{"name": "work", "executor": {{"type": "echo"}}}}}},
                {{"loop": {{"name": "main", "body": "work", "sequence": {{"count": {count}}},
                    "arguments": {{"parameters": [{{"name": "n", "value": "{{{{ loop.index }}}}"}}]}}}}}}]}}}}"#
    )
}

fn dag(count: u32, more: impl Fn(&mut String, u32)) -> String {
    let mut tasks = String::new();
    for index in 0..count {
        let separator = if index == 0 { "" } else { "," };
        let _ = write!(
            tasks,
            r#"{separator}{{"name": "t{index}", "template": "work", "arguments": {{"parameters": [
                {{"name": "index", "value": {index}}},
                {{"name": "item", "value": {{"sku": "A-{index}", "tags": ["new", "sale"], "price": 12.5}}}}]}}"#
        );
        more(&mut tasks, index);
        tasks.push('}');
    }
    format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "bench"}},
            "spec": {{"entrypoint": "main", "templates": [
                {{"task": {{"name": "work", "executor": {{"type": "echo"}}}}}},
                {{"dag": {{"name": "main", "tasks": [{tasks}]}}}}]}}}}"#
    )
}
