//! Metrics, as Prometheus reads them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use phasm::{Tenant, metrics::MAX_EXECUTORS};
use serde_json::Value;

use crate::world::{World, workflow};

fn text_of(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

/// Reads `/metrics` strictly.
pub(crate) struct Exposition {
    /// Kinds by the names of their families.
    kinds: BTreeMap<String, String>,
    /// Values by name and labels.
    samples: BTreeMap<String, f64>,
}

impl Exposition {
    /// OpenMetrics: each family once, with its kind and a word about it; samples right after that, of its name with the ending of its
    /// kind, none twice; no blank lines; the end at the end.
    pub(crate) fn read(text: &str) -> Self {
        let (mut kinds, mut samples) = (BTreeMap::new(), BTreeMap::new());
        let (mut family, mut kind, mut helped) = (String::new(), String::new(), String::new());
        let body = text.strip_suffix("# EOF\n").expect("it ends with its end");
        for line in body.lines() {
            if let Some(said) = line.strip_prefix("# HELP ") {
                let (name, help) = said.split_once(' ').unwrap();
                assert!(help.len() > 5 && !help.ends_with('.'), "{line}");
                helped = name.to_owned();
            } else if let Some(said) = line.strip_prefix("# TYPE ") {
                let (name, of) = said.split_once(' ').unwrap();
                assert!(["counter", "gauge", "histogram", "info"].contains(&of), "{line}");
                assert_eq!(helped, name, "its help comes first");
                assert!(kinds.insert(name.to_owned(), of.to_owned()).is_none(), "{name} twice");
                (family, kind) = (name.to_owned(), of.to_owned());
            } else if let Some(said) = line.strip_prefix("# UNIT ") {
                let (name, unit) = said.split_once(' ').unwrap();
                assert!(name == family && name.ends_with(&format!("_{unit}")), "{line}");
            } else {
                let (id, value) = line.rsplit_once(' ').unwrap();
                let name = id.split('{').next().unwrap();
                let ending = name.strip_prefix(&*family).unwrap_or_else(|| panic!("{line} below {family}"));
                let endings: &[&str] = match &*kind {
                    "counter" => &["_total"],
                    "histogram" => &["_bucket", "_sum", "_count"],
                    "info" => &["_info"],
                    _ => &[""],
                };
                assert!(endings.contains(&ending), "{line} of a {kind}");
                assert!(id.len() == name.len() || well_labelled(&id[name.len()..]), "{line}");
                let value: f64 = value.parse().unwrap();
                assert!(kind != "counter" || value >= 0.0, "{line}");
                assert!(samples.insert(id.to_owned(), value).is_none(), "{id} twice");
            }
        }
        Self { kinds, samples }
    }

    /// Names of series as they are asked for, with their kinds.
    fn series(&self) -> BTreeMap<String, String> {
        let ended = |(name, kind): (&String, &String)| {
            let ending = match &**kind {
                "counter" => "_total",
                "info" => "_info",
                _ => "",
            };
            (format!("{name}{ending}"), kind.clone())
        };
        self.kinds.iter().map(ended).collect()
    }

    pub(crate) fn value(&self, id: &str) -> Option<f64> {
        self.samples.get(id).copied()
    }

    pub(crate) fn sum(&self, name: &str) -> f64 {
        let own = self.samples.iter().filter(|(id, _)| id.split('{').next() == Some(name));
        own.map(|(_, value)| value).sum()
    }

    fn names(&self, name: &str) -> BTreeSet<&str> {
        self.samples.keys().filter(|id| id.split('{').next() == Some(name)).map(String::as_str).collect()
    }
}

/// `{a="b",c="d"}`, with quotes escaped.
fn well_labelled(labels: &str) -> bool {
    let Some(mut rest) = labels.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        return false;
    };
    let mut seen = BTreeSet::new();
    loop {
        let Some((name, value)) = rest.split_once("=\"") else { return false };
        if !seen.insert(name) || !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
            return false;
        }
        let mut escaped = false;
        let end = value.char_indices().find(|(_, c)| {
            let is_end = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            is_end
        });
        let Some((end, _)) = end else { return false };
        rest = &value[end + 1..];
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return rest.is_empty(),
        }
    }
}

pub(crate) async fn scraped(world: &World) -> Exposition {
    let answer = world.client.get("/metrics").await.expect(200);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(answer.header("content-type"), Some(kind));
    Exposition::read(&answer.body)
}

async fn ended(world: &World, run: &str) {
    world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
}

/// R-A51: every attempt once, under what it came to, and with its times; commits that are there.
#[tokio::test]
async fn what_happened_is_counted_once() {
    let world = World::in_file().await;
    for _ in 0..3 {
        let run = world.submit(&workflow("default", &["ok", "ok", "fail"])).await;
        ended(&world, &run).await;
    }
    let run = world.submit(&workflow("default", &["block"])).await;
    while world.host.metrics().executing() == 0 {
        tokio::task::yield_now().await;
    }
    world.client.post(&format!("/v1/runs/{run}/cancel")).await.expect(200);
    while world.host.metrics().executing() > 0 {
        tokio::task::yield_now().await;
    }
    let found = scraped(&world).await;
    let value = |id: &str| found.value(id).unwrap_or_else(|| panic!("no {id}"));
    assert_eq!(value("phasm_runs_submitted_total"), 4.0);
    assert_eq!(value("phasm_runs_ended_total{phase=\"Failed\"}"), 3.0);
    assert_eq!(value("phasm_runs_ended_total{phase=\"Cancelled\"}"), 1.0);
    assert_eq!(value("phasm_attempts_ended_total{executor=\"ok\",code=\"succeeded\"}"), 6.0);
    assert_eq!(value("phasm_attempts_ended_total{executor=\"fail\",code=\"failed\"}"), 3.0);
    assert_eq!(value("phasm_attempts_ended_total{executor=\"block\",code=\"stopped\"}"), 1.0);
    for times in ["phasm_attempt_seconds_count", "phasm_dispatch_seconds_count", "phasm_attempts_begun_total"]
    {
        assert_eq!(value(times), 10.0, "{times}");
    }
    assert_eq!(value("phasm_attempt_seconds_bucket{le=\"+Inf\"}"), 10.0);
    // Nine tasks and three dags; and one of each that was cancelled.
    assert_eq!(found.sum("phasm_tasks_ended_total"), 14.0);
    let commits = value("phasm_store_commit_seconds_count");
    assert!(commits >= 4.0, "{commits}");
    assert_eq!(value("phasm_store_commit_bytes_count"), commits);
    assert!(value("phasm_store_commit_bytes_sum") > 1000.0);
    assert_eq!(value("phasm_store_commits_failed_total"), 0.0);
    assert!(value("phasm_store_file_bytes") > 0.0 && value("phasm_store_disk_bytes") > 0.0);
    assert_eq!(value("phasm_store_readable"), 1.0);
    assert_eq!(value("phasm_http_requests_total{method=\"POST\",route=\"/v1/runs\",status=\"2xx\"}"), 4.0);
    assert_eq!(
        value("phasm_http_requests_total{method=\"POST\",route=\"/v1/runs/{run}/cancel\",status=\"2xx\"}"),
        1.0
    );
    assert!(value("process_resident_memory_bytes") > 1e6 && value("process_start_time_seconds") > 1.5e9);
    assert!(value("process_cpu_seconds_total") > 0.0 && value("process_open_fds") > 3.0);
}

/// R-A50: ten thousand executors, tenants and paths make nothing grow.
#[tokio::test]
async fn nothing_that_anybody_makes_up_is_a_series() {
    let tenant = |builder: phasm::HostBuilder| builder.tenant("acme", Tenant::default());
    let world = World::with(tenant, |_| {}).await;
    let names: Vec<_> = (0..300).map(|number| format!("e{number}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    for namespace in ["acme", "a-stranger", "another"] {
        for names in names.chunks(100) {
            let plan = world.host.plan("w.yaml", &workflow(namespace, names)).await.unwrap();
            world.host.submit(&plan, &phasm::Map::new()).await.unwrap().wait().await.unwrap();
        }
    }
    for number in 0..200 {
        world.client.get(&format!("/v1/nothing/{number}")).await.expect(404);
        world.client.get(&format!("/v1/runs/none-{number}")).await.expect(404);
    }
    world.client.send(&"M".repeat(20), "/v1/runs", &[], "").await.expect(405);
    let found = scraped(&world).await;
    assert_eq!(found.sum("phasm_attempts_ended_total"), found.sum("phasm_attempts_begun_total"));
    assert_eq!(found.names("phasm_attempts_ended_total").len(), MAX_EXECUTORS + 1);
    let tenants = found.names("phasm_tenant_slots_lent");
    assert_eq!(tenants.len(), 2, "{tenants:?}");
    let none = found.value("phasm_http_requests_total{method=\"GET\",route=\"none\",status=\"4xx\"}");
    assert_eq!(none, Some(200.0));
    let of_runs =
        found.value("phasm_http_requests_total{method=\"GET\",route=\"/v1/runs/{run}\",status=\"4xx\"}");
    assert_eq!(of_runs, Some(200.0));
    assert!(found.names("phasm_http_requests_total").len() < 10);
    assert!(found.samples.len() < 600, "{}", found.samples.len());
}

/// R-A15: the table on the page is what there is, with its kinds.
#[tokio::test]
async fn every_series_is_documented() {
    let found = scraped(&World::new().await).await.series();
    let page = text_of("host/docs/reference/observability.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let documented: BTreeMap<_, _> = rows
        .filter(|(name, _)| !name.contains(' '))
        .map(|(name, rest)| (name.to_owned(), rest.split(" | ").next().unwrap().to_owned()))
        .collect();
    assert_eq!(found, documented);
}

/// The names of series in an expression.
fn asked_for(expression: &str) -> BTreeSet<&str> {
    let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("phasm_") || word.starts_with("process_")).collect()
}

/// R-A52: what dashboard and alerts ask for is there, with the labels that they name; each alert says what to do.
#[tokio::test]
async fn dashboard_and_alerts_ask_for_what_there_is() {
    let found = scraped(&World::new().await).await;
    let mut known = BTreeSet::new();
    for (name, kind) in found.series() {
        let endings: &[&str] = if kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
        known.extend(endings.iter().map(|ending| format!("{name}{ending}")));
    }
    let dashboard: Value = serde_json::from_str(&text_of("host/examples/grafana/phasm.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let rows: Vec<_> = panels
        .iter()
        .filter(|panel| panel["type"] == "row")
        .map(|row| row["title"].as_str().unwrap())
        .collect();
    assert_eq!(rows, ["Overview", "Attempts", "Store", "Cluster", "HTTP", "Tenants"]);
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let shown: Vec<_> = targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect();
    assert!(
        panels.iter().all(|panel| panel["type"] == "row" || panel["datasource"]["uid"] == "${datasource}")
    );
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len());
    let alerts = text_of("host/examples/prometheus/alerts.yml");
    let alerts: Vec<_> = alerts.split("- alert: ").skip(1).collect();
    let mut all = BTreeSet::new();
    for expression in &shown {
        assert!(!asked_for(expression).is_empty(), "{expression}");
        all.extend(asked_for(expression));
    }
    for alert in &alerts {
        let asked = alert.split("expr:").nth(1).and_then(|rest| rest.split("labels:").next()).unwrap();
        assert!(asked.contains("up{") || !asked_for(asked).is_empty(), "{alert}");
        for said in ["summary: ", "description: ", "severity: "] {
            assert_eq!(alert.matches(said).count(), 1, "{said}{alert}");
        }
        all.extend(asked_for(alert));
    }
    assert!(alerts.len() > 20 && shown.len() > 40, "{} {}", alerts.len(), shown.len());
    let unknown: Vec<_> =
        all.iter().filter(|name| !known.contains(**name) && !found.kinds.contains_key(**name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let unseen: Vec<_> = found
        .series()
        .into_keys()
        .filter(|name| !all.iter().any(|asked| asked.starts_with(name.as_str())))
        .collect();
    assert!(unseen.is_empty(), "no test reads {unseen:?}");
}
