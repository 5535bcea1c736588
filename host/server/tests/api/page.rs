//! The page without a script: whole, escaped, and done by forms.

use phasm_server::keys::Role;

use crate::{
    client::{Answer, Client},
    world::{World, submit, workflow},
};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// Encodes fields as a form does.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

pub(crate) async fn post(client: &Client, path: &str, body: &str) -> Answer {
    client.send("POST", path, &[FORM], body).await
}

/// Whether all elements are closed, in order.
fn assert_whole(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in page.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap();
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap();
        let is_void = ["!DOCTYPE", "meta", "link", "input", "br", "img"].contains(&name);
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{page}");
        } else if !is_void && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// The page, which has to be one.
pub(crate) async fn page(client: &Client, path: &str) -> String {
    let answer = client.get(path).await.expect(200);
    assert!(answer.header("content-type").unwrap().starts_with("text/html"), "{answer:?}");
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let page = answer.body;
    assert_whole(&page);
    // Content that the policy would block.
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
    assert!(list.contains(&format!("href=\"/runs/{run}\">w</a>")) && list.contains("Failed"), "{list}");
    for view in ["graph", "timeline", "tasks", "logs", "definition", "events"] {
        let shown = page(&world.client, &format!("/runs/{run}?view={view}")).await;
        assert!(shown.contains("Run the failed part again"), "{shown}");
    }
    let tasks = page(&world.client, &format!("/runs/{run}?view=tasks&phase=Failed")).await;
    assert!(tasks.contains("main/t2") && !tasks.contains("main/t0"), "{tasks}");
    let task = page(&world.client, &format!("/runs/{run}/tasks/3")).await;
    assert!(task.contains("Attempt 1 returned code 2, which means Failed."), "{task}");
    let talked = page(&world.client, &format!("/runs/{run}/tasks/2")).await;
    assert!(talked.contains("line 2") && talked.contains("Attempt 1</p>"), "{talked}");
    page(&world.client, "/plugins").await;
    page(&world.client, "/submit").await;
    let logs = page(&world.client, &format!("/runs/{run}?view=logs")).await;
    assert!(logs.contains("main/t1") && logs.contains("line 2"), "{logs}");
    let logs = page(&world.client, &format!("/runs/{run}?view=logs&text=line+1")).await;
    assert!(logs.contains("line 1") && !logs.contains("line 2"), "{logs}");
    let definition = page(&world.client, &format!("/runs/{run}?view=definition&task=2")).await;
    assert!(
        definition.contains("kind: Workflow") && definition.contains("<li class=\"marked\">"),
        "{definition}"
    );
    for asset in [
        "page.css",
        "page.js",
        "live.js",
        "editor.js",
        "text.js",
        "codemirror.js",
        "workflow.schema.json",
        "idiomorph.js",
        "Failed.svg",
    ] {
        world.client.get(&format!("/assets/{asset}")).await.expect(200);
    }
    assert_eq!(world.client.get("/assets/../keys").await.status, 404);
    assert_eq!(world.client.get("/runs/nope").await.status, 404);
    assert_eq!(world.client.get(&format!("/runs/{run}/tasks/99")).await.status, 404);
}

/// A browser that has an asset is not sent it again.
#[tokio::test]
async fn assets_are_sent_once() {
    let world = World::new().await;
    for asset in ["page.css", "codemirror.js", "workflow.schema.json"] {
        let path = format!("/assets/{asset}");
        let first = world.client.get(&path).await.expect(200);
        let tag = first.header("etag").unwrap();
        assert_eq!(first.header("cache-control"), Some("no-cache"), "{asset}");
        let again = world.client.send("GET", &path, &[("if-none-match", tag)], "").await;
        assert_eq!(
            (again.status, again.body.as_str(), again.header("etag")),
            (304, "", Some(tag)),
            "{asset}"
        );
        let other = world.client.send("GET", &path, &[("if-none-match", "\"0\"")], "").await;
        assert_eq!((other.status, other.body), (200, first.body.clone()), "{asset}");
    }
}

/// R-A85: the page of the editor has the graph of the workflow file, without a script, and says what one writes.
#[tokio::test]
async fn the_editor_draws_the_graph() {
    let world = World::new().await;
    let client = &world.client;
    let document = encoded(&workflow("data", &["ok", "ok"]));
    for path in ["/submit", "/submit/check"] {
        let drawn = post(client, path, &format!("act=check&document={document}")).await.body;
        assert!(drawn.contains("<svg") && drawn.contains(">t1<"), "{path}: {drawn}");
        let wrong = post(client, path, "act=check&document=kind%3A%20CronWorkflow").await.body;
        assert!(!wrong.contains("<svg") && wrong.contains("Write a schedule"), "{path}: {wrong}");
    }
    let shown = page(client, "/submit?example=schedule").await;
    assert!(
        shown.contains("<h1>Write a schedule</h1>") && shown.contains("<title>Write a schedule"),
        "{shown}"
    );
    let shown = page(client, "/submit").await;
    assert!(shown.contains("<h1>Write a workflow</h1>") && shown.contains("<svg"), "{shown}");
}

/// The document of a run can be edited, with the parameters that it had.
#[tokio::test]
async fn a_run_is_written_anew() {
    let world = World::in_file().await;
    let client = &world.client;
    let run = world.submit(&workflow("data", &["ok", "fail"])).await;
    let named = client
        .post_yaml("/v1/runs?param.who=Ada", &workflow("data", &["ok", "fail"]))
        .await
        .expect(202)
        .text("/runID");
    client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    assert_eq!(client.get(&format!("/v1/runs/{named}?wait=30s")).await.expect(200).text("/phase"), "Failed");
    let shown = page(client, &format!("/runs/{named}")).await;
    assert!(shown.contains(&format!("href=\"/runs/{named}/edit\"")), "{shown}");
    let editor = page(client, &format!("/runs/{named}/edit")).await;
    for says in [
        "kind: Workflow\nmetadata:\n  name: w\n",
        "executor: { type: fail }",
        "Submit a run of w",
        "value=\"Ada\"",
    ] {
        assert!(editor.contains(says), "{says}: {editor}");
    }
    assert!(page(client, &format!("/runs/{run}/edit")).await.contains("value=\"world\""));
    let reader = world.key("reader", Role::Read, &[]);
    assert_eq!(reader.get(&format!("/runs/{run}/edit")).await.status, 403);
    let other = world.key("other", Role::Run, &["other"]);
    assert_eq!(other.get(&format!("/runs/{run}/edit")).await.status, 404);
}

/// A task that waits for its retry says so wherever it is shown, and until when.
#[tokio::test]
async fn a_retry_that_is_to_come_is_shown() {
    let world = World::in_file().await;
    let retried = workflow("default", &["fail"])
        .replace("type: fail }", "type: fail }, retry: { limit: 1, delay: 1h, expression: \"true\" }");
    let run = world.submit(&retried).await;
    let waited = world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    assert_eq!(waited.text("/waiting/for"), "retry");
    for (view, says) in [
        ("graph", "Waiting for its retry"),
        ("tasks", "Waiting for its retry"),
        ("timeline", "attempt 2 begins at"),
    ] {
        let shown = page(&world.client, &format!("/runs/{run}?view={view}")).await;
        assert!(shown.contains(says), "{view}: {shown}");
    }
    let task = page(&world.client, &format!("/runs/{run}/tasks/1")).await;
    assert!(task.contains("Attempt 2 starts after the delay, at 20") && task.contains(" UTC."), "{task}");
}

/// R-A85: a workflow is saved, run by its name and removed, without a script.
#[tokio::test]
async fn saved_workflows_have_pages() {
    let world = World::in_file().await;
    let client = &world.client;
    for (path, empty) in [("/schedules", "No schedule"), ("/workflows", "No saved workflow")] {
        assert!(page(client, path).await.contains(empty), "{path}");
    }
    for example in ["hello", "loop", "http", "tolerate", "approval", "poll", "schedule"] {
        let address = format!("/submit?example={example}");
        let shown = page(client, &address).await;
        assert!(shown.contains("The workflow file is valid.") && shown.contains(&address), "{shown}");
    }
    assert_eq!(client.get("/submit?example=none").await.status, 400);

    let document = encoded(&workflow("data", &["ok"]));
    let checked = post(client, "/submit/check", &format!("document={document}")).await.body;
    assert!(
        checked.contains("Submit a run of w") && checked.contains("Save it as the workflow w"),
        "{checked}"
    );
    let saved = post(client, "/submit", &format!("act=save&document={document}")).await;
    assert_eq!((saved.status, saved.header("location")), (303, Some("/workflows/data/w")));
    let checked = post(client, "/submit/check", &format!("document={document}")).await.body;
    assert!(checked.contains("Save it as another version of w"), "{checked}");
    let other = encoded(&workflow("data", &["ok", "ok"]));
    post(client, "/submit", &format!("act=save&document={other}")).await;
    let list = page(client, "/workflows").await;
    assert!(list.contains("href=\"/workflows/data/w\">data/w</a>"), "{list}");
    let shown = page(client, "/workflows/data/w").await;
    assert!(shown.contains("name=\"param.who\"") && shown.contains("name: t1"), "{shown}");
    let badge = "/v1/workflows/w/badge.svg?namespace=data";
    assert!(shown.contains(&format!("<img src=\"{badge}\"")), "{shown}");
    let markdown = format!("[![w](http://{0}{badge})](http://{0}/workflows/data/w)", client.address);
    assert!(shown.contains(&markdown), "{markdown}: {shown}");
    let first =
        client.get("/v1/workflows/data/w").await.json()["versions"][0]["digest"].as_str().unwrap().to_owned();
    let earlier = page(client, &format!("/workflows/data/w?version={first}")).await;
    assert!(!earlier.contains("name: t1") && earlier.contains("Submit a run of this version"), "{earlier}");
    assert!(page(client, &format!("/workflows/data/w/edit?version={first}")).await.contains("name: t0"));
    let run = post(client, "/workflows/data/w/run", &format!("version={first}&param.who=Ada")).await;
    let at = run.header("location").unwrap().to_owned();
    let ended = client.get(&format!("/v1{at}?wait=30s")).await.expect(200);
    assert_eq!((ended.text("/phase"), ended.text("/parameters/0/value")), ("Succeeded".into(), "Ada".into()));
    assert!(page(client, &at).await.contains("href=\"/workflows/data/w\""));
    assert!(page(client, "/workflows/data/w/remove").await.contains("2 versions"));
    assert_eq!(post(client, "/workflows/data/w/remove", "").await.status, 303);
    assert_eq!(client.get("/workflows/data/w").await.status, 404);
}

/// R-A85: a schedule is kept, paused, triggered and removed, without a script.
#[tokio::test]
async fn schedules_have_pages() {
    let world = World::in_file().await;
    let client = &world.client;
    let nightly = encoded(&crate::saved::nightly("data", "nightly"));
    let checked = post(client, "/submit/check", &format!("document={nightly}")).await.body;
    assert!(
        checked.contains("Start the schedule nightly") && checked.matches("<time").count() == 5,
        "{checked}"
    );
    assert!(checked.contains(" 03:00 +0"), "by the clocks of its zone: {checked}");
    let kept = post(client, "/submit", &format!("act=keep&document={nightly}")).await;
    assert_eq!((kept.status, kept.header("location")), (303, Some("/schedules/data/nightly")));
    let at = "/schedules/data/nightly";
    assert!(page(client, at).await.contains("No runs yet."));
    assert_eq!(post(client, &format!("{at}/suspend"), "").await.status, 303);
    assert!(page(client, at).await.contains("<button class=\"plain\">Resume</button>"));
    let triggered = post(client, &format!("{at}/trigger"), "param.who=Ada").await;
    let run = triggered.header("location").unwrap().to_owned();
    assert!(page(client, &run).await.contains(&format!("href=\"{at}\"")));
    let again = post(client, &format!("{at}/trigger"), "param.who=").await;
    let last = again.header("location").unwrap();
    assert_eq!(post(client, &format!("{at}/resume"), "").await.status, 303);
    let list = page(client, "/schedules?namespace=data").await;
    assert!(list.contains(">skip<") && list.contains(last) && list.contains(">in "), "{list}");
    assert!(page(client, "/runs?label=phasm%2Fschedule%3Dnightly").await.contains("schedule nightly"));
    assert!(page(client, &format!("{at}/edit")).await.contains("Replace the file of the schedule nightly"));
    page(client, &format!("{at}/remove")).await;
    assert_eq!(post(client, &format!("{at}/remove"), "").await.status, 303);
    assert_eq!(post(client, &format!("{at}/remove"), "").await.status, 404);
}

/// R-A85: a schedule whose last runs failed says so, and why each failed.
#[tokio::test]
async fn a_failing_schedule_says_so() {
    // Triggered runs are started by hosts that claim them.
    let world = World::with(|builder| builder.auto_claim(std::time::Duration::from_secs(60)), |_| {}).await;
    let client = &world.client;
    let failing = crate::saved::nightly("default", "nightly").replace("type: ok", "type: fail");
    let kept = post(client, "/submit", &format!("act=keep&document={}", encoded(&failing))).await;
    assert_eq!(kept.status, 303, "{kept:?}");
    let at = "/schedules/default/nightly";
    let mut runs = Vec::new();
    for count in 1..=3 {
        let run = post(client, &format!("{at}/trigger"), "").await.header("location").unwrap().to_owned();
        client.get(&format!("/v1{run}?wait=30s")).await.expect(200);
        runs.push(run);
        for path in [at, "/schedules"] {
            let shown = page(client, path).await;
            let says = ["<span class=\"standing failing\">", "3 failures in a row"];
            assert!(says.iter().all(|says| shown.contains(says) == (count == 3)), "{count} {path}: {shown}");
            assert!(runs.iter().all(|run| shown.contains(&format!("href=\"{run}\" title=\""))), "{shown}");
        }
    }
    let folded = page(client, "/runs").await;
    let rows = |shown: &str| shown.matches("<tr id=\"run-").count();
    assert!(
        rows(&folded) == 1 && folded.contains("2 earlier runs of schedule nightly ended alike"),
        "{folded}"
    );
    assert_eq!(rows(&page(client, "/runs?label=phasm%2Fschedule%3Dnightly").await), 3);
    let shown = page(client, at).await;
    assert!(shown.contains("<span class=\"reason\"") && shown.contains("as asked"), "{shown}");
    assert_eq!(post(client, &format!("{at}/suspend"), "").await.status, 303);
    let paused = page(client, at).await;
    assert!(paused.contains("paused") && paused.contains("3 failures in a row"), "{paused}");
}

/// R-A85: events are sentences, and are filtered by type and by task.
#[tokio::test]
async fn events_are_read_and_filtered() {
    let world = World::in_file().await;
    let client = &world.client;
    let run = world.submit(&workflow("default", &["ask", "fail"])).await;
    client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    client.post_json(&format!("/v1/runs/{run}/tasks/t0/resume"), "{\"fine\": \"<b>\"}").await.expect(200);
    client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let all = page(client, &format!("/runs/{run}?view=events")).await;
    for says in [
        "Running → Suspended",
        "Response: {&quot;fine&quot;:&quot;&lt;b&gt;&quot;}",
        "Attempt 1 failed with code 2",
        ": as asked",
        "<summary>JSON</summary>",
    ] {
        assert!(all.contains(says), "{says}: {all}");
    }
    let rows = |shown: &str| shown.matches("<td class=\"wide number\">").count();
    let failed = page(client, &format!("/runs/{run}?view=events&event=task.attempt.failed&path=")).await;
    assert!(rows(&failed) == 1 && failed.contains("as asked") && failed.contains("Show all"), "{failed}");
    let of_task = page(client, &format!("/runs/{run}?view=events&path=main%2Ft1")).await;
    assert!((2..rows(&all)).contains(&rows(&of_task)), "{of_task}");
    let (_, table) = of_task.split_once("id=\"view\"").unwrap();
    assert!(!table.contains("main/t0"), "{table}");
    let none = page(client, &format!("/runs/{run}?view=events&event=hook.failed")).await;
    assert!(none.contains("No matching events."), "{none}");
    assert_eq!(client.get(&format!("/runs/{run}?view=events&event=none")).await.status, 400);
}

/// R-A86: what a key may not do is not offered, what is of others does not exist, and the example is one that it may submit.
#[tokio::test]
async fn a_key_keeps_what_its_namespaces_may() {
    let world = World::new().await;
    let (ada, reader) = (world.key("ada", Role::Run, &["mine"]), world.key("eve", Role::Read, &[]));
    let shown = ada.get("/submit").await;
    assert!(
        shown.status == 200 && shown.body.contains("namespace: mine") && shown.body.contains("is valid"),
        "{shown:?}"
    );
    let others = format!("act=save&document={}", encoded(&workflow("data", &["ok"])));
    let refused = post(&ada, "/submit", &others).await;
    assert!(
        refused.status == 403
            && refused.body.contains("<textarea")
            && refused.body.contains("bound to the namespaces"),
        "{refused:?}"
    );
    let mine = format!("act=save&document={}", encoded(&workflow("mine", &["ok"])));
    assert_eq!(post(&ada, "/submit", &mine).await.status, 303);
    let looked = reader.get("/workflows/mine/w").await;
    assert!(
        looked.status == 200 && !looked.body.contains("Submit a run") && !looked.body.contains("Remove"),
        "{looked:?}"
    );
    assert_eq!(reader.get("/workflows/mine/w/remove").await.status, 403);
    for path in ["/runs", "/schedules"] {
        let empty = reader.get(path).await.expect(200).body;
        assert!(!empty.contains("/submit") && empty.contains("<h2>No "), "{path}: {empty}");
    }
    let bound = world.key("bob", Role::Admin, &["else"]);
    for path in ["/workflows/mine/w", "/workflows/mine/w/edit", "/workflows/mine/w/remove"] {
        assert_eq!(bound.get(path).await.status, 404, "{path}");
    }
    assert_eq!(post(&bound, "/workflows/mine/w/remove", "").await.status, 404);
    assert_eq!(post(&bound, "/workflows/mine/w/run", "").await.status, 404);
    assert!(!bound.get("/workflows").await.body.contains("/workflows/mine/w"));
}

/// R-A85: what is wrong with what is looked for is told beside the fields, in which it stays.
#[tokio::test]
async fn a_filter_that_is_wrong_stays_in_its_field() {
    let world = World::new().await;
    let wrong = world.client.get("/runs?label=team&since=soon&namespace=a").await;
    assert_eq!(wrong.status, 400);
    for said in [
        "value=\"team\"",
        "value=\"soon\"",
        "value=\"a\"",
        "expected such as <code>team=data</code>",
        "<code>since</code>",
    ] {
        assert!(wrong.body.contains(said), "{said}: {}", wrong.body);
    }
}

/// Submitting, answering, cancelling and running again, as a browser without scripts does.
#[tokio::test]
async fn forms_do_what_the_api_does() {
    let world = World::new().await;
    let client = &world.client;
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
    assert!(page(client, &at).await.contains(&format!("action=\"{at}/tasks/2/resume\"")));
    let task = page(client, &format!("{at}/tasks/2")).await;
    assert!(task.contains("name=\"whole\"") && task.contains("Waiting for approval."), "{task}");
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

/// Returns the idempotency key of the form that is posted to `action`.
fn form_key(page: &str, action: &str) -> String {
    let form = page.split(&format!("action=\"{action}\"")).nth(1).expect("a form");
    let form = form.split("</form>").next().unwrap();
    let key = form.split("name=\"once\" value=\"").nth(1).expect("a key in the form");
    key.split('"').next().unwrap().to_owned()
}

/// R-A85: each form that starts a run has a key of its own, so that posting it twice starts one run.
#[tokio::test]
async fn a_form_that_is_posted_twice_starts_one_run() {
    let world = World::in_file().await;
    let client = &world.client;
    let document = encoded(&workflow("data", &["ok"]));
    post(client, "/submit", &format!("act=save&document={document}")).await;
    let schedule = encoded(&crate::saved::nightly("data", "nightly"));
    post(client, "/submit", &format!("act=keep&document={schedule}")).await;
    let submitted = post(client, "/submit", &format!("act=submit&param.who=Ada&document={document}")).await;
    let ended = submitted.header("location").unwrap().to_owned();
    client.get(&format!("/v1{ended}?wait=30s")).await.expect(200);
    for (shown, action) in [
        ("/workflows/data/w", "/workflows/data/w/run".to_owned()),
        ("/schedules/data/nightly", "/schedules/data/nightly/trigger".to_owned()),
        (&ended, format!("{ended}/rerun")),
    ] {
        let keys =
            [form_key(&page(client, shown).await, &action), form_key(&page(client, shown).await, &action)];
        let mut runs = Vec::new();
        for key in [&keys[0], &keys[0], &keys[1]] {
            let posted = post(client, &action, &format!("once={key}&param.who=Ada")).await;
            assert_eq!(posted.status, 303, "{posted:?}");
            runs.push(posted.header("location").unwrap().to_owned());
        }
        assert_eq!(runs[0], runs[1], "{action}");
        assert_ne!(runs[1], runs[2], "{action}");
    }
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

/// R-A84: changes of saved documents are reported, too.
#[tokio::test]
async fn what_is_kept_is_told_of() {
    let world = World::new().await;
    let mut all = world.client.stream("/live", None).await;
    all.until("changed").await;
    let path = "/v1/schedules/data/nightly";
    let nightly = crate::saved::nightly("data", "nightly");
    world.client.send("PUT", path, &[("content-type", "application/yaml")], &nightly).await.expect(200);
    all.until("changed").await;
}

/// R-T12: the pages of a run and its task say that a clock ran out, whatever the phase, and how long it was.
#[tokio::test]
async fn an_end_by_a_clock_is_shown_as_a_timeout() {
    let world = World::in_file().await;
    for clock in ["maxRuntime", "deadline", "timeout"] {
        let bounded =
            workflow("default", &["block"]).replace("type: block }", &format!("type: block }}, {clock}: 1s"));
        let run = world.submit(&bounded).await;
        let ended = world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
        assert_eq!(ended.text("/timedOut"), format!("exceeded {clock} (1 s) in main/t0"));
        for path in [String::new(), "/tasks/1".to_owned()] {
            let shown = page(&world.client, &format!("/runs/{run}{path}")).await;
            assert!(shown.contains(&format!("Timed out: exceeded {clock} (1 s)")), "{clock}: {shown}");
            let head = shown.split("</h1>").next().unwrap();
            assert_eq!(head.contains("Timed out"), clock != "timeout", "{clock}: {head}");
        }
    }
}

/// R-L10, R-C2: a good end shows what did not succeed, and an attempt its reason.
#[tokio::test]
async fn a_good_end_shows_its_remarks() {
    let world = World::in_file().await;
    let tolerated = workflow("default", &["ok", "fail"])
        .replace("type: fail }", "type: fail }, continueOn: { failed: true }");
    let run = world.submit(&tolerated).await;
    world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let shown = page(&world.client, &format!("/runs/{run}")).await;
    let head = shown.split("</h1>").next().unwrap();
    assert!(head.contains("1 of 2 failed (tolerated)"), "{head}");
    let judged = workflow("default", &["ok"])
        .replace("type: ok }", "type: ok }, phaseConditions: { error: \"code == 0\" }");
    let run = world.submit(&judged).await;
    world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let task = page(&world.client, &format!("/runs/{run}/tasks/1")).await;
    assert!(task.contains("phaseConditions.error was true"), "{task}");
}

/// R-S15: the page names callers, and offers each key what its role may do.
#[tokio::test]
async fn the_page_names_callers() {
    let world = World::new().await;
    let key = |name: &str, role| world.key(name, role, &[]);
    let (ada, bob, eve) = (key("ada", Role::Run), key("bob", Role::Approve), key("eve", Role::Read));
    let run = submit(&ada, &workflow("default", &["gate", "ask"])).await;
    ada.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let (at, api) = (format!("/runs/{run}"), format!("/v1/runs/{run}/tasks/t0/resume?wait=60s"));
    let shown = page(&bob, &at).await;
    assert!(shown.contains(" by ada") && !shown.contains(&format!("{at}/cancel")), "{shown}");
    let task = page(&bob, &format!("{at}/tasks/1")).await;
    assert!(task.contains("Send response") && !task.contains("Cancel the task"), "{task}");
    assert!(!page(&eve, &format!("{at}/tasks/1")).await.contains("Send response"));
    assert_eq!(post(&eve, &format!("{at}/tasks/1/resume"), "whole=%7B%7D").await.status, 403);
    assert_eq!(post(&bob, &format!("{at}/cancel"), "").await.status, 403);
    ada.post(&api).await.expect(422);
    let task = page(&bob, &format!("{at}/tasks/1")).await;
    assert!(task.contains("Refused: not by") && task.contains("by ada, was refused: not by"), "{task}");
    bob.post(&api).await.expect(200);
    assert!(page(&bob, &format!("{at}/tasks/1")).await.contains("Responded</strong> by bob"));
    assert!(page(&eve, &at).await.contains("main/t0 resumed by bob"));
    assert_eq!(post(&ada, &format!("{at}/cancel"), "").await.status, 303);
    assert!(page(&eve, &at).await.contains("Cancelled by"));
}

/// R-A112: a run that waits for a person is counted, listed and found apart from those that run.
#[tokio::test]
async fn runs_are_counted_by_their_status() {
    let world = World::in_file().await;
    let client = &world.client;
    let (asks, failed) = (workflow("default", &["decide"]), workflow("default", &["ok", "fail"]));
    let (waiting, bad) = (world.submit(&asks).await, world.submit(&failed).await);
    for run in [&waiting, &bad] {
        client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    }
    let list = page(client, "/runs").await;
    for says in [
        "Waiting for approval <strong>1</strong>",
        "Failed <strong>1</strong><span class=\"none\"> in 24 h",
        "href=\"/runs?status=suspended\"",
        "href=\"/runs?phase=Failed&amp;since=24h\"",
        "main/t1: as asked",
        "main/t0: Release it?",
    ] {
        assert!(list.contains(says), "{says}: {list}");
    }
    // The counts are of all runs, so a search does not show them.
    let found = page(client, "/runs?label=team%3Ddata").await;
    assert!(found.contains("Waiting for approval<") && !found.contains("<strong>1"), "{found}");
    let only = page(client, "/runs?status=suspended").await;
    assert!(only.contains(&waiting) && !only.contains(&format!("/runs/{bad}")), "{only}");
    assert!(only.contains("aria-current=\"true\""), "{only}");
    let listed = client.get("/v1/runs?status=suspended").await.expect(200).json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["runs"][0]["runID"], waiting);
    assert_eq!(client.get("/v1/runs?status=parked").await.status, 400);
}

/// R-A113: the first screen of a run says how it stands and why, and which tasks failed.
#[tokio::test]
async fn a_run_says_how_it_stands() {
    let world = World::in_file().await;
    let client = &world.client;
    let looped = "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: w }\nspec:\n  entrypoint: main\n  templates:\n    \
                  - task: { name: work, executor: { type: fail } }\n    - loop: { name: main, items: [Ada, Bob], body: work }\n";
    let run = world.submit(looped).await;
    client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let shown = page(client, &format!("/runs/{run}")).await;
    for says in [
        "as asked",
        "2 failed</a>",
        "2 failed tasks",
        "<code class=\"item\">Ada</code>",
        "/assets/Failed.svg",
    ] {
        assert!(shown.contains(says), "{says}: {shown}");
    }
    let tasks = page(client, &format!("/runs/{run}?view=tasks&failed=true")).await;
    assert!(tasks.contains("<code class=\"item\">Bob</code>"), "{tasks}");
    // Its end is enough, as lists show no more of it.
    let end = &run[run.len() - 8..];
    let sent = client.get(&format!("/runs/{end}")).await;
    assert_eq!((sent.status, sent.header("location")), (303, Some(format!("/runs/{run}").as_str())));
    assert_eq!(client.get("/runs/zzzzzzzz").await.status, 404);
}

/// R-A114: the details of a task stand beside the picture, at an address of their own.
#[tokio::test]
async fn a_task_is_shown_beside_the_picture() {
    let world = World::in_file().await;
    let client = &world.client;
    let run = world.submit(&workflow("default", &["ok", "fail"])).await;
    client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    for view in ["graph", "timeline", "tasks"] {
        let shown = page(client, &format!("/runs/{run}?view={view}&task=2")).await;
        assert!(
            shown.contains("Attempt 1 returned code 2") && shown.contains("Close the details"),
            "{shown}"
        );
        let others = page(client, &format!("/runs/{run}?view={view}")).await;
        assert!(
            others.contains(&format!("view={view}&amp;task=2")) && !others.contains("Close the"),
            "{others}"
        );
    }
    assert_eq!(client.get(&format!("/runs/{run}?task=x")).await.status, 400);
}

/// R-A115: who is signed in is who approves; responses are listed with their comments, and what waits is listed across runs.
#[tokio::test]
async fn approvals_have_people() {
    let world = World::new().await;
    let key = |name: &str, role| world.key(name, role, &[]);
    let (ada, bob, eve) = (key("ada", Role::Run), key("bob", Role::Approve), key("eve", Role::Read));
    let asks = workflow("default", &["decide"])
        .replace("type: decide }", "type: decide, config: { approvers: [bob] } }");
    let run = submit(&ada, &asks).await;
    ada.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let at = format!("/runs/{run}");
    let shown = page(&bob, &at).await;
    for says in ["Release it?", ">Approve<span", ">Reject<span", "as bob", "answer.1.comment"] {
        assert!(shown.contains(says), "{says}: {shown}");
    }
    assert!(!shown.contains("answer.1.by"), "{shown}");
    assert!(!page(&eve, &at).await.contains(">Approve<span"));
    assert!(page(&bob, "/waiting").await.contains("Release it?"));
    let others = page(&ada, "/waiting").await;
    assert!(
        others.contains("Nothing waits for you") && others.contains("1 run waiting for others"),
        "{others}"
    );
    assert!(page(&ada, "/waiting?all=true").await.contains("Only these may respond: bob"));
    let response = "answer.1.approved=true&answer.1.by=mallory&answer.1.comment=as+agreed";
    let sent = post(&bob, &format!("{at}/tasks/1/resume"), response).await;
    assert_eq!((sent.status, sent.header("location")), (303, Some(at.as_str())));
    let ended = ada.get(&format!("/v1{at}?wait=30s")).await.expect(200);
    assert_eq!(ended.text("/phase"), "Succeeded");
    let task = page(&bob, &format!("{at}/tasks/1")).await;
    assert!(task.contains("<strong>Approved</strong> by bob") && task.contains(": as agreed"), "{task}");
    assert!(!task.contains("mallory"), "{task}");
}

/// R-A117: a run that repeats another says how that ended, and how many results it takes over.
#[tokio::test]
async fn a_rerun_says_what_it_takes_over() {
    let world = World::in_file().await;
    let client = &world.client;
    let run = world.submit(&workflow("default", &["ok", "fail", "ok", "ok"])).await;
    client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    let shown = page(client, &format!("/runs/{run}")).await;
    assert!(shown.contains("1 failed task, 2 tasks not run because of it: t2, t3"), "{shown}");
    assert!(shown.contains("Takes over up to 1 results"), "{shown}");
    let sent = post(client, &format!("/runs/{run}/rerun"), "from=failed").await;
    let at = sent.header("location").unwrap().to_owned();
    client.get(&format!("/v1{at}?wait=30s")).await.expect(200);
    let again = page(client, &at).await;
    for says in ["Rerun of", ", which ended in ", "1 result reused, 1 task run anew."] {
        assert!(again.contains(says), "{says}: {again}");
    }
    assert!(page(client, "/runs").await.contains(">rerun of …"));
    let before = page(client, &format!("/runs/{run}")).await;
    assert!(before.contains("Run again as") && before.contains(&at), "{before}");
    // A run from its edited file is one that repeats it, too.
    let edited = page(client, &format!("/runs/{run}/edit")).await;
    assert!(edited.contains("<h1>Edit and run again</h1>"), "{edited}");
    let document = encoded(&workflow("default", &["ok"]));
    let sent = post(client, "/submit", &format!("act=submit&document={document}&repeats={run}")).await;
    let edited = page(client, sent.header("location").unwrap()).await;
    assert!(edited.contains("Rerun of") && edited.contains(&run), "{edited}");
    assert!(edited.contains("It has the same parameters, and may have an edited file."), "{edited}");
    let other = format!("act=submit&document={document}&repeats={run}&param.who=Ada");
    let sent = post(client, "/submit", &other).await;
    let other = page(client, sent.header("location").unwrap()).await;
    let says = "With other parameters: who <code>&quot;world&quot;</code> → <code>&quot;Ada&quot;</code>.";
    assert!(other.contains(says), "{other}");
    let strange = post(client, "/submit", &format!("act=submit&document={document}&repeats=unknown")).await;
    assert!(!page(client, strange.header("location").unwrap()).await.contains("Rerun of"));
}

/// R-A117: a rejection is no fault, so the page does not offer to ask the same question again first.
#[tokio::test]
async fn a_rejected_run_says_so() {
    let world = World::in_file().await;
    let client = &world.client;
    let asks = workflow("default", &["decide"]).replace(
        "type: decide }",
        "type: decide }, phaseConditions: { failed: \"outputs.approved == false\" }",
    );
    let run = world.submit(&asks).await;
    client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    post(client, &format!("/runs/{run}/tasks/1/resume"), "answer.1.approved=false&answer.1.by=ada").await;
    let ended = client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    assert_eq!(ended.text("/phase"), "Failed", "{ended:?}");
    let shown = page(client, &format!("/runs/{run}")).await;
    for says in [
        "</svg> Rejected</span>",
        "1 rejected task",
        "Rejected after ",
        "<button class=\"plain\" title",
        "rejected by ada",
    ] {
        assert!(shown.contains(says), "{says}: {shown}");
    }
}

/// R-A117: what fails before it is executed fails again, so the first thing that is offered is to change the file.
#[tokio::test]
async fn a_file_that_has_to_change_is_edited_first() {
    let world = World::in_file().await;
    let client = &world.client;
    let wrong = workflow("default", &["ok"])
        .replace("executor: { type: ok }", "executor: { type: ok }, inputs: { parameters: [{ name: a, valueFrom: { expression: \"1 / (workflow.parameters.who.length - 5)\" } }] }");
    let run = world.submit(&wrong).await;
    let ended = client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
    assert_eq!(ended.text("/phase"), "Error", "{ended:?}");
    let shown = page(client, &format!("/runs/{run}")).await;
    assert!(
        shown.contains("<a class=\"button \" href") && shown.contains("<button class=\"plain\" title"),
        "{shown}"
    );
}

/// R-A116: what is typed into the field of a number is never replaced by the default.
#[tokio::test]
async fn letters_for_a_number_are_refused() {
    let world = World::in_file().await;
    let client = &world.client;
    let counts = workflow("default", &["ok"]).replace(
        "{ name: who, type: string, default: world }",
        "{ name: n, type: integer, default: 3, description: Number of copies }",
    );
    let document = encoded(&counts);
    let written = post(client, "/submit/check", &format!("document={document}")).await;
    assert!(
        written.body.contains("Number of copies (integer)")
            && written.body.contains("inputmode=\"numeric\"")
            && !written.body.contains("type=\"number\""),
        "{}",
        written.body
    );
    let sent = post(client, "/submit", &format!("act=submit&document={document}&param.n=many")).await;
    assert_eq!(sent.status, 422, "{}", sent.body);
    assert!(sent.body.contains("expected") && sent.body.contains("value=\"many\""), "{}", sent.body);
}

/// R-A118: the reference needs no network: all fields, and each error at its own address.
#[tokio::test]
async fn the_reference_is_in_the_page() {
    let world = World::new().await;
    let fields = page(&world.client, "/reference").await;
    for says in ["id=\"retry\"", "<code>attempts</code>", "<code>duration</code>"] {
        assert!(fields.contains(says), "{says}");
    }
    let errors = page(&world.client, "/reference/errors").await;
    assert!(errors.contains("id=\"P022\"") && errors.contains("Task that does not exist"), "{errors}");
    assert!(fields.len() < 300_000 && errors.len() < 300_000, "{} {}", fields.len(), errors.len());
    let written = post(&world.client, "/submit/check", "document=a").await;
    assert!(written.body.contains("href=\"/reference/errors#P"), "{}", written.body);
}

/// An address that there is not is a page for people, and JSON for programs.
#[tokio::test]
async fn nothing_is_said_to_people_on_a_page() {
    let world = World::new().await;
    let person = world.client.send("GET", "/nowhere", &[("accept", "text/html,*/*")], "").await;
    assert!(
        person.status == 404 && person.body.contains("<h1>") && person.body.contains("All runs"),
        "{}",
        person.body
    );
    let program = world.client.get("/nowhere").await;
    assert!(program.status == 404 && program.body.starts_with("{"), "{}", program.body);
    assert!(
        world.client.send("GET", "/v1/nowhere", &[("accept", "text/html")], "").await.body.starts_with("{")
    );
}
