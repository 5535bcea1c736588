//! Keys, roles and namespaces.

use std::net::SocketAddr;

use phasm_server::{
    Server, ServerConfig, ServerError,
    keys::{KeyFile, Role},
};

use crate::{
    client::Client,
    world::{World, submit, workflow},
};

/// R-A10.
#[tokio::test]
async fn from_the_first_key_on_one_is_asked_for() {
    let world = World::new().await;
    world.client.get("/v1/runs").await.expect(200);
    let key = world.key("ci", Role::Read, &[]);
    key.get("/v1/runs").await.expect(200);
    let refused = world.client.get("/v1/runs").await.expect(401);
    assert_eq!(refused.header("www-authenticate"), Some("Bearer realm=\"phasm\""));
    let text = key.key.clone().unwrap();
    let schemes =
        [format!("Basic {text}"), text.clone(), format!("Bearer {text}x"), "Bearer ".into(), String::new()];
    for given in schemes {
        world.client.send("GET", "/v1/runs", &[("authorization", &given)], "").await.expect(401);
    }
    for open in ["/healthz", "/readyz", "/v1/openapi.json", "/v1/docs"] {
        world.client.get(open).await.expect(200);
    }
    // The last key was removed, and the server is on loopback: no key is required.
    KeyFile::at(world.dir.path().join("keys")).remove("ci").unwrap();
    world.client.get("/v1/runs").await.expect(200);
}

/// R-A10: each role does what those before it do, and no more.
#[tokio::test]
async fn a_role_does_what_it_may() {
    let world = World::new().await;
    let (read, run, admin) =
        (world.key("r", Role::Read, &[]), world.key("u", Role::Run, &[]), world.key("a", Role::Admin, &[]));
    let document = workflow("default", &["ask"]);
    let refused = read.post_yaml("/v1/runs", &document).await.expect(403);
    assert!(refused.text("/detail").contains("`run`"));
    read.post_yaml("/v1/validate", &document).await.expect(200);
    let submitted = submit(&run, &document).await;
    for client in [&read, &run, &admin] {
        client.get(&format!("/v1/runs/{submitted}")).await.expect(200);
    }
    for verb in ["cancel", "rerun", "tasks/t0/cancel", "tasks/t0/resume"] {
        read.post(&format!("/v1/runs/{submitted}/{verb}")).await.expect(403);
    }
    let approve = world.key("p", Role::Approve, &[]);
    approve.get(&format!("/v1/runs/{submitted}")).await.expect(200);
    approve.post_yaml("/v1/validate", &document).await.expect(200);
    approve.post_yaml("/v1/runs", &document).await.expect(403);
    for verb in ["cancel", "rerun", "tasks/t0/cancel"] {
        approve.post(&format!("/v1/runs/{submitted}/{verb}")).await.expect(403);
    }
    for path in ["/v1/plugins/a/1.0.0", "/v1/workflows/default/w", "/v1/schedules/default/w"] {
        approve.send("DELETE", path, &[], "").await.expect(403);
    }
    approve.post(&format!("/v1/runs/{submitted}/tasks/t0/resume")).await.expect(200);
    let submitted = submit(&run, &document).await;
    admin.post(&format!("/v1/runs/{submitted}/cancel")).await.expect(200);
}

async fn everything(client: &Client, run: &str) -> Vec<String> {
    let mut all = Vec::new();
    for path in ["", "?wait=1s", "/events", "/logs", "/tasks/t0"] {
        let answer = client.get(&format!("/v1/runs/{run}{path}")).await;
        all.push(format!("{} {}", answer.status, answer.body.replace(run, "RUN")));
    }
    for query in ["", "?since=0", "?logs", "?wait=1s&since=0"] {
        let answer = client.get(&format!("/v1/rows/{run}{query}")).await;
        all.push(format!("{} {}", answer.status, answer.body.replace(run, "RUN")));
    }
    for verb in ["cancel", "rerun", "tasks/t0/cancel", "tasks/t0/resume"] {
        let answer = client.post(&format!("/v1/runs/{run}/{verb}")).await;
        all.push(format!("{} {}", answer.status, answer.body.replace(run, "RUN")));
    }
    let stream = client.stream(&format!("/v1/runs/{run}/events"), None).await.status;
    all.push(stream.to_string());
    all
}

/// R-A11: what is another's is told to the letter as what does not exist.
#[tokio::test]
async fn what_is_in_another_namespace_does_not_exist() {
    let world = World::new().await;
    let (a, b) =
        (world.key("a", Role::Admin, &["a", "shared"]), world.key("b", Role::Admin, &["b", "shared"]));
    let (of_a, of_b) =
        (submit(&a, &workflow("a", &["ask"])).await, submit(&b, &workflow("b", &["ask"])).await);
    let shared = submit(&b, &workflow("shared", &["ask"])).await;
    let nothing = everything(&a, "0197-not-there").await;
    assert!(nothing.iter().all(|answer| answer.starts_with("404")), "{nothing:?}");
    assert_eq!(everything(&a, &of_b).await, nothing);
    assert_eq!(everything(&b, &of_a).await, nothing);
    a.get(&format!("/v1/runs/{shared}")).await.expect(200);
    for (client, own, other) in [(&a, &of_a, &of_b), (&b, &of_b, &of_a)] {
        for query in [
            "",
            "?text=w",
            "?open",
            "?namespace=a",
            "?namespace=b",
            "?label=team=data",
            "?workflow=w&limit=1",
        ] {
            let mut path = format!("/v1/runs{query}");
            loop {
                let page = client.get(&path).await.expect(200);
                assert!(!page.body.contains(other.as_str()), "{query}: {page:?}");
                let Some(link) = page.header("link") else { break };
                path = link.strip_prefix('<').unwrap().split_once('>').unwrap().0.to_owned();
            }
        }
        let rows = client.get("/v1/rows").await.expect(200);
        assert!(rows.body.contains(own.as_str()) && !rows.body.contains(other.as_str()), "{rows:?}");
        let all = client.get("/v1/runs").await.expect(200);
        assert!(all.body.contains(own.as_str()) && all.body.contains(&shared), "{all:?}");
        client.get("/metrics").await.expect(403);
    }
    // Nothing is submitted, looked at or found out there either.
    a.post_yaml("/v1/runs", &workflow("b", &["ok"])).await.expect(403);
    a.post_yaml("/v1/validate", &workflow("b", &["ok"])).await.expect(403);
    a.post_yaml("/v1/runs", &workflow("default", &["ok"])).await.expect(403);
    // One key of a submission in two namespaces is two submissions.
    let with_key = |client: Client, namespace: &'static str| async move {
        let headers = [("content-type", "application/yaml"), ("idempotency-key", "k")];
        client
            .send("POST", "/v1/runs", &headers, &workflow(namespace, &["ok"]))
            .await
            .expect(202)
            .text("/runID")
    };
    assert_ne!(with_key(a.clone(), "a").await, with_key(b.clone(), "b").await);
}

/// R-A10: without keys only this machine can reach the server, and if all are removed no request is let in.
#[tokio::test]
async fn without_a_key_only_this_machine_reaches_it() {
    let world = World::new().await;
    let keys = world.dir.path().join("other.keys");
    let config = ServerConfig { keys: Some(keys.clone()), ..ServerConfig::default() };
    let server = Server::new(world.host.clone(), config).unwrap();
    let everywhere: SocketAddr = "0.0.0.0:0".parse().unwrap();
    let refused = server.listen(everywhere).await.unwrap_err();
    assert!(matches!(refused, ServerError::Exposed { .. }) && refused.to_string().contains("phasm key add"));
    let (key, text) = phasm_server::keys::Key::make("k", Role::Read, Vec::new()).unwrap();
    KeyFile::at(keys.clone()).add(key).unwrap();
    let listener = server.listen(everywhere).await.unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], listener.local_addr().unwrap().port()));
    let serving = tokio::spawn(async move { server.serve(listener, std::future::pending()).await });
    let client = Client { address, key: Some(text) };
    client.get("/v1/runs").await.expect(200);
    KeyFile::at(keys.clone()).remove("k").unwrap();
    client.get("/v1/runs").await.expect(401);
    std::fs::remove_file(&keys).unwrap();
    client.get("/v1/runs").await.expect(401);
    serving.abort();
}

/// R-A14.
#[tokio::test]
async fn it_is_written_down_who_did_what() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("audit.log");
    let audit = file.clone();
    let world = World::with(|builder| builder, move |config| config.audit = Some(audit)).await;
    let (ci, look) = (world.key("ci", Role::Run, &[]), world.key("look", Role::Read, &[]));
    let document = workflow("default", &["ask"]);
    let run = ci.post_yaml("/v1/runs?param.who=sesame", &document).await.expect(202).text("/runID");
    look.get("/v1/runs").await.expect(200);
    look.post(&format!("/v1/runs/{run}/cancel")).await.expect(403);
    ci.post_json(&format!("/v1/runs/{run}/tasks/t0/resume"), "{\"word\": \"sesame\"}").await;
    world.client.get("/v1/runs").await.expect(401);
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = lines
        .iter()
        .map(|line| {
            format!("{} {} {} {}", line["key"], line["role"], line["method"], line["status"]).replace('"', "")
        })
        .collect();
    assert_eq!(told[..2], ["ci run POST 202", "look read POST 403"]);
    assert_eq!(told[3..], ["? null GET 401"]);
    assert!(told[2].starts_with("ci run POST "));
    assert!(!text.contains("sesame") && !text.contains("phasm_"), "{text}");
    assert!(lines[1]["path"].as_str().unwrap().contains(&run));
}

/// R-S15: a run says who submitted it, who answered and who cancelled it, by the names of keys and by nothing that a client sends.
#[tokio::test]
async fn a_run_says_who_did_what() {
    let world = World::new().await;
    let (ada, bob) = (world.key("ada", Role::Run, &[]), world.key("bob", Role::Approve, &[]));
    let document = workflow("default", &["gate", "ask"]);
    let run = submit(&ada, &document).await;
    let at = |verb: &str| format!("/v1/runs/{run}/{verb}");
    let forged = r#"{"by": "bob", "resumedBy": "bob", "phasm.resumedBy": "bob"}"#;
    let refused = ada.post_json(&at("tasks/t0/resume?wait=60s"), forged).await.expect(422);
    assert_eq!(refused.text("/detail"), "the response was refused: not by \"ada\"; the task still waits");
    let task = bob.get(&at("tasks/t0")).await.expect(200).json();
    assert_eq!(
        (&task["refusedBy"], task.get("resumedBy"), &task["phase"]),
        (&"ada".into(), None, &"Suspended".into())
    );
    bob.post(&at("tasks/t0/resume?wait=60s")).await.expect(200);
    let task = bob.get(&at("tasks/t0")).await.expect(200).json();
    assert_eq!((&task["resumedBy"], &task["phase"]), (&"bob".into(), &"Succeeded".into()));
    assert!(task["resumedAt"].is_string() && task.get("refusedBy").is_none());
    ada.post(&at("cancel")).await.expect(200);
    let view = ada.get(&format!("/v1/runs/{run}")).await.expect(200).json();
    assert_eq!((&view["submittedBy"], &view["cancelledBy"]), (&"ada".into(), &"ada".into()));
    let events = ada.get(&at("events")).await.expect(200).json();
    let by = |kind: &str| -> Vec<String> {
        let of_kind = events["events"].as_array().unwrap().iter().filter(|event| event["type"] == kind);
        of_kind.filter_map(|event| Some(event["data"]["by"].as_str()?.to_owned())).collect()
    };
    assert_eq!(by("task.resumed"), ["ada", "bob"]);
    assert_eq!((by("run.submitted"), by("run.cancel.requested")), (vec!["ada".into()], vec!["ada".into()]));
    assert_eq!(by("task.phase"), ["ada"], "the refusal");
    let again = bob.post(&at("rerun")).await;
    again.expect(403);
    let again = ada.post(&at("rerun")).await.expect(202).text("/runID");
    assert_eq!(ada.get(&format!("/v1/runs/{again}")).await.expect(200).json()["submittedBy"], "ada");
}

/// R-S15: a server that asks for no key knows no callers, and a key cannot be called as another kind of caller.
#[tokio::test]
async fn names_that_prove_nothing_are_not_passed_off_as_keys() {
    let world = World::new().await;
    let document = workflow("default", &["gate"]);
    let run = world.submit(&document).await;
    let refused = world.client.post(&format!("/v1/runs/{run}/tasks/t0/resume?wait=60s")).await.expect(422);
    assert!(refused.text("/detail").contains("not by null"), "{}", refused.text("/detail"));
    assert_eq!(world.client.get(&format!("/v1/runs/{run}")).await.json().get("submittedBy"), None);
    let local = world.key("local:root", Role::Admin, &[]);
    let run = submit(&local, &document).await;
    assert_eq!(local.get(&format!("/v1/runs/{run}")).await.json()["submittedBy"], "key:local:root");
}
