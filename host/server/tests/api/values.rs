//! Large values: left out of views, and had by themselves. Pages: continued, not read again.

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::{
    client::Answer,
    world::{World, workflow},
};

const HUGE: usize = 8 << 20;

fn tasks(view: &Value) -> Vec<Value> {
    view["tasks"].as_array().unwrap().clone()
}

fn left_out(value: &Value) -> (u64, String) {
    assert_eq!(value["value"], Value::Null);
    (value["leftOut"]["bytes"].as_u64().unwrap(), value["leftOut"]["href"].as_str().unwrap().to_owned())
}

/// A dag whose two tasks pass a parameter on to the executor `type`, and return its outputs.
fn passing(executor: &str) -> String {
    format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: w, namespace: default }}\nspec:\n  entrypoint: main\n  \
         arguments:\n    parameters: [{{ name: text_all, type: string }}, {{ name: few, default: 1 }}]\n  templates:\n    \
         - task:\n        name: main\n        inputs:\n          parameters:\n            - {{ name: text_all, value: \"{{{{ workflow.parameters.text_all }}}}\" }}\n        \
         executor: {{ type: {executor} }}\n"
    )
}

async fn whole(world: &World, path: &str) -> Answer {
    world.client.get(path).await.expect(200)
}

/// R-A120: whether the run is in memory or only in the store.
#[tokio::test]
async fn large_values_are_left_out_and_had_by_themselves() {
    let world = World::in_file().await;
    let document = workflow("default", &["huge", "large", "ok"]);
    let run = world.client.post_yaml("/v1/runs?wait=30s", &document).await.expect(200).text("/runID");
    let path = format!("/v1/runs/{run}");
    let loaded = whole(&world, &path).await;
    let world = world.reopened().await;
    let stored = whole(&world, &path).await;
    assert_eq!(stored.body, loaded.body);
    assert!(stored.body.len() < 20_000, "{}", stored.body.len());
    for (task, size) in [("t0", HUGE), ("t1", 200_000)] {
        let view = stored.json();
        let one = tasks(&view).into_iter().find(|one| one["taskName"] == task).unwrap();
        assert_eq!(whole(&world, &format!("{path}/tasks/{task}")).await.json(), one);
        let (bytes, href) = left_out(&one["outputs"][0]);
        assert_eq!(
            (bytes, one["outputs"][0]["type"].as_str(), &one["outputs"][0]["name"]),
            (size as u64 + 2, Some("string"), &json!("text"))
        );
        let value = whole(&world, &href).await;
        assert_eq!(value.body.trim_end(), format!("\"{}\"", "x".repeat(size)));
        assert_eq!(whole(&world, &format!("{path}/tasks/{task}/outputs/text")).await.body, value.body);
    }
    let small = whole(&world, &format!("{path}/tasks/t2/outputs/said")).await;
    assert_eq!(small.json(), "hello");
    for missing in
        ["tasks/t2/outputs/none", "tasks/none/outputs/said", "tasks/t2/inputs/said", "parameters/none"]
    {
        world.client.get(&format!("{path}/{missing}")).await.expect(404);
    }
}

/// R-A120: parameters, inputs, and outputs of any name.
#[tokio::test]
async fn whatever_has_a_name_is_left_out_by_its_size_only() {
    let world = World::in_file().await;
    let text = "y".repeat(70_000);
    let body = json!({ "document": passing("odd"), "parameters": { "text_all": text } }).to_string();
    let run = world.client.post_json("/v1/runs?wait=30s", &body).await.expect(200).text("/runID");
    let world = world.reopened().await;
    let view = whole(&world, &format!("/v1/runs/{run}")).await.json();
    let named = |list: &Value, name: &str| {
        list.as_array().unwrap().iter().find(|one| one["name"] == name).unwrap().clone()
    };
    assert_eq!(named(&view["parameters"], "few"), json!({ "name": "few", "value": 1 }));
    for value in [named(&view["parameters"], "text_all"), named(&view["tasks"][0]["inputs"], "text_all")] {
        let (bytes, href) = left_out(&value);
        assert_eq!(bytes, 70_002);
        assert_eq!(whole(&world, &href).await.json(), text);
    }
    let (_, href) = left_out(&named(&view["tasks"][0]["outputs"], "a/b ü?%"));
    assert_eq!(whole(&world, &href).await.json()["list"].as_array().unwrap().len(), 40_000);
}

/// R-A120: a page ends once it has 8 MiB of values, and `Link` leads to the others.
#[tokio::test]
async fn a_view_ends_behind_eight_mebibytes_of_values() {
    let world = World::in_file().await;
    let items: Vec<String> = (0..200).map(|number| format!("{number}-{}", "z".repeat(60_000))).collect();
    let document = "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: w, namespace: default }\nspec:\n  entrypoint: main\n  \
        arguments:\n    parameters: [{ name: items, type: array }]\n  templates:\n    - task:\n        name: one\n        inputs:\n          \
        parameters: [{ name: item }]\n        executor: { type: ok }\n    - loop:\n        name: main\n        body: one\n        \
        inputs: { parameters: [{ name: items, value: \"{{ workflow.parameters.items }}\" }] }\n        itemsFrom: \"{{ inputs.parameters.items }}\"\n        arguments:\n          parameters: [{ name: item, value: \"{{ loop.item }}\" }]\n";
    let host = &world.host;
    let plan = host.plan("w.yaml", document).await.unwrap();
    let parameters = phasm::Map::from([(
        "items".into(),
        items.into_iter().map(phasm::Value::from).collect::<Vec<_>>().into(),
    )]);
    let handle = host.submit(&plan, &parameters).await.unwrap();
    handle.wait().await.unwrap();
    let (mut path, mut seen, mut pages) = (format!("/v1/runs/{}", handle.id()), 0, 0);
    loop {
        let page = whole(&world, &path).await;
        assert!(page.body.len() < 10 << 20, "{}", page.body.len());
        seen += tasks(&page.json()).len();
        pages += 1;
        let Some(link) = page.header("link") else { break };
        path = link.trim_start_matches('<').split('>').next().unwrap().to_owned();
    }
    assert_eq!((seen, pages), (201, 2));
}

/// R-A120: the pages behind the first are read from where it ended. The first record is destroyed in between: a reader that begins
/// there fails.
#[tokio::test]
async fn the_next_page_does_not_read_the_journal_again() {
    let world = World::in_file().await;
    let document = workflow("default", &["ok", "ok", "talk", "ok"]);
    let run = world.client.post_yaml("/v1/runs?wait=30s", &document).await.expect(200).text("/runID");
    let world = world.reopened().await;
    let events = format!("/v1/runs/{run}/events");
    let all = whole(&world, &format!("{events}?limit=10000")).await.json()["events"].clone();
    let first = whole(&world, &format!("{events}?limit=3")).await.json();
    let view = whole(&world, &format!("/v1/runs/{run}?tasks=2")).await;
    let file = Connection::open(world.dir.path().join("runs.db")).unwrap();
    let changed = file.execute("UPDATE journal SET checksum = checksum + 1 WHERE first_seq = 0", []).unwrap();
    assert_eq!(changed, 1);

    let mut told = first["events"].as_array().unwrap().clone();
    let mut next = first["next"].clone();
    while let Some(since) = next.as_u64() {
        let page = whole(&world, &format!("{events}?since={since}&limit=3")).await.json();
        told.extend(page["events"].as_array().unwrap().clone());
        next = page["next"].clone();
    }
    assert_eq!(json!(told), all);
    let mut link = view.header("link").map(str::to_owned);
    let mut seen = tasks(&view.json()).len();
    while let Some(next) = link {
        let page = whole(&world, next.trim_start_matches('<').split('>').next().unwrap()).await;
        seen += tasks(&page.json()).len();
        link = page.header("link").map(str::to_owned);
    }
    assert_eq!(seen, 5);
    // The cursor was used up.
    world.client.get(&format!("{events}?limit=3")).await.expect(500);
}

/// R-A120: records come to a client in parts, which are the journal.
#[tokio::test]
async fn a_client_has_the_records_in_parts() {
    let world = World::in_file().await;
    let document = workflow("default", &["huge", "huge", "huge", "ok"]);
    let run = world.client.post_yaml("/v1/runs?wait=30s", &document).await.expect(200).text("/runID");
    let path = format!("/v1/rows/{run}?since=0");
    let all = whole(&world, &path).await.json();
    let part = world.client.send("GET", &path, &[("prefer", "parts")], "").await.expect(200).json();
    let count = |answer: &Value| answer["records"].as_array().unwrap().len();
    assert!(count(&part) < count(&all), "{} {}", count(&part), count(&all));
    let remote = crate::remote::remote(&world.client);
    let records = phasm::store::ReadStore::load(&remote, &run).await.unwrap();
    assert_eq!(records, world.host.store().load(&run).await.unwrap());
}
