//! A run with outputs that are larger together than a server may need to show them.

use std::{future::Future, io::Read as _, pin::Pin, sync::Arc};

use phasm::{
    Host, Map, Outcome, Phase,
    executor::{Executor, Invocation, Observer},
    store::{Sqlite, Store},
};

use crate::{bench::Bench, idle::Serving};

const OUTPUTS: usize = 24;
const OUTPUT_BYTES: usize = 8 << 20;
/// Memory that looking at the run may need: some parts of its journal, and a value. Its values as JSON alone are larger.
const MOST: u64 = 160 << 20;

/// Returns a large text.
struct Large;

impl Executor for Large {
    fn execute(
        &self,
        call: Invocation,
        _observer: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let word = format!("{:>8}", call.task);
        Box::pin(async move { Outcome::default().output("text", word.repeat(OUTPUT_BYTES / word.len())) })
    }
}

fn document() -> String {
    let tasks = (0..OUTPUTS)
        .map(|number| format!("          - {{ name: t{number:03}, executor: {{ type: large }} }}\n"));
    format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: w }}\nspec:\n  entrypoint: main\n  templates:\n    \
         - dag:\n        name: main\n        tasks:\n{}",
        tasks.collect::<String>()
    )
}

/// R-A120: the run view, one value, events, records, and the pages.
#[test]
fn looking_at_large_values_needs_little_memory() {
    let bench = Bench::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = runtime.block_on(async {
        let store: Arc<dyn Store> = Arc::new(Sqlite::open(bench.path("runs.db")).unwrap());
        let host = Host::builder().executor(Arc::new(Large)).store(store).open().unwrap();
        let plan = host.plan("w.yaml", &document()).await.unwrap();
        let handle = host.submit(&plan, &Map::new()).await.unwrap();
        assert_eq!(handle.wait().await.unwrap().phase, Phase::Succeeded);
        handle.id().to_string()
    });
    let serving = Serving::start(&bench);
    let got = |path: &str, headers: &str| {
        let mut said = Vec::new();
        let headers = format!("connection: close\r\n{headers}");
        serving.ask("GET", path, &headers, "").read_to_end(&mut said).unwrap();
        assert!(
            said.starts_with(b"HTTP/1.1 200 "),
            "{path}: {}",
            String::from_utf8_lossy(&said[..said.len().min(500)])
        );
        said.len()
    };
    let before = serving.memory("VmHWM:");
    let api = format!("/v1/runs/{run}");
    assert!(got(&api, "") < 100_000);
    for path in ["/tasks/t007", "/graph.svg"] {
        assert!(got(&format!("{api}{path}"), "") < 100_000);
    }
    let value = got(&format!("{api}/tasks/t007/outputs/text"), "");
    assert!((OUTPUT_BYTES..OUTPUT_BYTES + 1000).contains(&value), "{value}");
    got(&format!("/runs/{run}"), "");
    got(&format!("/runs/{run}/tasks/7"), "");
    got(&format!("{api}/events?limit=1000"), "");
    got(&format!("/v1/rows/{run}?since=0"), "prefer: parts\r\n");
    let peak = serving.memory("VmHWM:");
    assert!(peak - before < MOST, "{} MiB", (peak - before) >> 20);
}
