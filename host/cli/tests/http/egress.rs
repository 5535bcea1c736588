//! Secrets that guests never hold.

use std::sync::Arc;

use phasm::{
    Host, Map, RunView,
    sandbox::{AwsSigning, Grants, HttpPattern},
    secrets::Secrets,
};
use serde_json::{Value, json};

use super::TIER;
use crate::{
    attempt,
    guest::{HTTP, grant},
    server::{Reply, Server},
};

const SECRET: &str = "hunter2\"&";

/// A run of one task that asks so, with a secret that is for one server.
async fn run(secret_for: &str, inputs: Value) -> (RunView, String) {
    let mut secrets = Secrets::default();
    let to: HttpPattern = secret_for.parse().unwrap();
    secrets.insert_for("api", "token", SECRET, vec![to]);
    run_with(secrets, inputs).await
}

async fn run_with(secrets: Secrets, inputs: Value) -> (RunView, String) {
    let grants = Grants { http: grant(&["http://127.0.0.1:*"], &[]), ..Grants::default() };
    let host = Host::builder()
        .sandbox(attempt::sandbox(TIER))
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

/// A run of one task whose requests to that server are signed.
async fn signed_run(service: &str, inputs: Value) -> (RunView, String, String) {
    let server = Server::start([Reply::Echo]).await;
    let Value::Array(mut inputs) = inputs else { panic!("{inputs}") };
    inputs.push(json!({ "name": "url", "value": server.url("/bucket/a%20b?list-type=2") }));
    let mut secrets = Secrets::default();
    let to: HttpPattern = server.url("").parse().unwrap();
    let signing = AwsSigning {
        access_key_id: "AKIDEXAMPLE".into(),
        region: "eu-central-1".into(),
        service: service.into(),
    };
    secrets.insert_signing("api", "token", SECRET, vec![to], signing);
    let (view, told) = run_with(secrets, inputs.into()).await;
    (view, told, server.requests().pop().unwrap_or_default())
}

/// R-I149: requests of an attempt that was given the key are signed by the host, and the key is in none of them.
#[tokio::test]
async fn requests_are_signed_on_their_way() {
    let put =
        json!([{ "name": "method", "value": "PUT" }, { "name": "body", "value": "hello" }, token("secret")]);
    let (view, told, asked) = signed_run("s3", put).await;
    assert_eq!(view.phase.to_string(), "Succeeded", "{told}");
    for says in [
        "authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/",
        "/eu-central-1/s3/aws4_request, SignedHeaders=",
        "host;x-amz-content-sha256;x-amz-date, Signature=",
        "x-amz-content-sha256: UNSIGNED-PAYLOAD\r\n",
        "\r\n\r\nhello",
    ] {
        assert!(asked.contains(says), "{says}: {asked}");
    }
    assert!(!asked.contains("hunter2") && !told.contains("hunter2"), "{asked} {told}");
    let post =
        json!([{ "name": "method", "value": "POST" }, { "name": "body", "value": "hello" }, token("secret")]);
    let (_, _, asked) = signed_run("sqs", post).await;
    let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    assert!(
        asked.contains(&format!("x-amz-content-sha256: {digest}\r\n")) && asked.ends_with("hello"),
        "{asked}"
    );
}

/// R-I149: the key signs nothing for an attempt that was not given it, and stands nowhere in the place of its placeholder.
#[tokio::test]
async fn other_requests_are_not_signed() {
    let (_, told, asked) = signed_run("s3", json!([])).await;
    assert!(asked.starts_with("GET /bucket/") && !asked.contains("AWS4"), "{asked} {told}");
    let method = json!({ "name": "method", "value": "POST" });
    let (_, told, asked) = signed_run("s3", json!([method, token("body")])).await;
    assert!(
        asked.contains("AWS4") && !asked.contains("hunter2") && !told.contains("hunter2"),
        "{asked} {told}"
    );
}
