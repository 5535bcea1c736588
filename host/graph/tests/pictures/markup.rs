//! Pictures as text: whole, escaped, and with what a page needs to find a task.

use phasm_engine::{event::TaskId, outcome::Outcome, phase::Phase, time::Timestamp};
use phasm_graph::{STYLE, SvgOptions, graph_svg, timeline_svg};

use crate::{
    samples,
    world::{World, plan},
};

/// Both pictures of a run.
fn pictures(world: &World, options: SvgOptions<'_>) -> [String; 2] {
    let now = world.run.now();
    [graph_svg(&world.diagram(), options), timeline_svg(&world.timeline(now), options)]
}

/// Checks that all elements are closed, in order.
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
fn texts_of_strangers_are_text() {
    let evil = "x</title><script>alert(1)</script>\u{202e}&";
    let items: Vec<_> = (0..20).map(|_| format!("\"{evil}\"")).collect();
    let templates = format!(
        r#"{{ "loop": {{ "name": "each", "items": [{}], "body": "work" }} }},
           {{ "dag": {{ "name": "main", "tasks": [
               {{ "name": "each", "template": "each" }}, {{ "name": "a", "template": "work" }} ] }} }}"#,
        items.join(", ")
    );
    let world = World::submit(plan(&templates), 9, move |_, _| (10, Outcome::failed(evil))).finished();
    for embedded in [false, true] {
        let options = SvgOptions { links: Some("/\"><b>"), embedded, selected: Some(TaskId::ROOT) };
        for picture in pictures(&world, options) {
            assert_whole(&picture);
            for never in ["<script", "\u{202e}", "\"><b>", "style=\""] {
                assert!(!picture.contains(never), "{never} in {picture}");
            }
            assert!(picture.contains("&lt;script&gt;"), "{picture}");
        }
    }
}

/// The tag of each element with the number of a task, in each picture.
fn tags(picture: &str, task: TaskId) -> Vec<&str> {
    let number = format!(" data-task=\"{task}\"");
    picture
        .split('<')
        .filter(|tag| tag.split_once('>').is_some_and(|(tag, _)| tag.contains(&number)))
        .collect()
}

#[test]
fn a_page_finds_each_task_once() {
    let world = samples::customers(500, &[37]).finished();
    let failed = world.task("main/reindex.loop[37]/work").id;
    let swap = world.task("main/swap-alias").id;
    for (links, element) in [(Some("/t/"), "a "), (None, "g ")] {
        for picture in pictures(&world, SvgOptions { links, embedded: true, selected: Some(failed) }) {
            for task in [TaskId::ROOT, failed, swap] {
                let tags = tags(&picture, task);
                assert!(tags.len() == 1 && tags[0].starts_with(element), "{tags:?}");
                let is_current = tags[0].contains(" aria-current=\"true\"");
                assert_eq!(is_current, task == failed && links.is_some());
            }
            assert_eq!(picture.matches("phasm-selected\"").count(), 1, "{picture}");
            let marked = picture.split("phasm-selected\"").next().unwrap().rsplit('<').next().unwrap();
            assert!(marked.starts_with("g class=\"phasm-"), "{marked}");
        }
    }
    let alone = pictures(&world, SvgOptions { links: Some("/t/"), ..SvgOptions::default() });
    assert!(alone.iter().all(|picture| !picture.contains("data-task")));
}

/// A graph has its natural size, and a page fits it; a timeline takes the width of its page.
#[test]
fn a_picture_has_a_size() {
    let world = samples::approval();
    let embedded = pictures(&world, SvgOptions { embedded: true, ..SvgOptions::default() });
    let alone = pictures(&world, SvgOptions::default());
    for picture in embedded.iter().chain(&alone) {
        assert!(picture.contains("class=\"phasm phasm-picture"));
    }
    let size = |picture: &str| picture.split_once('>').unwrap().0.to_owned();
    assert!(size(&embedded[0]).contains("viewBox=\"0 0 ") && size(&embedded[0]).contains(" width=\""));
    assert!(!size(&embedded[1]).contains("viewBox") && size(&embedded[1]).contains("width=\"100%\""));
    assert!(
        size(&alone[1]).contains("viewBox=\"0 0 1004 ")
            && alone[1].contains("<svg class=\"phasm-plot\" x=\"260\" width=\"594\"")
    );
    assert!(!embedded[1].contains("<style>"));
}

#[test]
fn a_box_says_attempts_and_why() {
    let picture = &pictures(&samples::failed(), SvgOptions::default())[0];
    assert!(picture.contains(">Error · 1.8 s · attempt 3 · retry-exhausted</text>"), "{picture}");
    assert!(picture.contains(">connection refused by db-7: no route to host</text>"), "{picture}");
    let picture = &pictures(&samples::approval(), SvgOptions::default())[0];
    assert!(picture.contains(">Deploy 2.4 to production?</text>"), "{picture}");
}

/// Ten thousand tasks are a picture of some boxes, and each phase is a word in it.
#[test]
fn a_long_loop_is_a_small_picture() {
    let world = samples::customers(10_000, &[7, 8, 9, 10, 11, 12, 9_999]).until(Timestamp(9_000));
    let [graph, timeline] = pictures(&world, SvgOptions { embedded: true, ..SvgOptions::default() });
    assert!(graph.len() < 20_000 && timeline.len() < 20_000, "{} {}", graph.len(), timeline.len());
    let ended = world.diagram().tally().phases().map(|(phase, _)| phase).collect::<Vec<_>>();
    assert!(ended.contains(&Phase::Running) && graph.contains("of 10000 ended · 6 Failed"), "{graph}");
}

/// The colours of a scheme, by name.
fn colours(scheme: &str) -> impl Fn(&str) -> f64 {
    let declared = |name: &str| {
        let (_, rest) = scheme.split_once(&format!("--phasm-{name}: #")).unwrap();
        u32::from_str_radix(&rest[..6], 16).unwrap()
    };
    move |name| {
        let colour = declared(name);
        let linear = |shift: u32| {
            let part = f64::from(colour >> shift & 255) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0)
    }
}

#[test]
fn texts_and_signs_stand_out_in_light_and_dark() {
    let (light, dark) = STYLE.split_once("prefers-color-scheme").unwrap();
    for scheme in [light, dark] {
        let colour = colours(scheme);
        let contrast = |a: &str, b: &str| {
            let (a, b) = (colour(a), colour(b));
            (a.max(b) + 0.05) / (a.min(b) + 0.05)
        };
        for (ink, ground) in
            ["ink", "dim"].iter().flat_map(|ink| ["ground", "inner", "band"].map(|on| (*ink, on)))
        {
            assert!(contrast(ink, ground) >= 4.5, "{ink} on {ground}: {}", contrast(ink, ground));
        }
        for phase in Phase::ALL.map(|phase| phase.as_str().to_lowercase()) {
            assert!(contrast(&phase, "ground") >= 3.0 && contrast("sign-ink", &phase) >= 3.0, "{phase}");
        }
    }
}
