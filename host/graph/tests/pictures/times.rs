//! Timelines: what each row shows, and from when to when.

use phasm_engine::time::Timestamp;
use phasm_graph::{BarKind, Row, SvgOptions, Timeline, timeline_svg};

use crate::{
    samples,
    world::{World, code, plan},
};

fn row<'t>(timeline: &'t Timeline, name: &str) -> &'t Row {
    timeline.rows.iter().find(|row| row.label.name == name).unwrap()
}

/// The bars of a row in a word each, with begin and end.
fn bars(row: &Row) -> Vec<(&'static str, i64, i64)> {
    let word = |kind: BarKind| match kind {
        BarKind::Container(_) => "container",
        BarKind::Attempt(_) => "attempt",
        BarKind::Queue => "queue",
        BarKind::RetryDelay => "retry",
        BarKind::Suspension => "suspension",
    };
    row.bars.iter().map(|bar| (word(bar.kind), bar.from.0, bar.to.0)).collect()
}

#[test]
fn each_attempt_is_a_bar_and_each_delay_a_line() {
    let world = samples::failed();
    let timeline = world.timeline(world.run.now());
    let fetch = row(&timeline, "fetch");
    let expected = [
        ("attempt", 0, 400),
        ("retry", 400, 700),
        ("attempt", 700, 1_100),
        ("retry", 1_100, 1_400),
        ("attempt", 1_400, 1_800),
    ];
    assert_eq!(bars(fetch), expected);
    assert_eq!((fetch.attempts, fetch.took.as_str()), (Some(3), "1.8 s"));
    assert_eq!((row(&timeline, "rates").attempts, row(&timeline, "rates").took.as_str()), (None, "150 ms"));
    // A task that was never reached has neither bar nor text.
    assert!(row(&timeline, "load").bars.is_empty() && row(&timeline, "load").took.is_empty());
}

/// A task in the delay before its retry says so, and why.
#[test]
fn a_delay_is_drawn_while_it_lasts() {
    let now = Timestamp(500);
    let world = samples::failing().until(now);
    let timeline = world.timeline(now);
    let fetch = row(&timeline, "fetch");
    assert_eq!(bars(fetch), [("attempt", 0, 400), ("retry", 400, 500)]);
    assert_eq!(fetch.label.note, "Waiting for its retry");
    assert_eq!(fetch.label.detail, "connection refused by db-7: no route to host");
}

/// A task waits from when it could begin; before that it has no bar.
#[test]
fn waiting_begins_with_readiness() {
    let plan = plan(
        r#"{ "dag": { "name": "main", "tasks": [
            { "name": "a", "template": "work" }, { "name": "b", "template": "work" },
            { "name": "c", "template": "work", "dependencies": ["a"] },
            { "name": "d", "template": "work", "dependencies": ["c"] } ] } }"#,
    );
    let script = |path: &str, _: &_| (if path == "main/b" { 300 } else { 100 }, code(0));
    let submit = || World::submit(plan.clone(), 1, script);
    let now = Timestamp(50);
    let timeline = submit().until(now).timeline(now);
    assert_eq!(bars(row(&timeline, "a")), [("attempt", 0, 50)]);
    assert_eq!(bars(row(&timeline, "b")), [("queue", 0, 50)]);
    assert_eq!(row(&timeline, "b").took, "queued");
    assert_eq!(bars(row(&timeline, "c")), []);

    let world = submit().finished();
    let timeline = world.timeline(world.run.now());
    assert_eq!(bars(row(&timeline, "b")), [("queue", 0, 100), ("attempt", 100, 400)]);
    assert_eq!(bars(row(&timeline, "c")), [("queue", 100, 400), ("attempt", 400, 500)]);
    assert_eq!(bars(row(&timeline, "d")), [("attempt", 500, 600)]);
}

/// Iterations that `concurrency` holds back do not wait before there is a place for them.
#[test]
fn an_iteration_waits_from_the_end_that_made_room() {
    let plan =
        plan(r#"{ "loop": { "name": "main", "items": [1, 2, 3, 4], "body": "work", "concurrency": 2 } }"#);
    let world = World::submit(plan, 1, |_, _| (100, code(0))).finished();
    let timeline = world.timeline(world.run.now());
    let of = |index: usize| bars(row(&timeline, &format!("loop[{index}] work {}", index + 1)));
    assert_eq!(of(0), [("attempt", 0, 100)]);
    assert_eq!(of(1), [("queue", 0, 100), ("attempt", 100, 200)]);
    assert_eq!(of(2), [("queue", 100, 200), ("attempt", 200, 300)]);
    assert_eq!(of(3), [("queue", 200, 300), ("attempt", 300, 400)]);
}

#[test]
fn a_pipeline_has_no_bars_before_its_entries() {
    let world = samples::pipeline();
    let timeline = world.timeline(world.run.now());
    for (name, begin) in [("1. fetch", 0), ("4. fetch", 150), ("5. transform", 200), ("6. write", 250)] {
        assert_eq!(bars(row(&timeline, name)), [("attempt", begin, begin + 50)], "{name}");
    }
}

#[test]
fn a_suspended_task_waits_for_approval() {
    let world = samples::approval();
    let timeline = world.timeline(Timestamp(60_720));
    assert_eq!(bars(row(&timeline, "approve")), [("attempt", 700, 60_720), ("suspension", 720, 60_720)]);
    assert!(row(&timeline, "deploy").bars.is_empty());
    let world = samples::approval().approve("main/approve", 5_000).finished();
    let timeline = world.timeline(world.run.now());
    assert_eq!(bars(row(&timeline, "approve"))[1], ("suspension", 720, 5_720));
}

#[test]
fn a_long_loop_is_one_row_and_a_row_for_each_listed_failure() {
    let world = samples::customers(500, &[37, 411]).finished();
    let timeline = world.timeline(world.run.now());
    let names: Vec<_> = timeline.rows.iter().map(|row| row.label.name.as_str()).collect();
    let expected = ["main", "list", "reindex", "[37] Customer 37", "[411] Customer 411", "swap-alias"];
    assert_eq!(names, expected);
    let each = row(&timeline, "reindex");
    assert_eq!(each.iterations.as_deref(), Some("500 iterations, 2 Failed"));
    assert_eq!(bars(each).len(), 1);
}

/// Bars have places in hundredths of the width, which the stylesheet sets.
#[test]
fn bars_are_placed_in_percent() {
    let world = samples::failed();
    let picture = timeline_svg(
        &world.timeline(world.run.now()),
        SvgOptions { embedded: true, ..SvgOptions::default() },
    );
    let second = "phasm-bar-attempt phasm-Error\" x=\"38.88%\" y=\"72\" width=\"22.23%\"";
    assert!(picture.contains(second), "{picture}");
    assert!(picture.contains("phasm-bar-retry\" x1=\"22.22%\" x2=\"38.88%\""), "{picture}");
    assert!(picture.contains("3 attempts, </tspan>1.8 s</text>"), "{picture}");
    for bar in picture.split("class=\"phasm-bar ").skip(1) {
        let (bar, _) = bar.split_once('>').unwrap();
        assert!(bar.contains('%') && !bar.contains("width=\"0.00%\""), "{bar}");
    }
}

/// A narrow page shows two or three of the times, whatever their number is.
#[test]
fn a_narrow_page_has_some_times_of_the_axis() {
    for world in [samples::failed(), samples::pipeline(), samples::customers(500, &[]).finished()] {
        let options = SvgOptions { embedded: true, ..SvgOptions::default() };
        let picture = timeline_svg(&world.timeline(world.run.now()), options);
        let narrow = picture.matches("class=\"phasm-note\" x=").count();
        assert!((2..=3).contains(&narrow), "{narrow}: {picture}");
    }
}
