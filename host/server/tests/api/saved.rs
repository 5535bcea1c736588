//! Schedules and saved workflows.

use phasm_server::keys::Role;
use serde_json::Value;

use crate::{
    client::{Answer, Client},
    world::{World, workflow},
};

const YAML: [(&str, &str); 1] = [("content-type", "application/yaml")];

/// A schedule that comes at night.
pub(crate) fn nightly(namespace: &str, name: &str) -> String {
    format!(
        "apiVersion: aether/v1\nkind: CronWorkflow\nmetadata: {{ name: {name}, namespace: {namespace} }}\nspec:\n  schedule: \"0 3 * * *\"\n  \
         timezone: Europe/Berlin\n  concurrencyPolicy: Forbid\n  workflowSpec:\n    entrypoint: main\n    arguments:\n      parameters: [{{ name: who, type: string, default: world }}]\n    \
         templates:\n      - task: {{ name: main, executor: {{ type: ok }} }}\n"
    )
}

async fn put(client: &Client, path: &str, document: &str) -> Answer {
    client.send("PUT", path, &YAML, document).await
}

fn names(answer: &Answer, word: &str) -> Vec<String> {
    let all = answer.json()[word].as_array().unwrap().clone();
    let name =
        |one: &Value| format!("{}/{}", one["namespace"].as_str().unwrap(), one["name"].as_str().unwrap());
    all.iter().map(name).collect()
}

/// R-A32: kept, looked at, paused, started, removed.
#[tokio::test]
async fn a_schedule_is_kept_and_triggered() {
    // Due runs are driven by hosts that claim them.
    let world = World::with(|builder| builder.auto_claim(std::time::Duration::from_secs(60)), |_| {}).await;
    let client = &world.client;
    let path = "/v1/schedules/data/nightly";
    client.get(path).await.expect(404);
    let kept = put(client, path, &nightly("data", "nightly")).await.expect(200);
    assert_eq!(
        (kept.text("/schedule"), kept.text("/timezone")),
        ("0 3 * * *".into(), "Europe/Berlin".into())
    );
    assert_eq!(client.get(path).await.expect(200).json(), kept.json());
    let next = client.get(&format!("{path}/next?count=3")).await.expect(200).json();
    assert_eq!((next["next"].as_array().unwrap().len(), &next["next"][0]), (3, &kept.json()["next"]));
    let paused = client.post(&format!("{path}/suspend")).await.expect(200).json();
    assert_eq!((paused["suspended"].as_str(), paused["next"].is_null()), (Some("byHand"), true), "{paused}");
    assert!(client.post(&format!("{path}/resume")).await.expect(200).json()["suspended"].is_null());
    let run = client.post(&format!("{path}/trigger?param.who=5")).await.expect(202).text("/runID");
    let view = client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    assert_eq!((view.text("/phase"), view.text("/parameters/0/value")), ("Succeeded".into(), "5".into()));
    let after = client.get(path).await.expect(200).json();
    assert_eq!(
        (after["firings"][0]["runID"].as_str(), after["firings"][0]["phase"].as_str()),
        (Some(&*run), Some("Succeeded"))
    );
    let problems = client.post(&format!("{path}/trigger?param.none=1")).await.expect(422).json();
    assert_eq!(problems["errors"].as_array().unwrap().len(), 1, "{problems}");
    // R-A88.
    let body = r#"{"parameters": {"who": 5}}"#;
    let json = &[("content-type", "application/json")];
    let wrapped = client.send("POST", &format!("{path}/trigger"), json, body).await.expect(422).json();
    let error = &wrapped["errors"][0];
    assert!(
        error["code"] == "P051" && error["hint"].as_str().unwrap().contains("the parameters themselves"),
        "{wrapped}"
    );
    client.send("DELETE", path, &[], "").await.expect(200);
    client.send("DELETE", path, &[], "").await.expect(404);
    client.get(&format!("/v1/runs/{run}")).await.expect(200);
}

/// R-A32: versions of a workflow, run by its name.
#[tokio::test]
async fn a_workflow_is_saved_and_run_by_its_name() {
    let world = World::in_file().await;
    let client = &world.client;
    let path = "/v1/workflows/data/w";
    let first = put(client, path, &workflow("data", &["ok"])).await.expect(200).json();
    let again = put(client, path, &workflow("data", &["ok"])).await.expect(200).json();
    assert_eq!(first, again, "the same text is the same version");
    let second = put(client, path, &workflow("data", &["ok", "fail"])).await.expect(200).json();
    assert_eq!(second["versions"].as_array().unwrap().len(), 2);
    let digest = first["versions"][0]["digest"].as_str().unwrap();
    for (query, phase, who) in [
        ("?param.who=5".to_owned(), "Failed", "5"),
        (format!("?version={}", &digest[..15]), "Succeeded", "world"),
    ] {
        let run = client.post(&format!("{path}/runs{query}")).await.expect(202).text("/runID");
        let view = client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
        assert_eq!((view.text("/phase"), view.text("/parameters/0/value")), (phase.into(), who.into()));
    }
    client.post(&format!("{path}/runs?version=sha256:ffff")).await.expect(404);
    let key = [("idempotency-key", "once")];
    let one = client.send("POST", &format!("{path}/runs"), &key, "").await.expect(202).text("/runID");
    let other = client.send("POST", &format!("{path}/runs"), &key, "").await.expect(202);
    assert_eq!((other.text("/runID"), other.json()["isNew"].as_bool()), (one.clone(), Some(false)));
    // R-A104: other parameters are another submission.
    let refused = client.send("POST", &format!("{path}/runs?param.who=5"), &key, "").await.expect(409);
    assert!(refused.text("/detail").contains(&one), "{refused:?}");
    client.send("DELETE", path, &[], "").await.expect(200);
    client.post(&format!("{path}/runs")).await.expect(404);
}

/// R-A82: a document comes back as it was given, and is called what its file was.
#[tokio::test]
async fn a_document_comes_back_as_it_was_given() {
    let world = World::new().await;
    let (client, bound) = (world.key("admin", Role::Admin, &[]), world.key("bound", Role::Run, &["else"]));
    let (schedule, saved) = ("/v1/schedules/data/nightly", "/v1/workflows/data/w");
    let (first, second) = (workflow("data", &["ok"]), workflow("data", &["ok", "fail"]));
    put(&client, &format!("{schedule}?file=nightly.yaml"), &nightly("data", "nightly")).await.expect(200);
    put(&client, &format!("{saved}?file=w.yaml"), &first).await.expect(200);
    let kept = put(&client, saved, &second).await.expect(200).json();
    assert_eq!(
        (kept["versions"][0]["file"].as_str(), kept["versions"][1]["file"].as_str()),
        (Some("w.yaml"), Some("document.yaml"))
    );
    let digest = kept["versions"][0]["digest"].as_str().unwrap();
    for (path, text) in [
        (format!("{schedule}/document"), &nightly("data", "nightly")),
        (format!("{saved}/document?version={digest}"), &first),
        (format!("{saved}/document"), &second),
    ] {
        let answer = client.get(&path).await.expect(200);
        assert_eq!((&answer.body, answer.header("content-type")), (text, Some("text/plain; charset=utf-8")));
        bound.get(&path).await.expect(404);
    }
    client.get(&format!("{saved}/document?version=ffff")).await.expect(404);
    for file in ["", "w.json", "a%0Ab.yaml", &"x".repeat(300)] {
        put(&client, &format!("{saved}?file={file}"), &first).await.expect(400);
    }
}

/// R-A80, R-A7: with a ticket a browser signs in once, without the key in its address; who is signed in already stays so.
#[tokio::test]
async fn a_ticket_signs_one_browser_in() {
    let world = World::new().await;
    let free = world.client.post("/v1/tickets").await.expect(200).text("/ticket");
    let entered = world.client.get(&format!("/login?ticket={free}&to=%2Fschedules")).await;
    assert_eq!(
        (entered.status, entered.header("location"), entered.header("set-cookie")),
        (303, Some("/schedules"), None)
    );
    let ada = world.key("ada", Role::Read, &["mine"]);
    let ticket = ada.post("/v1/tickets").await.expect(200).text("/ticket");
    assert!(!ada.key.clone().unwrap().contains(&ticket));
    let address = format!("/login?ticket={ticket}&to=%2F%2Fevil.example");
    // A link alone, of whatever page, does not sign a browser in: the form of this server's page does.
    let asked = world.client.get(&address).await;
    assert_eq!((asked.status, asked.header("set-cookie")), (200, None));
    assert!(asked.body.contains(&format!("name=\"ticket\" value=\"{ticket}\"")), "{asked:?}");
    let form = ("content-type", "application/x-www-form-urlencoded");
    let fields = format!("ticket={ticket}&to=%2F%2509%2Fevil.example");
    for (header, status) in [
        (None, 403),
        (Some(("sec-fetch-site", "none")), 403),
        (Some(("sec-fetch-site", "cross-site")), 403),
        (Some(("origin", "http://evil.example")), 403),
        (Some(("origin", "null")), 403),
    ] {
        let headers: Vec<_> = [form].into_iter().chain(header).collect();
        let refused = world.client.send("POST", "/login", &headers, &fields).await;
        assert_eq!((refused.status, refused.header("set-cookie")), (status, None), "{header:?}");
    }
    let fields = format!("ticket={ticket}&to=%2F%09%2Fevil.example%2F");
    let own = ("sec-fetch-site", "same-origin");
    let entered = world.client.send("POST", "/login", &[form, own], &fields).await;
    assert_eq!((entered.status, entered.header("location")), (303, Some("/runs")));
    let cookie = entered.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert!(!cookie.contains(&ticket), "{cookie}");
    let page = world.client.send("GET", "/runs", &[("cookie", &cookie)], "").await;
    assert!(page.status == 200 && page.body.contains("<code>ada</code>"), "{page:?}");
    let again = world.client.get(&address).await;
    assert!(again.status == 401 && again.body.contains("phasm open"), "{again:?}");
    let root = world.key("root", Role::Admin, &[]).post("/v1/tickets").await.expect(200).text("/ticket");
    let stays = world.client.send("GET", &format!("/login?ticket={root}"), &[("cookie", &cookie)], "").await;
    assert_eq!((stays.status, stays.header("set-cookie")), (303, None));
    let spent = world.client.get(&format!("/login?ticket={root}")).await;
    assert_eq!(spent.status, 401);
    world.client.post("/v1/tickets").await.expect(401);
}

/// R-A32: what is refused is not kept.
#[tokio::test]
async fn what_is_not_what_the_path_says_is_refused() {
    let world = World::new().await;
    let client = &world.client;
    for (path, document, why) in [
        ("/v1/schedules/data/nightly", nightly("data", "other"), "expected data/nightly"),
        ("/v1/schedules/data/nightly", nightly("else", "nightly"), "expected data/nightly"),
        ("/v1/schedules/data/nightly", workflow("data", &["ok"]), "has no schedule"),
        ("/v1/workflows/data/w", nightly("data", "w"), "is a schedule"),
        ("/v1/workflows/data/v", workflow("data", &["ok"]), "expected data/v"),
        ("/v1/workflows/data/w", "a: 1".to_owned(), "have errors"),
    ] {
        let refused = put(client, path, &document).await.expect(422);
        assert!(refused.text("/detail").contains(why), "{path}: {}", refused.body);
    }
    for word in ["schedules", "workflows"] {
        assert!(names(&client.get(&format!("/v1/{word}")).await.expect(200), word).is_empty());
    }
}

/// R-A11, R-A32: pages, and what exists for whom.
#[tokio::test]
async fn a_key_sees_what_its_namespaces_keep() {
    let world = World::new().await;
    let admin = world.key("admin", Role::Admin, &[]);
    for (namespace, name) in [("a", "one"), ("a", "two"), ("b", "one"), ("c", "one")] {
        put(&admin, &format!("/v1/schedules/{namespace}/{name}"), &nightly(namespace, name))
            .await
            .expect(200);
    }
    let bound = world.key("bound", Role::Run, &["c", "a"]);
    let reader = world.key("reader", Role::Read, &[]);
    for (client, expected) in
        [(&admin, &["a/one", "a/two", "b/one", "c/one"][..]), (&bound, &["a/one", "a/two", "c/one"])]
    {
        for limit in 1..5 {
            let (mut found, mut path) = (Vec::new(), format!("/v1/schedules?limit={limit}"));
            loop {
                let page = client.get(&path).await.expect(200);
                found.extend(names(&page, "schedules"));
                match page.json()["next"].as_str() {
                    Some(next) => {
                        path = format!("/v1/schedules?limit={limit}&cursor={}", next.replace('/', "%2F"));
                    }
                    None => break,
                }
            }
            assert_eq!(found, expected, "{limit}");
        }
    }
    for path in ["", "/next"] {
        bound.get(&format!("/v1/schedules/b/one{path}")).await.expect(404);
    }
    for word in ["suspend", "resume", "trigger"] {
        bound.post(&format!("/v1/schedules/b/one/{word}")).await.expect(404);
        reader.post(&format!("/v1/schedules/a/one/{word}")).await.expect(403);
    }
    bound.send("DELETE", "/v1/schedules/b/one", &[], "").await.expect(404);
    put(&bound, "/v1/schedules/b/one", &nightly("b", "one")).await.expect(404);
    put(&bound, "/v1/schedules/a/one", &nightly("b", "one")).await.expect(403);
    assert!(names(&bound.get("/v1/schedules?namespace=b").await.expect(200), "schedules").is_empty());
}

/// R-A111: a badge has the phase of the latest run that has ended, for all who may see it.
#[tokio::test]
async fn badges_show_the_latest_end() {
    let world = World::with(|builder| builder.auto_claim(std::time::Duration::from_secs(60)), |_| {}).await;
    let client = &world.client;
    let path = "/v1/workflows/w/badge.svg";
    let of_data = format!("{path}?namespace=data");
    let title = |answer: &Answer| {
        let body = &answer.body;
        body.split("<title>").nth(1).unwrap().split("</title>").next().unwrap().to_owned()
    };
    let first = client.get(&of_data).await.expect(200);
    assert_eq!(
        (title(&first), first.header("content-type")),
        ("w: no runs".to_owned(), Some("image/svg+xml"))
    );
    assert!(first.header("cache-control").unwrap().contains("no-cache"), "{first:?}");
    for (types, phase) in [(&["ok"][..], "Succeeded"), (&["fail"], "Failed"), (&["ask"], "Failed")] {
        client.post_yaml("/v1/runs?wait=30s", &workflow("data", types)).await.expect(200);
        assert_eq!(title(&client.get(&of_data).await.expect(200)), format!("w: {phase}"));
        assert_eq!(title(&client.get(path).await.expect(200)), "w: no runs");
    }
    let shown = client.get(&format!("{of_data}&label=a%3Cb%3E%22%26")).await.expect(200);
    assert_eq!(title(&shown), "a&lt;b&gt;&quot;&amp;: Failed");
    let tag = [("if-none-match", shown.header("etag").unwrap())];
    client.send("GET", &format!("{of_data}&label=a%3Cb%3E%22%26"), &tag, "").await.expect(304);
    client.send("GET", &of_data, &tag, "").await.expect(200);
    put(client, "/v1/schedules/data/nightly", &nightly("data", "nightly")).await.expect(200);
    let of_schedule = "/v1/schedules/nightly/badge.svg?namespace=data";
    assert_eq!(title(&client.get(of_schedule).await.expect(200)), "nightly: no runs");
    let run = client.post("/v1/schedules/data/nightly/trigger").await.expect(202).text("/runID");
    client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    assert_eq!(title(&client.get(of_schedule).await.expect(200)), "nightly: Succeeded");
    let (reader, bound) =
        (world.key("reader", Role::Read, &["data"]), world.key("bound", Role::Read, &["else"]));
    assert_eq!(title(&reader.get(&of_data).await.expect(200)), "w: Failed");
    assert_eq!(title(&bound.get(&of_data).await.expect(200)), "w: no runs");
    client.get(&of_data).await.expect(401);
}
