//! Submitting, looking, asking.

use serde_json::{Value, json};

use crate::{
    client::Answer,
    world::{World, workflow},
};

fn ids(answer: &Answer) -> Vec<String> {
    let runs = answer.json()["runs"].as_array().unwrap().clone();
    runs.iter().map(|run| run["runID"].as_str().unwrap().to_owned()).collect()
}

/// R-A1, R-A3.
#[tokio::test]
async fn a_run_is_submitted_and_waited_for() {
    let world = World::new().await;
    let client = &world.client;
    let document = workflow("default", &["ok"]);
    let answer = client.post_yaml("/v1/runs?param.who=5", &document).await.expect(202);
    assert_eq!(answer.json()["workflow"], "w");
    assert_eq!(answer.json()["isNew"], true);
    let location = answer.header("location").unwrap().to_owned();
    assert_eq!(location, format!("/v1/runs/{}", answer.text("/runID")));
    let run = client.get(&format!("{location}?wait=30s")).await.expect(200).json();
    assert_eq!(run["phase"], "Succeeded");
    // A string is declared: it is one, though it looks like a number.
    assert_eq!(run["parameters"], json!([{ "name": "who", "value": "5" }]));
    assert_eq!(run["tasks"].as_array().unwrap().len(), 2);
}

/// R-A3: a client that submits may wait for the end in the same request.
#[tokio::test]
async fn a_submission_is_answered_by_the_run_at_rest() {
    let world = World::new().await;
    let client = &world.client;
    let at = |answer: &Answer| answer.header("location").map(str::to_owned);
    let ended = client.post_yaml("/v1/runs?wait=30s", &workflow("default", &["ok"])).await.expect(200);
    assert_eq!(ended.text("/phase"), "Succeeded");
    let location = at(&ended).unwrap();
    assert_eq!(location, format!("/v1/runs/{}", ended.text("/runID")));
    assert_eq!(client.get(&location).await.expect(200).json(), ended.json());
    let parked = client.post_yaml("/v1/runs?wait=30s", &workflow("default", &["ask"])).await.expect(200);
    let tasks = parked.json()["tasks"].as_array().unwrap().clone();
    assert!(tasks.iter().any(|task| task["phase"] == "Suspended"), "{tasks:?}");
    let late = client.post_yaml("/v1/runs?wait=1ms", &workflow("default", &["block"])).await.expect(202);
    assert_eq!(at(&late), Some(format!("/v1/runs/{}", late.text("/runID"))));
    // Several submissions with one key all wait for the one run.
    let key = [("content-type", "application/yaml"), ("idempotency-key", "once")];
    let mut runs = Vec::new();
    for _ in 0..2 {
        let document = workflow("default", &["ok"]);
        let answer = client.send("POST", "/v1/runs?wait=30s", &key, &document).await.expect(200);
        runs.push((answer.text("/runID"), answer.text("/phase"), at(&answer)));
    }
    assert_eq!(runs[0], runs[1]);
}

/// R-A1: whatever a document comes in, it is the same run.
#[tokio::test]
async fn a_document_comes_as_json_or_yaml_with_parameters_or_without() {
    let world = World::new().await;
    let client = &world.client;
    let yaml = workflow("default", &["ok"]);
    let document = json!({ "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "w" }, "spec": {
        "entrypoint": "main", "arguments": { "parameters": [{ "name": "who", "type": "string", "default": "world" }] },
        "templates": [{ "task": { "name": "main", "executor": { "type": "ok" } } }] } });
    let bodies = [
        (document.to_string(), "world"),
        (json!({ "document": document }).to_string(), "world"),
        (json!({ "document": yaml, "parameters": { "who": "Ada" } }).to_string(), "Ada"),
        (json!({ "parameters": { "who": "Ada" }, "document": document }).to_string(), "Ada"),
    ];
    for (body, who) in bodies {
        let run = client.post_json("/v1/runs", &body).await.expect(202).text("/runID");
        let view = client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
        assert_eq!(
            (view.text("/phase").as_str(), view.text("/parameters/0/value").as_str()),
            ("Succeeded", who)
        );
    }
}

/// R-A2: every problem at once, with its place.
#[tokio::test]
async fn a_document_with_problems_is_told_all_of_them() {
    let world = World::new().await;
    let document = workflow("default", &["ok"]).replace("entrypoint: main", "entrypoint: mian\n  prority: 3");
    for path in ["/v1/runs", "/v1/validate"] {
        let answer = world.client.post_yaml(path, &document).await.expect(422);
        let problems = answer.json()["problems"].as_array().unwrap().clone();
        assert_eq!(problems.len(), 2, "{problems:?}");
        for problem in problems {
            for member in ["file", "code", "path", "line", "column", "value", "message", "hint"] {
                assert!(problem.get(member).is_some(), "{member}: {problem}");
            }
            assert!(problem["line"].as_u64().unwrap() > 0);
        }
    }
    let unknown =
        world.client.post_yaml("/v1/runs?param.none=1", &workflow("default", &["ok"])).await.expect(422);
    assert!(unknown.body.contains("none"), "{unknown:?}");
    let broken = world.client.post_json("/v1/runs", "{\"document\":").await.expect(422);
    assert_eq!(broken.json()["problems"][0]["line"], 1);
    // R-A2: the earlier name stands next to the new one.
    assert_eq!(broken.json()["errors"], broken.json()["problems"]);
    // R-A88: parameters by themselves are the body of another route.
    let bare = world.client.post_yaml("/v1/runs", "parameters: { who: Ada }\n").await.expect(422);
    assert!(bare.text("/detail").contains("`{\"document\": …, \"parameters\": {…}}`"), "{}", bare.json());
    assert_eq!(ids(&world.client.get("/v1/runs").await.expect(200)), Vec::<String>::new());
}

#[tokio::test]
async fn a_document_is_validated_without_running() {
    let world = World::new().await;
    let answer = world.client.post_yaml("/v1/validate", &workflow("default", &["ok"])).await.expect(200);
    assert_eq!(answer.json(), json!({ "errors": [], "problems": [], "warnings": [] }));
    assert_eq!(ids(&world.client.get("/v1/runs").await), Vec::<String>::new());
}

/// R-A1: one key, one run.
#[tokio::test]
async fn of_several_submissions_with_one_key_there_is_one_run() {
    let world = World::new().await;
    let submit = |key: &'static str, namespace: &'static str| {
        let client = world.client.clone();
        async move {
            let headers = [("content-type", "application/yaml"), ("idempotency-key", key)];
            client.send("POST", "/v1/runs", &headers, &workflow(namespace, &["ok"])).await.expect(202)
        }
    };
    let (first, second) = tokio::join!(submit("a", "default"), submit("a", "default"));
    assert_eq!(first.text("/runID"), second.text("/runID"));
    assert_ne!(first.json()["isNew"], second.json()["isNew"]);
    assert_eq!(first.header("location"), second.header("location"));
    assert_ne!(submit("b", "default").await.text("/runID"), first.text("/runID"));
    assert_ne!(submit("a", "other").await.text("/runID"), first.text("/runID"));
    assert_eq!(ids(&world.client.get("/v1/runs").await).len(), 3);
    let long = "x".repeat(256);
    for key in ["", &long, "\u{e9}"] {
        let headers = [("content-type", "application/yaml"), ("idempotency-key", key)];
        world.client.send("POST", "/v1/runs", &headers, &workflow("default", &["ok"])).await.expect(400);
    }
}

/// R-A104: a key belongs to the workflow and the parameters that it was first used with, for as long as the run is stored.
#[tokio::test]
async fn a_key_belongs_to_its_request() {
    for world in [World::new().await, World::in_file().await] {
        let client = &world.client;
        let send = async |query: &str, kind: &str, body: &str| {
            let headers = [("content-type", kind), ("idempotency-key", "k")];
            client.send("POST", &format!("/v1/runs?{query}"), &headers, body).await
        };
        let (yaml, json) = ("application/yaml", "application/json");
        let document = workflow("default", &["ok"]);
        let first = send("wait=30s", yaml, &document).await.expect(200).text("/runID");
        let same = [
            ("wait=30s", yaml, document.clone()),
            (
                "wait=30s",
                yaml,
                format!("# again\n{}", document.replace("kind: Workflow", "kind:   Workflow")),
            ),
            ("wait=30s&param.who=world", yaml, document.clone()),
            ("wait=30s", json, json!({ "document": document, "parameters": { "who": "world" } }).to_string()),
        ];
        for (query, kind, body) in same {
            let answer = send(query, kind, &body).await.expect(200);
            assert_eq!(answer.text("/runID"), first, "{query} {body}");
        }
        let ada = json!({ "document": document, "parameters": { "who": "Ada" } }).to_string();
        let other_file = workflow("default", &["fail"]);
        let other = [
            ("wait=30s", yaml, &other_file, "another workflow file"),
            ("", yaml, &other_file, "another workflow file"),
            ("wait=30s&param.who=Ada", yaml, &document, "other parameters: `who`"),
            ("wait=30s", json, &ada, "other parameters: `who`"),
        ];
        for (query, kind, body, why) in other {
            let detail = send(query, kind, body).await.expect(409).text("/detail");
            assert!(detail.contains(&first) && detail.contains(why) && !detail.contains("Ada"), "{detail}");
        }
        assert_eq!(ids(&client.get("/v1/runs").await), std::slice::from_ref(&first));
        assert!(world.host.store().delete(&first).await.unwrap());
        assert_ne!(send("wait=30s&param.who=Ada", yaml, &document).await.expect(200).text("/runID"), first);
    }
}

/// R-A104: a rerun and a trigger that are repeated under their key start one run; others under it are refused.
#[tokio::test]
async fn reruns_and_triggers_are_repeated_by_their_key() {
    for world in [World::new().await, World::in_file().await] {
        let client = &world.client;
        let run = client
            .post_yaml("/v1/runs?wait=30s", &workflow("data", &["ok"]))
            .await
            .expect(200)
            .text("/runID");
        let nightly = crate::saved::nightly("data", "nightly");
        let yaml = [("content-type", "application/yaml")];
        client.send("PUT", "/v1/schedules/data/nightly", &yaml, &nightly).await.expect(200);
        let schedule = "/v1/schedules/data/nightly/trigger";
        let rerun = format!("/v1/runs/{run}/rerun");
        let ada = r#"{"parameters": {"who": "Ada"}}"#;
        let cases = [
            (
                "a",
                rerun.as_str(),
                "",
                vec![(rerun.as_str(), ada), (rerun.as_str(), r#"{"fromFailed": true}"#)],
            ),
            ("b", schedule, "", vec![(schedule, r#"{"who": "Ada"}"#), (rerun.as_str(), "")]),
        ];
        for (key, path, body, others) in cases {
            let headers = [("content-type", "application/json"), ("idempotency-key", key)];
            let send = async |path: &str, body: &str| client.send("POST", path, &headers, body).await;
            let first = send(path, body).await.expect(202);
            let again = send(path, body).await.expect(202);
            assert_eq!(first.text("/runID"), again.text("/runID"), "{key}");
            assert_eq!((&first.json()["isNew"], &again.json()["isNew"]), (&json!(true), &json!(false)));
            for (path, body) in others {
                let detail = send(path, body).await.expect(409).text("/detail");
                assert!(detail.contains(&first.text("/runID")), "{key} {path} {body}: {detail}");
            }
        }
        assert_eq!(ids(&client.get("/v1/runs").await).len(), 3);
        let firings = client.get("/v1/schedules/data/nightly").await.expect(200).json()["firings"].clone();
        assert_eq!(firings.as_array().unwrap().len(), 1, "{firings}");
    }
}

/// R-A4: by pages, each run once.
#[tokio::test]
async fn runs_are_listed_by_pages() {
    for world in [World::new().await, World::in_file().await] {
        let client = &world.client;
        let mut submitted = Vec::new();
        for types in [["ok"], ["fail"], ["ask"], ["ok"], ["ok"]] {
            let run = world.submit(&workflow("default", &types)).await;
            client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
            submitted.insert(0, run);
        }
        assert_eq!(ids(&client.get("/v1/runs").await.expect(200)), submitted);
        let (mut found, mut path) = (Vec::new(), "/v1/runs?limit=2".to_owned());
        loop {
            let page = client.get(&path).await.expect(200);
            found.extend(ids(&page));
            let next = page.json()["next"].clone();
            match page.header("link") {
                Some(link) => path = link.strip_prefix('<').unwrap().split_once('>').unwrap().0.to_owned(),
                None => break assert_eq!(next, Value::Null),
            }
        }
        assert_eq!(found, submitted);
        for (query, expected) in [
            ("phase=Failed", &submitted[3..4]),
            ("phase=succeeded&limit=9", &[submitted[0].clone(), submitted[1].clone(), submitted[4].clone()]),
            ("open", &submitted[2..3]),
            ("open=true&phase=Failed", &[]),
            ("workflow=other", &[]),
            ("workflow=w&label=team%3Ddata&since=1h&namespace=default", &submitted),
            ("label=team=other", &[]),
            ("namespace=other", &[]),
            ("since=2999-01-01", &[]),
            (&format!("text={}", &submitted[1][20..].to_uppercase()), &submitted[1..2]),
            ("text=DATA", &submitted),
        ] {
            assert_eq!(ids(&client.get(&format!("/v1/runs?{query}")).await.expect(200)), expected, "{query}");
        }
    }
}

/// R-A6: every fault of a request at once.
#[tokio::test]
async fn every_fault_of_a_query_is_told() {
    let world = World::new().await;
    let answer =
        world.client.get("/v1/runs?phase=No&limit=0&limit=7&open=x&what=1&since=yesterday").await.expect(400);
    let problems = answer.json()["problems"].as_array().unwrap().clone();
    let mut paths: Vec<_> = problems.iter().map(|problem| problem["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["limit", "limit", "open", "phase", "since", "what"]);
}

/// R-A3: the view is the command's, by pages of task runs, and has a tag.
#[tokio::test]
async fn a_view_has_pages_and_a_tag() {
    let world = World::new().await;
    let client = &world.client;
    let run = world.submit(&workflow("default", &["ok"; 7])).await;
    let whole = client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let view = phasm::RunView::of(&world.host.replay(&run).await.unwrap());
    assert_eq!(
        whole.json(),
        serde_json::to_value(phasm::notify::StoredRunView::of(&view, None, None)).unwrap()
    );
    let tag = whole.header("etag").unwrap().to_owned();
    for known in [tag.clone(), format!("W/{tag}, \"x\""), "*".to_owned()] {
        let answer = client.send("GET", &format!("/v1/runs/{run}"), &[("if-none-match", &known)], "").await;
        assert_eq!(
            (answer.status, answer.body.as_str(), answer.header("etag")),
            (304, "", Some(tag.as_str()))
        );
    }
    let (mut tasks, mut path) = (Vec::new(), format!("/v1/runs/{run}?tasks=3"));
    loop {
        let page = client.get(&path).await.expect(200);
        assert_ne!(page.header("etag"), Some(tag.as_str()));
        assert_eq!(page.json()["progress"], "7/7");
        tasks.extend(page.json()["tasks"].as_array().unwrap().clone());
        let Some(link) = page.header("link") else { break };
        path = link.strip_prefix('<').unwrap().split_once('>').unwrap().0.to_owned();
    }
    assert_eq!(whole.json()["tasks"], Value::from(tasks));
}

/// R-A106: a response that the executor refuses is no success, also for a client that does not ask to wait.
#[tokio::test]
async fn a_response_that_the_task_refuses_is_refused() {
    let world = World::new().await;
    let client = &world.client;
    let run = world.submit(&workflow("default", &["gate"])).await;
    client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let at = format!("/v1/runs/{run}/tasks/t0/resume");
    let refused = client.post_json(&at, "{}").await.expect(422).text("/detail");
    assert!(refused.starts_with("the response was refused: not by"), "{refused}");
    assert!(refused.ends_with("; the task still waits"), "{refused}");
    client.post_json(&format!("{at}?wait=0s"), "{}").await.expect(200);
}

/// R-A5, R-A110.
#[tokio::test]
async fn a_suspended_task_is_answered() {
    let world = World::new().await;
    let client = &world.client;
    let run = world.submit(&workflow("default", &["ask", "ok"])).await;
    let parked = client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    assert_eq!(parked.json()["tasks"][1]["phase"], "Suspended");
    assert_eq!((&parked.json()["status"], parked.json().get("host")), (&"suspended".into(), None));
    let at = |task: &str, verb: &str| format!("/v1/runs/{run}/tasks/{task}/{verb}");
    client.post_json(&at("none", "resume"), "{}").await.expect(404);
    client.post_json(&at("t0", "resume"), "[]").await.expect(400);
    client.post_json(&at("t0", "resume"), "{").await.expect(400);
    client.post_yaml(&at("t0", "resume"), "a: 1").await.expect(415);
    client.post_json(&at("main%2Ft0", "resume"), "{\"approved\": true}").await.expect(200);
    let ended = client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    assert_eq!(ended.json()["phase"], "Succeeded");
    assert_eq!(ended.json()["status"], "ended");
    client.post(&at("t0", "resume")).await.expect(409);
    let task = client.get(&format!("/v1/runs/{run}/tasks/main%2Ft0")).await.expect(200);
    assert_eq!(task.json(), ended.json()["tasks"][1]);
    client.get(&format!("/v1/runs/{run}/tasks/none")).await.expect(404);
}

/// R-A5.
#[tokio::test]
async fn a_run_and_a_task_are_cancelled() {
    let world = World::new().await;
    let client = &world.client;
    let run = world.submit(&workflow("default", &["block"])).await;
    let cancelled = client.post(&format!("/v1/runs/{run}/cancel")).await.expect(200);
    assert_eq!(cancelled.json()["runID"], run.as_str());
    let ended = client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    assert_eq!(ended.json()["phase"], "Cancelled");
    client.post(&format!("/v1/runs/{run}/cancel")).await.expect(409);
    client.post(&format!("/v1/runs/{run}/tasks/t0/cancel")).await.expect(409);
    let run = world.submit(&workflow("default", &["ask"])).await;
    client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    client.post(&format!("/v1/runs/{run}/tasks/t0/cancel")).await.expect(200);
    client.post(&format!("/v1/runs/{run}/tasks/none/cancel")).await.expect(404);
    client.post("/v1/runs/none/cancel").await.expect(404);
}

/// R-A5.
#[tokio::test]
async fn a_run_is_run_again() {
    let world = World::new().await;
    let client = &world.client;
    let run = world.submit(&workflow("default", &["ok", "fail"])).await;
    client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let path = format!("/v1/runs/{run}/rerun");
    let again = client
        .post_json(&path, "{\"fromFailed\": true, \"parameters\": {\"who\": \"Ada\"}}")
        .await
        .expect(202);
    let view = client.get(&format!("{}?wait=30s", again.header("location").unwrap())).await.expect(200);
    assert_eq!((view.text("/rerunOf"), view.text("/parameters/0/value")), (run.clone(), "Ada".into()));
    client.post(&path).await.expect(202);
    client.post_json(&path, "{\"fromfailed\": true}").await.expect(400);
    client.post_json(&path, "{\"parameters\": {\"none\": 1}}").await.expect(422);
    let open = world.submit(&workflow("default", &["block"])).await;
    client.post(&format!("/v1/runs/{open}/rerun")).await.expect(409);
}

/// R-A9.
#[tokio::test]
async fn what_attempts_wrote_is_shown() {
    let world = World::in_file().await;
    let client = &world.client;
    let run = world.submit(&workflow("default", &["talk", "ok", "talk"])).await;
    client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let logs = client.get(&format!("/v1/runs/{run}/logs")).await.expect(200).json();
    assert_eq!(logs["logs"].as_array().unwrap().len(), 2);
    assert_eq!(logs["logs"][1]["task"], "main/t2");
    assert_eq!(logs["logs"][1]["lines"][2], json!({ "level": "info", "text": "line 2" }));
    let one = client.get(&format!("/v1/runs/{run}/logs?task=main%2Ft0&attempt=1")).await.expect(200).json();
    assert_eq!(one["logs"], json!([logs["logs"][0]]));
    client.get(&format!("/v1/runs/{run}/logs?task=none")).await.expect(404);
}

#[tokio::test]
async fn what_is_not_there_is_told_so() {
    let world = World::new().await;
    for path in
        ["/v1", "/v1/runs/none", "/v1/runs/none/events", "/v1/runs/none/logs", "/v1/runs/none/tasks/a"]
    {
        world.client.get(path).await.expect(404);
    }
    let answer = world.client.send("DELETE", "/v1/runs", &[], "").await.expect(405);
    assert!(answer.header("allow").unwrap().contains("POST"));
    world.client.send("POST", "/v1/runs", &[], "x").await.expect(415);
    world.client.send("POST", "/v1/runs", &[("content-type", "text/plain")], "x").await.expect(415);
}

/// R-A15.
#[tokio::test]
async fn the_server_says_how_it_is() {
    let world = World::new().await;
    world.client.get("/healthz").await.expect(200);
    world.client.get("/readyz").await.expect(200);
    let run = world.submit(&workflow("default", &["ok"])).await;
    world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let metrics = world.client.get("/metrics").await.expect(200);
    assert!(metrics.body.contains("phasm_runs_submitted_total 1\n"), "{}", metrics.body);
    assert!(metrics.body.ends_with("# EOF\n"));
}

/// R-A31.
#[tokio::test]
async fn a_run_is_a_picture() {
    let world = World::new().await;
    let run = world.submit(&workflow("default", &["ok", "fail"])).await;
    world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    for (query, says) in [("", "t0"), ("?timeline", "t1")] {
        let answer = world.client.get(&format!("/v1/runs/{run}/graph.svg{query}")).await.expect(200);
        assert_eq!(answer.header("content-type"), Some("image/svg+xml"));
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'unsafe-inline'"), "{policy}");
        let picture = &answer.body;
        assert!(
            picture.starts_with("<svg") && picture.contains(says) && picture.contains("<style"),
            "{picture}"
        );
        assert!(!picture.contains("<script") && !picture.contains("href"), "{picture}");
    }
}

/// R-W20: a number that would become another one is refused, in a parameter and in a response to a task.
#[tokio::test]
async fn numbers_are_kept_or_refused() {
    let world = World::new().await;
    let client = &world.client;
    let document = workflow("default", &["ask"]).replace("type: string, ", "");
    for number in ["18446744073709551616", "9007199254740993.0", "%7B%22id%22:1e400%7D"] {
        let refused = client.post_yaml(&format!("/v1/runs?param.who={number}"), &document).await.expect(422);
        assert_eq!(refused.text("/problems/0/code"), "P005", "{number}");
    }
    let run = client.post_yaml("/v1/runs?wait=30s", &document).await.expect(200).text("/runID");
    let json = [("content-type", "application/json")];
    let path = format!("/v1/runs/{run}/tasks/t0/resume");
    let refused = client.send("POST", &path, &json, "{\"approved\": 18446744073709551616}").await;
    assert!([400, 422].contains(&refused.status), "{}", refused.json());
    let view = client.get(&format!("/v1/runs/{run}")).await.expect(200).json();
    assert!(view["tasks"].as_array().unwrap().iter().any(|task| task["phase"] == "Suspended"), "{view}");
}

/// R-H29: once the file of the store is gone, nothing is acknowledged, and the refusal says why.
#[tokio::test]
async fn nothing_is_acknowledged_without_the_file() {
    let world = World::in_file().await;
    let at = |name: &str| world.dir.path().join(name);
    std::fs::rename(at("runs.db"), at("moved.db")).unwrap();
    let document = workflow("default", &["ok"]);
    let refused =
        world.client.send("POST", "/v1/runs", &[("content-type", "application/yaml")], &document).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.body.contains("gone") && refused.body.contains("deleted or moved"), "{refused:?}");
}

/// R-A2, R-L71: `strict` refuses what the command's `--strict` refuses, and nothing else.
#[tokio::test]
async fn a_strict_check_takes_warnings_for_errors() {
    let world = World::new().await;
    let client = &world.client;
    let sound = workflow("default", &["ok"]);
    // A bound of a delay that does not grow has no effect.
    let doubtful = sound.replace(
        "executor: { type: ok }",
        "executor: { type: ok }, retry: { limit: 2, delay: 1s, maxDelay: 5s }",
    );
    for (document, path, status) in [
        (&sound, "/v1/validate?strict", 200),
        (&doubtful, "/v1/validate", 200),
        (&doubtful, "/v1/validate?strict=false", 200),
        (&doubtful, "/v1/validate?strict", 422),
    ] {
        let answer = client.post_yaml(path, document).await.expect(status).json();
        let listed = if status == 422 { &answer["problems"] } else { &answer["warnings"] };
        assert_eq!(listed.as_array().unwrap().len(), usize::from(document == &doubtful), "{path} {answer}");
    }
}
