//! Log lines about requests.

use serde_json::json;

use super::TIER;
use crate::{
    guest::Guests,
    server::{Reply, Server, ok, status},
};

/// R-I24: each request is a line, without query, user or credentials.
#[tokio::test]
async fn each_request_is_a_line_of_the_log() {
    let server = Server::start([ok("[1,2]"), status(500), Reply::Reset]).await;
    let guests = Guests::local(TIER);
    let origin = server.url("");
    let mut lines = Vec::new();
    for _ in 0..3 {
        let inputs = json!({ "url": server.url("/v1?token=hunter2"), "auth": { "bearer": "hunter3" } });
        lines.extend(guests.heard(inputs, None).await.1);
    }
    let told: Vec<_> = lines.iter().map(|line| line.split(", sent ").next().unwrap().to_owned()).collect();
    assert_eq!(told[..2], [format!("Info GET {origin}/v1 200"), format!("Info GET {origin}/v1 500")]);
    assert!(told[2].starts_with(&format!("Warn GET {origin}/v1, ")), "{}", told[2]);
    assert!(lines[0].contains(" bytes, received ") && lines[0].ends_with(" ms"), "{}", lines[0]);
    assert!(!lines.concat().contains("hunter"), "{lines:?}");
}
