//! Seed 002's example, word for word, with the shipped `http`, against a server that does all that it speaks of.

use std::{sync::Arc, time::Duration};

use phasm::{
    Host, Map, Phase, RunView, Value,
    sandbox::{Grants, HttpConfig, HttpLimits, SandboxConfig},
};
use serde_json::Value as Json;

use crate::{
    guest::{HTTP, grant},
    runs::{self, FastClock, attempts},
    server::{Reply, Server, ok, status},
};

const EXAMPLE: &str = include_str!("../../../../tests/seeds/002-3.1-http.yaml");

fn document() -> String {
    runs::document(EXAMPLE, "{ name: api_url }, { name: page_size, value: 50 }")
}

async fn run(replies: Vec<Reply>) -> (RunView, Vec<Json>, Vec<String>) {
    let server = Server::start(replies).await;
    let limits = HttpLimits { time: Duration::from_millis(300), ..HttpLimits::default() };
    let http = HttpConfig { limits, ..HttpConfig::default() };
    let grants = Grants { http: grant(&["GET http://127.0.0.1:*/api/v1/*"], &[]), ..Grants::default() };
    let host = Host::builder()
        .sandbox(SandboxConfig { http, ..SandboxConfig::default() })
        .plugin("http", Arc::clone(&HTTP))
        .grant("http", grants)
        .time(FastClock::start())
        .open()
        .unwrap();
    let parameters = Map::from([("api_url".into(), Value::from(server.url("")))]);
    let (view, events) = runs::run(&host, &document(), &parameters).await;
    (view, events, server.requests())
}

/// R-N9, R-N4, section 3.1: busy servers are asked up to ten times, whatever else goes wrong up to three, and who is refused once.
#[tokio::test]
async fn the_example_runs_as_it_is_written() {
    let busy = Reply::Says(429, "Retry-After: 7\r\n", "{}".to_owned());
    let page = || ok(r#"{"items":[1,2]}"#);
    let rows = [
        ("ok", vec![page()], 1, Phase::Succeeded, ""),
        ("429, 500, then ok", vec![busy.clone(), status(500), page()], 3, Phase::Succeeded, ""),
        ("503 all along", vec![status(503)], 10, Phase::Error, "503 Service Unavailable"),
        ("429 all along", vec![busy], 10, Phase::Error, "429 Too Many Requests, to be tried again after 7 s"),
        ("401", vec![status(401)], 1, Phase::Failed, "401 Unauthorized"),
        ("403", vec![status(403)], 1, Phase::Failed, "403 Forbidden"),
        ("404", vec![status(404)], 3, Phase::Failed, "404 Not Found"),
        ("reset, then ok", vec![Reply::Reset, page()], 2, Phase::Succeeded, ""),
        (
            "resets all along",
            vec![Reply::Reset],
            3,
            Phase::Error,
            "closed the connection before it responded",
        ),
        ("hangs, then ok", vec![Reply::Hang, page()], 2, Phase::Succeeded, ""),
        ("hangs all along", vec![Reply::Hang], 3, Phase::Timeout, "timeout of waiting for the response"),
    ];
    for (row, replies, asked, phase, message) in rows {
        let (view, events, requests) = run(replies).await;
        let told = serde_json::to_string(&view).unwrap();
        assert_eq!((view.phase, requests.len()), (phase, asked), "{row}: {told}");
        assert!(
            requests.iter().all(|request| request.starts_with("GET /api/v1/items?pageSize=50 HTTP/1.1\r\n")),
            "{row}: {requests:?}"
        );
        assert!(told.contains(message), "{row}: {told}");
        let (count, delays) = attempts(&events);
        assert_eq!(count, asked, "{row}: {told}");
        // The rule of the first failure decides: 2, 4, 8 … seconds, or 1, 2 … seconds.
        let is_busy = row.contains('5') || row.contains("429");
        let expected =
            (1..asked as u64).map(|attempt| if is_busy { 1000 << attempt } else { 1000 * attempt });
        assert_eq!(delays, expected.collect::<Vec<_>>(), "{row}");
        assert_eq!(told.contains(r#""items":[1,2]"#), phase == Phase::Succeeded, "{row}: {told}");
    }
}

/// The example does what it says.
#[tokio::test]
async fn the_page_is_fetched_and_read() {
    let server = Server::start([status(503), ok(r#"{"items":[{"name":"a"},{"name":"b"}]}"#)]).await;
    let grants = Grants { http: grant(&["GET http://127.0.0.1:*/v1/*"], &[]), ..Grants::default() };
    let host = Host::builder()
        .plugin("http", Arc::clone(&HTTP))
        .plugin("jq", crate::attempt::built("plugins/jq"))
        .grant("http", grants)
        .time(FastClock::start())
        .open()
        .unwrap();
    let example = include_str!("../../../examples/fetch.yaml")
        .replace("entrypoint: main", "entrypoint: main\n  timeout: 365d");
    let plan = host.plan("fetch.yaml", &example).await.unwrap_or_else(|problems| panic!("{problems:#?}"));
    let parameters = Map::from([("api_url".into(), Value::from(server.url("")))]);
    let view = host.submit(&plan, &parameters).await.unwrap().wait().await.unwrap();
    assert_eq!((view.phase, server.requests().len()), (Phase::Succeeded, 2));
    assert_eq!(view.outputs[0].value.to_json(), r#"["a","b"]"#);
}

/// R-I21: what is pinned by its digest is granted by its name.
#[tokio::test]
async fn a_refusal_in_a_run_says_whom_to_grant_it() {
    let time = FastClock::start();
    let host = Host::builder().plugin("http", Arc::clone(&HTTP)).time(time).open().unwrap();
    let parameters = Map::from([("api_url".into(), Value::from("https://api.example"))]);
    let plan = host.plan("pages.yaml", &document()).await.unwrap_or_else(|problems| panic!("{problems:#?}"));
    let view = host.submit(&plan, &parameters).await.unwrap().wait().await.unwrap();
    let told = serde_json::to_string(&view).unwrap();
    let line = r#"`http = [\"GET https://api.example/api/v1/items\"]` under `[grants.http]` in the configuration (`--config`) grants it"#;
    assert!(view.phase == Phase::Error && told.contains(line), "{told}");
}
