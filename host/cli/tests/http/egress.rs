//! Secrets that guests never hold.

use std::sync::Arc;

use phasm::{
    Host, Map, RunView,
    sandbox::{Grants, HttpPattern},
    secrets::Secrets,
};
use serde_json::{Value, json};

use super::TIER;
use crate::{
    guest::{HTTP, grant, sandbox},
    server::{Reply, Server},
};

const SECRET: &str = "hunter2\"&";

/// A run of one task that asks so, with a secret that is for one server.
async fn run(secret_for: &str, inputs: Value) -> (RunView, String) {
    let mut secrets = Secrets::default();
    let to: HttpPattern = secret_for.parse().unwrap();
    secrets.insert_for("api", "token", SECRET, vec![to]);
    let grants = Grants { http: grant(&["http://127.0.0.1:*"], &[]), ..Grants::default() };
    let host = Host::builder()
        .sandbox(sandbox(TIER))
        .plugin("http", Arc::clone(&HTTP))
        .grant("http", grants)
        .secrets(secrets)
        .open()
        .unwrap();
    let document = json!({
        "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "egress" },
        "spec": { "entrypoint": "main", "templates": [{ "task": {
            "name": "main", "executor": { "type": "http" }, "inputs": { "parameters": inputs },
        } }] },
    });
    let plan = host
        .plan("egress.json", &document.to_string())
        .await
        .unwrap_or_else(|problems| panic!("{problems:#?}"));
    let run = host.submit(&plan, &Map::new()).await.unwrap();
    let view = run.wait().await.unwrap();
    let journal = serde_json::to_string(&view).unwrap();
    (view, journal)
}

fn token(name: &str) -> Value {
    json!({ "name": name, "valueFrom": { "secretKeyRef": { "name": "api", "key": "token" } } })
}

/// R-I26: the value is in the request, and nowhere else.
#[tokio::test]
async fn the_value_takes_the_placeholders_place_on_its_way() {
    let server = Server::start([Reply::Echo]).await;
    let origin = server.url("");
    let url = json!({ "name": "url", "value": server.url("/") });
    let method = json!({ "name": "method", "value": "POST" });
    let (view, told) = run(&origin, json!([url, method, token("body")])).await;
    assert_eq!(view.phase.to_string(), "Succeeded", "{told}");
    let asked = server.requests().remove(0);
    assert!(
        asked.ends_with(&format!("\r\n\r\n{SECRET}")) && asked.contains("content-length: 9\r\n"),
        "{asked}"
    );
    assert!(!told.contains("hunter2") && told.contains("•••"), "{told}");
}

/// R-I26: towards anybody else there is neither value nor placeholder, and it is told why.
#[tokio::test]
async fn towards_others_it_is_a_refusal() {
    let server = Server::start([Reply::Echo]).await;
    let url = json!({ "name": "url", "value": server.url("/") });
    let method = json!({ "name": "method", "value": "POST" });
    let (view, told) = run("https://api.example.com", json!([url, method, token("body")])).await;
    assert_eq!(view.phase.to_string(), "Error");
    assert!(told.contains("the secret api/token is only for https://api.example.com"), "{told}");
    assert_eq!(server.requests(), Vec::<String>::new());
    let (_, told) = run(&server.url(""), json!([token("url")])).await;
    assert!(told.contains("input `url`: expected") && !told.contains("hunter2"), "{told}");
}
