//! Responses that an executor refuses.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use phasm_engine::{
    event::{Dispatch, Input, InputValue},
    outcome::Outcome,
    phase::Phase,
    plan::{Draft, Executors, Plan},
    time::Timestamp,
    tree::Tree,
    value::{Map, Value},
};
use phasm_tests::world::{Act, Script, World, check_replay};
use serde_json::{Value as Json, json};

/// The inputs of each dispatch.
type Calls = Arc<Mutex<Vec<BTreeMap<String, Json>>>>;

/// Takes a response whose `approved` is a boolean, as the `approval` executor does, and keeps the inputs of each call.
struct Approval(Calls);

impl Script for Approval {
    fn act(&mut self, _path: &str, dispatch: &Dispatch) -> Act {
        let inputs: BTreeMap<String, Json> = dispatch
            .inputs
            .iter()
            .map(|input| {
                let InputValue::Value(value) = &input.value else { panic!("a secret") };
                (input.name.to_string(), serde_json::to_value(value).unwrap())
            })
            .collect();
        let approved = inputs.get("approved").cloned();
        self.0.lock().unwrap().push(inputs);
        let asked =
            Outcome { code: 1, message: "deploy?".into(), ..Outcome::default() }.output("asked", "deploy");
        let outcome = match approved {
            _ if !dispatch.resumed => asked,
            Some(Json::Bool(_)) => Outcome::default(),
            Some(_) | None => {
                let detail = json!({ "refused": "approved: expected true or false" });
                Outcome { detail: Some(Value::from(detail)), ..asked.output("asked", "pizza") }
            }
        };
        Act { start_after: 0, takes: Some(10), outcome }
    }
}

fn plan() -> Arc<Plan> {
    let document = json!({
        "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "test" },
        "spec": { "entrypoint": "ask", "templates": [{ "task": {
            "name": "ask", "executor": { "type": "approval" },
            "inputs": { "parameters": [{ "name": "message", "value": "deploy?" }] },
        } }] },
    });
    let planned = Draft::read(&Tree::from(&Value::from(document))).plan(&Executors::any(), &Value::Null);
    Arc::new(planned.unwrap_or_else(|problems| panic!("{problems:#?}")))
}

fn map(value: &Json) -> Map {
    let Value::Object(map) = Value::from(value.clone()) else { panic!("{value}") };
    Map::clone(&map)
}

/// R-S14: neither the next call nor the outputs nor the message have anything of refused responses, however many there were, and
/// the journal says the same when it is read again.
#[test]
fn a_refused_response_leaves_nothing_behind() {
    let plan = plan();
    let calls = Calls::default();
    let mut world = World::submit(Arc::clone(&plan), Map::new(), 1000, Approval(Arc::clone(&calls)), true);
    world.finish();
    let ask = world.find("ask").unwrap();
    let refused = [
        json!({ "approved": "maybe", "by": "x", "message": "order pizza?" }),
        json!({ "more": 1 }),
        json!({ "asked": "nothing" }),
    ];
    for (at, response) in (1..).zip(&refused) {
        world.at(Timestamp(at * 1000), Input::Resumed(ask, map(response), None));
        world.finish();
        let task = world.run.task(ask).unwrap();
        assert_eq!(task.phase, Phase::Suspended);
        assert_eq!(
            &*task.message,
            "deploy? (the last response was refused: approved: expected true or false)"
        );
        assert_eq!(task.refusal().map(|why| &**why), Some("approved: expected true or false"));
        let outputs: Vec<_> = task.outputs.iter().map(|output| (&*output.name, &output.value)).collect();
        assert_eq!(outputs, [("asked", &Value::from("deploy"))]);
    }
    world.at(Timestamp(9000), Input::Resumed(ask, map(&json!({ "approved": true })), None));
    world.finish();
    let task = world.run.task(ask).unwrap();
    let outputs: Vec<_> = task.outputs.iter().map(|output| (&*output.name, &output.value)).collect();
    assert_eq!((task.phase, outputs.len()), (Phase::Succeeded, 2), "{outputs:?}");
    assert_eq!(task.refusal(), None);
    let last = calls.lock().unwrap().last().cloned().unwrap();
    assert_eq!(json!(last), json!({ "message": "deploy?", "approved": true }));
    check_replay(&plan, &world).unwrap();
}
