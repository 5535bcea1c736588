//! The page without a script: whole, escaped, and done by forms.

use phasm_server::keys::Role;

use crate::{
    client::{Answer, Client},
    world::{World, workflow},
};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

async fn post(client: &Client, path: &str, body: &str) -> Answer {
    client.send("POST", path, &[FORM], body).await
}

/// Whether all elements are closed, in order.
fn assert_whole(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in page.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap();
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap();
        let is_void = ["!DOCTYPE", "meta", "link", "input", "br"].contains(&name);
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{page}");
        } else if !is_void && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// The page, which has to be one.
async fn page(client: &Client, path: &str) -> String {
    let answer = client.get(path).await.expect(200);
    assert!(answer.header("content-type").unwrap().starts_with("text/html"), "{answer:?}");
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let page = answer.body;
    assert_whole(&page);
    // What the policy would not let through.
    for never in ["style=\"", "<style", " onclick", "<script>", "javascript:"] {
        assert!(!page.contains(never), "{never} in {page}");
    }
    assert_eq!(page.matches("<h1").count(), 1, "{page}");
    page
}

#[tokio::test]
async fn every_page_is_whole_without_a_script() {
    let world = World::in_file().await;
    let empty = page(&world.client, "/runs").await;
    assert!(empty.contains("No run yet") && empty.contains("/v1/runs \\\n"), "{empty}");
    let run = world.submit(&workflow("default", &["ok", "talk", "fail"])).await;
    let waited = world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    assert_eq!(waited.text("/phase"), "Failed");
    let list = page(&world.client, "/runs").await;
    assert!(list.contains(&format!("<a href=\"/runs/{run}\">w</a>")) && list.contains("Failed"), "{list}");
    for view in ["graph", "timeline", "tasks", "events"] {
        let shown = page(&world.client, &format!("/runs/{run}?view={view}")).await;
        assert!(shown.contains("Run again from what failed"), "{shown}");
    }
    let tasks = page(&world.client, &format!("/runs/{run}?view=tasks&phase=Failed")).await;
    assert!(tasks.contains("main/t2") && !tasks.contains("main/t0"), "{tasks}");
    let task = page(&world.client, &format!("/runs/{run}/tasks/3")).await;
    assert!(task.contains("Attempt 1 returned code 2, which means Failed."), "{task}");
    let talked = page(&world.client, &format!("/runs/{run}/tasks/2")).await;
    assert!(talked.contains("line 2") && talked.contains("Attempt 1</h3>"), "{talked}");
    page(&world.client, "/plugins").await;
    page(&world.client, "/submit").await;
    for asset in ["page.css", "page.js", "live.js", "editor.js", "lines.js", "copy.js"] {
        world.client.get(&format!("/assets/{asset}")).await.expect(200);
    }
    assert_eq!(world.client.get("/assets/../keys").await.status, 404);
    assert_eq!(world.client.get("/runs/nope").await.status, 404);
    assert_eq!(world.client.get(&format!("/runs/{run}/tasks/99")).await.status, 404);
}

/// Submitting, answering, cancelling and running again, as a browser without scripts does.
#[tokio::test]
async fn forms_do_what_the_api_does() {
    let world = World::new().await;
    let client = &world.client;
    let encoded = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
    let document = encoded(&workflow("default", &["ok", "ask"]));
    let wrong =
        post(client, "/submit", &format!("act=submit&document={}", encoded("kind: Workflow\n"))).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("data-line=\"1\"") && wrong.body.contains("P013"), "{}", wrong.body);
    let checked = post(client, "/submit", &format!("act=check&document={document}")).await;
    assert!(checked.status == 200 && checked.body.contains("name=\"param.who\""), "{}", checked.body);
    let twice = format!("act=submit&once=o1&param.who=Ada&document={document}");
    let submitted = post(client, "/submit", &twice).await;
    assert_eq!(submitted.status, 303);
    let at = submitted.header("location").unwrap().to_owned();
    assert_eq!(post(client, "/submit", &twice).await.header("location"), Some(at.as_str()));
    let run = at.strip_prefix("/runs/").unwrap();
    let parked = client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    assert_eq!(parked.text("/parameters/0/value"), "Ada");
    assert!(page(client, &at).await.contains(&format!("{at}/tasks/2#answer")));
    let task = page(client, &format!("{at}/tasks/2")).await;
    assert!(task.contains("name=\"whole\"") && task.contains("waits until somebody gives one"), "{task}");
    assert_eq!(post(client, &format!("{at}/tasks/2/resume"), "whole=1").await.status, 400);
    assert_eq!(post(client, &format!("{at}/tasks/2/resume"), "whole=%7B%7D").await.status, 303);
    assert_eq!(post(client, &format!("{at}/tasks/2/resume"), "whole=%7B%7D").await.status, 409);
    let ended = client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    assert_eq!(ended.text("/phase"), "Succeeded");
    let again = post(client, &format!("{at}/rerun"), "").await;
    assert_eq!(again.status, 303);
    let other = again.header("location").unwrap();
    assert_ne!(other, at);
    assert_eq!(post(client, &format!("{other}/cancel"), "").await.status, 303);
    let cancelled = client.get(&format!("/v1{other}?wait=30s")).await.expect(200);
    assert_eq!(cancelled.text("/phase"), "Cancelled");
}

/// R-A7: another origin's page can post no form here, and what is no form is none.
#[tokio::test]
async fn forms_of_others_are_refused() {
    let world = World::new().await;
    let run = world.submit(&workflow("default", &["block"])).await;
    let path = format!("/runs/{run}/cancel");
    for header in [("origin", "http://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")] {
        assert_eq!(world.client.send("POST", &path, &[FORM, header], "").await.status, 403, "{header:?}");
    }
    let json = [("content-type", "application/json")];
    assert_eq!(world.client.send("POST", "/submit", &json, "{}").await.status, 415);
    assert_eq!(world.client.get(&path).await.status, 405);
    assert_eq!(world.client.get(&format!("/v1/runs/{run}")).await.expect(200).text("/phase"), "Running");
}

/// Where keys are asked for one signs in, sees what the key is bound to, and does what it may.
#[tokio::test]
async fn who_signs_in_sees_what_the_key_may() {
    let world = World::new().await;
    let mine = world.key("ada", Role::Read, &["mine"]).key.unwrap();
    let admin = world.key("root", Role::Admin, &[]);
    let (own, other) = (
        admin.post_yaml("/v1/runs", &workflow("mine", &["block"])).await.expect(202).text("/runID"),
        admin.post_yaml("/v1/runs", &workflow("other", &["block"])).await.expect(202).text("/runID"),
    );
    let sent = world.client.get("/runs?open=true").await;
    assert_eq!((sent.status, sent.header("location")), (303, Some("/login?to=%2Fruns%3Fopen%3Dtrue")));
    page(&world.client, "/login?to=%2Fruns").await;
    assert_eq!(post(&world.client, "/login", "key=wrong").await.status, 401);
    for (to, at) in
        [("/runs?a=b", "/runs?a=b"), ("//evil.example", "/runs"), ("https://evil.example", "/runs")]
    {
        let entered = post(&world.client, "/login", &format!("key={mine}&to={to}")).await;
        assert_eq!((entered.status, entered.header("location")), (303, Some(at)));
    }
    let entered = post(&world.client, "/login", &format!("key={mine}")).await;
    let cookie = entered.header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("HttpOnly; SameSite=Lax") && !cookie.contains(&mine), "{cookie}");
    let cookie = ("cookie", cookie.split(';').next().unwrap());
    let list = world.client.send("GET", "/runs", &[cookie], "").await.expect(200).body;
    assert!(list.contains(&own) && !list.contains(&other) && !list.contains("/submit"), "{list}");
    for (path, status) in
        [(format!("/runs/{own}"), 200), (format!("/runs/{other}"), 404), (format!("/live?run={other}"), 404)]
    {
        assert_eq!(world.client.send("GET", &path, &[cookie], "").await.status, status, "{path}");
    }
    let cancelled = world.client.send("POST", &format!("/runs/{own}/cancel"), &[cookie, FORM], "").await;
    assert_eq!(cancelled.status, 403);
    assert_eq!(world.client.send("POST", "/logout", &[cookie, FORM], "").await.status, 303);
    assert_eq!(world.client.send("GET", "/runs", &[cookie], "").await.status, 303);
}

/// A page that is looked at hears that something has changed, at first and later.
#[tokio::test]
async fn what_changes_is_told() {
    let world = World::new().await;
    let run = world.submit(&workflow("default", &["ask"])).await;
    world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let mut one = world.client.stream(&format!("/live?run={run}"), None).await;
    let mut all = world.client.stream("/live", None).await;
    assert_eq!((one.until("changed").await.id, all.until("changed").await.id), (None, None));
    world.client.post_json(&format!("/v1/runs/{run}/tasks/t0/resume"), "{}").await.expect(200);
    one.until("changed").await;
    all.until("changed").await;
}
