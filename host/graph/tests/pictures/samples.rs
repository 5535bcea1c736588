//! Runs as people have them: a failure in a dag, a long loop, a pipeline with jumps, retries, an approval.

use phasm_engine::{outcome::Outcome, time::Timestamp};

use crate::world::{World, code, plan};

/// A dag of which one task fails, after three attempts.
pub(crate) fn failed() -> World {
    failing().finished()
}

/// The same, before anything has happened.
pub(crate) fn failing() -> World {
    let plan = plan(
        r#"{ "dag": { "name": "main", "tasks": [
            { "name": "fetch", "template": "work", "retry": { "limit": 2, "delay": "300ms" } },
            { "name": "rates", "template": "work" },
            { "name": "load", "template": "work", "dependencies": ["fetch", "rates"] },
            { "name": "report", "template": "work", "dependencies": ["load"] },
            { "name": "audit", "template": "work", "dependencies": ["rates"] } ] } }"#,
    );
    let script = |path: &str, _: &_| match path {
        "main/fetch" => (400, Outcome::error("connection refused by db-7: no route to host\nat line 3")),
        "main/rates" => (150, code(0)),
        _ => (900, code(0)),
    };
    World::submit(plan, 2, script)
}

/// A loop of `count` customers, of which some fail, after a task and before another.
pub(crate) fn customers(count: usize, failing: &'static [usize]) -> World {
    let items: Vec<_> = (0..count)
        .map(|at| format!(r#"{{ "name": "Customer {at}", "mail": "c{at}@example.org" }}"#))
        .collect();
    let templates = format!(
        r#"{{ "loop": {{ "name": "reindex", "items": [{}], "body": "work", "continueOn": {{ "failed": true }} }} }},
           {{ "dag": {{ "name": "main", "tasks": [
              {{ "name": "list", "template": "work" }},
              {{ "name": "reindex", "template": "reindex", "dependencies": ["list"], "continueOn": {{ "failed": true }} }},
              {{ "name": "swap-alias", "template": "work", "dependencies": ["reindex"] }} ] }} }}"#,
        items.join(", ")
    );
    let script = move |path: &str, _: &_| {
        let index = path.split_once('[').and_then(|(_, rest)| rest.split_once(']')?.0.parse().ok());
        match index {
            Some(at) if failing.contains(&at) => (30, Outcome::failed("index 'customers' is read-only")),
            Some(at) => (20 + at as u64 % 7, code(0)),
            None => (40, code(0)),
        }
    };
    World::submit(plan(&templates), 8, script)
}

/// A pipeline that goes back to its first task until it has four pages.
pub(crate) fn pipeline() -> World {
    let plan = plan(
        r#"{ "pipeline": { "name": "main", "tasks": [
            { "name": "fetch", "executor": { "type": "echo" }, "policy": { "rules": [
                { "when": "(iter.page | default(1)) < 4",
                  "then": { "do": "jump", "to": "fetch", "set_iter": { "page": "{{ (iter.page | default(1)) + 1 }}" } } },
                { "else": { "then": { "do": "continue" } } } ] } },
            { "name": "transform", "template": "work" },
            { "name": "write", "template": "work" } ] } }"#,
    );
    World::submit(plan, 4, |_, _| (50, code(0))).finished()
}

/// A task that asks a person, and tasks that wait for the response.
pub(crate) fn approval() -> World {
    let plan = plan(
        r#"{ "dag": { "name": "main", "tasks": [
            { "name": "build", "template": "work" },
            { "name": "approve", "template": "work", "dependencies": ["build"] },
            { "name": "deploy", "template": "work", "dependencies": ["approve"] },
            { "name": "notify", "template": "work", "dependencies": ["deploy"] } ] } }"#,
    );
    let script = |path: &str, dispatch: &phasm_engine::event::Dispatch| match path {
        "main/approve" if dispatch.fence.dispatch == 1 => {
            (20, Outcome { code: 1, message: "Deploy 2.4 to production?".into(), ..Outcome::default() })
        }
        _ => (700, code(0)),
    };
    World::submit(plan, 4, script).until(Timestamp(1_000_000))
}
