//! The trace that a run is part of: its client sets it, whichever way the run starts (R-O1).

use serde_json::json;

use crate::{
    saved::nightly,
    world::{World, submit, workflow},
};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// R-O1, R-A100: what starts a run reads the header, says so in the document, and nothing else does.
#[tokio::test]
async fn whatever_starts_a_run_reads_whose_part_it_is() {
    let world = World::new().await;
    let client = &world.client;
    let text = workflow("default", &["ok"]);
    client.send("PUT", "/v1/schedules/data/nightly", &[YAML], &nightly("data", "nightly")).await.expect(200);
    client.send("PUT", "/v1/workflows/default/w", &[YAML], &text).await.expect(200);
    let first = submit(client, &text).await;
    let ended = client.get(&format!("/v1/runs/{first}?wait=30s")).await.expect(200).json();
    assert_eq!(ended.get("traceID"), None, "no trace was given: {ended}");
    let starting = [
        ("submitRun", "/v1/runs".to_owned(), text.as_str()),
        ("rerunRun", format!("/v1/runs/{first}/rerun"), "{}"),
        ("triggerSchedule", "/v1/schedules/data/nightly/trigger".to_owned(), "{}"),
        ("runWorkflow", "/v1/workflows/default/w/runs".to_owned(), "{}"),
    ];
    for (id, path, body) in &starting {
        let kind = if *id == "submitRun" { YAML } else { JSON };
        let headers = [kind, ("traceparent", PARENT), ("tracestate", "a=1")];
        let run = client.send("POST", path, &headers, body).await.expect(202).text("/runID");
        let view = client.get(&format!("/v1/runs/{run}")).await.expect(200).json();
        assert_eq!(view["traceID"], TRACE, "{id}: {view}");
    }
    let document = client.get("/v1/openapi.json").await.expect(200).json();
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap());
    let reads = |name: &str| {
        let has = |operation: &serde_json::Value| {
            let parameters = operation["parameters"].as_array().unwrap().iter();
            parameters.clone().any(|one| one["name"] == name && one["in"] == "header")
        };
        let ids = operations.clone().filter(|(_, operation)| has(operation));
        let mut ids: Vec<_> = ids.map(|(_, operation)| operation["operationId"].as_str().unwrap()).collect();
        ids.sort_unstable();
        json!(ids)
    };
    let mut expected: Vec<_> = starting.iter().map(|(id, ..)| *id).collect();
    expected.sort_unstable();
    assert_eq!((reads("traceparent"), reads("tracestate")), (json!(expected), json!(expected)));
}

const YAML: (&str, &str) = ("content-type", "application/yaml");
const JSON: (&str, &str) = ("content-type", "application/json");
