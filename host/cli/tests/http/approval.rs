//! The shipped `approval`: asks, refuses what does not fit, and goes on.

use phasm::{Host, Map, Phase, RunHandle, Value, WaitOutcome};
use serde_json::{Value as Json, json};

use crate::attempt;

/// R-S9: an answer that does not fit leaves it suspended; one that does is its outputs.
#[tokio::test]
async fn it_waits_for_an_answer_that_fits() {
    let host = Host::builder().plugin("approval", attempt::built("plugins/approval")).open().unwrap();
    let document = json!({
        "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "release" },
        "spec": { "entrypoint": "main", "templates": [{ "task": {
            "name": "main", "executor": { "type": "approval" },
            "inputs": { "parameters": [{ "name": "message", "value": "release?" }] },
        } }] },
    });
    let plan = host
        .plan("release.json", &document.to_string())
        .await
        .unwrap_or_else(|problems| panic!("{problems:#?}"));
    let run = host.submit(&plan, &Map::new()).await.unwrap();
    let rows = [
        (json!({ "approved": "yes", "by": "Bob" }), "approved: expected true or false, got \"yes\""),
        (json!({ "by": "Ada" }), "approved is missing"),
    ];
    assert_eq!(parked(&run).await, "release?");
    for (answer, why) in rows {
        assert!(run.resume("main", object(answer)).await.unwrap());
        let asked = format!("release? (the last response was refused: {why})");
        assert_eq!(parked(&run).await, asked);
    }
    assert!(run.resume("main", object(json!({ "approved": true }))).await.unwrap());
    let view = run.wait().await.unwrap();
    let told = serde_json::to_value(&view.tasks[0].outputs).unwrap();
    let output = |name: &str| {
        told.as_array().unwrap().iter().find(|output| output["name"] == name).unwrap()["value"].clone()
    };
    // R-S14: nothing of the refused responses is left.
    let names: Vec<_> = told.as_array().unwrap().iter().map(|output| output["name"].clone()).collect();
    assert_eq!((view.phase, output("approved")), (Phase::Succeeded, json!(true)));
    assert_eq!(names, ["asked", "approved"]);
    assert_eq!(output("asked")["schema"]["required"], json!(["approved"]));
}

async fn parked(run: &RunHandle) -> String {
    match run.wait_or_park().await.unwrap() {
        WaitOutcome::Parked(view) => view.tasks[0].message.to_string(),
        WaitOutcome::Ended(view) => panic!("{view:?}"),
    }
}

fn object(value: Json) -> Map {
    let value = Value::from(value);
    value.as_object().unwrap().clone()
}
