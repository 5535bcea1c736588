//! Plugins of a server, by the same commands as those of a library here.

use std::{
    fs,
    io::Write as _,
    net::{Shutdown, TcpStream},
};

use rustix::process::Signal;

use crate::{
    bench::{Bench, Ran},
    crash::Running,
};

/// A component of that version, without a signature, in a file of its own.
fn version(bench: &Bench, version: &str, wants: &str) -> String {
    let path = format!("{version}/greet.wasm");
    bench.write(&path, fs::read(bench.path("plugins/echo.wasm")).unwrap());
    let manifest = format!(
        r#"{{"name": "greet", "version": "{version}", "description": "Greets", "wants": {wants},
            "inputs": {{"type": "object", "required": ["who"], "properties": {{"who": {{"type": "string"}}}}}}}}"#
    );
    bench.write(&format!("{version}/greet.json"), manifest);
    path
}

/// A server with the library that commands here have, and its URL.
fn server(bench: &Bench) -> (Running, String) {
    let mut host = Running::start(bench, &["serve", "--listen", "127.0.0.1:0", "--store", "runs.db"]);
    host.until(&["listening on http://", "/v1/docs\n"]);
    let url = host.said().split("listening on ").nth(1).unwrap().lines().next().unwrap().to_owned();
    (host, url)
}

/// R-L31: what is said of a server's plugins is what is said of those here.
#[test]
fn a_servers_plugins_are_told_as_those_here() {
    let bench = Bench::new();
    let (host, url) = server(&bench);
    let there = ["--server", url.as_str()];
    let here = ["--library", "other"];
    let versions = [
        version(&bench, "1.0.0", "{}"),
        version(&bench, "1.1.0", r#"{"http": ["https://a.example"], "env": ["TOKEN"]}"#),
    ];
    let same = |told: &Ran, kept: &Ran| {
        let plain = |text: &str| text.replace(&format!(" --server {url}"), "");
        assert_eq!(
            (told.status, plain(&told.stdout), plain(&told.stderr)),
            (kept.status, kept.stdout.clone(), kept.stderr.clone())
        );
        assert!(!told.stdout.is_empty(), "{told:?}");
    };
    let asked = |arguments: &[&str]| {
        let (told, kept) =
            (bench.phasm(&[arguments, &there].concat()), bench.phasm(&[arguments, &here].concat()));
        same(&told, &kept);
        told
    };
    asked(&["plugin", "add", &versions[0]]);
    asked(&["plugin", "add", &versions[0], "--json"]);
    let held = asked(&["plugin", "add", &versions[1]]);
    assert!(held.stdout.contains("  + the environment variable TOKEN\n"), "{held:?}");
    for arguments in [
        vec!["plugin", "list"],
        vec!["plugin", "list", "--json"],
        vec!["plugin", "inspect", "greet"],
        vec!["plugin", "inspect", "greet@1.1.0", "--json"],
        vec!["plugin", "inspect", "greet@1.1.0"],
        vec!["plugin", "inspect", "say", "--json"],
    ] {
        same(&bench.phasm(&[&arguments[..], &there].concat()), &bench.phasm(&arguments));
    }
    // The printed command can be pasted.
    let approved = bench.paste(&held.stdout, "approve it with: ", &[]);
    assert!(
        approved.status == 0 && approved.stdout.starts_with("approved greet@1.1.0 sha256:"),
        "{approved:?}"
    );
    asked(&["plugin", "approve", "greet@1.0.0"]);
    bench.write(
        "w.yaml",
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: w }\nspec:\n  entrypoint: main\n  templates:\n    - task: { name: main, executor: \
         { type: greet@1.1 }, inputs: { parameters: [{ name: who, value: Ada }] } }\n",
    );
    let ran = bench.phasm_with(&[("PHASM_SERVER", &url)], &["submit", "w.yaml", "--wait"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    asked(&["plugin", "remove", "greet@1.0.0"]);
    host.signal(Signal::INT);
    host.end();
}

/// R-L31: the environment names a server as well, and what it refuses is said.
#[test]
fn a_server_is_named_by_the_environment() {
    let bench = Bench::new();
    let (host, url) = server(&bench);
    let path = version(&bench, "1.1.0", "{}");
    assert_eq!(bench.phasm_with(&[("PHASM_SERVER", &url)], &["plugin", "add", &path]).status, 0);
    let from_environment = bench.phasm_with(&[("PHASM_SERVER", &url)], &["plugin", "list", "--json"]).json();
    let versions: Vec<_> = from_environment
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["name"] == "greet")
        .map(|row| row["version"].clone())
        .collect();
    assert_eq!(versions, ["1.1.0"]);
    for arguments in [["remove", "greet@7.0.0"], ["approve", "greet@7.0.0"], ["inspect", "nothing"]] {
        let refused = bench.phasm(&["plugin", arguments[0], arguments[1], "--server", &url]);
        assert!(refused.status == 2 && refused.stderr.contains("refused: there is no "), "{refused:?}");
    }
    host.signal(Signal::INT);
    host.end();
}

/// R-A63: whatever moment the process is killed at, a version is there with all its bytes, or not at all.
#[test]
fn a_server_that_is_killed_has_no_half_of_a_plugin() {
    let bench = Bench::new();
    let path = version(&bench, "1.0.0", "{}");
    let packed = bench.phasm(&["plugin", "pack", &path, "-o", "packed.wasm"]);
    assert_eq!(packed.status, 0, "{packed:?}");
    let whole = fs::read(bench.path("packed.wasm")).unwrap();
    for sent in [whole.len() / 2, whole.len() - 1, whole.len(), whole.len()] {
        let (host, url) = server(&bench);
        let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
        let head = format!(
            "PUT /v1/plugins/greet/1.0.0 HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/wasm\r\ncontent-length: {}\r\n\r\n",
            whole.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&whole[..sent]).unwrap();
        host.signal(Signal::KILL);
        host.end();
        let _gone = stream.shutdown(Shutdown::Both);
        let listed = bench.phasm(&["plugin", "list", "--json"]).json();
        let states: Vec<_> = listed
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["name"] == "greet")
            .map(|row| row["state"].clone())
            .collect();
        assert!(states.is_empty() || (sent == whole.len() && states == ["approved"]), "{states:?}");
    }
    let (host, url) = server(&bench);
    let added = bench.phasm(&["plugin", "add", "./packed.wasm", "--server", &url]);
    assert!(added.status == 0 && added.stdout.contains("greet@1.0.0 sha256:"), "{added:?}");
    host.signal(Signal::INT);
    host.end();
    assert_eq!(bench.phasm(&["plugin", "inspect", "greet"]).status, 0);
}

/// R-A63: what would take a compiler for ever, or all memory, is refused within its bounds, and the server goes on.
#[test]
fn a_component_that_takes_too_long_to_compile_is_refused() {
    let bench = Bench::new();
    bench.write("phasm.toml", "[limits]\ncompile-time = \"1s\"\n");
    // One function of a million nested blocks and calls.
    let body = "(call $f) ".repeat(400_000);
    let text =
        format!("(component (core module (func $f {body})) (core module (func $g {body}) (func $f {body})))");
    bench.write("bomb.wat", &text);
    bench.write("bomb.wasm", wat::parse_str(&text).unwrap());
    let mut host = Running::start(
        &bench,
        &["serve", "--listen", "127.0.0.1:0", "--store", "runs.db", "--config", "phasm.toml"],
    );
    host.until(&["listening on http://", "/v1/docs\n"]);
    let url = host.said().split("listening on ").nth(1).unwrap().lines().next().unwrap().to_owned();
    let refused = bench.phasm(&["plugin", "add", "./bomb.wasm", "--as", "bomb@1.0.0", "--server", &url]);
    assert!(refused.status == 2 && refused.stderr.contains("refused: "), "{refused:?}");
    let added = bench.phasm(&["plugin", "add", &version(&bench, "1.0.0", "{}"), "--server", &url]);
    assert_eq!(added.status, 0, "{added:?}");
    let listed = bench.phasm(&["plugin", "list", "--server", &url]).stdout;
    assert!(listed.contains("greet") && !listed.contains("bomb"), "{listed}");
    host.signal(Signal::INT);
    host.end();
}
