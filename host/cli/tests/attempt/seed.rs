//! Runs of seed 002's tasks on a clock whose delays are short.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use phasm::{
    Host, Map, Notice, RunView,
    clock::TimeSource,
    engine::time::{Millis, Timestamp},
};
use serde_json::Value as Json;

/// A clock on which delays of minutes are over in no time.
pub(crate) struct FastClock(Instant);

impl FastClock {
    const TIMES: u32 = 2000;

    pub(crate) fn start() -> Arc<Self> {
        Arc::new(Self(Instant::now()))
    }
}

impl TimeSource for FastClock {
    fn wall(&self) -> Timestamp {
        Timestamp(1_700_000_000_000 + i64::try_from(self.elapsed()).unwrap())
    }

    fn elapsed(&self) -> Millis {
        u64::try_from((self.0.elapsed() * Self::TIMES).as_millis()).unwrap()
    }

    fn sleep_until(&self, elapsed: Millis) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let at = self.0 + Duration::from_millis(elapsed) / Self::TIMES;
        Box::pin(tokio::time::sleep_until(at.into()))
    }
}

/// The smallest workflow with these tasks of a pipeline, and parameters as YAML in flow style.
pub(crate) fn document(tasks: &str, parameters: &str) -> String {
    let block: String = tasks.lines().map(|line| format!("          {line}\n")).collect();
    format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: pages }}\nspec:\n  entrypoint: main\n  timeout: 365d\n  \
         arguments: {{ parameters: [{parameters}] }}\n  templates:\n    - pipeline:\n        name: main\n        tasks:\n{block}"
    )
}

/// Runs the workflow to its end, and returns its events as well.
pub(crate) async fn run(host: &Host, document: &str, parameters: &Map) -> (RunView, Vec<Json>) {
    let plan = host.plan("pages.yaml", document).await.unwrap_or_else(|problems| panic!("{problems:#?}"));
    let new = host.new_run(&plan, parameters).await.unwrap();
    let mut watch = new.watch();
    let run = new.start().await.unwrap();
    let mut events = Vec::new();
    while let Some(notice) = watch.next().await.unwrap() {
        if let Notice::Record(record) = notice {
            events.extend(watch.views(&record).map(|view| serde_json::to_value(view.json()).unwrap()));
        }
    }
    (run.wait().await.unwrap(), events)
}

/// Number of attempts, and the delays between them in milliseconds.
pub(crate) fn attempts(events: &[Json]) -> (usize, Vec<u64>) {
    let of = |word: &'static str| events.iter().filter(move |event| event["type"] == word);
    let delays = of("task.retry.scheduled").map(|event| event["data"]["delayMs"].as_u64().unwrap()).collect();
    (of("task.attempt.started").count(), delays)
}
