//! Callers of requests: what a run keeps of them, and where expressions and executors find them (R-S15).
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use std::sync::Arc;

use phasm_engine::{
    event::{Dispatch, Input, Requester},
    outcome::Outcome,
    phase::Phase,
    plan::{Draft, Executors, Plan},
    problem::Problem,
    run::{RunView, render},
    time::Timestamp,
    tree::Tree,
    value::{Map, Value},
};
use phasm_tests::world::{Act, Script, World, check_replay};
use serde_json::{Value as Json, json};

/// Name under which an executor finds the caller.
const RESUMED_BY: &str = "phasm.resumedBy";

/// Acts as the `approval` executor does with `notBy`. The first attempt of `again` fails, and `eve` is refused everywhere.
struct Gate;

impl Script for Gate {
    fn act(&mut self, path: &str, dispatch: &Dispatch) -> Act {
        let config = |name: &str| dispatch.config.as_object().and_then(|config| config.get(name)).cloned();
        let by = config(RESUMED_BY).filter(|_| dispatch.resumed);
        let excluded = config("notBy").unwrap_or_default();
        let is_excluded = |by: &Value| excluded.as_array().unwrap_or_default().contains(by);
        let suspended = || Outcome { code: 1, message: "deploy?".into(), ..Outcome::default() };
        let outcome = match by {
            _ if &*dispatch.executor_type != "approval" => Outcome::default(),
            None => suspended(),
            Some(by) if by == Value::from("eve") || is_excluded(&by) => {
                Outcome { detail: Some(json!({ "refused": "not you" }).into()), ..suspended() }
            }
            Some(_) if path.ends_with("again") && dispatch.fence.attempt == 1 => {
                Outcome { code: 2, ..Outcome::default() }
            }
            Some(_) => Outcome::default(),
        };
        Act { start_after: 0, takes: Some(10), outcome }
    }
}

fn planned(tasks: &Json) -> Result<Arc<Plan>, Vec<Problem>> {
    let document = json!({
        "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "test" },
        "spec": { "entrypoint": "main", "templates": [{ "dag": { "name": "main", "tasks": tasks } }] },
    });
    Draft::read(&Tree::from(&Value::from(document))).plan(&Executors::any(), &Value::Null).map(Arc::new)
}

fn plan(tasks: &Json) -> Arc<Plan> {
    planned(tasks).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// A release that two people approve, and then says who they were.
fn release() -> Arc<Plan> {
    plan(&json!([
        { "name": "first", "executor": { "type": "approval" } },
        { "name": "second", "dependencies": ["first"], "executor": {
            "type": "approval", "config": { "notBy": ["{{ tasks.first.resumedBy }}"], RESUMED_BY: "mallory" },
        } },
        { "name": "tell", "dependencies": ["second"], "executor": { "type": "echo" }, "inputs": { "parameters": [
            { "name": "first", "value": "{{ tasks.first.resumedBy }}" },
            { "name": "second", "value": "{{ tasks.second.resumedBy }}" },
            { "name": "submitter", "value": "{{ workflow.submittedBy }}" },
        ] } },
    ]))
}

fn key(name: &str) -> Option<Requester> {
    Some(Requester::key(name))
}

fn answer(world: &mut World<Gate>, at: i64, task: &str, by: Option<Requester>) {
    let id = world.find(task).unwrap();
    world.at(Timestamp(at), Input::Resumed(id, Map::from([("resumedBy".into(), "mallory".into())]), by));
    world.finish();
}

fn submitted(plan: &Arc<Plan>) -> World<Gate> {
    let mut world = World::submit(Arc::clone(plan), Map::new(), 1000, Gate, true);
    world.finish();
    world
}

fn view(world: &World<Gate>, task: &str) -> Json {
    let tasks = serde_json::to_value(RunView::of(&world.run)).unwrap();
    tasks["tasks"].as_array().unwrap().iter().find(|one| one["taskName"] == task).unwrap().clone()
}

fn events(world: &World<Gate>, kind: &str) -> Vec<Json> {
    let mut seq = 0;
    let mut found = Vec::new();
    for (time, events) in &world.journal {
        found.extend(render(&world.run, seq, *time, events));
        seq += events.len() as u64;
    }
    let of_kind = found.into_iter().filter(|event| event["type"] == kind);
    of_kind.map(|event| Json::from(&Value::from(event["data"].clone()))).collect()
}

/// R-S15: the caller of a response is in expressions, events and views. A caller that is refused is named with the refusal only.
#[test]
fn two_people_are_two() {
    let plan = release();
    let mut world = submitted(&plan);
    answer(&mut world, 1000, "first", key("ada"));
    let first = view(&world, "first");
    assert_eq!(
        (&first["resumedBy"], &first["resumedAt"]),
        (&json!("ada"), &json!("1970-01-01T00:00:01.000Z"))
    );
    answer(&mut world, 2000, "second", key("ada"));
    let second = view(&world, "second");
    assert_eq!((&second["phase"], &second["refused"]), (&json!("Suspended"), &json!("not you")));
    assert_eq!((&second["refusedBy"], second.get("resumedBy")), (&json!("ada"), None));
    assert_eq!(second["message"], "deploy? (the last response, by ada, was refused: not you)");
    answer(&mut world, 3000, "second", key("bob"));
    let second = view(&world, "second");
    assert_eq!((&second["phase"], &second["resumedBy"]), (&json!("Succeeded"), &json!("bob")));
    assert!(second.get("refused").is_none() && second.get("refusedBy").is_none());
    let told: Vec<_> = world
        .run
        .task(world.find("tell").unwrap())
        .unwrap()
        .inputs
        .iter()
        .map(|input| input.value.visible())
        .collect();
    assert_eq!(told, ["ada".into(), "bob".into(), Value::Null]);
    let by: Vec<_> = events(&world, "task.resumed").iter().map(|data| data["by"].clone()).collect();
    assert_eq!(by, ["ada", "ada", "bob"]);
    let refused: Vec<_> =
        events(&world, "task.phase").into_iter().filter(|data| data.get("refused").is_some()).collect();
    assert_eq!(
        refused,
        [json!({ "from": "Running", "to": "Suspended", "reason": null, "refused": "not you", "by": "ada" })]
    );
    check_replay(&plan, &world).unwrap();
}

/// R-S15: a caller that the host does not know is none, and one of before does not count for a later response.
#[test]
fn an_unknown_caller_is_null() {
    let plan = release();
    let mut world = submitted(&plan);
    answer(&mut world, 1000, "first", None);
    let first = view(&world, "first");
    assert_eq!((&first["phase"], first.get("resumedBy")), (&json!("Succeeded"), None));
    assert!(first.get("resumedAt").is_some());
    let second = world.run.task(world.find("second").unwrap()).unwrap();
    let not_by = second.config.as_object().unwrap().get("notBy").unwrap();
    assert_eq!(*not_by, Value::from(json!([null])));
    assert_eq!(events(&world, "task.resumed")[0].get("by"), None);
    check_replay(&plan, &world).unwrap();
}

/// R-S15: a refused response takes nothing from the one before it, and another attempt begins without any.
#[test]
fn a_refusal_and_a_retry_leave_no_caller_behind() {
    let plan = plan(
        &json!([{ "name": "again", "retry": { "maxAttempts": 2 }, "executor": { "type": "approval" } }]),
    );
    let mut world = submitted(&plan);
    answer(&mut world, 1000, "again", key("eve"));
    assert_eq!(view(&world, "again").get("resumedBy"), None);
    answer(&mut world, 2000, "again", key("ada"));
    let again = view(&world, "again");
    assert_eq!(
        (&again["phase"], again.get("resumedBy")),
        (&json!("Suspended"), None),
        "the second attempt asks anew"
    );
    answer(&mut world, 3000, "again", key("bob"));
    assert_eq!(view(&world, "again")["resumedBy"], "bob");
    check_replay(&plan, &world).unwrap();
}

/// R-S15: a rerun that takes over an approval takes over who gave it.
#[test]
fn a_rerun_keeps_who_approved() {
    let plan = release();
    let mut world = submitted(&plan);
    answer(&mut world, 1000, "first", key("ada"));
    world.take(Input::Cancelled(key("carol")));
    let mut again = World::rerun(&world.run, Map::new(), 1000, Gate, true);
    again.finish();
    let first = view(&again, "first");
    assert_eq!(
        (&first["reason"], &first["resumedBy"], first.get("resumedAt")),
        (&json!("reused"), &json!("ada"), None)
    );
    answer(&mut again, 1000, "second", key("ada"));
    assert_eq!(view(&again, "second")["refusedBy"], "ada");
    answer(&mut again, 2000, "second", key("bob"));
    assert_eq!(again.run.phase(), Phase::Succeeded);
    assert_eq!(events(&again, "task.reused")[0]["by"], "ada");
    check_replay(&plan, &again).unwrap();
}

/// R-S15: cancelling is recorded with its caller, of a run and of a task.
#[test]
fn who_cancelled_is_recorded() {
    for by in [key("carol"), None] {
        let plan = plan(&json!([
            { "name": "a", "executor": { "type": "approval" } },
            { "name": "b", "executor": { "type": "approval" } },
        ]));
        let mut world = submitted(&plan);
        let a = world.find("a").unwrap();
        world.take(Input::TaskCancelled(a, by.clone()));
        world.take(Input::Cancelled(by.clone()));
        let name = by.map(|by| json!(by)).unwrap_or_default();
        let shown = serde_json::to_value(RunView::of(&world.run)).unwrap();
        for found in [&shown, &view(&world, "a")] {
            assert_eq!(found.get("cancelledBy").cloned().unwrap_or_default(), name);
        }
        assert_eq!(view(&world, "b").get("cancelledBy"), None);
        for kind in ["run.cancel.requested", "task.cancel.requested"] {
            let found = events(&world, kind);
            assert_eq!(found.len(), 1, "{kind}");
            assert_eq!(found[0].get("by").cloned().unwrap_or_default(), name, "{kind}");
        }
        check_replay(&plan, &world).unwrap();
    }
}

/// R-S15: both names are known to `validate`, which names them for what people write instead.
#[test]
fn the_names_are_known_before_any_run() {
    let with = |expression: &str| {
        planned(&json!([
            { "name": "a", "executor": { "type": "approval" } },
            { "name": "b", "dependencies": ["a"], "executor": { "type": "echo" },
              "inputs": { "parameters": [{ "name": "x", "value": format!("{{{{ {expression} }}}}") }] } },
        ]))
    };
    for known in ["tasks.a.resumedBy", "workflow.submittedBy", "tasks.a.resumedBy == 'ada'"] {
        assert!(with(known).is_ok(), "{known}: {:?}", with(known).err());
    }
    for (wrong, hint) in [
        ("tasks.a.approvedBy", "write `resumedBy`"),
        ("tasks.a.by", "write `resumedBy`"),
        ("tasks.a.resumedby", "`resumedBy`"),
        ("workflow.startedBy", "write `submittedBy`"),
    ] {
        let problems = with(wrong).unwrap_err();
        assert!(format!("{problems:?}").contains(hint), "{wrong}: {problems:?}");
    }
    let number = with("tasks.a.resumedBy == 3");
    assert!(format!("{number:?}").contains("resumedBy"), "{number:?}");
}
