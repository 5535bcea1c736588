//! Seed 002's example, word for word, with the shipped `http`, against a server that does all that it speaks of.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use phasm::{
    Host, Map, Phase, RunView, Value,
    clock::TimeSource,
    engine::time::{Millis, Timestamp},
    sandbox::{Grants, HttpConfig, HttpLimits, SandboxConfig},
};

use crate::{
    guest::{HTTP, grant},
    server::{Reply, Server, ok, status},
};

const EXAMPLE: &str = include_str!("../../../../tests/seeds/002-3.1-http.yaml");

/// A clock on which delays of minutes are over in no time.
struct FastClock(Instant);

impl FastClock {
    const TIMES: u32 = 2000;
}

impl TimeSource for FastClock {
    fn wall(&self) -> Timestamp {
        Timestamp(1_700_000_000_000 + i64::try_from(self.elapsed()).unwrap())
    }

    fn elapsed(&self) -> Millis {
        u64::try_from((self.0.elapsed() * Self::TIMES).as_millis()).unwrap()
    }

    fn sleep_until(&self, elapsed: Millis) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let at = self.0 + Duration::from_millis(elapsed) / Self::TIMES;
        Box::pin(tokio::time::sleep_until(at.into()))
    }
}

fn document() -> String {
    let block: String = EXAMPLE.lines().map(|line| format!("          {line}\n")).collect();
    format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: pages }}\nspec:\n  entrypoint: main\n  timeout: 365d\n  \
         arguments: {{ parameters: [{{ name: api_url }}, {{ name: page_size, value: 50 }}] }}\n  templates:\n    - pipeline:\n        \
         name: main\n        tasks:\n{block}"
    )
}

async fn run(replies: Vec<Reply>) -> (RunView, Vec<String>) {
    let server = Server::start(replies).await;
    let limits = HttpLimits { time: Duration::from_millis(300), ..HttpLimits::default() };
    let http = HttpConfig { limits, ..HttpConfig::default() };
    let grants = Grants { http: grant(&["GET http://127.0.0.1:*/api/v1/*"], &[]), ..Grants::default() };
    let host = Host::builder()
        .sandbox(SandboxConfig { http, ..SandboxConfig::default() })
        .plugin("http", Arc::clone(&HTTP))
        .grant("http", grants)
        .time(Arc::new(FastClock(Instant::now())))
        .open()
        .unwrap();
    let plan = host.plan("pages.yaml", &document()).await.unwrap_or_else(|problems| panic!("{problems:#?}"));
    let parameters = Map::from([("api_url".into(), Value::from(server.url("")))]);
    let view = host.submit(&plan, &parameters).await.unwrap().wait().await.unwrap();
    (view, server.requests())
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
        let (view, requests) = run(replies).await;
        let told = serde_json::to_string(&view).unwrap();
        assert_eq!((view.phase, requests.len()), (phase, asked), "{row}: {told}");
        assert!(
            requests.iter().all(|request| request.starts_with("GET /api/v1/items?pageSize=50 HTTP/1.1\r\n")),
            "{row}: {requests:?}"
        );
        assert!(told.contains(message), "{row}: {told}");
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
        .plugin("jq", crate::guest::built("jq"))
        .grant("http", grants)
        .time(Arc::new(FastClock(Instant::now())))
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
    let time = Arc::new(FastClock(Instant::now()));
    let host = Host::builder().plugin("http", Arc::clone(&HTTP)).time(time).open().unwrap();
    let parameters = Map::from([("api_url".into(), Value::from("https://api.example"))]);
    let plan = host.plan("pages.yaml", &document()).await.unwrap_or_else(|problems| panic!("{problems:#?}"));
    let view = host.submit(&plan, &parameters).await.unwrap().wait().await.unwrap();
    let told = serde_json::to_string(&view).unwrap();
    let line = r#"`http = [\"GET https://api.example/api/v1/items\"]` under `[grants.http]` in the configuration (`--config`) grants it"#;
    assert!(view.phase == Phase::Error && told.contains(line), "{told}");
}
