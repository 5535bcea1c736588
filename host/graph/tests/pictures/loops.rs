//! Loops that are one node.

use phasm_engine::{outcome::Outcome, phase::Phase, time::Timestamp};
use phasm_graph::{Diagram, Kind, Limits, Node, SvgOptions, graph_svg, tree};

use crate::{
    samples::customers,
    world::{World, code, plan},
};

fn the_loop(diagram: &Diagram) -> &Node {
    diagram.nodes.iter().find(|node| node.label.kind == Kind::Loop).unwrap()
}

fn rows<'d>(diagram: &'d Diagram, node: &Node) -> Vec<&'d Node> {
    node.levels.iter().flatten().map(|at| &diagram.nodes[*at]).collect()
}

#[test]
fn a_long_loop_is_one_box_that_names_its_failures() {
    let world = customers(500, &[37, 411]).finished();
    let diagram = world.diagram();
    let node = the_loop(&diagram);
    assert_eq!(node.label.detail, "498 of 500 Succeeded · 2 Failed");
    let iterations = node.iterations.as_ref().unwrap();
    assert_eq!(iterations.tally.summary(), "500 tasks: 498 Succeeded, 2 Failed");
    assert_eq!(iterations.strip.len(), 60);
    assert_eq!(iterations.strip.iter().filter(|phase| **phase == Phase::Failed).count(), 2);
    let rows = rows(&diagram, node);
    let texts: Vec<_> = rows.iter().map(|row| (row.label.name.as_str(), row.label.note.as_str())).collect();
    let note = "Failed · index 'customers' is read-only";
    assert_eq!(texts, [("[37] Customer 37", note), ("[411] Customer 411", note)]);
    assert_eq!(rows[0].label.task, Some(world.task("main/reindex.loop[37]/work").id));
    assert_eq!(node.tally.tasks() + rows.len() as u64, 500);

    let picture = graph_svg(&diagram, SvgOptions { links: Some("/t/"), embedded: true, selected: None });
    assert!(picture.contains("<title>500 iterations: 498 Succeeded, 2 Failed\nA cell is up to 9 iterations"));
    assert!(
        picture.contains("aria-label=\"[37] Customer 37, Failed · index &#39;customers&#39; is read-only\"")
    );
    let text = tree(&diagram);
    assert!(text.contains("498 of 500 Succeeded · 2 Failed  after list\n"), "{text}");
    assert!(text.contains("[411] Customer 411"), "{text}");
}

#[test]
fn a_loop_with_few_iterations_is_open() {
    for (count, is_open) in [(8, true), (9, false)] {
        let diagram = customers(count, &[]).finished().diagram();
        let node = the_loop(&diagram);
        assert_eq!((node.iterations.is_none(), node.levels.is_empty()), (is_open, !is_open), "{count}");
    }
}

#[test]
fn failures_beyond_the_list_are_counted_in_it() {
    let diagram = customers(40, &[1, 2, 3, 5, 8, 13, 21, 34]).finished().diagram();
    let rows = rows(&diagram, the_loop(&diagram));
    let names: Vec<_> = rows.iter().map(|row| row.label.name.as_str()).collect();
    assert_eq!(names[..2], ["[1] Customer 1", "[2] Customer 2"]);
    assert_eq!(names[5..], ["and 3 more"]);
    assert_eq!(rows[5].tally.summary(), "3 tasks: 3 Failed");
    let picture = graph_svg(&diagram, SvgOptions { links: Some("/t/"), ..SvgOptions::default() });
    let more = picture.lines().find(|line| line.contains("and 3 more")).unwrap();
    let task = the_loop(&diagram).label.task.unwrap();
    assert!(
        more.starts_with(&format!("<a href=\"/t/{task}\" aria-label=\"and 3 more, 3 iterations: 3 Failed\""))
    );
}

#[test]
fn a_loop_at_work_says_how_far_it_is() {
    let diagram = customers(100, &[3]).until(Timestamp(150)).diagram();
    let node = the_loop(&diagram);
    let ended = node.iterations.as_ref().unwrap().tally.phases().filter(|(phase, _)| phase.is_terminal());
    let ended: u64 = ended.map(|(_, count)| count).sum();
    assert!((1..100).contains(&ended));
    assert_eq!(node.label.detail, format!("{ended} of 100 ended · 1 Failed"));
}

/// The body of each iteration is a dag; what failed or asks in it is named, and the row leads there.
#[test]
fn a_row_leads_to_the_task_that_failed_or_is_suspended() {
    let plan = plan(
        r#"{ "dag": { "name": "both", "tasks": [
             { "name": "read", "template": "work" },
             { "name": "write", "template": "work", "continueOn": { "failed": true } },
             { "name": "copy", "template": "work" } ] } },
           { "loop": { "name": "main", "sequence": { "start": 0, "count": 20 }, "body": "both" } }"#,
    );
    let script = |path: &str, _: &_| match path {
        "main.loop[4]/both/write" => (10, code(1)),
        "main.loop[7]/both/copy" => (10, Outcome::failed("full")),
        "main.loop[9]/both/copy" | "main.loop[9]/both/read" => (10, Outcome::failed("gone")),
        _ => (10, code(0)),
    };
    let world = World::submit(plan, 100, script).until(Timestamp(1_000));
    let diagram = world.diagram();
    let rows = rows(&diagram, the_loop(&diagram));
    let texts: Vec<_> = rows.iter().map(|row| (row.label.name.as_str(), row.label.note.as_str())).collect();
    assert_eq!(texts[0], ("[7] 7", "Failed in copy · full"));
    assert!(texts[1].0 == "[9] 9" && texts[1].1.starts_with("Failed"), "{texts:?}");
    assert_eq!(texts[2], ("[4] 4", "Waiting for approval in write"));
    let leads_to = ["main.loop[7]/both/copy", "main.loop[9]/both", "main.loop[4]/both/write"];
    let leads_to = leads_to.map(|path| Some(world.task(path).id));
    assert_eq!(rows.iter().map(|row| row.label.task).collect::<Vec<_>>(), leads_to);
    let counted = the_loop(&diagram).iterations.as_ref().unwrap();
    assert_eq!(counted.tally.count(Phase::Suspended), 1);
}

#[test]
fn a_plan_says_how_many_iterations_a_loop_has() {
    let plan =
        plan(r#"{ "loop": { "name": "main", "sequence": { "start": 1, "count": 500 }, "body": "work" } }"#);
    let diagram = Diagram::of_plan(&plan, Limits::default());
    assert_eq!(the_loop(&diagram).label.note, "loop · 500 iterations");
}

/// Without room for nodes, a short loop is closed too.
#[test]
fn a_loop_without_room_is_counted() {
    let world = customers(6, &[2]).finished();
    let limits = Limits { boxes: 6, ..Limits::default() };
    let diagram = Diagram::of_run(&world.run, limits);
    let node = the_loop(&diagram);
    assert_eq!(node.label.detail, "5 of 6 Succeeded · 1 Failed");
    assert_eq!(diagram.tally().tasks(), 8);
}
