//! A host whose clock is wrong goes by that of its store (R-H11).
#![expect(clippy::unwrap_used, reason = "tests")]

mod failing;
#[expect(dead_code, unreachable_pub, reason = "it belongs to other tests, which ask more of it")]
#[path = "../../tests/src/stepped.rs"]
mod stepped;

use std::{
    future::{Future, ready},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use phasm::{
    Host, Map, Outcome, RunView,
    catalog::WrittenDocument,
    clock::TimeSource as _,
    engine::{plan::Draft, time::Timestamp},
    executor::{Executor, Invocation, Observer},
    store::{ReadStore, Store},
};

use self::{failing::Failing, stepped::Stepped};

/// Fails the first attempt.
struct Once;

impl Executor for Once {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let code = if call.attempt == 1 && &*call.executor_type == "once" { 3 } else { 0 };
        Box::pin(ready(Outcome { code, ..Outcome::default() }))
    }
}

fn at(text: &str) -> Timestamp {
    Timestamp::from_rfc3339(text).unwrap()
}

struct House {
    store: Arc<Failing>,
    time: Arc<Stepped>,
    host: Host,
}

impl House {
    /// A host whose clock is ahead of the store's by that many milliseconds; the store's shows ten o'clock.
    async fn ahead(by: i64) -> Self {
        let (store, time) = (Arc::new(Failing::new()), Arc::new(Stepped::default()));
        time.set(at("2026-03-01T10:00:00Z").0 + by);
        let elapsed = Arc::clone(&time);
        let clock = move || at("2026-03-01T10:00:00Z").after(elapsed.elapsed());
        *store.clock.lock().unwrap() = Some(Box::new(clock));
        let host = Host::builder()
            .store(Arc::clone(&store) as Arc<dyn Store>)
            .executor(Arc::new(Once))
            .time(Arc::clone(&time) as _)
            .auto_claim(Duration::from_secs(60));
        let house = Self { host: host.open().unwrap(), store, time };
        while by.abs() > 1000 && house.recorded().await != at("2026-03-01T10:00:00Z") {
            tokio::task::yield_now().await;
        }
        house
    }

    async fn submit(&self, executor: &str, more: &str) -> Arc<str> {
        let text = format!(
            r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w"}}, "spec": {{"entrypoint": "main",
                "templates": [{{"task": {{"name": "main", "executor": {{"type": "{executor}"}}{more}}}}}]}}}}"#
        );
        let plan = self.host.plan("w.json", &text).await.unwrap();
        Arc::clone(self.host.submit(&plan, &Map::new()).await.unwrap().id())
    }

    async fn is_open(&self, run: &str) -> bool {
        self.store.get(run).await.unwrap().unwrap().status.open
    }

    async fn until_ended(&self, run: &str) {
        while self.is_open(run).await {
            tokio::task::yield_now().await;
        }
    }

    /// The time that a run of now is recorded with.
    async fn recorded(&self) -> Timestamp {
        let run = self.submit("quick", "").await;
        self.until_ended(&run).await;
        self.store.get(&run).await.unwrap().unwrap().head.submitted_at
    }
}

/// R-H11: times that are recorded, delays and schedules go by the store's clock, whichever way the host's is wrong.
#[tokio::test]
async fn a_host_goes_by_the_clock_of_its_store() {
    for by in [600_000, -600_000, 1_500, -1_500] {
        let house = House::ahead(by).await;
        assert_eq!(house.recorded().await, at("2026-03-01T10:00:00Z"), "{by}");
        let text = "apiVersion: aether/v1\nkind: CronWorkflow\nmetadata: {name: s}\nspec:\n  schedule: '4 10 * * *'\n  \
            workflowSpec:\n    entrypoint: main\n    templates:\n      - task: {name: main, executor: {type: quick}}\n";
        let draft = Draft::read(&phasm::reader::read("s.yaml", text).unwrap());
        let plan = house.host.plan_draft(draft).await.unwrap();
        let saved =
            house.host.put_schedule(&plan, WrittenDocument { file: "s.yaml", text }, None).await.unwrap();
        assert_eq!(saved.next, Some(at("2026-03-01T10:04:00Z")), "{by}");

        let delay = r#", "retry": {"limit": 1, "delay": "9s"}"#;
        let run = house.submit("once", delay).await;
        let wakes_at = loop {
            let view = RunView::of(&house.host.replay(&run).await.unwrap());
            if let Some(wake_at) = &view.tasks[0].wake_at {
                break wake_at.clone();
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(at(&wakes_at), at("2026-03-01T10:00:09Z"), "{by}");
        while house.is_open(&run).await {
            house.time.pass(100);
            tokio::task::yield_now().await;
        }
    }
}

/// R-H11: a run that another process submits is due at once by the store's clock, whichever way that process's clock is wrong.
#[tokio::test]
async fn a_submitted_run_is_due_by_the_clock_of_the_store() {
    let ten = at("2026-03-01T10:00:00Z");
    for by in [600_000, -600_000] {
        let (store, time) = (Arc::new(Failing::new()), Arc::new(Stepped::default()));
        time.set(ten.0 + by);
        *store.clock.lock().unwrap() = Some(Box::new(move || ten));
        let planner = Host::builder().executor(Arc::new(Once)).time(time).planner().unwrap();
        let text = r#"{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {"name": "w"}, "spec": {"entrypoint": "main",
            "templates": [{"task": {"name": "main", "executor": {"type": "quick"}}}]}}"#;
        let plan = planner.plan("w.json", text).await.unwrap();
        let run =
            planner.enqueue(&*store, &plan, &Map::new(), &phasm::SubmitOptions::default()).await.unwrap();
        let wake_at = store.get(&run).await.unwrap().unwrap().wake_at.unwrap();
        assert!(wake_at <= ten, "{by}: {}", wake_at.to_rfc3339());
    }
}

/// R-H11: clocks that are never read at once differ a little; and a clock that is set right is gone by again.
#[tokio::test]
async fn a_clock_that_is_nearly_right_or_set_right_is_left_alone() {
    let house = House::ahead(900).await;
    assert_eq!(house.recorded().await, at("2026-03-01T10:00:00.900Z"));
    let house = House::ahead(600_000).await;
    house.time.set(-600_000);
    house.time.pass(60_000);
    while house.recorded().await.0.abs_diff(house.time.wall().0) > 0 {
        tokio::task::yield_now().await;
    }
}
