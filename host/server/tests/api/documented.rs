//! The document of the API says what the server does: each answer that it has is had here, and no other is.

use std::collections::BTreeSet;

use phasm::{Map, Quotas, Tenant, TriggerRequest, artifacts::ArtifactLimits, catalog::WrittenDocument};
use phasm_server::keys::Role;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;

use crate::{
    client::{Answer, Client, EventSource},
    validator::Validator,
    world::{World, submit, workflow},
};

/// The document, and what of it was seen.
struct Document {
    whole: Value,
    seen: BTreeSet<(String, u16)>,
}

impl Document {
    /// Each operation: its id, method and path.
    fn operations(&self) -> Vec<(String, String, String)> {
        let paths = self.whole["paths"].as_object().unwrap();
        let each = paths.iter().flat_map(|(path, verbs)| {
            let verbs = verbs.as_object().unwrap().iter();
            verbs.map(|(verb, operation)| {
                (operation["operationId"].as_str().unwrap().to_owned(), verb.to_uppercase(), path.clone())
            })
        });
        each.collect()
    }

    fn operation(&self, id: &str) -> &Value {
        let (_, verb, path) = self.operations().into_iter().find(|(one, ..)| one == id).unwrap();
        &self.whole["paths"][&path][verb.to_lowercase()]
    }

    /// Whether the answer is one that the document has.
    fn see(&mut self, id: &str, status: u16, kind: Option<&str>) {
        let response = &self.operation(id)["responses"][status.to_string()];
        assert!(response.is_object(), "{id} answers {status}");
        let kind = kind.map(|kind| kind.split(';').next().unwrap());
        let kinds =
            response["content"].as_object().map(|kinds| kinds.keys().map(String::as_str).collect::<Vec<_>>());
        assert!(
            kinds.unwrap_or_default().contains(&kind.unwrap_or_default()) || response["content"].is_null(),
            "{id} {status} {kind:?}"
        );
        self.seen.insert((id.to_owned(), status));
    }

    fn saw(&mut self, id: &str, status: u16, answer: Answer) -> Answer {
        let answer = answer.expect(status);
        let kind = answer.header("content-type");
        self.see(id, status, kind);
        self.has_all(id, &answer);
        if let Some(kind) = kind.filter(|kind| kind.ends_with("json")) {
            let schema = &self.operation(id)["responses"][status.to_string()]["content"][kind]["schema"];
            let schema = json!({ "allOf": [schema], "components": self.whole["components"] });
            assert!(Validator::new(schema).accepts(&answer.json()), "{id} {status}: {}", answer.body);
        }
        answer
    }

    /// The headers that the document promises.
    fn has_all(&self, id: &str, answer: &Answer) {
        let headers = &self.operation(id)["responses"][answer.status.to_string()]["headers"];
        for (name, header) in headers.as_object().into_iter().flatten() {
            let said = answer.header(&name.to_lowercase());
            assert!(
                said.is_some() || header["required"] == false || header["required"].is_null(),
                "{id} {name}"
            );
        }
    }

    fn followed(&mut self, id: &str, status: u16, source: &EventSource) {
        assert_eq!(source.status, status);
        self.see(id, status, if status == 200 { Some("text/event-stream") } else { None });
    }

    fn all(&self) -> BTreeSet<(String, u16)> {
        let each = self.operations().into_iter().flat_map(|(id, ..)| {
            let statuses = self.operation(&id)["responses"].as_object().unwrap().keys();
            statuses.filter_map(|status| Some((id.clone(), status.parse().ok()?))).collect::<Vec<_>>()
        });
        each.collect()
    }
}

async fn slow(client: &Client, verb: &str, path: &str) -> Answer {
    let headers = [("content-type", "application/json"), ("content-length", "100")];
    let mut stream = client.begin(verb, path, &headers, "").await;
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap();
    let (head, body) = said.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let kind = head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap();
    Answer { status, headers: vec![("content-type".into(), kind.into())], body: body.to_owned() }
}

/// R-A16.
#[tokio::test]
async fn every_answer_of_the_document_is_one_of_the_servers() {
    let few =
        Tenant { quotas: Quotas { runs_per_minute: Some(1), ..Quotas::default() }, ..Tenant::default() };
    let world = World::with(
        |builder| builder.tenant("few", few).artifact_limits(ARTIFACTS),
        |config| {
            config.limits.body = 2000;
            config.limits.body_time = std::time::Duration::from_millis(200);
            config.limits.streams = 1;
        },
    )
    .await;
    let client = world.key("admin", Role::Admin, &[]);
    let whole = client.get("/v1/openapi.json").await.expect(200).json();
    assert_eq!(whole["openapi"], "3.1.0");
    let mut document = Document { whole, seen: BTreeSet::new() };

    // Responses that all routes have.
    let parked = submit(&client, &workflow("default", &["ask"])).await;
    client.get(&format!("/v1/runs/{parked}?wait=30s")).await.expect(200);
    what_all_have(&mut document, &world, &client, &parked).await;
    what_greedy_keys_get(&mut document).await;
    // Responses of each route.
    let run = document
        .saw("submitRun", 202, client.post_yaml("/v1/runs", &workflow("default", &["talk"])).await)
        .text("/runID");
    let submitted = client.post_yaml("/v1/runs?wait=30s", &workflow("default", &["ok"])).await;
    let submitted = document.saw("submitRun", 200, submitted).text("/runID");
    let asking = "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: w, namespace: default }\nspec:\n  entrypoint: t0\n  \
        templates:\n    - task: { name: t0, inputs: { parameters: [{ name: who, value: 1 }] }, executor: { type: ok } }\n";
    let asking = client.post_yaml("/v1/runs?wait=30s", asking).await.expect(200).text("/runID");
    let key = [("content-type", "application/yaml"), ("idempotency-key", "taken")];
    client.send("POST", "/v1/runs", &key, &workflow("default", &["ok"])).await.expect(202);
    let other = client.send("POST", "/v1/runs", &key, &workflow("default", &["talk"])).await;
    document.saw("submitRun", 409, other);
    document.saw("submitRun", 422, client.post_yaml("/v1/runs", "a: 1").await);
    let of_few = submit(&client, &workflow("few", &["ok"])).await;
    document.saw("submitRun", 429, client.post_yaml("/v1/runs", &workflow("few", &["ok"])).await);
    document.saw("listRuns", 200, client.get("/v1/runs").await);
    let view = document.saw("getRun", 200, client.get(&format!("/v1/runs/{run}?wait=30s")).await);
    let known = [("if-none-match", view.header("etag").unwrap())];
    document.saw("getRun", 304, client.send("GET", &format!("/v1/runs/{run}"), &known, "").await);
    what_is_streamed(&mut document, (&world, &client), (&run, &parked)).await;
    document.saw("getTask", 200, client.get(&format!("/v1/runs/{run}/tasks/t0")).await);
    document.saw(
        "validateDocument",
        200,
        client.post_yaml("/v1/validate", &workflow("default", &["ok"])).await,
    );
    document.saw("validateDocument", 422, client.post_yaml("/v1/validate", "a: 1").await);
    document.saw("resumeTask", 200, client.post(&format!("/v1/runs/{parked}/tasks/t0/resume")).await);
    let gate = submit(&client, &workflow("default", &["gate"])).await;
    let refused = client.post(&format!("/v1/runs/{gate}/tasks/t0/resume?wait=60s")).await;
    document.saw("resumeTask", 422, refused);
    client.get(&format!("/v1/runs/{parked}?wait=30s")).await.expect(200);
    what_is_asked(&mut document, &client, [&run, &parked, &of_few]).await;
    what_is_kept(&mut document, &world, &client).await;
    what_files_are_stored(&mut document, &client).await;
    crate::plugins::what_plugins_answer(|id, status, answer| drop(document.saw(id, status, answer))).await;
    document.saw("makeTicket", 200, client.post("/v1/tickets").await);
    for (id, path) in [
        ("getGraph", format!("/v1/runs/{run}/graph.svg").as_str()),
        ("getWorkflowBadge", "/v1/workflows/w/badge.svg"),
        ("getScheduleBadge", "/v1/schedules/nightly/badge.svg"),
        ("getParameter", &format!("/v1/runs/{run}/parameters/who")),
        ("getInput", &format!("/v1/runs/{asking}/tasks/t0/inputs/who")),
        ("getOutput", &format!("/v1/runs/{submitted}/tasks/t0/outputs/said")),
        ("getNotices", &format!("/v1/runs/{run}/notices")),
        ("listRows", "/v1/rows"),
        ("getRow", &format!("/v1/rows/{run}")),
        ("listPlugins", "/v1/plugins"),
        ("getOpenAPI", "/v1/openapi.json"),
        ("getDocs", "/v1/docs"),
        ("getHealth", "/healthz"),
        ("getReadiness", "/readyz"),
        ("getMetrics", "/metrics"),
    ] {
        document.saw(id, 200, client.get(path).await);
    }
    for (id, path) in [
        ("getWorkflowBadge", "/v1/workflows/w/badge.svg"),
        ("getScheduleBadge", "/v1/schedules/nightly/badge.svg"),
    ] {
        document.saw(id, 304, client.send("GET", path, &[("if-none-match", "*")], "").await);
    }
    let unseen: Vec<_> = document.all().difference(&document.seen).cloned().collect();
    assert!(unseen.is_empty(), "in the document, and never answered: {unseen:?}");
}

/// Room for two files of a thousand bytes.
const ARTIFACTS: ArtifactLimits =
    ArtifactLimits { attempt_bytes: 2000, attempt_files: 9, stored_bytes: 2500 };

/// Responses of artifacts.
async fn what_files_are_stored(document: &mut Document, client: &Client) {
    let bytes = [("content-type", "application/octet-stream")];
    let upload = |content: String| async move {
        client.send("POST", "/v1/artifacts?name=rows.csv", &bytes, &content).await
    };
    let artifact = document.saw("putArtifact", 201, upload("a".repeat(1000)).await);
    document.saw("putArtifact", 201, upload("b".repeat(1000)).await);
    document.saw("putArtifact", 507, upload("c".repeat(1000)).await);
    let given = "apiVersion: phasm/v1\nkind: Workflow\nmetadata: { name: w, namespace: default }\nspec:\n  entrypoint: t0\n  \
        parameters: { file: {} }\n  templates:\n    - task: { name: t0, executor: { type: ok } }\n";
    let submission = json!({ "document": given, "parameters": { "file": artifact.json() } }).to_string();
    let json = [("content-type", "application/json")];
    let run = client.send("POST", "/v1/runs?wait=30s", &json, &submission).await.expect(200).text("/runID");
    let listed = document.saw("listArtifacts", 200, client.get(&format!("/v1/runs/{run}/artifacts")).await);
    let digest = listed.text("/artifacts/0/artifact");
    let path = format!("/v1/runs/{run}/artifacts/{digest}");
    let whole = document.saw("getArtifact", 200, client.get(&path).await);
    assert_eq!(whole.body, "a".repeat(1000));
    let part = client.send("GET", &path, &[("range", "bytes=990-")], "").await;
    assert_eq!(document.saw("getArtifact", 206, part).body, "a".repeat(10));
    document.saw("getArtifact", 416, client.send("GET", &path, &[("range", "bytes=1000-")], "").await);
}

/// Refusals that any route may have.
async fn what_all_have(document: &mut Document, world: &World, client: &Client, parked: &str) {
    for (id, verb, path) in document.operations() {
        let at = path.replace("{run}", parked).replace("{task}", "t0");
        let kept = if path.contains("schedules") { "nightly" } else { "w" };
        let at = at
            .replace("{namespace}", "default")
            .replace("{name}", kept)
            .replace("{version}", "1.0.0")
            .replace("{value}", "who");
        let answer = client.send(&verb, &at, &[("host", "evil.example")], "").await;
        document.saw(&id, 421, answer);
        let answer = client.send(&verb, &at, &[("origin", "http://evil.example")], "").await;
        document.saw(&id, 403, answer);
        if !document.operation(&id)["security"].is_null() {
            document.saw(&id, 401, world.client.send(&verb, &at, &[], "").await);
            document.saw(&id, 400, client.send(&verb, &format!("{at}?nonsense=1"), &[], "").await);
        }
        if path.contains("{run}") {
            let nowhere = path.replace("{run}", "none").replace("{task}", "t0").replace("{value}", "who");
            document.saw(&id, 404, client.send(&verb, &nowhere, &[], "").await);
        }
        if id == "putPlugin" {
            // Routes of plugins are tested on a server with a library.
            continue;
        }
        // A badge says that there are no runs.
        if path.contains("{name}") && verb != "PUT" && !path.ends_with(".svg") {
            let nowhere = at.replace(&format!("/{kept}"), "/none");
            document.saw(&id, 404, client.send(&verb, &nowhere, &[], "").await);
        }
        if path.contains("{name}") && verb == "PUT" {
            // The document names another namespace than the key is bound to.
            document.saw(&id, 404, world.key(&id, Role::Admin, &["other"]).send(&verb, &at, &[], "").await);
        }
        if document.operation(&id)["requestBody"].is_object() {
            let json = [("content-type", "application/json")];
            let large = format!("{{\"a\": \"{}\"}}", "x".repeat(5000));
            document.saw(&id, 413, client.send(&verb, &at, &json, &large).await);
            if document.operation(&id)["responses"]["415"].is_object() {
                document.saw(&id, 415, client.send(&verb, &at, &[("content-type", "text/plain")], "x").await);
            }
            document.saw(&id, 408, slow(client, &verb, &at).await);
        }
    }
}

/// The refusal of a key that has its share of the connections.
async fn what_greedy_keys_get(document: &mut Document) {
    let world = World::with(|builder| builder, |config| config.limits.connections = 4).await;
    let client = world.key("admin", Role::Admin, &[]);
    let run = submit(&client, &workflow("default", &["block"])).await;
    let path = format!("/v1/runs/{run}/events");
    let _kept = [client.stream(&path, None).await, client.stream(&path, None).await];
    for (id, verb, path) in document.operations() {
        if !document.operation(&id)["security"].is_null() {
            document.saw(&id, 429, client.send(&verb, &path, &[], "").await);
        }
    }
}

/// Pages and streams of a run that has ended, and of one that is open.
async fn what_is_streamed(
    document: &mut Document,
    (world, client): (&World, &Client),
    (run, parked): (&str, &str),
) {
    for (id, path) in [("getEvents", "events"), ("getLogs", "logs")] {
        document.saw(id, 200, client.get(&format!("/v1/runs/{run}/{path}")).await);
        let open = format!("/v1/runs/{parked}/{path}");
        // The one before is counted until the server has seen that it is gone.
        let first = loop {
            let source = client.stream(&open, None).await;
            if source.status != 429 {
                break source;
            }
            tokio::task::yield_now().await;
        };
        document.followed(id, 200, &first);
        document.saw(id, 429, client.get(&format!("{open}?stream")).await);
    }
    let last = world.events(run).await - 1;
    document.followed("getEvents", 204, &client.stream(&format!("/v1/runs/{run}/events"), Some(last)).await);
}

/// Requests to runs: one that has ended, one that waits for a response, one of a namespace whose quota is used up.
async fn what_is_asked(document: &mut Document, client: &Client, [run, parked, of_few]: [&str; 3]) {
    for (id, path) in
        [("resumeTask", "tasks/t0/resume"), ("cancelTask", "tasks/t0/cancel"), ("cancelRun", "cancel")]
    {
        document.saw(id, 409, client.post(&format!("/v1/runs/{parked}/{path}")).await);
    }
    for (id, path) in [("cancelTask", "tasks/t0/cancel"), ("cancelRun", "cancel")] {
        let open = submit(client, &workflow("default", &["block"])).await;
        document.saw("rerunRun", 409, client.post(&format!("/v1/runs/{open}/rerun")).await);
        document.saw(id, 200, client.post(&format!("/v1/runs/{open}/{path}")).await);
    }
    document.saw("rerunRun", 202, client.post(&format!("/v1/runs/{run}/rerun")).await);
    document.saw(
        "rerunRun",
        422,
        client.post_json(&format!("/v1/runs/{run}/rerun"), "{\"parameters\": {\"none\": 1}}").await,
    );
    client.get(&format!("/v1/runs/{of_few}?wait=30s")).await.expect(200);
    document.saw("rerunRun", 429, client.post(&format!("/v1/runs/{of_few}/rerun")).await);
}

/// Schedules and saved workflows.
async fn what_is_kept(document: &mut Document, world: &World, client: &Client) {
    let yaml = [("content-type", "application/yaml")];
    let nightly = crate::saved::nightly("default", "nightly");
    let (schedule, saved) = ("/v1/schedules/default/nightly", "/v1/workflows/default/w");
    document.saw("putSchedule", 200, client.send("PUT", schedule, &yaml, &nightly).await);
    document.saw(
        "putSchedule",
        422,
        client.send("PUT", schedule, &yaml, &workflow("default", &["ok"])).await,
    );
    document.saw("putWorkflow", 200, client.send("PUT", saved, &yaml, &workflow("default", &["ok"])).await);
    document.saw("putWorkflow", 422, client.send("PUT", saved, &yaml, &nightly).await);
    for (id, path) in [
        ("listSchedules", "/v1/schedules"),
        ("getSchedule", schedule),
        ("getNextInstants", &format!("{schedule}/next")),
        ("listWorkflows", "/v1/workflows"),
        ("getWorkflow", saved),
        ("getScheduleDocument", &format!("{schedule}/document")),
        ("getWorkflowDocument", &format!("{saved}/document")),
    ] {
        document.saw(id, 200, client.get(path).await);
    }
    for (id, word) in [("suspendSchedule", "suspend"), ("resumeSchedule", "resume")] {
        document.saw(id, 200, client.post(&format!("{schedule}/{word}")).await);
    }
    for (id, path) in
        [("triggerSchedule", format!("{schedule}/trigger")), ("runWorkflow", format!("{saved}/runs"))]
    {
        document.saw(id, 202, client.post(&path).await);
        document.saw(id, 422, client.post(&format!("{path}?param.none=1")).await);
    }
    document.saw("runWorkflow", 200, client.post(&format!("{saved}/runs?wait=30s")).await);
    let key = [("idempotency-key", "taken-too")];
    client.send("POST", &format!("{saved}/runs"), &key, "").await.expect(202);
    let other = client.send("POST", &format!("{saved}/runs?param.who=5"), &key, "").await;
    document.saw("runWorkflow", 409, other);
    let (few, own) = ("/v1/schedules/few/hourly", "/v1/workflows/few/w");
    client.send("PUT", few, &yaml, &crate::saved::nightly("few", "hourly")).await.expect(200);
    client.send("PUT", own, &yaml, &workflow("few", &["ok"])).await.expect(200);
    document.saw("triggerSchedule", 429, client.post(&format!("{few}/trigger")).await);
    document.saw("runWorkflow", 429, client.post(&format!("{own}/runs")).await);
    what_is_full(document, world, client).await;
    document.saw("removeSchedule", 200, client.send("DELETE", schedule, &[], "").await);
    document.saw("removeWorkflow", 200, client.send("DELETE", saved, &[], "").await);
}

/// A namespace that has as much as it may, and a schedule that has as many runs.
async fn what_is_full(document: &mut Document, world: &World, client: &Client) {
    let yaml = [("content-type", "application/yaml")];
    let nightly = crate::saved::nightly("full", "w");
    let workflow = workflow("full", &["block"]);
    for number in 0..1000 {
        let named = |text: &str| text.replace("name: w,", &format!("name: w{number},"));
        for text in [named(&nightly), named(&workflow)] {
            let plan = world.host.plan("w.yaml", &text).await.unwrap();
            let written = WrittenDocument { file: "w.yaml", text: &text };
            match plan.cron {
                Some(_) => drop(world.host.put_schedule(&plan, written, None).await.unwrap()),
                None => drop(world.host.save_workflow(&plan, written, None).await.unwrap()),
            }
        }
    }
    document.saw("putSchedule", 409, client.send("PUT", "/v1/schedules/full/w", &yaml, &nightly).await);
    document.saw("putWorkflow", 409, client.send("PUT", "/v1/workflows/full/w", &yaml, &workflow).await);
    let busy = nightly.replace("type: ok", "type: block").replace("namespace: full", "namespace: busy");
    client.send("PUT", "/v1/schedules/busy/w", &yaml, &busy).await.expect(200);
    for _ in 0..100 {
        world
            .host
            .trigger(TriggerRequest {
                namespace: "busy",
                name: "w",
                parameters: &Map::new(),
                options: phasm::SubmitOptions::default(),
            })
            .await
            .unwrap();
    }
    document.saw("triggerSchedule", 409, client.post("/v1/schedules/busy/w/trigger").await);
}

/// A command of `curl` on the page: the verb, the path, the query and the type of the body.
struct Example {
    verb: String,
    path: String,
    query: Vec<String>,
    kind: Option<String>,
    has_key: bool,
}

impl Example {
    fn read(command: &str, server: &str) -> Self {
        let command = command.replace("&quot;", "\"").replace("&amp;", "&").replace("&#39;", "'");
        let option = |name: &str| command.split(name).nth(1).map(|rest| rest.trim_start().to_owned());
        let (_, address) = command.split_once(&format!("\"{server}")).unwrap();
        let address = address.split('"').next().unwrap();
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let kind = option("-H 'Content-Type: ").map(|kind| kind.split('\'').next().unwrap().to_owned());
        let verb = option(" -X ").map(|verb| verb.split(' ').next().unwrap().to_owned());
        let implied = if kind.is_some() { "POST" } else { "GET" };
        let name = |pair: &str| pair.split('=').next().unwrap().to_owned();
        Self {
            verb: verb.unwrap_or_else(|| implied.to_owned()),
            path: path.to_owned(),
            query: query.split('&').filter(|pair| !pair.is_empty()).map(name).collect(),
            kind,
            has_key: command.contains("$PHASM_KEY"),
        }
    }

    /// Whether it asks for that path of the document.
    fn is_of(&self, path: &str) -> bool {
        let (asked, known): (Vec<_>, Vec<_>) = (self.path.split('/').collect(), path.split('/').collect());
        let fits =
            |(asked, known): (&&str, &&str)| asked == known || known.starts_with('{') && !asked.is_empty();
        asked.len() == known.len() && asked.iter().zip(&known).all(fits)
    }
}

/// R-A16: each example of the page is a request that the document allows.
#[tokio::test]
async fn the_examples_of_the_page_are_requests() {
    let world = World::new().await;
    let _keys = world.key("admin", Role::Admin, &[]);
    let page = crate::page::page(&world.client, "/v1/docs").await;
    let whole = world.client.get("/v1/openapi.json").await.expect(200).json();
    let document = Document { whole, seen: BTreeSet::new() };
    let server = format!("http://{}", world.client.address);
    for (id, verb, path) in document.operations() {
        let entry = page.split(&format!("<div id=\"{id}\">")).nth(1).unwrap_or_else(|| panic!("{id}"));
        let command = entry.split("data-copy>").nth(1).unwrap().split("</pre>").next().unwrap();
        let example = Example::read(command, &server);
        assert!(example.verb == verb && example.is_of(&path), "{id}: {command}");
        let operation = document.operation(&id);
        assert_eq!(example.has_key, !operation["security"].is_null(), "{id}: {command}");
        let known: Vec<_> = operation["parameters"].as_array().unwrap().iter().collect();
        let is_known =
            |name: &String| known.iter().any(|one| one["name"] == **name) || name.starts_with("param.");
        assert!(example.query.iter().all(is_known), "{id}: {command}");
        let is_needed = |one: &&&Value| one["required"] == true && one["in"] == "query";
        assert_eq!(
            known.iter().filter(is_needed).count(),
            0,
            "{id} has a parameter that its example must have"
        );
        match (&example.kind, &operation["requestBody"]) {
            (None, body) => assert_ne!(body["required"], true, "{id}: {command}"),
            (Some(kind), body) => assert!(body["content"][kind].is_object(), "{id}: {command}"),
        }
    }
    for (id, says) in [
        ("submitRun", "--data-binary @release.yaml"),
        ("getRun", "/v1/runs/$RUN?wait=30s"),
        ("resumeTask", "/v1/runs/$RUN/tasks/approve/resume"),
        ("getLogs", "curl -sSN"),
        ("rerunRun", "fromFailed"),
    ] {
        assert!(page.split(&format!("<div id=\"{id}\">")).nth(1).unwrap().contains(says), "{id}: {says}");
    }
}

/// R-A16: as a page, without a script or anything of others.
#[tokio::test]
async fn the_document_is_a_page_as_well() {
    let world = World::new().await;
    let page = crate::page::page(&world.client, "/v1/docs").await;
    let whole = world.client.get("/v1/openapi.json").await.expect(200).json();
    for path in whole["paths"].as_object().unwrap().keys() {
        assert!(page.contains(path.as_str()), "{path}");
    }
    for loaded in ["src=\"http", "href=\"http", "src=\"//", "href=\"//"] {
        assert!(!page.contains(loaded), "{page}");
    }
    assert!(
        page.contains("<a class=\"brand\" href=\"/runs\">") && page.contains("href=\"/submit\""),
        "{page}"
    );
}
