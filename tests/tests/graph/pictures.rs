//! Pictures as text: whole, and with nothing in them that a stranger could write.

use phasm_engine::phase::Phase;
use phasm_graph::{Diagram, Limits, Suspensions, SvgOptions, Timeline, graph_svg, mark, timeline_svg};
use phasm_tests::small::{Answers, finished};
use serde_json::json;

use super::plan;

/// The elements of a picture: all are closed, in order.
fn assert_whole(picture: &str) {
    let mut open = Vec::new();
    for tag in picture.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap();
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{picture}");
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap());
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn what_strangers_say_is_text() {
    let message = "x</title><script>alert('1')</script>\u{202e}&\"";
    let task = json!({ "name": "a", "executor": { "type": "echo" } });
    let plan = plan(&[json!({ "dag": { "name": "main", "tasks": [task] } })]);
    let world = finished(plan, Answers::new([phasm_engine::outcome::Outcome::failed(message)]));
    let diagram = Diagram::of_run(&world.run, Limits::default());
    let options = SvgOptions { links: Some("/\"><b>"), ..SvgOptions::default() };
    let timeline = Timeline::of(&world.run, &Suspensions::default(), world.run.now(), Limits::default());
    for picture in [graph_svg(&diagram, options), timeline_svg(&timeline, options)] {
        assert_whole(&picture);
        for never in ["<script", "\u{202e}", "\"><b>", "alert('"] {
            assert!(!picture.contains(never), "{never} in {picture}");
        }
        assert!(picture.contains("&lt;script&gt;"), "{picture}");
    }
}

/// Off a page it is one image with a name, and brings its stylesheet; on one with links it can be gone through.
#[test]
fn a_picture_says_what_it_is() {
    let plan = plan(&[
        phasm_tests::small::work(),
        json!({ "dag": { "name": "main", "tasks": [{ "name": "a", "template": "work" }] } }),
    ]);
    let world = finished(plan, Answers::codes([0]));
    let diagram = Diagram::of_run(&world.run, Limits::default());
    let alone = graph_svg(&diagram, SvgOptions::default());
    assert!(alone.contains("role=\"img\"") && alone.contains("<style>") && !alone.contains("<a "), "{alone}");
    assert!(alone.contains("<title>Graph of small, run run</title>"), "{alone}");
    assert!(alone.contains("<desc>1 task: 1 Succeeded</desc>"), "{alone}");
    let inside =
        graph_svg(&diagram, SvgOptions { links: Some("/runs/run/tasks/"), embedded: true, selected: None });
    assert!(inside.contains("role=\"group\"") && !inside.contains("<style>"), "{inside}");
    assert!(inside.contains("<a href=\"/runs/run/tasks/1\" aria-label=\"a, Succeeded"), "{inside}");
    for picture in [alone, inside] {
        assert_whole(&picture);
        assert!(!picture.contains("style=\""), "a page's policy forbids styles in attributes: {picture}");
    }
}

/// Colours are not all that tells phases apart.
#[test]
fn each_phase_has_a_sign_of_its_own() {
    let mut signs: Vec<_> = Phase::ALL
        .map(|phase| {
            let mark = mark(phase);
            assert_whole(&mark);
            mark.split(" d=\"").nth(1).unwrap().to_owned()
        })
        .to_vec();
    signs.sort();
    signs.dedup();
    assert_eq!(signs.len(), Phase::ALL.len());
}
