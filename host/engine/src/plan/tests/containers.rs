//! Dags, loops, pipelines, wrappers and hooks as the plan has them.

use crate::plan::RuleAction;

use super::*;

#[test]
fn dependencies_are_positions_both_ways() {
    let plan = plan(
        r#"{"dag": {"name": "main", "failFast": false, "parallelism": 2, "tasks": [
            {"name": "d", "template": "work", "dependencies": ["b", "c"]}, {"name": "a", "template": "work"},
            {"name": "b", "template": "work", "dependencies": ["a"]}, {"name": "c", "template": "work", "dependencies": ["a"]}]}}"#,
    );
    let found: Vec<_> =
        nodes(&plan).iter().map(|n| (&*n.name, n.dependencies.clone(), n.dependents.clone())).collect();
    assert_eq!(
        found,
        [
            ("d", vec![2, 3], vec![]),
            ("a", vec![], vec![2, 3]),
            ("b", vec![1], vec![0]),
            ("c", vec![1], vec![0])
        ]
    );
    let TemplateKind::Dag(dag) = &plan.templates[0].kind else { panic!("no dag") };
    assert_eq!((dag.fail_fast, dag.parallelism, dag.index["b"]), (false, Some(2), 2));
}

/// R-S6: only what is reachable forward exists.
#[test]
fn entrypoints_leave_the_rest_out() {
    let tasks = r#"[{"name": "z", "template": "work"}, {"name": "a", "template": "work"},
        {"name": "b", "template": "work", "dependencies": ["a"]}, {"name": "y", "template": "work", "dependencies": ["z"]},
        {"name": "c", "template": "work", "dependencies": ["b"], "when": "tasks.a.code == 0"}]"#;
    for entrypoints in [r#""a""#, r#"["a"]"#] {
        let plan = plan(&format!(
            r#"{{"dag": {{"name": "main", "entrypoints": {entrypoints}, "tasks": {tasks}}}}}"#
        ));
        let found: Vec<_> =
            nodes(&plan).iter().map(|n| (&*n.name, n.dependencies.clone(), n.dependents.clone())).collect();
        assert_eq!(found, [("a", vec![], vec![1]), ("b", vec![0], vec![2]), ("c", vec![1], vec![])]);
    }
}

fn the_loop(fields: &str) -> Loop {
    let mut plan = plan(&format!(r#"{{"loop": {{"name": "main", "body": "work", {fields}}}}}"#));
    match plan.templates.remove(0).kind {
        TemplateKind::Loop(read) => *read,
        other @ (TemplateKind::Task
        | TemplateKind::Wrapper(_)
        | TemplateKind::Dag(_)
        | TemplateKind::Pipeline(_)) => {
            panic!("{other:?}")
        }
    }
}

fn literal_items(read: &Loop) -> Value {
    let LoopOver::Items(items) = &read.over else { panic!("{:?}", read.over) };
    items.iter().map(|item| item.as_literal().unwrap().clone()).collect::<Vec<_>>().into()
}

/// R-W11.
#[test]
fn what_loops_run_over() {
    let rows = [
        (r#""items": ["a", {"x": 1}]"#, r#"["a",{"x":1}]"#),
        (r#""items": []"#, "[]"),
        (r#""sequence": {"end": 2}"#, "[0,1,2]"),
        (r#""sequence": {"start": 2, "end": 0}"#, "[2,1,0]"),
        (r#""sequence": {"start": 5, "count": 2}"#, "[5,6]"),
        (r#""sequence": {"count": 0}"#, "[]"),
        (r#""sequence": {"start": 9, "end": 10, "format": "part-%03d"}"#, r#"["part-009","part-010"]"#),
    ];
    for (fields, expected) in rows {
        assert_eq!(literal_items(&the_loop(fields)).to_json(), expected, "{fields}");
    }
    let from = the_loop(r#""itemsFrom": "{{ workflow.parameters.region }}", "concurrency": 0"#);
    assert!(matches!(from.over, LoopOver::ItemsFrom(_)));
    assert_eq!(from.concurrency, None);
    let repeat = the_loop(r#""repeatCondition": "loop.index < 2", "maxIterations": 5"#);
    assert!(matches!(repeat.over, LoopOver::Repeat(_)));
    assert_eq!(repeat.max_iterations, Some(5));
}

#[test]
fn loops_call_their_body() {
    let read = the_loop(
        r#""items": [1], "concurrency": 4, "continueOn": {"failed": true}, "aggregate": {"strategy": "list", "parameters": ["x"]},
           "arguments": {"parameters": [{"name": "n", "value": "{{ loop.item }}"}]}"#,
    );
    assert_eq!((&*read.body.name, read.body.template, read.concurrency), ("work", Some(1), Some(4)));
    assert_eq!(read.body.settings.continue_on, Tolerance { failed: true, ..Tolerance::default() });
    assert_eq!(read.body.arguments.len(), 1);
    assert_eq!(read.aggregate.strategy, AggregateStrategy::List);
    assert_eq!(read.aggregate.parameters, Some(vec!["x".into()]));
    let plain = the_loop(r#""items": [1]"#);
    assert_eq!((plain.aggregate.strategy, plain.aggregate.parameters), (AggregateStrategy::Last, None));
}

/// R-R9: a wrapper's attempts run a container that keeps its own settings.
#[test]
fn wrappers_hold_their_container() {
    let templates = r#"{"dag": {"name": "part", "timeout": "5s", "inputs": {"parameters": [{"name": "n"}]},
            "phaseConditions": {"failed": "children.failed > 1"}, "tasks": [{"name": "x", "template": "work"}]}},
        {"task": {"name": "again", "template": "part", "retry": {"limit": 2},
            "inputs": {"parameters": [{"name": "m", "default": 1}]},
            "arguments": {"parameters": [{"name": "n", "value": "{{ inputs.parameters.m }}"}]}}}"#;
    let task = r#"{"name": "a", "template": "again", "timeout": "1m"}"#;
    with_node(templates, task, |plan, node| {
        let Work::Wrapper(wrapper) = node.work else { panic!("{node:?}") };
        let TemplateKind::Wrapper(call) = &plan.templates[wrapper].kind else { panic!("{plan:?}") };
        assert!(matches!(call.work, Work::Container(0)));
        assert_eq!((call.arguments.len(), call.settings.timeout), (1, Some(5000)));
        assert_eq!(call.settings.phase_conditions.failed.as_ref().map(|c| c.level), Some(Level::Template));
        assert_eq!(node.settings.timeout, Some(60_000));
        assert!(matches!(node.settings.recovery, Some(Recovery::Retry(_))));
        assert_eq!((node.template, &*node.inputs[0].name), (Some(1), "m"));
    });
}

#[test]
fn calls_of_containers_take_the_nearer_timeout() {
    let part = r#"{"dag": {"name": "part", "timeout": "5s", "tasks": [{"name": "x", "template": "work"}]}}"#;
    for (task, expected) in [
        (r#"{"name": "a", "template": "part"}"#, 5000),
        (r#"{"name": "a", "template": "part", "timeout": "7s"}"#, 7000),
    ] {
        with_node(part, task, |_, node| {
            assert!(matches!(node.work, Work::Container(0)));
            assert_eq!(node.settings.timeout, Some(expected));
        });
    }
}

/// Seed 002's labelled form (R-N9).
#[test]
fn labelled_tasks_are_inline_executors() {
    let plan = plan(
        r#"{"pipeline": {"name": "main", "maxJumps": 7, "tasks": [
            {"fetch_page": {"kind": "http", "method": "GET", "params": {"page": "{{ iter.page }}"}, "when": "true",
                "outputs": {"parameters": [{"name": "body"}]},
                "spec": {"timeout": {"connect": 5, "read": "{{ 15 }}"}, "retry": 2, "maxRuntime": "5s", "policy": {"rules": [
                    {"when": "iter.page < 3", "then": {"do": "jump", "to": "fetch_page", "set_iter": {"page": "{{ iter.page + 1 }}"}}},
                    {"else": {"then": {"do": "break"}}}]}}}},
            {"store": {"kind": "postgres", "spec": {"timeout": "30s"}}}]}}"#,
    );
    let [fetch, store] = nodes(&plan) else { panic!("two tasks") };
    assert_eq!(
        (&*fetch.name, fetch.template, fetch.when.is_some(), fetch.outputs.len()),
        ("fetch_page", None, true, 1)
    );
    assert_eq!(fetch.inputs.iter().map(|input| &*input.name).collect::<Vec<_>>(), ["method", "params"]);
    assert!(fetch.inputs[1].value.as_ref().is_some_and(|value| !value.is_literal()));
    let Work::Executor(call) = &fetch.work else { panic!("{fetch:?}") };
    assert_eq!(&*call.executor_type, "http");
    let config = call.config.as_literal().unwrap().to_json();
    assert_eq!(config, r#"{"spec":{"retry":2,"timeout":{"connect":5,"read":"{{ 15 }}"}}}"#);
    assert_eq!((fetch.settings.timeout, fetch.settings.max_runtime.map(|p| p.timeout)), (None, Some(5000)));
    let Some(Recovery::Policy(policy)) = &fetch.settings.recovery else { panic!("{fetch:?}") };
    assert_eq!(policy.rules[0].action, RuleAction::Jump(0));
    assert_eq!(policy.rules[0].set_iter.len(), 1);
    let Work::Executor(call) = &store.work else { panic!("{store:?}") };
    assert_eq!(
        (call.config.as_literal().unwrap().to_json().as_str(), store.settings.timeout),
        ("{}", Some(30_000))
    );
    let TemplateKind::Pipeline(pipeline) = &plan.templates[0].kind else { panic!("no pipeline") };
    assert_eq!((pipeline.max_jumps, pipeline.index["store"]), (7, 1));
}

/// R-S12: hook runs are bounded and fire no hooks.
#[test]
fn hooks_call_task_templates() {
    let notify = r#"{"task": {"name": "notify", "executor": {"type": "echo"}, "timeout": "9s",
        "inputs": {"parameters": [{"name": "phase"}]}, "hooks": {"onExit": {"template": "notify"}}}}"#;
    let task = r#"{"name": "a", "template": "work", "hooks": {"onExit": {"template": "notify", "when": "hook.type == 'onExit'",
        "arguments": {"parameters": [{"name": "phase", "value": "{{ hook.task.phase }}"}]}}, "onStart": {"template": "work"}}}"#;
    with_node(notify, task, |plan, node| {
        let hook = |kind| &plan.hook_calls[node.settings.hooks[&kind]];
        let exit = hook(HookType::OnExit);
        assert_eq!(
            (&*exit.node.name, exit.node.settings.timeout, exit.level),
            ("notify", Some(9000), Level::Node)
        );
        assert!(exit.when.is_some() && exit.node.settings.hooks.is_empty());
        assert_eq!(hook(HookType::OnStart).node.settings.timeout, Some(300_000));
    });
}
