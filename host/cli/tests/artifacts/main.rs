//! Artifacts from end to end: the executor `file`, both tiers, crashes, pruning, the API. The executor is built here if need be.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[expect(dead_code, reason = "other tests do more")]
#[path = "../cli/bench.rs"]
mod bench;
mod bucket;
#[path = "../../../artifacts/src/tests/contents.rs"]
mod contents;
mod running;
#[path = "../../../artifacts/src/tests/s3_server.rs"]
mod s3_server;

use std::{
    fs,
    io::{BufRead, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    thread,
};

use bench::{Bench, Ran};
use contents::contents;
use running::Running;
use serde_json::Value;

/// Reads a letter, writes a longer one, and reads that.
const LETTERS: &str = r#"apiVersion: phasm/v1
kind: Workflow
metadata: { name: letters }
spec:
  entrypoint: main
  arguments: { parameters: [{ name: letter }] }
  templates:
    - dag:
        name: main
        tasks:
          - name: first
            executor: { type: file }
            inputs: { operation: read, artifact: "{{ workflow.parameters.letter }}" }
          - name: copy
            dependencies: [first]
            executor: { type: file }
            inputs: { operation: write, path: /artifacts/out/copy.txt, content: "{{ tasks.first.outputs.content }} and more" }
          - name: second
            dependencies: [copy]
            executor: { type: file }
            inputs: { operation: read, artifact: "{{ tasks.copy.outputs.artifact }}" }
"#;

/// One task of an executor.
fn task(executor: &str, inputs: &str) -> String {
    format!(
        "apiVersion: phasm/v1\nkind: Workflow\nmetadata: {{ name: w }}\nspec:\n  entrypoint: main\n  templates:\n    - task:\n        \
         name: main\n        executor: {{ type: {executor} }}\n        inputs: {inputs}\n"
    )
}

struct World {
    bench: Bench,
    plugins: String,
}

impl World {
    fn new(config: &str) -> Self {
        let bench = Bench::new();
        bench.write("phasm.toml", config);
        bench.write("letters.yaml", LETTERS);
        bench.write("letter.txt", "dear all");
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
        let plugins = std::env::join_paths([bench.path("plugins"), repository]).unwrap();
        Self { bench, plugins: plugins.into_string().unwrap() }
    }

    fn phasm(&self, arguments: &[&str]) -> Ran {
        let variables = [
            ("PHASM_PLUGINS", self.plugins.as_str()),
            ("PHASM_STORE", "runs.db"),
            ("PHASM_CONFIG", "phasm.toml"),
        ];
        self.bench.phasm_with(&variables, arguments)
    }

    /// The store's files with content, without locks.
    fn stored(&self) -> Vec<PathBuf> {
        contents(&self.bench.path("runs.db.artifacts"))
    }

    fn last(&self) -> Value {
        self.phasm(&["get", "@last", "--json"]).json()
    }
}

/// R-I150, R-I154: a file goes through three tasks in both tiers, is listed and copied, and goes with the last run that names it.
#[test]
fn a_file_goes_through_tasks_and_is_pruned_with_its_runs() {
    letters("", World::stored);
}

/// Runs letters in both tiers with artifacts in a place, until all runs are pruned. `stored` has the files with content there.
fn letters(place: &str, stored: impl Fn(&World) -> Vec<PathBuf>) {
    for tier in ["shared", "process"] {
        let world = World::new(&format!("[grants.file]\nartifacts = true\nisolation = \"{tier}\"\n{place}"));
        let ran = world.phasm(&["run", "letters.yaml", "-p", "letter=@letter.txt"]);
        assert_eq!(ran.status, 0, "{tier}: {ran:?}");
        let view = world.last();
        let task = |name: &str| {
            view["tasks"].as_array().unwrap().iter().find(|task| task["taskName"] == name).unwrap().clone()
        };
        assert_eq!(task("second")["outputs"][0]["value"], "dear all and more", "{tier}");
        let listed = world.phasm(&["artifact", "list", "@last", "--json"]).json();
        let names: Vec<_> =
            listed["artifacts"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
        assert_eq!(names, ["letter.txt", "copy.txt"]);
        let digest = listed["artifacts"][1]["artifact"].as_str().unwrap().to_owned();
        let got = world.phasm(&["artifact", "get", "@last", &digest[..14], "-o", "got.txt"]);
        assert_eq!(got.status, 0, "{got:?}");
        assert_eq!(fs::read_to_string(world.bench.path("got.txt")).unwrap(), "dear all and more");
        let unknown = world.phasm(&["artifact", "get", "@last", "none"]);
        assert!(unknown.status == 2 && unknown.stderr.contains("copy.txt"), "{unknown:?}");
        // A rerun has what it took over, also when the earlier run is gone.
        let first = view["runID"].as_str().unwrap().to_owned();
        let rerun = world.phasm(&["rerun", &first, "--from-failed", "--wait"]);
        assert_eq!(rerun.status, 0, "{rerun:?}");
        assert_eq!(world.phasm(&["prune", "--keep", "1"]).status, 0);
        assert_eq!(world.phasm(&["get", &first]).status, 2, "{first} is gone");
        assert_eq!(world.phasm(&["artifact", "get", "@last", "letter.txt", "-o", "again.txt"]).status, 0);
        assert!(!stored(&world).is_empty());
        assert_eq!(world.phasm(&["prune", "--keep", "0"]).status, 0);
        assert_eq!(stored(&world), Vec::<PathBuf>::new());
    }
}

/// R-I151: without the grant there are no directories, and a guest reaches nothing but its own ones.
#[test]
fn guests_reach_their_own_files_only() {
    for tier in ["shared", "process"] {
        let world = World::new(&format!(
            "[grants.file]\nartifacts = true\nisolation = \"{tier}\"\n[grants.echo]\nartifacts = true\nisolation = \"{tier}\"\n\
             [artifacts]\nattempt-size = \"1 KiB\"\nattempt-files = 3\nstored = \"2 KiB\"\n"
        ));
        let digest = format!("sha256:{}", "0".repeat(64));
        let large = "x".repeat(1100);
        for (executor, inputs, why) in [
            (
                "echo",
                "{ file: { artifact: /artifacts/out/../../../runs.db } }".to_owned(),
                "leads out of /artifacts/out",
            ),
            ("echo", "{ file: { artifact: /artifacts/out/none } }".to_owned(), "does not exist"),
            ("echo", format!("{{ file: {{ artifact: '{digest}' }} }}"), "does not belong to this run"),
            ("file", "{ operation: write, path: /artifacts/in/x, content: x }".to_owned(), "cannot "),
            ("file", "{ operation: write, path: /artifacts/out/../in/x, content: x }".to_owned(), "cannot "),
            (
                "file",
                "{ operation: read, path: /artifacts/out/../../stored/default/lock }".to_owned(),
                "main",
            ),
            ("file", format!("{{ operation: write, path: /artifacts/out/x, content: {large} }}"), "quota"),
        ] {
            world.bench.write("w.yaml", task(executor, &inputs));
            let ran = world.phasm(&["run", "w.yaml"]);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(ran.status != 0 && said.contains(why), "{tier}, {inputs}: {said}");
        }
        assert_eq!(world.stored(), Vec::<PathBuf>::new());
        let ungranted = World::new("");
        ungranted
            .bench
            .write("w.yaml", task("file", "{ operation: write, path: /artifacts/out/x, content: x }"));
        let ran = ungranted.phasm(&["run", "w.yaml"]);
        assert!(
            ran.status != 0 && ran.stderr.contains("`artifacts = true` under `[grants.file]`"),
            "{ran:?}"
        );
        let ran = ungranted.phasm(&["run", "letters.yaml", "-p", "letter=@letter.txt"]);
        assert!(ran.status != 0 && ran.stderr.contains("`artifacts = true`"), "{ran:?}");
    }
}

/// R-I153: after a crash in the middle of it, the run is resumed, and nothing but its artifacts is left.
#[test]
fn a_crash_leaves_nothing_half_done() {
    crash("", World::stored);
}

/// Kills a process that stores forty files in a place, and damages one of them. `stored` has the files with content there.
fn crash(place: &str, stored: impl Fn(&World) -> Vec<PathBuf>) {
    let world = World::new(&format!("[grants.file]\nartifacts = true\n{place}"));
    let many: String = (0..40)
        .map(|n| {
            format!(
                "          - name: t{n}\n            executor: {{ type: file }}\n            inputs: {{ operation: write, path: \
                 /artifacts/out/f, content: \"{n} {}\" }}\n",
                "x".repeat(20_000)
            )
        })
        .collect();
    let workflow = format!(
        "apiVersion: phasm/v1\nkind: Workflow\nmetadata: {{ name: many }}\nspec:\n  entrypoint: main\n  templates:\n    - dag:\n        \
         name: main\n        tasks:\n{many}"
    );
    world.bench.write("many.yaml", workflow);
    let mut command =
        world.bench.command(&["run", "many.yaml", "--store", "runs.db", "--config", "phasm.toml"]);
    command.env("PHASM_PLUGINS", &world.plugins);
    let mut running = Running::start(command);
    running.until(&["Succeeded in"]);
    running.kill();
    let recovered = world.phasm(&["recover", "@last"]);
    assert_eq!(recovered.status, 0, "{recovered:?}");
    let listed = world.phasm(&["artifact", "list", "@last", "--json"]).json();
    assert_eq!(listed["artifacts"].as_array().unwrap().len(), 40);
    let all = stored(&world);
    assert_eq!(all.len(), 40, "{all:?}");
    // One file is damaged: the error names it.
    fs::write(&all[0], "damaged").unwrap_or_else(|error| panic!("{error}"));
    let got: Vec<_> = listed["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| world.phasm(&["artifact", "get", "@last", one["artifact"].as_str().unwrap(), "-o", "out"]))
        .filter(|ran| ran.status != 0)
        .collect();
    assert!(got.len() == 1 && got[0].stderr.contains("is damaged"), "{got:?}");
    assert_eq!(world.phasm(&["prune", "--keep", "0"]).status, 0);
    assert_eq!(stored(&world), Vec::<PathBuf>::new());
}

/// Sends a request and returns the status and the body.
fn ask(url: &str, head: &str, body: &[u8]) -> (u16, String, Vec<u8>) {
    let host = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "{head}\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len())
        .unwrap();
    stream.write_all(body).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    let at = response.windows(4).position(|part| part == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(response[..at].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head, response[at + 4..].to_vec())
}

/// R-A119: the API stores, lists and sends artifacts; the command uses it where a server is named.
#[test]
fn the_api_stores_and_sends_artifacts() {
    let world = World::new("[grants.file]\nartifacts = true\n");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--store", "runs.db", "--config", "phasm.toml"];
    let mut command = world.bench.command(&serve);
    command.env("PHASM_PLUGINS", &world.plugins);
    let mut server = Running::start(command);
    server.until(&["listening on http://", "/v1/docs\n"]);
    let url = server.said().split("listening on ").nth(1).unwrap().lines().next().unwrap().to_owned();
    let here = |arguments: &[&str]| world.bench.phasm(&[arguments, &["--server", &url]].concat());
    let submitted = here(&["submit", "letters.yaml", "-p", "letter=@letter.txt", "--wait"]);
    assert_eq!(submitted.status, 0, "{submitted:?}");
    let listed = here(&["artifact", "list", "@last", "--json"]).json();
    let letter = listed["artifacts"][0]["artifact"].as_str().unwrap().to_owned();
    let run = here(&["get", "@last", "--json"]).json()["runID"].as_str().unwrap().to_owned();
    let path = format!("/v1/runs/{run}/artifacts");
    let (status, _, body) = ask(&url, &format!("GET {path} HTTP/1.1"), b"");
    assert_eq!((status, serde_json::from_slice::<Value>(&body).unwrap()), (200, listed.clone()));
    let (status, head, body) = ask(&url, &format!("GET {path}/{letter} HTTP/1.1"), b"");
    assert_eq!((status, body.as_slice()), (200, &b"dear all"[..]), "{head}");
    assert!(head.contains("content-disposition: attachment"), "{head}");
    let (status, head, body) = ask(&url, &format!("GET {path}/{letter} HTTP/1.1\r\nRange: bytes=5-6"), b"");
    assert_eq!((status, body.as_slice()), (206, &b"al"[..]), "{head}");
    assert!(head.contains("content-range: bytes 5-6/8"), "{head}");
    for (request, expected) in [
        (format!("GET {path}/{letter} HTTP/1.1\r\nRange: bytes=8-"), 416),
        (format!("GET {path}/sha256:{} HTTP/1.1", "0".repeat(64)), 404),
        (format!("GET {path}/rows.csv HTTP/1.1"), 404),
        (format!("GET /v1/runs/none/artifacts/{letter} HTTP/1.1"), 404),
        ("POST /v1/artifacts?nam=x HTTP/1.1".to_owned(), 400),
    ] {
        assert_eq!(ask(&url, &request, b"").0, expected, "{request}");
    }
    let (status, _, body) =
        ask(&url, "POST /v1/artifacts?name=new.txt HTTP/1.1\r\nContent-Type: text/plain", b"new");
    let stored: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        (status, &stored["size"], &stored["media"]),
        (201, &3.into(), &"text/plain".into()),
        "{stored}"
    );
    let parameter = format!("letter={stored}");
    let again = here(&["submit", "letters.yaml", "-p", &parameter, "--wait"]);
    assert_eq!(again.status, 0, "{again:?}");
    let unknown = format!("letter={{\"artifact\": \"sha256:{}\"}}", "0".repeat(64));
    let refused = here(&["submit", "letters.yaml", "-p", &unknown]);
    assert!(
        refused.status != 0 && refused.stderr.contains("is missing in the artifact store"),
        "{refused:?}"
    );
    let got = here(&["artifact", "get", "@last", "new.txt", "-o", "got"]);
    assert_eq!((got.status, fs::read(world.bench.path("got")).unwrap()), (0, b"new".to_vec()), "{got:?}");
    server.kill();
}

/// Serves `rows` to a GET, and returns the head and the body of the next request, which is to be a PUT.
fn file_server(rows: Vec<u8>) -> (u16, thread::JoinHandle<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        head_of(&mut reader);
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            rows.len()
        )
        .unwrap();
        stream.write_all(&rows).unwrap();
        drop(stream);
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let head = head_of(&mut reader);
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").unwrap();
        (head, body)
    });
    (port, served)
}

fn head_of(reader: &mut impl BufRead) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    head.to_ascii_lowercase()
}

/// R-I150: the executor `http` fetches a file as an artifact and sends one, in both tiers.
#[test]
fn a_file_is_fetched_and_sent() {
    for tier in ["shared", "process"] {
        let rows = b"a,b\n1,2\n".repeat(50_000);
        let (port, served) = file_server(rows.clone());
        let world = World::new(&format!(
            "[grants.http]\nartifacts = true\nisolation = \"{tier}\"\nhttp = [\"http://127.0.0.1:{port}\"]\nhttp-networks = [\"127.0.0.1\"]\n"
        ));
        let workflow = format!(
            "apiVersion: phasm/v1\nkind: Workflow\nmetadata: {{ name: w }}\nspec:\n  entrypoint: main\n  templates:\n    - dag:\n        \
             name: main\n        tasks:\n          - name: fetch\n            executor: {{ type: http }}\n            inputs: {{ url: \
             'http://127.0.0.1:{port}/rows', saveTo: /artifacts/out/rows.csv }}\n          - name: send\n            dependencies: \
             [fetch]\n            executor: {{ type: http }}\n            inputs: {{ url: 'http://127.0.0.1:{port}/copy', method: PUT, \
             bodyFile: '{{{{ tasks.fetch.outputs.artifact }}}}' }}\n"
        );
        world.bench.write("w.yaml", workflow);
        let ran = world.phasm(&["run", "w.yaml"]);
        assert_eq!(ran.status, 0, "{tier}: {ran:?}");
        let (head, body) = served.join().unwrap();
        assert!(head.starts_with("put /copy ") && head.contains("content-type: text/csv"), "{head}");
        assert!(body == rows, "{tier}: {} bytes of {}", body.len(), rows.len());
    }
}
