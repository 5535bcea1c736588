//! Keys that are bound to namespaces learn nothing of the host and of others; and texts that no store keeps.

use std::collections::BTreeSet;

use phasm_server::keys::Role;

use super::{
    client::Client,
    world::{World, workflow},
};

/// R-A11, R-A4: numbers of rows and cursors say nothing about runs of others, and lead through the list all the same.
#[tokio::test]
async fn numbers_of_others_are_not_counted() {
    let world = World::new().await;
    let admin = world.key("root", Role::Admin, &[]);
    let (one, other) = (world.key("one", Role::Run, &["mine"]), world.key("other", Role::Run, &["mine"]));
    let mut own = BTreeSet::new();
    for number in 0..12 {
        let namespace = if number % 3 == 0 { "mine" } else { "theirs" };
        let run = admin.post_yaml("/v1/runs", &workflow(namespace, &["ok"])).await.expect(202).text("/runID");
        if namespace == "mine" {
            own.insert(run);
        }
    }
    let numbers = |rows: &serde_json::Value| -> Vec<u64> {
        rows["rows"].as_array().unwrap().iter().map(|row| row["number"].as_u64().unwrap()).collect()
    };
    let plain: Vec<u64> = (1..=12).rev().collect();
    assert_eq!(numbers(&admin.get("/v1/rows").await.expect(200).json()), plain);
    let shown = numbers(&one.get("/v1/rows").await.expect(200).json());
    assert_eq!(shown.len(), 4);
    assert!(shown.iter().all(|number| *number > 1 << 20), "{shown:?}");
    let others = numbers(&other.get("/v1/rows").await.expect(200).json());
    assert!(shown.iter().all(|number| !others.contains(number)), "{shown:?} {others:?}");
    // One page after the other, by cursors.
    for path in ["/v1/runs", "/v1/rows"] {
        let mut found = BTreeSet::new();
        let mut next = String::new();
        loop {
            let page = one.get(&format!("{path}?limit=1{next}")).await.expect(200).json();
            for run in page["runs"].as_array().or(page["rows"].as_array()).unwrap() {
                found.insert(run.get("runID").or(run.get("run_id")).unwrap().as_str().unwrap().to_owned());
            }
            let Some(cursor) = page["next"].as_str() else { break };
            assert!(cursor.parse::<u64>().unwrap() > 1 << 20, "{cursor}");
            next = format!("&cursor={cursor}");
        }
        assert_eq!(found, own, "{path}");
    }
    let run = own.first().unwrap();
    let row = one.get(&format!("/v1/rows/{run}?since=0")).await.expect(200).json();
    assert!(shown.contains(&row["row"]["number"].as_u64().or(row["number"].as_u64()).unwrap()), "{row}");
}

/// Responses to a bound key, without what differs by chance: ids of runs, times, and disguised numbers.
async fn seen(client: &Client, own: &[String]) -> Vec<(String, Vec<(String, String)>, String)> {
    let shown = |text: &str| {
        let mut text = text.to_owned();
        for (number, run) in own.iter().enumerate() {
            text = text.replace(&**run, &format!("run {number}"));
        }
        let durations =
            text.split("\"durationMs\":").map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        let text = durations.collect::<Vec<_>>().join("duration ");
        // Times and disguised numbers have many digits, and counts few.
        let (mut plain, mut digits) = (String::new(), String::new());
        for char in text.chars().chain(['\n']) {
            if char.is_ascii_digit() || (!digits.is_empty() && "-:.TZ".contains(char)) {
                digits.push(char);
                continue;
            }
            plain += if digits.len() > 6 { "#" } else { &digits };
            digits.clear();
            plain.push(char);
        }
        plain
    };
    let mut paths: Vec<String> = Vec::new();
    for list in ["/v1/runs", "/v1/rows"] {
        for query in [
            "limit=1",
            "limit=2",
            "limit=3",
            "limit=4",
            "open",
            "phase=Succeeded",
            "phase=Failed",
            "label=team=data",
            "label=team=none",
            "text=w",
            "text=none",
            "text=w&limit=2",
            "since=1h&limit=3",
            "workflow=w&limit=3",
            "namespace=mine&limit=3",
            "namespace=theirs",
            "namespace=none",
            "cursor=1",
            "cursor=77777777",
        ] {
            paths.push(format!("{list}?{query}"));
        }
    }
    let others = ["/v1/schedules", "/v1/workflows", "/metrics", "/v1/runs/none", "/workflows", "/schedules"];
    paths.extend(others.map(str::to_owned));
    paths.extend(own.iter().map(|run| format!("/v1/runs/{run}")));
    let mut all = Vec::new();
    for path in paths {
        let mut next = Some(path.clone());
        while let Some(path) = next {
            let answer = client.get(&path).await;
            // The length is that of the body, in which disguised numbers have 19 digits or 20.
            let differs = ["date", "etag", "content-length"];
            let headers = answer.headers.iter().filter(|(name, _)| !differs.contains(&&**name));
            let headers = headers.map(|(name, value)| (name.clone(), shown(value))).collect();
            let length = answer.body.len();
            all.push((format!("{} {}", answer.status, shown(&path)), headers, shown(&answer.body)));
            assert!(all.len() < 1000, "{path}: {length}");
            let link = answer.header("link").filter(|link| link.contains("rel=\"next\""));
            next = link.map(|link| link.trim_start_matches('<').split('>').next().unwrap().to_owned());
            if path.starts_with("/v1/rows") {
                let cursor = answer.json()["next"].as_str().map(str::to_owned);
                let (list, query) = path.split_once('?').unwrap();
                let query: Vec<_> = query.split('&').filter(|part| !part.starts_with("cursor")).collect();
                next = cursor.map(|cursor| format!("{list}?{}&cursor={cursor}", query.join("&")));
            }
        }
    }
    all
}

/// R-A4, R-A11: what a bound key sees is the same, byte for byte, whether another tenant has runs or not.
#[tokio::test]
async fn a_bound_key_sees_the_same_without_the_runs_of_others() {
    let mut all = Vec::new();
    for others in [0, 5] {
        let world = World::in_file().await;
        let admin = world.key("root", Role::Admin, &[]);
        let bound = world.key("bound", Role::Read, &["mine", "also"]);
        let mut own = Vec::new();
        for namespace in ["mine", "also", "mine", "mine"] {
            for _ in 0..others {
                admin.post_yaml("/v1/runs?wait=30s", &workflow("theirs", &["ok"])).await.expect(200);
            }
            let run = admin.post_yaml("/v1/runs?wait=30s", &workflow(namespace, &["ok"])).await;
            own.push(run.expect(200).text("/runID"));
        }
        all.push(seen(&bound, &own).await);
    }
    let [alone, among] = all.try_into().unwrap();
    assert_eq!(alone.len(), among.len());
    for (alone, among) in alone.iter().zip(&among) {
        assert_eq!(alone, among);
    }
}

/// R-A11: a failure of the host is told in the log, and to keys that see everything.
#[tokio::test]
async fn a_failure_of_the_host_is_not_told_to_bound_keys() {
    let world =
        World::with(|builder| builder, |config| config.hidden_paths = vec!["/srv/secret/plugins".into()])
            .await;
    let _root = world.key("root", Role::Admin, &[]);
    let bound = world.key("bound", Role::Read, &["mine"]);
    bound.get("/v1/runs").await.expect(200);
    // The file of keys is damaged: its place on the host is not for callers that are not known.
    let keys = world.dir.path().join("keys");
    std::fs::write(&keys, "{").unwrap();
    let failed = bound.get("/v1/runs").await.expect(500);
    assert!(!failed.body.contains(&*world.dir.path().to_string_lossy()), "{failed:?}");
    assert!(failed.body.contains("its log says why"), "{failed:?}");
}

/// R-A2: U+0000 in any text of a request is refused, with its place.
#[tokio::test]
async fn texts_with_nul_are_refused_wherever_they_stand() {
    let world = World::new().await;
    let client = &world.client;
    let run = world.submit(&workflow("default", &["ask"])).await;
    let yaml = workflow("default", &["ok"]);
    let rows = [
        ("GET", "/v1/runs?namespace=a%00b".to_owned(), String::new(), "namespace"),
        ("GET", "/v1/runs?workflow=%00".to_owned(), String::new(), "workflow"),
        ("GET", "/v1/runs?label=a%3D%00".to_owned(), String::new(), "label"),
        ("GET", "/v1/runs?text=%00".to_owned(), String::new(), "text"),
        ("GET", "/v1/runs/a%00b".to_owned(), String::new(), "run"),
        ("GET", "/v1/workflows/default/a%00b".to_owned(), String::new(), "name"),
        ("GET", "/v1/schedules/a%00b/x".to_owned(), String::new(), "namespace"),
        ("POST", "/v1/runs?param.who=a%00b".to_owned(), yaml.clone(), "param.who"),
        ("POST", "/v1/runs".to_owned(), yaml.replace("team: data", "team: \"a\\0\""), "metadata.labels.team"),
        ("POST", "/v1/runs".to_owned(), yaml.replace("name: w,", "name: \"w\\0\","), "metadata.name"),
        (
            "POST",
            "/v1/validate".to_owned(),
            yaml.replace("world", "\"w\\x00\""),
            "spec.arguments.parameters[0].default",
        ),
        ("POST", "/v1/runs".to_owned(), "a: \u{0}".to_owned(), ""),
    ];
    for (method, path, body, place) in rows {
        let kind = [("content-type", "application/yaml")];
        let refused =
            client.send(method, &path, if body.is_empty() { &[] } else { &kind }, &body).await.expect(400);
        assert_eq!(refused.text("/problems/0/path"), place, "{path}: {}", refused.body);
        assert!(refused.text("/problems/0/message").contains("U+0000"), "{path}: {}", refused.body);
    }
    let answer = client
        .post_json(&format!("/v1/runs/{run}/tasks/t0/resume"), "{\"a\": [1, \"\\u0000\"]}")
        .await
        .expect(400);
    assert_eq!(answer.text("/problems/0/path"), "a[1]");
    let wrapped = "{\"document\": {\"apiVersion\": \"aether/v1\"}, \"parameters\": {\"who\": \"\\u0000\"}}";
    let answer = client.post_json("/v1/runs", wrapped).await.expect(400);
    assert_eq!(answer.text("/problems/0/path"), "parameters.who");
    let form = [("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(client.send("POST", "/login", &form, "key=a%00b").await.status, 400);
    assert_eq!(client.get("/runs?namespace=%00").await.status, 400);
}
