//! Plugins in registries: Debian's own, and ones that lie.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
};

use phasm::sandbox::Digest;
use serde_json::json;

use crate::bench::{Bench, Ran};

/// Debian's docker-registry, on a port of its own.
struct Registry {
    child: Child,
    host: String,
}

impl Registry {
    /// Nothing where there is none, which fails the test if `PHASM_TEST_ALL` is set.
    fn start(bench: &Bench) -> Option<Self> {
        let program = Path::new("/usr/bin/docker-registry");
        if !program.exists() {
            let said = "left out: no docker-registry (Debian: apt-get install docker-registry)\n";
            assert!(env::var_os("PHASM_TEST_ALL").is_none(), "{said}");
            let _ = std::io::stderr().write_all(said.as_bytes());
            return None;
        }
        let config = format!(
            "version: 0.1\nstorage: {{ filesystem: {{ rootdirectory: {} }} }}\nhttp: {{ addr: '127.0.0.1:0' }}\n",
            bench.path("registry").display()
        );
        bench.write("registry.yml", config);
        let mut child = Command::new(program)
            .args(["serve", "registry.yml"])
            .current_dir(bench.path("."))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let host = loop {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "docker-registry has ended");
            if let Some((_, rest)) = line.split_once("listening on ") {
                break rest.split(['"', ' ', '\n']).next().unwrap().to_owned();
            }
        };
        // A writer without a reader blocks.
        thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Some(Self { child, host })
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn component(bench: &Bench, version: &str) -> String {
    let from = format!("{version}/greet.wasm");
    bench.write(&from, fs::read(bench.path("plugins/echo.wasm")).unwrap());
    bench.write(&format!("{version}/greet.json"), format!(r#"{{"name": "greet", "version": "{version}"}}"#));
    let to = format!("packed/{version}/greet.wasm");
    assert_eq!(bench.phasm(&["plugin", "pack", &from, "-o", &to]).status, 0);
    to
}

/// R-I37: what was pushed is pulled, by tag and by digest, with its signature.
#[test]
fn a_real_registry_gives_back_what_it_was_given() {
    let bench = Bench::new();
    let Some(registry) = Registry::start(&bench) else { return };
    let path = component(&bench, "1.2.0");
    assert_eq!(bench.phasm(&["plugin", "keygen", "ours.key"]).status, 0);
    assert_eq!(bench.phasm(&["plugin", "sign", "--key", "ours.key", &path]).status, 0);
    let public = fs::read_to_string(bench.path("ours.key.pub")).unwrap();
    let key = public.lines().last().unwrap();
    bench.write("phasm.toml", format!("[trust]\nrequire-signature = true\nkeys = [{key:?}]\n"));
    let reference = format!("oci://{}/plugins/greet:1.2.0", registry.host);
    for _ in 0..2 {
        let pushed = bench.phasm(&["plugin", "push", &path, &reference, "--plain-http"]);
        assert!(
            pushed.status == 0 && pushed.stdout.starts_with(&format!("pushed {reference}@sha256:")),
            "{pushed:?}"
        );
    }
    let pushed = bench.phasm(&["plugin", "push", &path, &reference, "--plain-http"]).stdout;
    let exactly = pushed.trim_end().strip_prefix("pushed ").unwrap();
    let add = |reference: &str, library: &str| {
        let words =
            ["plugin", "add", reference, "--plain-http", "--config", "phasm.toml", "--library", library];
        bench.phasm(&[&words[..], &["--json"]].concat())
    };
    for (at, reference) in [reference.as_str(), exactly].into_iter().enumerate() {
        let added = add(reference, &format!("library{at}"));
        assert_eq!(added.status, 0, "{added:?}");
        let bytes = fs::read(bench.path(&path)).unwrap();
        assert_eq!(added.json()["digest"], Digest::of(&bytes).to_string());
        assert_eq!(added.json()["version"], "1.2.0");
    }
    bench.task("w.yaml", "greet", "");
    let ran = bench.phasm(&["run", "w.yaml", "--config", "phasm.toml", "--library", "library0"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let none = add(&reference.replace("1.2.0", "9.9.9"), "library0");
    assert!(
        none.status == 1
            && none
                .stderr
                .contains("the registry has no 9.9.9 of it: the registry responded 404: MANIFEST_UNKNOWN"),
        "{none:?}"
    );
    let other = add(&format!("{reference}@{}", Digest::of(b"")), "library0");
    assert_eq!(other.status, 1, "{other:?}");
    let encrypted = bench.phasm(&["plugin", "add", &reference]);
    assert_eq!(encrypted.status, 1, "HTTP is used only where it is allowed: {encrypted:?}");
    let unsigned = component(&bench, "1.3.0");
    let next = reference.replace("1.2.0", "1.3.0");
    assert_eq!(bench.phasm(&["plugin", "push", &unsigned, &next, "--plain-http"]).status, 0);
    let refused = add(&next, "library0");
    assert!(refused.status == 1 && refused.stderr.contains("it is not signed; `[trust]`"), "{refused:?}");
}

/// Requests to a lying registry: `METHOD PATH`, and the value of `authorization`.
type RequestLog = Arc<Mutex<Vec<(String, Option<String>)>>>;

/// A registry that answers as it was told, each request on a connection of its own.
struct Liar {
    host: String,
    asked: RequestLog,
}

impl Liar {
    fn start(answer: impl Fn(&str, Option<&str>) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (host, asked) = (listener.local_addr().unwrap().to_string(), RequestLog::default());
        let of_thread = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                serve(stream.unwrap(), &of_thread, &answer);
            }
        });
        Self { host, asked }
    }

    fn asked(&self) -> Vec<(String, Option<String>)> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, asked: &RequestLog, answer: &impl Fn(&str, Option<&str>) -> Vec<u8>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let what = line.rsplit_once(' ').unwrap().0.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) <= 2 {
            break;
        }
        let (name, value) = line.split_once(": ").unwrap();
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let authorization = headers.get("authorization").cloned();
    asked.lock().unwrap().push((what.clone(), authorization.clone()));
    // The client closes the connection once it has read enough.
    let _ = stream.write_all(&answer(&what, authorization.as_deref()));
}

fn answer(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A manifest of these bytes, which says of them what it likes.
fn manifest(digest: &str, size: u64) -> Vec<u8> {
    let config = json!({ "mediaType": "application/vnd.wasm.config.v0+json", "digest": Digest::of(b"{}").to_string(), "size": 2 });
    let layer = json!({ "mediaType": "application/wasm", "digest": digest, "size": size });
    json!({ "schemaVersion": 2, "config": config, "layers": [layer] }).to_string().into_bytes()
}

/// How a registry may lie about `good`, when it is asked for a manifest and then: what is behind the reference, both answers, and what is
/// said of it.
type Lie = (&'static str, Vec<u8>, Vec<u8>, &'static str);

fn lies(good: &[u8], port: u16) -> Vec<Lie> {
    let (digest, size) = (Digest::of(good).to_string(), good.len() as u64);
    let other = Digest::of(b"other").to_string();
    let endless = |kind: &'static str| {
        format!("HTTP/1.1 200 X\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n").into_bytes()
    };
    let flood = [endless("x"), [&b"4000\r\n"[..], &[b'x'; 0x4000], b"\r\n"].concat().repeat(64)].concat();
    let ok = |body: &[u8]| answer(200, "", body);
    let to = |place: String| answer(307, &format!("location: {place}\r\n"), b"");
    let named = |name: &str| {
        json!({ "manifests": [], "schemaVersion": 2, "mediaType": name }).to_string().into_bytes()
    };
    vec![
        ("", ok(&manifest(&other, size)), ok(good), "the registry sent a component that is sha256:"),
        ("", ok(&manifest(&digest, size + 1)), ok(good), "bytes, and not"),
        ("", ok(&manifest(&digest, size)), flood.clone(), "a response larger than"),
        ("", ok(&manifest(&digest, 1 << 40)), ok(good), "and `limits.component` is 67108864"),
        ("", ok(&manifest("sha256:0", size)), ok(good), "the digest of its layer: expected sha256:"),
        ("", flood.clone(), Vec::new(), "a response larger than 256 KiB"),
        ("", ok(&vec![b' '; 300_000]), Vec::new(), "a response larger than 256 KiB"),
        (
            "",
            ok(&named("application/vnd.oci.image.index.v1+json")),
            Vec::new(),
            "not a manifest of an image with one platform",
        ),
        ("", ok(b"{}"), Vec::new(), "not a manifest of an image"),
        ("@digest", ok(&manifest(&digest, size)), ok(good), "the registry sent a manifest that is sha256:"),
        (
            "",
            ok(&manifest(&digest, size)),
            to(format!("https://localhost:{port}/x")),
            "localhost is 127.0.0.1, a loopback address",
        ),
        (
            "",
            ok(&manifest(&digest, size)),
            to(format!("http://127.0.0.1:{port}/x")),
            "which is not encrypted",
        ),
        ("", ok(&manifest(&digest, size)), to("/v2/a/greet/blobs/again".to_owned()), "more than 3 times"),
        ("", answer(500, "", b"\x1b[2J"), Vec::new(), "the registry responded 500"),
        ("", answer(401, "www-authenticate: Basic realm=\"x\"\r\n", b""), Vec::new(), "docker login"),
        (
            "",
            answer(
                401,
                &format!("www-authenticate: Bearer realm=\"http://127.0.0.1:{port}/token\"\r\n"),
                b"",
            ),
            Vec::new(),
            "requires a token from",
        ),
        ("", b"junk\r\n\r\n".to_vec(), Vec::new(), "oci://"),
        ("", Vec::new(), Vec::new(), "oci://"),
    ]
}

/// R-I37: whatever a registry sends, nothing is added but what the digest says, and reading ends.
#[test]
fn a_registry_that_lies_is_refused() {
    let bench = Bench::new();
    let good = fs::read(bench.path("plugins/echo.wasm")).unwrap();
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let other = Digest::of(b"other");
    for (reference, first, then, says) in lies(&good, elsewhere.local_addr().unwrap().port()) {
        let is_manifest = |what: &str| what.contains("/manifests/");
        let liar = Liar::start(move |what, _| if is_manifest(what) { first.clone() } else { then.clone() });
        let digest = format!("@{other}");
        let reference = format!("oci://{}/a/greet:1.0.0{}", liar.host, reference.replace("@digest", &digest));
        let ran = bench.phasm(&["plugin", "add", &reference, "--plain-http", "--as", "greet@1.0.0"]);
        assert!(ran.status == 1 && ran.stderr.contains(says), "{says}: {ran:?}");
        assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
        assert!(!bench.path("data/phasm/library/index.json").exists(), "{says}");
        assert!(elsewhere.accept().is_err(), "no request was sent there: {says}");
    }
}

fn login(bench: &Bench, host: &str) -> Vec<(&'static str, String)> {
    bench.write("docker/config.json", json!({ "auths": { host: { "auth": "dXNlcjpwYXNz" } } }).to_string());
    vec![("DOCKER_CONFIG", bench.path("docker").display().to_string())]
}

fn add(bench: &Bench, host: &str) -> Ran {
    let variables = login(bench, host);
    let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let reference = format!("oci://{host}/a/greet:1.0.0");
    bench.phasm_with(&variables, &["plugin", "add", &reference, "--plain-http", "--as", "greet@1.0.0"])
}

/// R-I37: passwords are sent to the registry and its token service only.
#[test]
fn a_registry_hears_who_one_is() {
    let bench = Bench::new();
    let good = fs::read(bench.path("plugins/echo.wasm")).unwrap();
    let of_manifest = manifest(&Digest::of(&good).to_string(), good.len() as u64);
    let (sender, host) = mpsc::channel::<String>();
    let host = Mutex::new(host);
    let own = Mutex::new(String::new());
    let liar = Liar::start(move |what, authorization| {
        let mut own = own.lock().unwrap();
        if own.is_empty() {
            *own = host.lock().unwrap().recv().unwrap();
        }
        let wants = format!("www-authenticate: Bearer realm=\"http://{own}/token\",service=\"s\"\r\n");
        match (what.contains("/token"), authorization) {
            (true, Some("Basic dXNlcjpwYXNz")) => answer(200, "", br#"{"token": "t0ken"}"#),
            (false, Some("Bearer t0ken")) if what.contains("/manifests/") => answer(200, "", &of_manifest),
            (false, Some("Bearer t0ken")) => answer(200, "", &good),
            _ => answer(401, &wants, b"{}"),
        }
    });
    sender.send(liar.host.clone()).unwrap();
    let ran = add(&bench, &liar.host);
    assert_eq!(ran.status, 0, "{ran:?}");
    let asked = liar.asked();
    let token = &asked[1];
    assert_eq!(token.0, "GET /token?scope=repository:a/greet:pull&service=s", "{asked:?}");
    assert!(
        asked
            .iter()
            .all(|(what, who)| who.as_deref() != Some("Basic dXNlcjpwYXNz") || what.contains("/token")),
        "{asked:?}"
    );
    let wrong = Liar::start(|_, _| answer(401, "www-authenticate: Basic realm=\"x\"\r\n", b"{}"));
    let ran = add(&bench, &wrong.host);
    assert!(
        ran.status == 1 && ran.stderr.contains("docker login") && !ran.stderr.contains("dXNlc"),
        "{ran:?}"
    );
}
