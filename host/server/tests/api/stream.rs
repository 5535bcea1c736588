//! Streams of events and logs: none left out, none twice, wherever they are cut.

use std::{sync::Arc, time::Duration};

use phasm::Host;
use phasm_server::keys::Role;
use serde_json::Value;
use tokio::io::AsyncReadExt as _;

use crate::{
    client::{Client, EventSource, Told},
    world::{World, workflow},
};

/// Events with ids, which are those of the run.
async fn read(source: &mut EventSource, most: usize, into: &mut Vec<Told>) -> Option<Told> {
    for _ in 0..most {
        match source.next().await {
            Some(told) if told.id.is_some() => into.push(told),
            other => return other,
        }
    }
    None
}

/// Follows a run, cut after so many events as `cuts` say, and taken up again each time.
async fn followed(client: &Client, run: &str, mut cuts: impl FnMut() -> usize) -> Vec<Told> {
    let (path, mut found) = (format!("/v1/runs/{run}/events"), Vec::<Told>::new());
    loop {
        let last = found.last().and_then(|told| told.id);
        let mut source = client.stream(&path, last).await;
        if source.status == 204 {
            return found;
        }
        assert_eq!(source.status, 200);
        if let Some(end) = read(&mut source, cuts(), &mut found).await {
            assert_eq!(end.name, "end", "{end:?}");
            assert!(source.next().await.is_none());
            return found;
        }
    }
}

fn events_of(told: &[Told]) -> Vec<Value> {
    told.iter().map(|told| told.data.clone()).collect()
}

async fn pages(client: &Client, run: &str, limit: usize) -> Vec<Value> {
    let (mut events, mut path) = (Vec::new(), format!("/v1/runs/{run}/events?limit={limit}"));
    loop {
        let page = client.get(&path).await.expect(200);
        events.extend(page.json()["events"].as_array().unwrap().clone());
        let Some(link) = page.header("link") else { return events };
        path = link.strip_prefix('<').unwrap().split_once('>').unwrap().0.to_owned();
    }
}

/// The journal as the library has it.
async fn journal(host: &Host, run: &str) -> Vec<Value> {
    let records = host.store().load(run).await.unwrap();
    let mut events = Vec::new();
    phasm::journal::replay(run, &records, |run, seq, time, told| {
        events.extend(phasm::journal::views(run, seq, time, told).map(|view| view.json()));
    })
    .unwrap();
    events
}

/// R-A8.
#[tokio::test]
async fn events_come_by_pages() {
    let world = World::new().await;
    let run = world.submit(&workflow("default", &["ok", "talk", "ok"])).await;
    world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let expected = journal(&world.host, &run).await;
    for limit in [1, 2, 3, 1000] {
        assert_eq!(pages(&world.client, &run, limit).await, expected, "{limit}");
    }
    let since = world.client.get(&format!("/v1/runs/{run}/events?since=2")).await.expect(200);
    assert_eq!(since.json()["events"], Value::from(expected[2..].to_vec()));
    let beyond = world.client.get(&format!("/v1/runs/{run}/events?since=9999")).await.expect(200);
    assert_eq!(
        (beyond.json()["events"].clone(), beyond.json()["next"].clone()),
        (Value::from(Vec::<Value>::new()), Value::Null)
    );
}

/// R-A8: while it goes on, and cut anywhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_cut_and_taken_up_again_loses_and_doubles_nothing() {
    for world in [World::new().await, World::in_file().await] {
        let types = [["ok", "large", "talk", "fail"]; 12].concat();
        let types: Vec<_> = types.into_iter().map(|kind| if kind == "fail" { "ok" } else { kind }).collect();
        for seed in 0..8_usize {
            let run = world.submit(&workflow("default", &types)).await;
            let mut followers = tokio::task::JoinSet::new();
            for follower in 0..4_usize {
                let (client, run) = (world.client.clone(), run.clone());
                let mut state = seed * 31 + follower * 7 + 1;
                followers.spawn(async move {
                    let cut = || {
                        state = state
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1_442_695_040_888_963_407);
                        // The last one is never cut.
                        if follower == 3 { usize::MAX } else { 1 + (state >> 33) % 40 }
                    };
                    followed(&client, &run, cut).await
                });
            }
            let all = followers.join_all().await;
            let expected = journal(&world.host, &run).await;
            assert!(expected.len() > types.len());
            for told in all {
                let ids: Vec<_> = told.iter().map(|told| told.id.unwrap()).collect();
                assert_eq!(ids, (0..expected.len() as u64).collect::<Vec<_>>(), "seed {seed}");
                assert_eq!(events_of(&told), expected, "seed {seed}");
            }
        }
    }
}

/// R-A8: after the end a browser is told to come no more.
#[tokio::test]
async fn a_stream_of_a_run_that_has_ended_ends() {
    let world = World::new().await;
    let run = world.submit(&workflow("default", &["ok"])).await;
    world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let last = world.events(&run).await - 1;
    assert_eq!(world.client.stream(&format!("/v1/runs/{run}/events"), Some(last)).await.status, 204);
    let mut source = world.client.stream(&format!("/v1/runs/{run}/events?since={last}"), None).await;
    assert_eq!(source.next().await.unwrap().id, Some(last));
    let end = source.next().await.unwrap();
    assert_eq!((end.name.as_str(), end.data["phase"].as_str()), ("end", Some("Succeeded")));
}

/// R-A9.
#[tokio::test]
async fn logs_are_followed() {
    let world = World::in_file().await;
    let run = world.submit(&workflow("default", &["ask", "talk", "ok", "talk"])).await;
    world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let path = format!("/v1/runs/{run}/logs");
    let mut source = world.client.stream(&path, None).await;
    world.client.post(&format!("/v1/runs/{run}/tasks/t0/resume")).await.expect(200);
    let first = source.until("log").await;
    assert_eq!(first.data["task"], "main/t1");
    let second = source.until("log").await;
    assert_eq!(source.until("end").await.data["phase"], "Succeeded");
    let kept = world.client.get(&path).await.expect(200).json();
    assert_eq!(kept["logs"], Value::from(vec![first.data.clone(), second.data.clone()]));
    let mut again = world.client.stream(&path, first.id).await;
    assert_eq!(again.until("log").await, second);
    let mut one = world.client.stream(&format!("{path}?task=t3"), None).await;
    assert_eq!(one.until("log").await.data["task"], "main/t3");
}

/// R-A8, R-A12: many streams of one run, which nothing happens to for a while, and then much.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_streams_are_told_all_of_it() {
    let world = World::new().await;
    let types = [["ask"].as_slice(), &["ok"; 30]].concat();
    let run = world.submit(&workflow("default", &types)).await;
    world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let (mut followers, so_far) = (tokio::task::JoinSet::new(), world.events(&run).await);
    let ready = Arc::new(tokio::sync::Barrier::new(1001));
    for _ in 0..1000 {
        let (client, run, ready) = (world.client.clone(), run.clone(), Arc::clone(&ready));
        followers.spawn(async move {
            let mut source = client.stream(&format!("/v1/runs/{run}/events"), None).await;
            let mut found = Vec::new();
            assert_eq!(read(&mut source, so_far as usize, &mut found).await, None);
            ready.wait().await;
            assert_eq!(read(&mut source, usize::MAX, &mut found).await.unwrap().name, "end");
            found.iter().filter_map(|told| told.id).collect::<Vec<_>>()
        });
    }
    ready.wait().await;
    let metrics = world.client.get("/metrics").await.expect(200);
    assert!(metrics.body.contains("phasm_streams 1000\n"), "{}", metrics.body);
    world.client.post(&format!("/v1/runs/{run}/tasks/t0/resume")).await.expect(200);
    let all = followers.join_all().await;
    let events = 0..journal(&world.host, &run).await.len() as u64;
    assert_eq!(all, vec![events.collect::<Vec<_>>(); 1000]);
}

/// R-A12: of one key; another has its own.
#[tokio::test]
async fn a_key_has_so_many_streams_at_once() {
    let world = World::with(|builder| builder, |config| config.limits.streams = 2).await;
    let (one, other) = (world.key("one", Role::Run, &[]), world.key("other", Role::Run, &[]));
    let run = crate::world::submit(&one, &workflow("default", &["ask"])).await;
    let path = format!("/v1/runs/{run}/events");
    let (first, _second) = (one.stream(&path, None).await, one.stream(&path, None).await);
    assert_eq!(one.stream(&path, None).await.status, 429);
    let refused = one.send("GET", &path, &[("accept", "text/event-stream")], "").await.expect(429);
    assert!(refused.header("retry-after").is_some());
    assert_eq!(other.stream(&path, None).await.status, 200);
    drop(first);
    // Once the server has seen that it is gone.
    while one.stream(&path, None).await.status == 429 {
        tokio::task::yield_now().await;
    }
}

/// R-A12: who reads nothing is dropped, and costs the others nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_read_is_dropped() {
    let world =
        World::with(|builder| builder, |config| config.limits.write_time = Duration::from_millis(100)).await;
    let run = world.submit(&workflow("default", &[&["ask"][..], &["large"; 60], &["ask"]].concat())).await;
    world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let (path, headers) = (format!("/v1/runs/{run}/events"), [("accept", "text/event-stream")]);
    let _silent = world.client.begin("GET", &path, &headers, "").await;
    let count = |text: &str| {
        text.lines().find_map(|line| line.strip_prefix("phasm_streams ")?.parse::<u32>().ok()).unwrap()
    };
    while count(&world.client.get("/metrics").await.body) == 0 {
        tokio::task::yield_now().await;
    }
    world.client.post(&format!("/v1/runs/{run}/tasks/t0/resume")).await.expect(200);
    while count(&world.client.get("/metrics").await.body) == 1 {
        tokio::task::yield_now().await;
    }
    let view = world.client.get(&format!("/v1/runs/{run}?wait=30s&tasks=0")).await.expect(200);
    assert_eq!(view.json()["progress"], "61/62");
}

/// R-A13.
#[tokio::test]
async fn a_server_that_stops_says_so_where_somebody_waits() {
    let mut world = World::new().await;
    let run = world.submit(&workflow("default", &["block"])).await;
    let (client, path) = (world.client.clone(), format!("/v1/runs/{run}/events"));
    let mut source = client.stream(&path, None).await;
    let first = source.next().await.unwrap();
    let mut waiting = client.begin("GET", &format!("/v1/runs/{run}?wait=5m"), &[], "").await;
    // Later clients have been answered.
    client.get("/healthz").await.expect(200);
    world.stop().await;
    let last = source.until("end-of-stream").await;
    assert_eq!(last.data["reason"], "stopping");
    assert!(last.data["lastEventID"].as_u64() >= first.id);
    assert!(source.next().await.is_none());
    let mut said = String::new();
    waiting.read_to_string(&mut said).await.unwrap();
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
}
