//! A release that two people approve: the shipped `approval` behind a real server, with keys and the example of the documentation.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::Value;

/// A server in a directory of its own.
struct Server {
    dir: PathBuf,
    address: String,
    child: Child,
    /// Lines of its log.
    log: Arc<Mutex<String>>,
    reader: Option<thread::JoinHandle<()>>,
}

fn command(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phasm"));
    command.current_dir(dir).env_remove("PHASM_CONFIG").env_remove("PHASM_SERVER").env_remove("PHASM_KEY");
    // The environment is not asked for the user.
    command.env("USER", "ada").env("LOGNAME", "ada");
    command
}

impl Server {
    fn start(dir: &Path) -> Self {
        let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
        let mut child = command(dir)
            .args(["serve", "--listen", "127.0.0.1:0", "--store", "runs.db", "--plugins"])
            .arg(plugins)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("listening on http://")).unwrap();
        let address = line.split("http://").nth(1).unwrap().trim().to_owned();
        let log = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&log);
        let reader =
            thread::spawn(move || lines.for_each(|line| kept.lock().unwrap().push_str(&(line + "\n"))));
        Self { dir: dir.to_owned(), address, child, log, reader: Some(reader) }
    }

    fn send(&self, key: &str, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let kind = if body.starts_with('{') { "application/json" } else { "application/yaml" };
        let head = format!(
            "{method} {path} HTTP/1.0\r\nhost: {}\r\nauthorization: Bearer {key}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
    }

    /// The command with a key, against the server.
    fn phasm(&self, key: &str, arguments: &[&str]) -> Output {
        let server = format!("http://{}", self.address);
        command(&self.dir).env("PHASM_KEY", key).args(arguments).args(["--server", &server]).output().unwrap()
    }

    fn stop(mut self) -> String {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.reader.take().unwrap().join().unwrap();
        self.log.lock().unwrap().clone()
    }
}

fn key(dir: &Path, name: &str, role: &str) -> String {
    let made =
        command(dir).args(["key", "add", name, "--role", role, "--store", "runs.db"]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

/// The example of the documentation.
fn release() -> String {
    let page = include_str!("../../docs/how-to/two-approvals.md");
    page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap().to_owned()
}

fn task<'v>(view: &'v Value, name: &str) -> &'v Value {
    view["tasks"].as_array().unwrap().iter().find(|task| task["taskName"] == name).unwrap()
}

/// R-S15, R-A10, R-A14: two different people approve what a third one has submitted; everyone else is refused by name, and all of it
/// can be read afterwards.
#[test]
fn two_people_release_what_a_third_one_submitted() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let [carol, ada, bob, eve, dora] =
        [("carol", "run"), ("ada", "approve"), ("bob", "approve"), ("eve", "approve"), ("dora", "read")]
            .map(|(name, role)| key(dir, name, role));
    let server = Server::start(dir);
    let (status, submitted) = server.send(&carol, "POST", "/v1/runs?wait=120s", &release());
    assert_eq!(status, 200, "{submitted}");
    let run = submitted["runID"].as_str().unwrap();
    assert_eq!(
        (&submitted["submittedBy"], &task(&submitted, "first")["phase"]),
        (&"carol".into(), &"Suspended".into())
    );
    let respond = |key: &str, name: &str, answer: &str| {
        server.send(key, "POST", &format!("/v1/runs/{run}/tasks/{name}/resume?wait=60s"), answer)
    };
    let yes = r#"{"approved": true, "by": "bob", "phasm.resumedBy": "bob", "resumedBy": "bob"}"#;
    let refused = |key: &str, name: &str, why: &str| {
        let (status, problem) = respond(key, name, yes);
        assert_eq!(status, 422, "{problem}");
        assert_eq!(problem["detail"], format!("the response was refused: {why}; the task still waits"));
    };
    refused(&carol, "first", "carol may not respond to this approval (`notBy`)");
    refused(&eve, "first", "eve is not one of the approvers: ada, bob, carol");
    assert_eq!(respond(&ada, "first", r#"{"approved": true}"#).0, 200);
    let waits = server.send(&ada, "GET", &format!("/v1/runs/{run}?wait=60s"), "").1;
    assert_eq!(
        (&task(&waits, "first")["resumedBy"], &task(&waits, "second")["phase"]),
        (&"ada".into(), &"Suspended".into())
    );
    refused(&ada, "second", "ada may not respond to this approval (`notBy`)");
    // The command says so by its exit status.
    let told = server.phasm(&ada, &["resume", run, "second", yes]);
    let said = String::from_utf8_lossy(&told.stderr);
    assert_eq!(told.status.code(), Some(2), "{said}");
    assert!(said.contains("ada may not respond to this approval"), "{said}");
    // A key that only reads is told the role that it lacks.
    let read = server.phasm(&dora, &["approve", run, "second"]);
    let said = String::from_utf8_lossy(&read.stderr);
    assert_eq!(read.status.code(), Some(2), "{said}");
    assert!(said.contains("this needs the role `approve`; the key has `read`"), "{said}");
    // Nor may one who only approves do anything else.
    assert_eq!(server.send(&ada, "POST", "/v1/runs", &release()).0, 403);
    assert_eq!(server.send(&ada, "POST", &format!("/v1/runs/{run}/cancel"), "").0, 403);
    // A user of the machine is no key's holder, whatever the environment says.
    let local = command(dir).args(["resume", run, "second", yes, "--store", "runs.db"]).output().unwrap();
    // R-S14: the command waits for the verdict of the server's process.
    let said = String::from_utf8_lossy(&local.stderr);
    assert_eq!(local.status.code(), Some(2), "{said}");
    assert!(said.contains("not resumed; the response was refused: local:"), "{said}");
    assert!(said.contains("is not one of the approvers: ada, bob, carol; the task still waits"), "{said}");
    let view = server.send(&bob, "GET", &format!("/v1/runs/{run}"), "").1;
    assert_eq!(task(&view, "second")["phase"], "Suspended", "{view}");
    let by = task(&view, "second")["refusedBy"].as_str().unwrap();
    assert!(by.starts_with("local:") && by != "local:ada", "{by}");
    assert_eq!(respond(&bob, "second", r#"{"approved": true}"#).0, 200);
    let view = server.send(&bob, "GET", &format!("/v1/runs/{run}?wait=60s"), "").1;
    assert_eq!((&view["phase"], &task(&view, "second")["resumedBy"]), (&"Succeeded".into(), &"bob".into()));
    let outputs = task(&view, "second")["outputs"].as_array().unwrap();
    let outputs: Vec<_> = outputs.iter().map(|output| (&output["name"], &output["value"])).collect();
    // R-L122: the name to show is the caller's. Nothing of refused responses is left.
    assert_eq!(outputs[1..], [(&"approved".into(), &true.into()), (&"by".into(), &"bob".into())], "{view}");
    let page = server.phasm(&bob, &["get", run]);
    let page = String::from_utf8_lossy(&page.stdout);
    for line in ["submitted by carol\n", "main/first approved by ada at ", "main/second approved by bob at "]
    {
        assert!(page.contains(line), "{page}");
    }
    let log = server.stop();
    // Each request has a line, with the key and what it did; a read has none.
    let lines = |key: &str| log.lines().filter(|line| line.contains(&format!("key=\"{key}\""))).count();
    assert_eq!((lines("carol"), lines("eve"), lines("bob"), lines("dora")), (2, 1, 1, 1), "{log}");
    assert!(log.lines().any(|line| line.contains("key=\"dora\"") && line.contains("status=403")), "{log}");
    assert!(log.contains("role=\"approve\" method=POST") && log.contains("status=403"), "{log}");
    assert!(!log.contains(&ada) && !log.contains("approved"), "{log}");
}
