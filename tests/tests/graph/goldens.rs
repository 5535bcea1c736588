//! Pictures of documents that are known.

use std::{fs, path::Path};

use phasm::{Value, reader};
use phasm_engine::{
    event::Input,
    outcome::Outcome,
    plan::{Draft, Executors},
    tree::Tree,
    value::Map,
};
use phasm_graph::{Diagram, Limits, Suspensions, SvgOptions, Timeline, graph_svg, timeline_svg, tree};
use phasm_tests::{small::Answers, world::World};
use serde_json::json;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compares with the file beside this one.
fn golden(name: &str, found: &str) {
    let path = root().join("tests/graph").join(name);
    if std::env::var_os("PHASM_ACCEPT").is_some() {
        fs::write(&path, found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{name} is another; PHASM_ACCEPT=1 accepts it\n{found}");
}

#[test]
fn documents_look_like_this() {
    for file in [
        "../host/examples/approval.yaml",
        "../host/examples/dependency-audit.yaml",
        "../host/examples/cluster/wide.yaml",
        "scenarios/nested/hooks-of-containers.yaml",
        "scenarios/nested/loop-of-wrapped-loops.yaml",
    ] {
        let path = root().join(file);
        let text = fs::read_to_string(&path).unwrap();
        let document = reader::read(file, &text).unwrap().to_value();
        // A scenario is more than its document.
        let document =
            document.as_object().and_then(|scenario| scenario.get("document")).unwrap_or(&document);
        let plan = Draft::read(&Tree::from(document)).plan(&Executors::any(), &Value::Null);
        let diagram = Diagram::of_plan(&plan.unwrap(), Limits::default());
        super::check(&diagram);
        let name = path.file_stem().unwrap().to_str().unwrap();
        golden(&format!("{name}.txt"), &tree(&diagram));
        golden(&format!("{name}.svg"), &graph_svg(&diagram, SvgOptions::default()));
    }
}

/// A run with a retry and a suspension, while it waits for approval, and when it has ended.
#[test]
fn a_run_looks_like_this() {
    let tasks = json!([
        { "name": "fetch", "template": "work", "retry": { "limit": 2, "delay": "20ms" } },
        { "name": "each", "template": "each", "dependencies": ["fetch"] },
        { "name": "ask", "template": "work", "dependencies": ["fetch"] },
        { "name": "publish", "template": "work", "dependencies": ["each", "ask"] },
    ]);
    let plan = super::plan(&[
        phasm_tests::small::work(),
        json!({ "loop": { "name": "each", "items": ["a", "b", "c"], "body": "work" } }),
        json!({ "dag": { "name": "main", "tasks": tasks } }),
    ]);
    let mut world = World::submit(plan, Map::new(), 2, Script(Answers::codes([0])), false);
    world.finish();
    let picture = |world: &World<Script>, name: &str| {
        let mut suspensions = Suspensions::default();
        world.journal.iter().for_each(|(time, events)| suspensions.note(*time, events));
        let diagram = Diagram::of_run(&world.run, Limits::default());
        super::check(&diagram);
        golden(&format!("{name}.txt"), &tree(&diagram));
        golden(&format!("{name}.svg"), &graph_svg(&diagram, SvgOptions::default()));
        let now = world.run.now().after(60);
        let timeline = Timeline::of(&world.run, &suspensions, now, Limits::default());
        golden(&format!("{name}-timeline.svg"), &timeline_svg(&timeline, SvgOptions::default()));
    };
    picture(&world, "run-parked");
    let asked = world.find("ask").unwrap();
    world.at(world.run.now().after(80), Input::Resumed(asked, Map::new(), None));
    world.finish();
    assert!(world.run.is_over());
    picture(&world, "run-ended");
}

/// `fetch` fails once, `ask` asks once.
struct Script(Answers);

impl phasm_tests::world::Script for Script {
    fn act(&mut self, path: &str, dispatch: &phasm_engine::event::Dispatch) -> phasm_tests::world::Act {
        let mut act = self.0.act(path, dispatch);
        act.takes = Some(10 + 7 * u64::from(dispatch.fence.task.0));
        act.outcome = match (&*dispatch.task_name, dispatch.fence.dispatch) {
            ("fetch", 1) => Outcome::error("connection refused"),
            ("ask", 1) => Outcome { code: 1, ..Outcome::default() },
            _ => Outcome::default(),
        };
        act
    }
}
