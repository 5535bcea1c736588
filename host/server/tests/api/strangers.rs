//! Two keys, each bound to a namespace, and everything that can be asked of each route: whatever one of them asks, of the other's there is
//! nothing.

use serde_json::Value;
use tokio::io::AsyncReadExt as _;

use phasm_server::keys::Role;

use crate::{
    client::{Answer, Client, LONG},
    saved::nightly,
    world::{World, submit, workflow},
};

/// A mark in everything of one namespace, and in no request of the other.
fn word(namespace: &str) -> String {
    format!("sesame-{namespace}")
}

/// A run's document with that word wherever there is room for one.
fn document(namespace: &str, kinds: &[&str]) -> String {
    let word = word(namespace);
    workflow(namespace, kinds)
        .replace("team: data", &format!("team: {word}"))
        .replace("default: world", &format!("default: {word}"))
        .replace("name: t1", &format!("name: {word}"))
        .replace("[t1]", &format!("[{word}]"))
}

/// Objects of a namespace.
struct House {
    client: Client,
    namespace: &'static str,
    runs: Vec<String>,
}

impl House {
    async fn furnish(world: &World, namespace: &'static str) -> Self {
        let client = world.key(namespace, Role::Admin, &[namespace]);
        let mut runs = Vec::new();
        for kinds in [&["ask", "ok"][..], &["talk", "ok"], &["ok", "fail"]] {
            let run = submit(&client, &document(namespace, kinds)).await;
            client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
            runs.push(run);
        }
        let yaml = [("content-type", "application/yaml")];
        let schedule =
            nightly(namespace, "nightly").replace("default: world", &format!("default: {}", word(namespace)));
        let path = format!("/v1/schedules/{namespace}/nightly");
        client.send("PUT", &path, &yaml, &schedule).await.expect(200);
        runs.push(client.post(&format!("{path}/trigger")).await.expect(202).text("/runID"));
        let path = format!("/v1/workflows/{namespace}/w");
        client.send("PUT", &path, &yaml, &document(namespace, &["ask", "ok"])).await.expect(200);
        Self { client, namespace, runs }
    }
}

/// Verbs and paths: those of the API's document, and those of the page, which its source has.
async fn routes(client: &Client) -> Vec<(String, String, Value)> {
    let whole = client.get("/v1/openapi.json").await.expect(200).json();
    let paths = whole["paths"].as_object().unwrap().clone();
    let api = paths.into_iter().flat_map(|(path, verbs)| {
        let verbs = verbs.as_object().unwrap().clone().into_iter();
        verbs.map(move |(verb, operation)| (verb.to_uppercase(), path.clone(), operation)).collect::<Vec<_>>()
    });
    let source = include_str!("../../src/page.rs");
    let page = source.split("MethodFilter::").skip(1).filter_map(|route| {
        let (verb, rest) = route.split_once(',')?;
        let path = rest.trim_start().strip_prefix('"')?.split_once('"')?.0;
        Some((verb.to_owned(), path.to_owned(), Value::Null))
    });
    let all: Vec<_> = api.chain(page).collect();
    assert!(all.iter().filter(|(_, path, _)| !path.starts_with("/v1")).count() > 20, "{all:?}");
    all
}

/// A path of a house's things; those of none where nothing of that is named so.
fn filled(path: &str, run: &str, namespace: &str) -> String {
    path.replace("{run}", run)
        .replace("{task}", "t0")
        .replace("{namespace}", namespace)
        .replace("{name}", if path.contains("schedules") { "nightly" } else { "w" })
        .replace("{script}", "page.js")
}

/// Sends a request as a client of the API or a browser's form. Streams are read until they pause.
async fn ask(client: &Client, verb: &str, path: &str, streams: bool) -> Answer {
    let json = ("content-type", "application/json");
    let form = ("content-type", "application/x-www-form-urlencoded");
    let kind = if path.starts_with("/v1") { json } else { form };
    let accept = if streams { "text/event-stream" } else { "*/*" };
    let body = if verb == "GET" || verb == "DELETE" {
        ""
    } else if kind == json {
        "{}"
    } else {
        "document=a"
    };
    let mut stream = client.begin(verb, path, &[kind, ("accept", accept)], body).await;
    let (mut said, mut piece) = (Vec::new(), vec![0; 64 << 10]);
    let patience =
        || if streams || path.starts_with("/live") { std::time::Duration::from_millis(60) } else { LONG };
    while let Ok(Ok(read @ 1..)) = tokio::time::timeout(patience(), stream.read(&mut piece)).await {
        said.extend_from_slice(&piece[..read]);
    }
    crate::client::answer(&said)
}

/// A word of the path itself is no secret.
fn told(answer: &Answer, run: &str, namespace: &str) -> String {
    format!("{} {}", answer.status, answer.body.replace(run, "RUN").replace(namespace, "SPACE"))
}

/// R-A103: every route, of each thing that another namespace has, to the letter as of what there is not.
#[tokio::test]
async fn of_another_namespace_no_route_knows_anything() {
    let world = World::in_file().await;
    let (a, b) = (House::furnish(&world, "aaa").await, House::furnish(&world, "bbb").await);
    let routes = routes(&a.client).await;
    let named = routes.iter().filter(|(_, path, _)| path.contains('{') && !path.contains("{script}"));
    let mut asked = 0;
    for (verb, path, _) in named {
        let (nowhere, none) = ("0197a000-0000-7000-8000-000000000000", "ccc");
        let nothing = told(&ask(&a.client, verb, &filled(path, nowhere, none), false).await, nowhere, none);
        for run in &b.runs {
            let at = filled(path, run, b.namespace);
            for (query, streams) in [("", false), ("?stream", true), ("?wait=1ms", false)] {
                if query.is_empty() || verb == "GET" && nothing.starts_with("404") {
                    let empty = told(
                        &ask(&a.client, verb, &filled(&format!("{path}{query}"), nowhere, none), streams)
                            .await,
                        nowhere,
                        none,
                    );
                    let other = ask(&a.client, verb, &format!("{at}{query}"), streams).await;
                    assert_eq!(told(&other, run, b.namespace), empty, "{verb} {at}{query}");
                    assert!(!other.body.contains(&word(b.namespace)), "{verb} {at}{query}: {other:?}");
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 100, "{asked}");
    // Nothing came of it.
    for run in &b.runs {
        let view = b.client.get(&format!("/v1/runs/{run}")).await.expect(200);
        assert_ne!(view.text("/phase"), "Cancelled");
    }
    b.client.get("/v1/schedules/bbb/nightly").await.expect(200);
}

/// Splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }

    fn pick<'l>(&mut self, list: &[&'l str]) -> &'l str {
        list[self.below(list.len())]
    }
}

/// A query of parameters that the route knows, with values that may mean the other's.
fn query(random: &mut Random, operation: &Value, path: &str) -> String {
    let known = operation["parameters"].as_array().cloned().unwrap_or_default();
    let names = known.iter().filter(|one| one["in"] == "query").filter_map(|one| one["name"].as_str());
    let of_page = ["phase", "text", "view", "cursor", "after", "rerun", "of"];
    let names: Vec<&str> = if path.starts_with("/v1") { names.collect() } else { of_page.to_vec() };
    let mut said = Vec::new();
    for name in names {
        if random.below(3) > 0 {
            continue;
        }
        let value = match name {
            "namespace" => random.pick(&["aaa", "bbb", "ccc"]),
            "text" => random.pick(&["w", "sesame", "team", ""]),
            "label" => random.pick(&["team=data", "phasm%2Fschedule=nightly"]),
            "limit" | "tasks" | "count" | "attempt" => random.pick(&["1", "2", "50"]),
            "cursor" => random.pick(&["1", "5", "9", "aaa/", "bbb/", "aab/w"]),
            "since" if !path.contains("{run}") => random.pick(&["1h", "2020-01-01"]),
            "since" | "after" | "task" => random.pick(&["0", "1", "3"]),
            "wait" => "1ms",
            "phase" => random.pick(&["Succeeded", "Failed", "Running"]),
            "view" => random.pick(&["graph", "timeline", "tasks", "events"]),
            "version" => random.pick(&["sha256:", "a", "0"]),
            "stream" => "false",
            _ => random.pick(&["true", "false"]),
        };
        said.push(format!("{name}={value}"));
    }
    if said.is_empty() { String::new() } else { format!("?{}", said.join("&")) }
}

/// R-A103: whatever is asked, in whichever order, no answer has a word of the other's. Pages are followed to their ends.
#[tokio::test]
async fn two_namespaces_never_see_each_other() {
    let world = World::in_file().await;
    let (a, b) = (House::furnish(&world, "aaa").await, House::furnish(&world, "bbb").await);
    let routes = routes(&a.client).await;
    let mut random = Random(1);
    let mut good = 0;
    for step in 0..3000 {
        let (own, other) = if random.below(2) == 0 { (&a, &b) } else { (&b, &a) };
        let (verb, path, operation) = &routes[random.below(routes.len())];
        if path == "/logout" {
            continue;
        }
        let house = if random.below(3) > 0 { own } else { other };
        let run = &house.runs[random.below(house.runs.len())];
        let mut at = format!("{}{}", filled(path, run, house.namespace), query(&mut random, operation, path));
        for _ in 0..5 {
            let streams = random.below(20) == 0;
            let answer = ask(&own.client, verb, &at, streams).await;
            assert!(answer.status < 500, "step {step}: {verb} {at}: {answer:?}");
            let shown = format!("{:?} {}", answer.headers, answer.body);
            assert!(!shown.contains(&word(other.namespace)), "step {step}: {verb} {at}: {shown}");
            let theirs = other
                .runs
                .iter()
                .filter(|theirs| *theirs != run)
                .find(|theirs| shown.contains(theirs.as_str()));
            assert_eq!(theirs, None, "step {step}: {verb} {at}: {shown}");
            good += usize::from(answer.status < 300);
            let Some(next) = answer.header("link").and_then(|link| link.strip_prefix('<')?.split_once('>'))
            else {
                break;
            };
            at = next.0.to_owned();
        }
    }
    assert!(good > 500, "{good}");
}
