//! The nodes that are drawn, and a count of all the rest.

use phasm_engine::{outcome::Outcome, phase::Phase, value::Map};
use phasm_graph::{
    Diagram, Kind, Limits, Node, Suspensions, SvgOptions, Timeline, graph_svg, timeline_svg, tree,
};
use phasm_tests::{
    small::{Answers, finished, work},
    world::World,
};
use serde_json::json;

use super::{check, dag, documents, plan, random::Random, random_plan};

const LIMITS: Limits = Limits { boxes: 40, across: 4, down: 6, alike: 2, lines: 50 };

fn named<'d>(diagram: &'d Diagram, name: &str) -> &'d Node {
    diagram.nodes.iter().find(|node| node.label.name == name).unwrap()
}

/// Whatever is drawn: boxes apart, in their own, and lines downwards around them.
#[test]
fn random_plans_are_laid_out() {
    for seed in 0..400 {
        let plan = random_plan(&mut Random(seed));
        for limits in [Limits::default(), LIMITS] {
            let diagram = Diagram::of_plan(&plan, limits);
            check(&diagram);
            assert_eq!(diagram, Diagram::of_plan(&plan, limits), "seed {seed}");
        }
    }
}

/// Random runs at each of their moments: every leaf that there is, or that is to come, is drawn or counted once.
#[test]
fn random_runs_are_laid_out_and_counted() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let plan = random_plan(&mut random);
        let mut world = World::submit(plan, Map::new(), 3, random, false);
        let mut steps = 0_u32;
        loop {
            steps += 1;
            if steps.is_power_of_two() || world.run.is_over() {
                for limits in [Limits::default(), LIMITS] {
                    check(&Diagram::of_run(&world.run, limits));
                }
                let (all, few) = (Limits { boxes: usize::MAX, ..Limits::default() }, LIMITS);
                let [all, few] = [all, few].map(|limits| Diagram::of_run(&world.run, limits).tally());
                // Hooks of what stands in a closed box are not drawn.
                if world.run.tasks().iter().all(|task| task.hook.is_none()) {
                    assert_eq!(all, few, "seed {seed}");
                }
            }
            if steps > 2_000 || !world.advance() {
                break;
            }
        }
    }
    // The generator is that of the simulation, which uses all of it.
    let _: fn(&mut Random) -> serde_json::Value = documents::document;
}

#[test]
fn what_is_too_much_is_counted() {
    let diagram = Diagram::of_plan(&dag(10_000, |_| vec![]), Limits::default());
    let more = diagram.nodes.iter().find(|node| node.label.kind == Kind::More).unwrap();
    assert_eq!((more.label.name.as_str(), more.tally.tasks()), ("… 9977 more", 9977));
    assert_eq!(diagram.tally().tasks(), 10_000);

    let fan = Diagram::of_plan(
        &dag(1_002, |n| match n {
            0 => vec![],
            1_001 => (1..=1_000).collect(),
            _ => vec![0],
        }),
        Limits::default(),
    );
    assert_eq!((named(&fan, "… 989 more").tally.tasks(), fan.tally().tasks()), (989, 1_002));
    check(&fan);

    let chain = Diagram::of_plan(&dag(10_000, |n| n.checked_sub(1).into_iter().collect()), Limits::default());
    assert_eq!((named(&chain, "… 9971 more").tally.tasks(), chain.tally().tasks()), (9971, 10_000));
    check(&chain);
}

/// A loop shows what one looks for first: what failed.
#[test]
fn iterations_that_failed_are_drawn() {
    let each = json!({ "loop": { "name": "main", "sequence": { "start": 1, "count": 1000 }, "body": "work",
        "continueOn": { "failed": true } } });
    let outcomes = |at: usize| if at == 700 { 2 } else { 0 };
    let mut at = 0;
    let script = move |_: &str, _: &phasm_engine::event::Dispatch| {
        at += 1;
        phasm_tests::world::Act {
            start_after: 0,
            takes: Some(1),
            outcome: Outcome { code: outcomes(at), ..Outcome::default() },
        }
    };
    let world = finished(plan(&[work(), each]), Closure(script));
    let diagram = Diagram::of_run(&world.run, Limits::default());
    let failed: Vec<_> =
        diagram.nodes.iter().filter(|node| node.label.phase == Some(Phase::Failed)).collect();
    assert_eq!(failed.iter().filter(|node| node.levels.is_empty()).count(), 1, "{}", tree(&diagram));
    assert_eq!(diagram.tally().summary(), "1000 tasks: 999 Succeeded, 1 Failed");
    check(&diagram);
}

struct Closure<F>(F);

impl<F> phasm_tests::world::Script for Closure<F>
where
    F: FnMut(&str, &phasm_engine::event::Dispatch) -> phasm_tests::world::Act,
{
    fn act(&mut self, path: &str, dispatch: &phasm_engine::event::Dispatch) -> phasm_tests::world::Act {
        self.0(path, dispatch)
    }
}

/// However large a run is, its pictures are not.
#[test]
fn ten_thousand_tasks_are_a_picture_of_some_hundred_boxes() {
    let plan = dag(10_000, |n| (1..=3).filter_map(|back| n.checked_sub(back * 7)).collect());
    let world = finished(plan, Answers::codes([0]));
    let diagram = Diagram::of_run(&world.run, Limits::default());
    check(&diagram);
    assert!(diagram.nodes.len() < 600 && diagram.tally().tasks() == 10_000, "{}", diagram.nodes.len());
    let timeline = Timeline::of(&world.run, &Suspensions::default(), world.run.now(), Limits::default());
    for picture in
        [graph_svg(&diagram, SvgOptions::default()), timeline_svg(&timeline, SvgOptions::default())]
    {
        assert!(picture.len() < 500_000, "{} bytes", picture.len());
    }
}
