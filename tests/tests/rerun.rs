//! Reruns: whatever failed, a rerun of what it left comes to what an undisturbed run comes to (R-F1..R-F3).
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use phasm::reader;
use phasm_engine::{
    event::{Dispatch, Event},
    outcome::{Outcome, Output},
    phase::Phase,
    plan::{Draft, Executors, Plan},
    run::{Run, TaskRun},
    value::{Map, Value},
};
use phasm_tests::world::{Act, Script, World, check_replay};

/// Returns its path and what it was given; what is listed fails.
struct Tells(BTreeSet<String>);

impl Script for Tells {
    fn act(&mut self, path: &str, dispatch: &Dispatch) -> Act {
        let given: Map = dispatch.inputs.iter().map(|b| (b.name.clone(), b.value.visible())).collect();
        let fails = self.0.contains(path);
        let told = format!("{path} {}", Value::from(given).to_json());
        let outcome = if fails {
            Outcome::failed("no")
        } else {
            Outcome::succeeded(vec![Output::new("y", told.as_str())])
        };
        Act { takes: Some(10), outcome, ..Act::default() }
    }
}

const HEAD: &str = "apiVersion: aether/v1
kind: Workflow
metadata: {name: w}
spec:
  entrypoint: main
  maxNestedDepth: 5
  templates:
    - task: {name: work, executor: {type: echo}, inputs: {parameters: [{name: x, value: 1}]}}
";

/// `main` of each shape; every `work` is failed in turn.
const SHAPES: [&str; 6] = [
    "    - dag: {name: main, outputs: {parameters: [{name: y, value: '{{ tasks.d.outputs.parameters.y }}'}]}, tasks: [
        {name: a, template: work},
        {name: b, template: work, dependencies: [a], arguments: {parameters: [{name: x, value: '{{ tasks.a.outputs.parameters.y }}'}]}},
        {name: c, template: work, dependencies: [a], arguments: {parameters: [{name: x, value: '{{ tasks.a.phase }}'}]}},
        {name: d, template: work, dependencies: [b, c], arguments: {parameters: [{name: x, value: '{{ tasks.c.outputs.parameters.y }}'}]}}]}
",
    "    - dag: {name: inner, inputs: {parameters: [{name: x}]}, outputs: {parameters: [{name: y, value: '{{ tasks.b.outputs.parameters.y }}'}]}, tasks: [
        {name: a, template: work},
        {name: b, template: work, dependencies: [a], arguments: {parameters: [{name: x, value: '{{ inputs.parameters.x }}'}]}}]}
    - dag: {name: main, tasks: [
        {name: one, template: inner, arguments: {parameters: [{name: x, value: 1}]}},
        {name: two, template: inner, dependencies: [one], arguments: {parameters: [{name: x, value: '{{ tasks.one.outputs.parameters.y }}'}]}}]}
",
    "    - loop: {name: main, body: work, items: [1, 2, 3], concurrency: 2, arguments: {parameters: [{name: x, value: '{{ loop.item }}'}]}}
",
    "    - loop: {name: main, body: work, repeatCondition: 'loop.index < 3', maxIterations: 9}
",
    "    - pipeline: {name: steps, tasks: [{name: a, template: work}, {name: b, template: work, arguments: {parameters: [{name: x, value: '{{ _prev.y }}'}]}}]}
    - dag: {name: main, failFast: false, tasks: [{name: p, template: steps}, {name: q, template: steps}, {name: r, template: work, dependencies: [p, q]}]}
",
    "    - dag: {name: pair, tasks: [{name: a, template: work}, {name: b, template: work, dependencies: [a]}]}
    - task: {name: tried, template: pair, retry: {limit: 1}}
    - loop: {name: each, body: tried, items: [1, 2]}
    - dag: {name: main, tasks: [{name: e, template: each}, {name: z, template: work, continueOn: {failed: true}}, {name: l, template: work, dependencies: [e, z]}]}
",
];

fn plan(shape: &str) -> Arc<Plan> {
    let tree = reader::read("w.yaml", &format!("{HEAD}{shape}")).unwrap_or_else(|p| panic!("{p:?}"));
    Arc::new(Draft::read(&tree).plan(&Executors::any(), &Value::Null).unwrap_or_else(|p| panic!("{p:?}")))
}

fn finish(mut world: World<Tells>) -> World<Tells> {
    world.finish();
    check_replay(&Arc::clone(world.run.plan()), &world).unwrap();
    world
}

/// Phase and outputs by path.
fn ends(run: &Run) -> BTreeMap<String, (Phase, Vec<Output>)> {
    let end = |task: &TaskRun| (run.path(task), (task.phase, task.outputs.to_vec()));
    run.tasks().iter().map(end).collect()
}

fn dispatched(world: &World<Tells>) -> BTreeSet<String> {
    let path = |dispatch: &Dispatch| world.run.path(world.run.task(dispatch.fence.task).unwrap());
    world.dispatched.iter().map(path).collect()
}

/// Whether a task of the failed run counts by itself.
fn is_kept(run: &Run, task: &TaskRun) -> bool {
    let around = std::iter::successors(run.parent(task), |task| run.parent(task));
    let steered = |around: &TaskRun| ["p", "q", "tried"].contains(&&*run.node(around).name);
    task.phase == Phase::Succeeded && !around.into_iter().any(steered)
}

#[test]
fn a_rerun_comes_to_what_an_undisturbed_run_comes_to() {
    let mut reused = 0;
    for shape in SHAPES {
        let plan = plan(shape);
        let submit = |fails| finish(World::submit(Arc::clone(&plan), Map::new(), 9, Tells(fails), true));
        let undisturbed = submit(BTreeSet::new());
        for failing in dispatched(&undisturbed) {
            let mut fails = BTreeSet::from([failing.clone()]);
            fails.insert(failing.replace("attempt[1]", "attempt[2]"));
            let failed = submit(fails);
            let again = World::rerun(&failed.run, Map::new(), 9, Tells(BTreeSet::new()), true);
            let again = finish(again);
            let (expected, found) = (ends(&undisturbed.run), ends(&again.run));
            for (path, end) in &found {
                assert_eq!(expected.get(path), Some(end), "{failing} failed, {path}\n{shape}");
            }
            assert_eq!(again.run.phase(), undisturbed.run.phase(), "{failing}\n{shape}");
            let executed = dispatched(&again);
            let kept = failed.run.tasks().iter().filter(|task| is_kept(&failed.run, task));
            for task in kept {
                let path = failed.run.path(task);
                assert!(!executed.contains(&path), "{path} is executed again after {failing}\n{shape}");
                reused += 1;
            }
            assert!(
                executed.contains(&failing) || failed.run.phase() == Phase::Succeeded,
                "{failing}\n{shape}"
            );
        }
    }
    assert!(reused > 20, "{reused}");
}

/// A rerun can be rerun, too.
#[test]
fn a_rerun_can_be_rerun() {
    let plan = plan(SHAPES[0]);
    let failing = |paths: &[&str]| Tells(paths.iter().map(ToString::to_string).collect());
    let first = finish(World::submit(plan, Map::new(), 9, failing(&["main/b"]), true));
    let second = finish(World::rerun(&first.run, Map::new(), 9, failing(&["main/d"]), true));
    assert_eq!(dispatched(&second), ["main/b", "main/d"].map(String::from).into());
    let third = finish(World::rerun(&second.run, Map::new(), 9, failing(&[]), true));
    assert_eq!(dispatched(&third), ["main/d".to_owned()].into());
    let whole = finish(World::rerun(&third.run, Map::new(), 9, failing(&[]), true));
    assert_eq!((dispatched(&whole).len(), whole.run.phase()), (0, Phase::Succeeded));
    let reused = |event: &&Event| matches!(event, Event::Reused(_));
    assert_eq!(whole.journal.iter().flat_map(|(_, events)| events).filter(reused).count(), 1, "the root");
    assert_eq!(ends(&whole.run).get("main"), ends(&third.run).get("main"));
}
