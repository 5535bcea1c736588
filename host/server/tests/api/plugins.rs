//! Plugins: added, looked at, approved, removed, while the host goes on; and what must not be.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use minisign::KeyPair;
use phasm::{
    Host, Tenant,
    plugins::{Library, Manifest, trust::Policy},
    sandbox::{Digest, Grants, HttpGrant, SandboxConfig},
};
use phasm_server::keys::Role;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{
    client::{Answer, Client},
    world::{World, workflow},
};

const WASM: (&str, &str) = ("content-type", "application/wasm");

/// A guest of `tests/guests` that says this of itself.
pub(crate) fn component(guest: &str, manifest: &Value) -> Vec<u8> {
    let guests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/guests");
    let text = fs::read_to_string(guests.join(guest).with_extension("wat")).unwrap();
    let world = fs::read_to_string(guests.join("world.wat")).unwrap();
    let bytes = wat::parse_str(world.replace(";; GUEST", &text)).unwrap();
    let manifest: Manifest = serde_json::from_value(manifest.clone()).unwrap();
    manifest.embed(&bytes).unwrap()
}

fn greet(version: &str, wants: &Value) -> Vec<u8> {
    component("echo", &json!({ "name": "greet", "version": version, "wants": wants }))
}

async fn put(client: &Client, path: &str, bytes: &[u8]) -> Answer {
    client.send_bytes("PUT", &format!("/v1/plugins/{path}"), &[WASM], bytes).await
}

async fn delete(client: &Client, path: &str) -> Answer {
    client.send("DELETE", &format!("/v1/plugins/{path}"), &[], "").await
}

/// Name, version and state of each plugin.
async fn listed(client: &Client) -> Vec<(String, String, String)> {
    let page = client.get("/v1/plugins").await.expect(200).json();
    let word = |row: &Value, name: &str| row[name].as_str().unwrap_or("-").to_owned();
    let rows = page["plugins"].as_array().unwrap().iter();
    rows.map(|row| (word(row, "name"), word(row, "version"), word(row, "state"))).collect()
}

async fn ended(client: &Client, run: &str) -> String {
    client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200).text("/phase")
}

/// Everything that a library's directory holds.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// R-A60, R-A61, R-A62: what is added is found by the next document, runs keep to what they were submitted with.
#[tokio::test]
async fn a_plugin_is_added_looked_at_approved_and_removed() {
    let world = World::with_library(|builder| builder, |_| {}).await;
    let client = &world.client;
    let document = workflow("default", &["greet"]);
    client.post_yaml("/v1/runs", &document).await.expect(422);
    let first = greet("1.0.0", &json!({}));
    let added = put(client, "greet/1.0.0", &first).await.expect(201);
    assert_eq!(added.header("location"), Some("/v1/plugins/greet/1.0.0"));
    assert_eq!(added.text("/digest"), Digest::of(&first).to_string());
    let run = client.post_yaml("/v1/runs", &document).await.expect(202).text("/runID");
    assert_eq!(ended(client, &run).await, "Succeeded");
    assert_eq!(put(client, "greet/1.0.0", &first).await.expect(200).json()["isNew"], false);
    let other = component("echo", &json!({ "name": "greet", "version": "1.0.0", "description": "Other" }));
    let taken = put(client, "greet/1.0.0", &other).await.expect(409);
    assert!(taken.text("/detail").contains("exists already with other content"), "{taken:?}");
    let again = [WASM, ("if-none-match", "*")];
    client.send_bytes("PUT", "/v1/plugins/greet/1.0.0", &again, &first).await.expect(412);

    let held = put(client, "greet/1.1.0", &greet("1.1.0", &json!({ "env": ["TOKEN"] }))).await.expect(201);
    assert_eq!(
        (held.text("/state"), held.json()["beyond"].clone()),
        ("held".into(), json!(["the environment variable TOKEN"]))
    );
    assert_eq!(held.text("/toGrant/lines"), "[grants.greet]\nenv = { TOKEN = \"WHAT\" }\n");
    let view = client.get("/v1/plugins/greet/1.1").await.expect(200).json();
    assert_eq!((&view["state"], &view["version"]), (&json!("held"), &json!("1.1.0")));
    let by_digest = client.get(&format!("/v1/plugins/greet/{}", Digest::of(&first))).await.expect(200);
    assert_eq!(by_digest.text("/version"), "1.0.0");
    client.post_yaml("/v1/runs", &workflow("default", &["greet@1.1.0"])).await.expect(422);
    let approved = client.post("/v1/plugins/greet/1.1.0/approve").await.expect(200).json();
    assert_eq!(approved["wasHeld"], true);
    client.post_yaml("/v1/runs", &workflow("default", &["greet@1.1.0"])).await.expect(202);
    let states: Vec<_> =
        listed(client).await.into_iter().map(|(_, version, state)| (version, state)).collect();
    assert_eq!(states, [("1.1.0".into(), "approved".into()), ("1.0.0".to_owned(), "approved".to_owned())]);

    delete(client, "greet/1").await.expect(422);
    delete(client, "greet/1.1.0").await.expect(200);
    delete(client, "greet/1.1.0").await.expect(404);
    client.post_yaml("/v1/runs", &workflow("default", &["greet@1.1.0"])).await.expect(422);
    let digest = Digest::of(&greet("1.1.0", &json!({ "env": ["TOKEN"] })));
    for gone in [format!("{digest}"), format!("greet@{digest}")] {
        client.post_yaml("/v1/runs", &workflow("default", &[&gone])).await.expect(422);
    }
}

/// R-A62: a run continues with the plugins it was submitted with.
#[tokio::test]
async fn a_run_outlives_the_name_of_its_plugin() {
    let world = World::with_library(|builder| builder, |_| {}).await;
    let client = &world.client;
    let ask = component("suspend", &json!({ "name": "ask", "version": "1.0.0" }));
    put(client, "ask/1.0.0", &ask).await.expect(201);
    let run = world.submit(&workflow("default", &["ask"])).await;
    assert_eq!(ended(client, &run).await, "Running");
    delete(client, "ask/1.0.0").await.expect(200);
    client.post(&format!("/v1/runs/{run}/tasks/t0/resume")).await.expect(200);
    assert_eq!(ended(client, &run).await, "Succeeded");
    client.post(&format!("/v1/runs/{run}/rerun")).await.expect(202);
    client.post_yaml("/v1/runs", &workflow("default", &["ask"])).await.expect(422);
}

/// R-A63: nothing of what is no plugin, or is none whole, is kept.
#[tokio::test]
async fn nothing_is_kept_of_what_is_refused() {
    let world = World::with_library(
        |builder| builder,
        |config| {
            config.limits.upload = 200_000;
            config.limits.upload_time = Duration::from_millis(300);
        },
    )
    .await;
    let client = &world.client;
    let good = greet("1.0.0", &json!({}));
    let half = good.get(..good.len() / 2).unwrap();
    let module = b"\0asm\x01\0\0\0".to_vec();
    let path = "/v1/plugins/greet/1.0.0";
    for (status, bytes) in [
        (422, Vec::new()),
        (422, b"PK\x03\x04".to_vec()),
        (422, module),
        (422, half.to_vec()),
        (413, vec![0; 300_000]),
    ] {
        let refused = put(client, "greet/1.0.0", &bytes).await.expect(status);
        assert!(!refused.text("/detail").is_empty());
    }
    for (status, headers) in [
        (415, vec![("content-type", "text/plain")]),
        (415, vec![WASM, ("content-encoding", "gzip")]),
        (422, vec![WASM, ("phasm-signature", "%")]),
    ] {
        client.send_bytes("PUT", path, &headers, &good).await.expect(status);
    }
    // The version is another than it says of itself; names that are none.
    put(client, "greet/2.0.0", &good).await.expect(422);
    put(client, "greet/one", &greet("one", &json!({}))).await.expect(422);
    put(client, "a%20b/1.0.0", &good).await.expect(422);
    put(client, "sha256:aa/1.0.0", &good).await.expect(422);
    // More is promised than comes: the connection ends, or stays.
    let long = [WASM, ("content-length", "150000")];
    let mut broken = client.begin("PUT", path, &long, half).await;
    broken.shutdown().await.unwrap();
    let mut said = String::new();
    broken.read_to_string(&mut said).await.unwrap();
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 400"), "{said}");
    let mut slow = client.begin("PUT", path, &long, half).await;
    let mut said = String::new();
    slow.read_to_string(&mut said).await.unwrap();
    assert!(said.starts_with("HTTP/1.1 408"), "{said}");
    // Less is promised than comes: what is promised is no plugin.
    let short = half.len().to_string();
    client.send_bytes("PUT", path, &[WASM, ("content-length", &short)], &good).await.expect(422);
    // A length is not said, and there is no end.
    let chunk = format!("{:x}\r\n{}\r\n", 100_000, "x".repeat(100_000));
    let endless = client.send("PUT", path, &[WASM, ("transfer-encoding", "chunked")], &chunk.repeat(3)).await;
    endless.expect(413);
    assert!(listed(client).await.is_empty());
    assert_eq!(files(&world.dir.path().join("library")), Vec::<PathBuf>::new());
    put(client, "greet/1.0.0", &good).await.expect(201);
}

/// R-A63: of several at once each is there, and of those of one version one.
#[tokio::test]
async fn several_are_added_at_once() {
    let world = World::with_library(|builder| builder, |_| {}).await;
    let mut uploads = tokio::task::JoinSet::new();
    for number in 0..6 {
        let client = world.client.clone();
        let (version, twin) = (format!("1.0.{number}"), format!("twin {number}"));
        uploads.spawn(async move {
            let own = put(&client, &format!("greet/{version}"), &greet(&version, &json!({}))).await;
            let twin = json!({ "name": "twin", "version": "1.0.0", "description": twin });
            (own.status, put(&client, "twin/1.0.0", &component("echo", &twin)).await.status)
        });
    }
    let (own, mut twins): (Vec<_>, Vec<_>) = uploads.join_all().await.into_iter().unzip();
    twins.sort_unstable();
    assert_eq!((own, twins), (vec![201; 6], vec![201, 409, 409, 409, 409, 409]));
    assert_eq!(listed(&world.client).await.len(), 7);
}

/// R-A61: pages of a list are the list.
#[tokio::test]
async fn a_list_has_pages() {
    let world =
        World::with_library(|builder| builder.plugin("carried", component("echo", &json!({}))), |_| {}).await;
    let client = &world.client;
    for version in ["1.0.0", "1.10.0", "1.2.0"] {
        put(client, &format!("greet/{version}"), &greet(version, &json!({}))).await.expect(201);
    }
    put(client, "a%2Fb/1.0.0", &greet("1.0.0", &json!({}))).await.expect(201);
    let whole = listed(client).await;
    let names: Vec<_> = whole.iter().map(|(name, version, _)| format!("{name} {version}")).collect();
    assert_eq!(names, ["carried -", "a/b 1.0.0", "greet 1.10.0", "greet 1.2.0", "greet 1.0.0"]);
    let (mut at, mut found) = ("/v1/plugins?limit=2".to_owned(), Vec::new());
    loop {
        let page = client.get(&at).await.expect(200);
        let rows = page.json()["plugins"].as_array().unwrap().clone();
        found.extend(rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()));
        let Some(link) = page.header("link") else { break };
        at = link.split(['<', '>']).nth(1).unwrap().to_owned();
    }
    assert_eq!(found, whole.into_iter().map(|(name, ..)| name).collect::<Vec<_>>());
    client.get("/v1/plugins?cursor=x").await.expect(400);
    assert_eq!(
        client.get("/v1/plugins/greet").await.expect(200).json()["versions"].as_array().unwrap().len(),
        3
    );
}

fn tenants(builder: phasm::HostBuilder) -> phasm::HostBuilder {
    let http = HttpGrant { allow: vec!["https://*".parse().unwrap()], ..HttpGrant::default() };
    let grants =
        Grants { http, env: [("TOKEN".to_owned(), "hunter2".to_owned())].into(), ..Grants::default() };
    let both = Tenant { namespaces: vec!["a2".into()], ..Tenant::default() };
    builder.tenant("a", both).tenant("b", Tenant::default()).grant("greet", grants)
}

/// R-A64: a tenant's plugins are found by its runs and seen by its keys alone, and no key of its changes others'.
#[tokio::test]
async fn a_tenants_plugin_is_no_other_tenants() {
    let world = World::with_library(tenants, |config| config.audit = None).await;
    let all = world.key("all", Role::Admin, &[]);
    let [a, b] =
        [("a", &["a", "a2"][..]), ("b", &["b"])].map(|(name, own)| world.key(name, Role::Admin, own));
    let (part, reader) = (world.key("part", Role::Admin, &["a"]), world.key("reader", Role::Read, &["a"]));
    let shared = component("echo", &json!({ "name": "shared", "version": "1.0.0" }));
    put(&all, "shared/1.0.0", &shared).await.expect(201);
    put(&a, "greet/1.0.0", &greet("1.0.0", &json!({}))).await.expect(201);
    // Its own runs find it, and it is granted nothing of what `greet` of all would be.
    a.post_yaml("/v1/runs", &workflow("a2", &["greet", "shared"])).await.expect(202);
    b.post_yaml("/v1/runs", &workflow("b", &["greet"])).await.expect(422);
    all.post_yaml("/v1/runs", &workflow("default", &["greet"])).await.expect(422);
    let view = reader.get("/v1/plugins/greet/1.0.0").await.expect(200).json();
    assert_eq!(
        (&view["tenant"], &view["granted"], &view["component"]),
        (&json!("a"), &Value::Null, &Value::Null)
    );
    let shown = all.get("/v1/plugins").await.expect(200).body;
    assert!(!shown.contains("hunter2") && shown.contains("\"tenant\":\"a\""), "{shown}");
    // A plugin of one tenant only.
    let absent = |answer: Answer, name: &str| answer.expect(404).body.replace(name, "NAME");
    for (method, path) in [("GET", ""), ("GET", "/1.0.0"), ("DELETE", "/1.0.0"), ("POST", "/1.0.0/approve")] {
        let at = |name: &str| format!("/v1/plugins/{name}{path}");
        let (real, none) =
            (b.send(method, &at("greet"), &[], "").await, b.send(method, &at("nope1"), &[], "").await);
        assert_eq!(absent(real, "greet"), absent(none, "nope1"), "{method} {path}");
    }
    assert_eq!(listed(&b).await.len(), 1);
    b.get("/v1/plugins/greet?tenant=a").await.expect(400);
    assert_eq!(b.get("/v1/plugins?tenant=a").await.expect(200).json()["plugins"], json!([]));
    let foreign = b.send("DELETE", "/v1/plugins/greet/1.0.0?tenant=a", &[], "").await.expect(403);
    let nowhere = b.send("DELETE", "/v1/plugins/greet/1.0.0?tenant=none", &[], "").await.expect(403);
    assert_eq!(foreign.body, nowhere.body);
    // Nor do they change what is of all, or of a tenant of whose namespaces they have a part.
    delete(&b, "shared/1.0.0").await.expect(404);
    put(&b, "shared/2.0.0", &component("echo", &json!({ "version": "2.0.0" }))).await.expect(409);
    put(&part, "greet/1.0.0", &greet("1.0.0", &json!({}))).await.expect(403);
    put(&reader, "greet/1.0.0", &greet("1.0.0", &json!({}))).await.expect(403);
    delete(&reader, "greet/1.0.0").await.expect(403);
    // A key for all tenants names the tenant.
    all.send("DELETE", "/v1/plugins/greet/1.0.0", &[], "").await.expect(404);
    all.send("DELETE", "/v1/plugins/greet/1.0.0?tenant=none", &[], "").await.expect(404);
    all.send("DELETE", "/v1/plugins/greet/1.0.0?tenant=a", &[], "").await.expect(200);
    a.post_yaml("/v1/runs", &workflow("a", &["greet"])).await.expect(422);
}

/// R-A60: what a policy asks for is asked of what is uploaded.
#[tokio::test]
async fn a_plugin_without_a_trusted_signature_is_not_added() {
    let [ours, theirs] = [0, 1].map(|_| KeyPair::generate_unencrypted_keypair().unwrap());
    let policy = Policy { require_signature: true, keys: vec![ours.pk.to_base64().parse().unwrap()] };
    let world = World::with_library(|builder| builder.trust(policy).hold_all(true), |_| {}).await;
    let bytes = greet("1.0.0", &json!({}));
    let refused = put(&world.client, "greet/1.0.0", &bytes).await.expect(422);
    assert!(refused.text("/detail").contains("it is not signed; `[trust]`"), "{refused:?}");
    let signed = |key: &KeyPair| {
        let signature = minisign::sign(Some(&key.pk), &key.sk, &bytes[..], Some("by us"), None);
        BASE64.encode(signature.unwrap().into_string())
    };
    for (key, status) in [(&theirs, 422), (&ours, 201)] {
        let headers = [WASM, ("phasm-signature", &signed(key))];
        world.client.send_bytes("PUT", "/v1/plugins/greet/1.0.0", &headers, &bytes).await.expect(status);
    }
    let row = world.client.get("/v1/plugins").await.expect(200).json()["plugins"][0].clone();
    assert_eq!((&row["state"], &row["signature"]["state"]), (&json!("held"), &json!("good")));
}

/// R-A65: another host finds what was added to the files that it shares, with the next document.
#[tokio::test]
async fn another_host_finds_what_is_added_to_its_library() {
    let world = World::with_library(|builder| builder, |_| {}).await;
    let sandbox = SandboxConfig { slots: 8, ..SandboxConfig::default() };
    let library = Library::at(world.dir.path().join("library"));
    let other = Arc::new(Host::builder().sandbox(sandbox).plugin_library(library).open().unwrap());
    let document = workflow("default", &["greet"]);
    other.plan("w.yaml", &document).await.unwrap_err();
    put(&world.client, "greet/1.0.0", &greet("1.0.0", &json!({}))).await.expect(201);
    other.plan("w.yaml", &document).await.unwrap();
    delete(&world.client, "greet/1.0.0").await.expect(200);
    other.plan("w.yaml", &document).await.unwrap_err();
}

/// R-A14: who changed what is written down.
#[tokio::test]
async fn changes_are_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.log");
    let world = World::with_library(|builder| builder, |config| config.audit = Some(file.clone())).await;
    let client = world.key("ada", Role::Admin, &[]);
    put(&client, "greet/1.0.0", &greet("1.0.0", &json!({}))).await.expect(201);
    client.post("/v1/plugins/greet/1.0.0/approve").await.expect(200);
    delete(&client, "greet/1.0.0").await.expect(200);
    let lines: Vec<Value> =
        fs::read_to_string(&file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> =
        lines.iter().map(|line| format!("{} {} {}", line["key"], line["method"], line["status"])).collect();
    assert_eq!(told, ["\"ada\" \"PUT\" 201", "\"ada\" \"POST\" 200", "\"ada\" \"DELETE\" 200"]);
}

/// Each answer that the document has of these routes.
pub(crate) async fn what_plugins_answer(mut saw: impl FnMut(&str, u16, Answer)) {
    let world = World::with_library(
        |builder| builder,
        |config| {
            (config.limits.upload, config.limits.uploads) = (200_000, 1);
            config.limits.upload_time = Duration::from_secs(2);
            config.limits.body_time = Duration::from_millis(100);
        },
    )
    .await;
    let client = world.key("admin", Role::Admin, &[]);
    let (path, bytes) = ("/v1/plugins/greet/1.0.0", greet("1.0.0", &json!({})));
    saw("putPlugin", 201, put(&client, "greet/1.0.0", &bytes).await);
    saw("putPlugin", 200, put(&client, "greet/1.0.0", &bytes).await);
    saw("putPlugin", 404, put(&client, "greet/1.0.0?tenant=none", &bytes).await);
    saw(
        "putPlugin",
        409,
        put(&client, "greet/1.0.0", &component("echo", &json!({ "version": "1.0.0" }))).await,
    );
    let first = [WASM, ("if-none-match", "*")];
    saw("putPlugin", 412, client.send_bytes("PUT", path, &first, &bytes).await);
    saw("putPlugin", 413, put(&client, "greet/1.0.0", &vec![0; 300_000]).await);
    saw("putPlugin", 415, client.post_json_as("PUT", path, "{}").await);
    saw("putPlugin", 422, put(&client, "greet/2.0.0", b"junk").await);
    let long = [WASM, ("content-length", "1000")];
    let mut slow = client.begin("PUT", path, &long, "x").await;
    // The previous upload holds its turn until it is refused.
    let refused = loop {
        let answer = put(&client, "greet/1.0.0", &bytes).await;
        if answer.status == 429 {
            break answer;
        }
        answer.expect(200);
    };
    saw("putPlugin", 429, refused);
    let mut said = Vec::new();
    slow.read_to_end(&mut said).await.unwrap();
    saw("putPlugin", 408, crate::client::answer(&said));
    saw("listPlugins", 200, client.get("/v1/plugins").await);
    saw("getPlugin", 200, client.get("/v1/plugins/greet").await);
    saw("getPluginVersion", 200, client.get(path).await);
    saw("getPluginVersion", 404, client.get("/v1/plugins/greet/7").await);
    saw("approvePlugin", 200, client.post(&format!("{path}/approve")).await);
    for (id, verb, rest) in [("approvePlugin", "POST", "/approve"), ("removePlugin", "DELETE", "")] {
        saw(id, 422, client.send(verb, &format!("/v1/plugins/greet/1{rest}"), &[], "").await);
        saw(id, 404, client.send(verb, &format!("/v1/plugins/none/1.0.0{rest}"), &[], "").await);
    }
    let blob = files(&world.dir.path().join("library/blobs")).pop().unwrap();
    fs::write(blob, "changed").unwrap();
    saw("getPluginVersion", 422, client.get(path).await);
    saw("removePlugin", 200, delete(&client, "greet/1.0.0").await);
}

/// The fields of a form with files, as a browser sends them.
fn form(fields: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, bytes) in fields {
        let file = if ["component", "signature"].contains(name) { "; filename=\"greet.wasm\"" } else { "" };
        body.extend(
            format!("--X\r\ncontent-disposition: form-data; name=\"{name}\"{file}\r\n\r\n").as_bytes(),
        );
        body.extend([bytes, b"\r\n".as_slice()].concat());
    }
    [body.as_slice(), b"--X--\r\n"].concat()
}

async fn sent(client: &Client, fields: &[(&str, &[u8])]) -> Answer {
    let headers = [("content-type", "multipart/form-data; boundary=X")];
    client.send_bytes("POST", "/plugins", &headers, &form(fields)).await
}

/// `greet` with inputs, one of them described as no page may show it.
fn says(version: &str, wants: &Value) -> Vec<u8> {
    let inputs = json!({ "type": "object", "required": ["who", "times"], "properties": {
        "who": { "type": "string", "description": "Whom <b>to</b> greet" }, "times": { "type": "integer" } } });
    component("echo", &json!({ "name": "greet", "version": version, "wants": wants, "inputs": inputs }))
}

/// R-A66: by forms alone a plugin is added, with what is wrong where it is, looked at, approved and removed.
#[tokio::test]
async fn forms_add_approve_and_remove_plugins() {
    let world = World::with_library(|builder| builder, |_| {}).await;
    let client = &world.client;
    let empty = crate::page::page(client, "/plugins").await;
    assert!(empty.contains("No plugin yet") && empty.contains("phasm plugin new greet"), "{empty}");
    let first = sent(client, &[("component", &says("1.0.0", &json!({}))), ("called", b"")]).await;
    assert_eq!(first.status, 303, "{first:?}");
    let shown = crate::page::page(client, first.header("location").unwrap()).await;
    assert!(
        shown.contains("Whom &lt;b&gt;to&lt;/b&gt; greet") && shown.contains("Remove greet@1.0.0"),
        "{shown}"
    );
    // The interfaces that all plugins import stand at the end, closed.
    let (before, imports) = shown.split_once("<details class=\"more-of\">").unwrap();
    assert!(before.contains(">Versions<") && imports.contains("Imported interfaces"), "{shown}");
    // The example on the page can be pasted.
    let example =
        shown.split("data-copy>").nth(1).unwrap().split("</pre>").next().unwrap().replace("&quot;", "\"");
    let tasks: String = example.lines().map(|line| format!("          {line}\n")).collect();
    let document = format!("{}{tasks}", workflow("default", &[]).replace("aether/v1", "phasm/v1"));
    client.post_yaml("/v1/runs", &document).await.expect(202);

    let held = sent(client, &[("component", &says("1.1.0", &json!({ "env": ["TOKEN"] })))]).await;
    let at = held.header("location").unwrap();
    let shown = crate::page::page(client, at).await;
    for says in [
        "It is held",
        "it asks for the environment variable TOKEN, and 1.0.0 does not",
        "To grant all of it, add this to <code>phasm.toml</code>",
        "TOKEN = &quot;WHAT&quot;",
    ] {
        assert!(shown.contains(says), "{says}: {shown}");
    }
    let post = async |path: &str| {
        let kind = [("content-type", "application/x-www-form-urlencoded")];
        client.send("POST", path, &kind, "tenant=").await
    };
    assert_eq!(post("/plugins/greet/1.1.0/approve").await.header("location"), Some(at));
    assert!(!crate::page::page(client, at).await.contains("It is held"));
    let list = crate::page::page(client, "/plugins").await;
    assert!(list.contains("1.1.0") && list.contains("another of its name is found first"), "{list}");
    let older = crate::page::page(client, first.header("location").unwrap()).await;
    assert!(
        older.contains("It is shadowed")
            && older.contains("[grants.greet]\n")
            && older.contains("<code>phasm.toml</code>")
            && older.contains("href=\"/plugins/greet/1.1.0\""),
        "{older}"
    );
    assert!(!crate::page::page(client, at).await.contains("It is shadowed"));
    assert_eq!(post("/plugins/greet/1.1.0/remove").await.status, 303);
    assert_eq!(post("/plugins/greet/1.1.0/remove").await.status, 404);
    assert_eq!(client.get("/plugins/greet").await.status, 303);
    // A read-only key gets no forms.
    let reader = world.key("reader", Role::Read, &[]);
    assert!(!crate::page::page(&reader, "/plugins").await.contains("<form class=\"sheet\""));
    assert_eq!(sent(&reader, &[]).await.status, 403);
}

/// R-A66: what is wrong with what was sent is told where it is, and nothing of it is kept.
#[tokio::test]
async fn what_is_wrong_with_an_upload_is_told_where_it_is() {
    let world = World::with_library(|builder| builder, |config| config.limits.upload = 200_000).await;
    let client = &world.client;

    for (fields, id, why) in [
        (vec![("component", b"".as_slice())], "component-wrong", "expected a file with a component"),
        (vec![("component", b"junk")], "component-wrong", "greet.wasm is not a WebAssembly component"),
        (vec![("component", &component("echo", &json!({})))], "called-wrong", "does not say its version"),
        (
            vec![("component", &says("3.0.0", &json!({}))), ("called", b"greet@2.0.0")],
            "component-wrong",
            "says that it is version 3.0.0",
        ),
    ] {
        let wrong = sent(client, &fields).await;
        let at = wrong
            .body
            .split(&format!("id=\"{id}\""))
            .nth(1)
            .unwrap_or_else(|| panic!("{id}: {}", wrong.body));
        assert!(wrong.status == 422 && at.split("</p>").next().unwrap().contains(why), "{why}: {at}");
    }
    assert_eq!(sent(client, &[("component", &vec![0; 300_000])]).await.status, 413);
    assert_eq!(sent(client, &[("unknown", b"")]).await.status, 400);
    let cut = form(&[("component", &says("2.0.0", &json!({})))]);
    let headers = [("content-type", "multipart/form-data; boundary=X")];
    assert_eq!(client.send_bytes("POST", "/plugins", &headers, &cut[..cut.len() / 2]).await.status, 400);
    assert_eq!(client.send("POST", "/plugins", &[("content-type", "text/plain")], "x").await.status, 415);
    assert!(listed(client).await.is_empty());
}
