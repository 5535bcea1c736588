//! Spans on their way to a collector: of real runs, through kills, and whatever the collector does.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{Arc, Condvar, Mutex},
    thread,
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value as Any},
    trace::v1::{Span, status::StatusCode},
};
use prost::Message as _;
use rustix::process::Signal;
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use serde_json::Value;

use crate::{bench::Bench, crash::Running};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Behaviour of a collector.
#[derive(Clone, Copy)]
enum Manner {
    Takes,
    /// Takes the connection, and never says anything.
    Waits,
    Says(&'static str),
}

/// Spans that a collector received, and its other requests.
#[derive(Default)]
struct Got {
    spans: Vec<Span>,
    resources: Vec<KeyValue>,
    /// Heads of requests.
    heads: Vec<String>,
    bytes: Vec<u8>,
}

struct Collector {
    address: String,
    got: Arc<(Mutex<Got>, Condvar)>,
}

impl Collector {
    fn start(manner: Manner) -> Self {
        Self::behind(manner, None)
    }

    /// One that speaks TLS, for a name that only the authority of the tests vouches for.
    fn behind(manner: Manner, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let got: Arc<(Mutex<Got>, Condvar)> = Arc::default();
        let hears = Arc::clone(&got);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, hears, tls) = (stream.unwrap(), Arc::clone(&hears), tls.clone());
                thread::spawn(move || match tls {
                    None => hear(stream, manner, &hears),
                    Some(tls) => {
                        let connection = ServerConnection::new(tls).unwrap();
                        hear(StreamOwned::new(connection, stream), manner, &hears);
                    }
                });
            }
        });
        Self { address, got }
    }

    fn config(&self) -> String {
        format!("[telemetry]\notlp = \"http://{}\"\n", self.address)
    }

    /// Waits until it has spans as wanted, and returns all that it has.
    fn until(&self, wanted: impl Fn(&[Span]) -> bool) -> Vec<Span> {
        let (got, news) = &*self.got;
        let got = news.wait_while(got.lock().unwrap(), |got| !wanted(&got.spans)).unwrap();
        got.spans.clone()
    }

    fn heads(&self) -> Vec<String> {
        self.got.0.lock().unwrap().heads.clone()
    }
}

fn hear(stream: impl Read + Write, manner: Manner, got: &(Mutex<Got>, Condvar)) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        // A connection that trusts no authority here sends no spans.
        if reader.read_line(&mut head).is_ok_and(|read| read > 0) {
            continue;
        }
        return;
    }
    let head = head.to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).map_or(0, |rest| {
        let number = rest.split("\r\n").next().unwrap();
        number.parse::<usize>().unwrap()
    });
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let is_traces = head.starts_with("post /v1/traces ");
    {
        let mut got = got.0.lock().unwrap();
        got.heads.push(head);
        if is_traces {
            let sent = ExportTraceServiceRequest::decode(&*body).unwrap();
            got.bytes.extend(&body);
            for resource in sent.resource_spans {
                got.resources = resource.resource.unwrap().attributes;
                got.spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
            }
        }
    }
    got.1.notify_all();
    let answer = match manner {
        Manner::Takes => "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
        Manner::Says(answer) => answer,
        Manner::Waits => loop {
            thread::park();
        },
    };
    let _gone = reader.get_mut().write_all(answer.as_bytes());
    let _gone = reader.get_mut().flush();
}

fn text(attributes: &[KeyValue], name: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == name)?;
    let value = found.value.as_ref()?.value.as_ref()?;
    if let Any::IntValue(number) = value {
        return Some(number.to_string());
    }
    let Any::StringValue(text) = value else { panic!("{name}: {value:?}") };
    Some(text.clone())
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Every span as `name < parent`, in the order in which they began to be parts of each other; none is there twice.
fn tree(spans: &[Span]) -> Vec<String> {
    let mut names: BTreeMap<&[u8], &str> = BTreeMap::from([(&[][..], "nothing")]);
    for span in spans {
        assert!(names.insert(&span.span_id, &span.name).is_none(), "twice: {span:?}");
    }
    let parent = |span: &Span| match names.get(&*span.parent_span_id) {
        Some(name) => (*name).to_owned(),
        None => {
            assert_eq!(hex(&span.parent_span_id), PARENT[36..52], "no parent: {span:?}");
            "caller".to_owned()
        }
    };
    let mut lines: Vec<_> = spans.iter().map(|span| format!("{} < {}", span.name, parent(span))).collect();
    lines.sort();
    lines
}

fn has_run(spans: &[Span]) -> bool {
    spans.iter().any(|span| span.name.starts_with("run "))
}

/// A host that listens, and where.
fn listening(bench: &Bench, arguments: &[&str]) -> (Running, String) {
    let listen = ["serve", "--listen", "127.0.0.1:0", "--store", "runs.db", "--config", "phasm.toml"];
    let mut host = Running::start(bench, &[&listen, arguments].concat());
    host.until(&["listening on http://", "/v1/docs\n"]);
    let url = host.said().split("listening on http://").nth(1).unwrap().lines().next().unwrap().to_owned();
    (host, url)
}

fn ask(address: &str, request: &str, headers: &[u8], body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("{request} HTTP/1.0\r\nhost: {address}\r\ncontent-length: {}\r\n", body.len());
    for part in [head.as_bytes(), headers, b"\r\n", body.as_bytes()] {
        stream.write_all(part).unwrap();
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
}

const YAML: &[u8] = b"content-type: application/yaml\r\n";

/// R-O1 to R-O6: from the caller, over the API, to a guest's request to another server, with its headers.
#[test]
fn a_run_over_the_api_is_one_tree_from_the_caller_to_what_it_asks() {
    let (bench, collector) = (Bench::new(), Collector::start(Manner::Takes));
    let config = format!(
        "{}headers = {{ x-key = {{ file = \"key\" }} }}\nservice-name = \"flows\"\nresource = {{ site = \"here\" }}\n\
         [secrets]\napi = {{ token = {{ file = \"token\" }} }}\n[grants.http]\nhttp = [\"http://127.0.0.1:*\"]\n",
        collector.config()
    );
    bench.write("phasm.toml", config);
    bench.write("token", "s3cret-of-the-api");
    bench.write("key", "k3y");
    let document = format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: asks }}\nspec:\n  entrypoint: main\n  templates:\n    - dag:\n        \
         name: main\n        tasks:\n          - name: fetch\n            executor: {{ type: http }}\n            inputs:\n              \
         parameters:\n                - {{ name: url, value: \"http://{}/s3cret-of-the-api?token=s3cret-of-the-api\" }}\n                - \
         {{ name: secret, valueFrom: {{ secretKeyRef: {{ name: api, key: token }} }} }}\n",
        collector.address
    );
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
    let (host, address) = listening(&bench, &["--plugins", plugins.to_str().unwrap()]);
    let headers = format!(
        "content-type: application/yaml\r\ntraceparent: {PARENT}\r\ntracestate: a=1\r\ntracestate: b=2\r\n"
    );
    let (status, submitted) = ask(&address, "POST /v1/runs", headers.as_bytes(), &document);
    assert_eq!(status, 202, "{submitted}");
    let run = submitted["runID"].as_str().unwrap();
    let (_, view) = ask(&address, &format!("GET /v1/runs/{run}?wait=60s"), b"", "");
    assert_eq!(view["phase"], "Succeeded", "{view}");
    let spans = collector.until(has_run);
    let expected = [
        "GET < attempt fetch",
        "attempt fetch < step fetch",
        "run asks < submit asks",
        "step fetch < run asks",
        "submit asks < caller",
    ];
    assert_eq!(tree(&spans), expected);
    for span in &spans {
        assert_eq!(hex(&span.trace_id), TRACE, "{span:?}");
        assert_eq!(text(&span.attributes, "phasm.run").as_deref(), Some(run), "{span:?}");
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{span:?}");
    }
    let of = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let attempt = of("attempt fetch");
    assert_eq!(text(&attempt.attributes, "phasm.code").as_deref(), Some("0"));
    assert!(text(&attempt.attributes, "phasm.executor.digest").unwrap().starts_with("sha256:"));
    assert_eq!(text(&of("GET").attributes, "http.response.status_code").as_deref(), Some("200"));
    // The other server got the request's span id, and the collector its key.
    let heads = collector.heads();
    let asked = heads.iter().find(|head| head.starts_with("get ")).unwrap();
    let told = format!("traceparent: 00-{TRACE}-{}-01\r\n", hex(&of("GET").span_id));
    assert!(asked.contains(&told) && asked.contains("tracestate: a=1,b=2\r\n"), "{asked}");
    assert!(
        heads.iter().filter(|head| head.starts_with("post ")).all(|head| head.contains("x-key: k3y\r\n"))
    );
    let got = collector.got.0.lock().unwrap();
    assert_eq!(text(&got.resources, "service.name").as_deref(), Some("flows"));
    assert_eq!(text(&got.resources, "site").as_deref(), Some("here"));
    // Not even where a guest puts it into a path.
    assert!(!got.bytes.windows(17).any(|part| part == b"s3cret-of-the-api"));
    drop(got);
    host.signal(Signal::TERM);
    host.end();
}

/// R-O1: what is no place in a trace is as if it were not said.
#[test]
fn a_hostile_traceparent_harms_nobody() {
    let (bench, collector) = (Bench::new(), Collector::start(Manner::Takes));
    bench.write("phasm.toml", collector.config());
    bench.task("echo.yaml", "echo", "");
    let document = std::fs::read_to_string(bench.path("echo.yaml")).unwrap();
    let (host, address) = listening(&bench, &[]);
    let long = format!("00-{}", "a".repeat(20_000));
    let wrong = [
        b"".to_vec(),
        b"\xff\xfe\x80".to_vec(),
        long.into_bytes(),
        PARENT.replace("b7ad6b7169203331", "0000000000000000").into_bytes(),
        PARENT.replacen("00", "ff", 1).into_bytes(),
        format!("{PARENT}\r\ntraceparent: {PARENT}").into_bytes(),
    ];
    for (number, parent) in wrong.iter().enumerate() {
        let headers = [YAML, b"traceparent: ", parent, b"\r\ntracestate: \xff=,\r\n"].concat();
        let (status, submitted) = ask(&address, "POST /v1/runs", &headers, &document);
        assert_eq!(status, 202, "{number}: {submitted}");
        let run = submitted["runID"].as_str().unwrap().to_owned();
        let of_run = |span: &&Span| text(&span.attributes, "phasm.run").as_deref() == Some(&run);
        let spans = collector.until(|spans| spans.iter().any(|span| of_run(&span) && span.name == "run w"));
        let submit = spans.iter().filter(of_run).find(|span| span.name == "submit w").unwrap();
        assert!(submit.parent_span_id.is_empty() && hex(&submit.trace_id) != TRACE, "{number}: {submit:?}");
    }
    host.signal(Signal::TERM);
    host.end();
}

/// R-O3: a process is killed while its run waits; the next one goes on in the same trace, and tells nothing twice.
#[test]
fn a_run_stays_one_tree_when_its_process_is_killed() {
    let (bench, collector) = (Bench::new(), Collector::start(Manner::Takes));
    bench.write("phasm.toml", collector.config());
    let document = "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: waits }\nspec:\n  entrypoint: main\n  templates:\n    - dag:\n        \
                    name: main\n        tasks:\n          - { name: before, executor: { type: echo } }\n          - { name: ask, executor: { type: suspend }, \
                    dependencies: [before] }\n";
    let (host, address) = listening(&bench, &[]);
    let headers = format!("content-type: application/yaml\r\ntraceparent: {PARENT}\r\n");
    let (_, submitted) = ask(&address, "POST /v1/runs", headers.as_bytes(), document);
    let run = submitted["runID"].as_str().unwrap();
    let (_, view) = ask(&address, &format!("GET /v1/runs/{run}?wait=60s"), b"", "");
    assert_eq!(view["waiting"]["for"], "answer", "{view}");
    collector.until(|spans| spans.iter().any(|span| span.name == "step before"));
    host.signal(Signal::KILL);
    host.end();
    let (host, address) = listening(&bench, &[]);
    let resume = format!("POST /v1/runs/{run}/tasks/ask/resume");
    assert_eq!(ask(&address, &resume, b"content-type: application/json\r\n", "{}").0, 200);
    let spans = collector.until(has_run);
    let expected = [
        "attempt ask < step ask",
        "attempt before < step before",
        "run waits < submit waits",
        "step ask < run waits",
        "step before < run waits",
        "submit waits < caller",
    ];
    assert_eq!(tree(&spans), expected);
    assert!(spans.iter().all(|span| hex(&span.trace_id) == TRACE));
    host.signal(Signal::TERM);
    host.end();
}

/// R-O5: the environment says where to, what it is called, and on whose behalf; nothing goes out unless something does.
#[test]
fn the_environment_is_heeded() {
    let (bench, collector) = (Bench::new(), Collector::start(Manner::Takes));
    bench.task("code.yaml", "code", "");
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*format!("http://{}", collector.address));
    let run = |more: &[(&str, &str)]| {
        let given = [&[endpoint, ("TRACEPARENT", PARENT)], more].concat();
        bench.phasm_with(&given, &["run", "code.yaml", "-p", "code=2"])
    };
    assert_eq!(bench.phasm(&["run", "code.yaml"]).status, 0);
    for off in [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")] {
        assert_eq!(run(&[off]).status, 1);
    }
    assert_eq!(collector.heads().len(), 0);
    let ran = run(&[("OTEL_SERVICE_NAME", "mine"), ("OTEL_TRACES_SAMPLER", "parentbased_always_off")]);
    assert_eq!(ran.status, 1, "{ran:?}");
    // All spans were sent when the command ended; the caller's decision to record is kept.
    let spans = collector.until(has_run);
    assert_eq!(
        tree(&spans),
        ["attempt main < step main", "run w < submit w", "step main < run w", "submit w < caller"]
    );
    let failed = spans
        .iter()
        .filter(|span| span.status.as_ref().is_some_and(|status| status.code == StatusCode::Error as i32));
    assert_eq!(failed.count(), 3);
    assert_eq!(text(&collector.got.0.lock().unwrap().resources, "service.name").as_deref(), Some("mine"));
    let wrong = run(&[("OTEL_TRACES_SAMPLER", "sometimes")]);
    assert_eq!(wrong.status, 2, "{wrong:?}");
}

/// R-O5: whatever the collector does, runs go on and commands end, and it is said that spans are lost.
#[test]
fn a_collector_holds_nobody_up() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let refuses = "HTTP/1.1 400 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let nonsense = "\0\0nonsense\r\n\r\n\u{7f}";
    let started = [Manner::Says(refuses), Manner::Says(nonsense), Manner::Waits].map(Collector::start);
    let bench = Bench::new();
    bench.task("echo.yaml", "echo", "");
    for address in started.iter().map(|collector| &collector.address).chain([&nobody]) {
        bench.write("phasm.toml", format!("[telemetry]\notlp = \"http://{address}\"\n"));
        let ran = bench.phasm(&["run", "echo.yaml", "--config", "phasm.toml"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(ran.stderr.contains("lost"), "{address}: {ran:?}");
    }
}

/// R-O1: each command that starts a run tells whose part it is, a store and a server alike; who looks at the run sees its trace.
#[test]
fn commands_that_start_runs_say_whose_part_they_are() {
    let bench = Bench::new();
    bench.write("phasm.toml", "");
    bench.task("code.yaml", "code", "");
    bench.write(
        "nightly.yaml",
        "apiVersion: aether/v1\nkind: CronWorkflow\nmetadata: { name: nightly }\nspec:\n  schedule: '0 3 * * *'\n  workflowSpec:\n    \
         entrypoint: main\n    templates:\n      - task: { name: main, executor: { type: code } }\n",
    );
    let (host, address) = listening(&bench, &[]);
    let (mut host, url) = (Some(host), format!("http://{address}"));
    let here = ["--store", "runs.db"];
    for command in [["cron", "add", "nightly.yaml"], ["workflow", "save", "code.yaml"]] {
        assert_eq!(bench.phasm(&[&command[..], &here].concat()).status, 0);
    }
    let mut first = String::new();
    for place in [["--server", &url], here] {
        let trace = |variables: &[(&str, &str)], command: &[&str]| {
            let ran = bench.phasm_with(variables, &[command, &place].concat());
            assert_eq!(ran.status, 0, "{command:?}: {ran:?}");
            let run = match ran.stdout.trim() {
                shown if shown.starts_with('{') => ran.json()["runID"].as_str().unwrap().to_owned(),
                id => id.to_owned(),
            };
            let view = bench.phasm(&[&["get", &run, "--json"], &place[..]].concat()).json();
            (run, view.get("traceID").map(|trace| trace.as_str().unwrap().to_owned()))
        };
        let (run, none) = trace(&[], &["submit", "code.yaml"]);
        assert_eq!(none, None);
        if let Some(host) = &mut host {
            host.until(&[&format!("{run} w Succeeded")]);
            first = run;
        }
        for command in [
            &["submit", "code.yaml"][..],
            &["rerun", &first, "--json"],
            &["cron", "trigger", "nightly"],
            &["workflow", "submit", "w"],
        ] {
            let (run, traced) = trace(&[("TRACEPARENT", PARENT), ("TRACESTATE", "a=1")], command);
            assert_eq!(traced.as_deref(), Some(TRACE), "{command:?} {place:?}");
            let page = bench.phasm(&[&["get", &run], &place[..]].concat()).stdout;
            assert!(page.contains(&format!("\ntrace: {TRACE}\n")), "{page}");
        }
        // A rerun in a file holds the file.
        if let Some(host) = host.take() {
            host.signal(Signal::TERM);
            host.end();
        }
    }
}

/// R-O5: a collector behind TLS is one whose certificate is trusted, by the platform or by what the operator names.
#[test]
fn a_collector_behind_tls_is_believed_if_it_is_vouched_for() {
    let chain = CertificateDer::pem_slice_iter(include_bytes!("../http/tls/certificate.pem"));
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("../http/tls/key.pem")).unwrap();
    let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let tls = tls.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let tls = Arc::new(tls.with_single_cert(chain.map(Result::unwrap).collect(), key).unwrap());
    let collector = Collector::behind(Manner::Takes, Some(tls));
    let bench = Bench::new();
    bench.task("echo.yaml", "echo", "");
    bench.write("authority.pem", include_str!("../http/tls/authority.pem"));
    let telemetry = format!("[telemetry]\notlp = \"https://{}\"\n", collector.address);
    let run = |more: &str| {
        bench.write("phasm.toml", format!("{telemetry}{more}"));
        let ran = bench.phasm(&["run", "echo.yaml", "--config", "phasm.toml"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.stderr
    };
    let said = run("");
    assert!(said.contains("spans are lost") && said.contains("its certificate is not trusted"), "{said}");
    assert_eq!(collector.heads().len(), 0);
    let said = run("[http]\nroots = [\"authority.pem\"]\n");
    assert!(!said.contains("lost"), "{said}");
    assert_eq!(tree(&collector.until(has_run)).len(), 4);
}

/// R-O5: what is lost within a minute of saying so is said at the end.
#[test]
fn what_was_lost_is_said_in_the_end() {
    let refuses = "HTTP/1.1 400 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let collector = Collector::start(Manner::Says(refuses));
    let bench = Bench::new();
    let tasks =
        (0..400).map(|number| format!("          - {{ name: t{number}, executor: {{ type: echo }} }}\n"));
    let document = format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: wide }}\nspec:\n  entrypoint: main\n  templates:\n    - dag:\n        \
         name: main\n        tasks:\n{}",
        tasks.collect::<String>()
    );
    bench.write("wide.yaml", document);
    bench.write("phasm.toml", collector.config());
    let ran = bench.phasm(&["run", "wide.yaml", "--config", "phasm.toml"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let counts = ran.stderr.split("the collector did not take ").skip(1);
    let lost: usize = counts.map(|rest| rest.split(',').next().unwrap().parse::<usize>().unwrap()).sum();
    // A step and an attempt of each, the run and its submission.
    assert_eq!(lost, 802, "{}", ran.stderr);
}
