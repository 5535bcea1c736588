//! A store with schedules, and hosts that come and go.

use std::{
    collections::BTreeSet,
    future::{Future, ready},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use phasm::{
    Host, Map, Outcome, TriggerRequest,
    catalog::{self, CatalogItem, SCHEDULE_LABEL, SCHEDULED_LABEL, ScheduleState, WrittenDocument},
    clock::TimeSource as _,
    engine::{
        plan::{Draft, Executors, Plan},
        time::{Millis, Timestamp},
    },
    executor::{Executor, Invocation, Observer},
    reader,
    store::{
        Catalog, CatalogKind, Change, EntryName, Filter, Leases, Mailbox, Memory, ReadStore as _, RunRow,
    },
};
use phasm_tests::stepped::Stepped;
use tokio::runtime::{Builder, Runtime};

use super::super::{random::Random, shaky::Shaky};

/// In so many rounds without a call to the store, nothing will happen any more.
const QUIET: u64 = 24;

/// `quick` succeeds at once, and returns its inputs; `never` does not end.
struct Quick;

impl Executor for Quick {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        if &*call.executor_type == "never" {
            return Box::pin(std::future::pending());
        }
        let when = call.inputs.first().map(|(_, value)| value.clone()).unwrap_or_default();
        Box::pin(ready(Outcome::default().output("when", when)))
    }
}

async fn rounds(count: u64) {
    for _ in 0..count {
        tokio::task::yield_now().await;
    }
}

pub(crate) fn at(text: &str) -> Timestamp {
    Timestamp::from_rfc3339(text).unwrap()
}

/// A schedule; `more` are further lines of its spec.
pub(crate) fn document(name: &str, schedule: &str, more: &str) -> String {
    format!(
        "apiVersion: aether/v1\nkind: CronWorkflow\nmetadata: {{name: {name}}}\nspec:\n  schedule: '{schedule}'\n  {more}\n  \
         workflowSpec:\n    entrypoint: main\n    timeout: none\n    templates:\n      - dag:\n          name: main\n          outputs: {{parameters: \
         [{{name: when, valueFrom: {{path: tasks.a.outputs.parameters.when}}}}]}}\n          tasks:\n            - name: a\n              \
         executor: {{type: quick}}\n              inputs: {{parameters: [{{name: when, value: '{{{{ workflow.scheduledTime }}}}'}}]}}\n"
    )
}

pub(crate) fn planned(document: &str) -> Plan {
    let draft = Draft::read(&reader::read("s.yaml", document).unwrap());
    draft.plan(&Executors::any(), &phasm::Value::Null).unwrap()
}

struct Room {
    host: Host,
    runtime: Runtime,
    store: Arc<Shaky>,
}

pub(crate) struct House {
    pub(crate) time: Arc<Stepped>,
    pub(crate) store: Arc<Memory>,
    pub(crate) random: Random,
    rooms: Vec<Room>,
    /// Largest number of rounds an answer of the store takes.
    slowest: u32,
    outside: Runtime,
}

impl House {
    pub(crate) fn new(now: &str, hosts: u32) -> Self {
        let time = Arc::new(Stepped::default());
        time.set(at(now).0);
        let mut house = Self {
            time,
            store: Arc::new(Memory::new(u64::MAX)),
            random: Random(7),
            rooms: Vec::new(),
            slowest: 3,
            outside: Builder::new_current_thread().build().unwrap(),
        };
        (0..hosts).for_each(|_| house.open());
        house.settle();
        house
    }

    pub(crate) fn hosts(&self) -> usize {
        self.rooms.len()
    }

    pub(crate) fn open(&mut self) {
        let runtime = Builder::new_current_thread().build().unwrap();
        let seed = self.random.below(u64::MAX);
        let store = Arc::new(Shaky::new(&self.store, runtime.handle(), seed, self.slowest));
        let host = Host::builder()
            .store(Arc::clone(&store) as _)
            .executor(Arc::new(Quick))
            .time(Arc::clone(&self.time) as _)
            .runtime(runtime.handle().clone())
            .auto_claim(Duration::ZERO);
        self.rooms.push(Room { host: host.open().unwrap(), runtime, store });
    }

    /// From now on so many calls of a host reach the store, and no more.
    pub(crate) fn light_fuse(&mut self, host: usize, calls: u64) {
        self.rooms.get(host).unwrap().store.die_after(calls);
    }

    pub(crate) fn is_dead(&self, host: usize) -> bool {
        self.rooms.get(host).unwrap().store.is_dead()
    }

    /// A host dies where it is, and it is noticed.
    pub(crate) fn kill(&mut self, victim: usize) {
        let Room { host, runtime, store } = self.rooms.swap_remove(victim);
        store.die();
        drop(runtime);
        let id = host.id().clone();
        drop(host);
        self.now(self.store.heartbeat(&id, Timestamp(0)));
    }

    pub(crate) fn any(&mut self) -> usize {
        usize::try_from(self.random.below(self.rooms.len() as u64)).unwrap()
    }

    pub(crate) fn go_on(&self, host: usize, rounds: u64) {
        self.rooms.get(host).unwrap().runtime.block_on(self::rounds(rounds));
    }

    /// Lets every host go on until nothing happens without the clock.
    pub(crate) fn settle(&mut self) {
        loop {
            let before = self.calls();
            let first = if self.rooms.is_empty() { 0 } else { self.any() };
            for at in 0..self.rooms.len() {
                self.go_on((first + at) % self.rooms.len(), QUIET);
            }
            if self.calls() == before && !self.hear_mail() {
                return;
            }
        }
    }

    /// Has every host read what others left its runs, as those of a database do by themselves; whether there was something.
    fn hear_mail(&self) -> bool {
        let mut any = false;
        for Room { host, runtime, store } in &self.rooms {
            for run_id in self.now(self.store.mailed(Some(host.id()))) {
                // One that dies over it never comes back from it.
                runtime.block_on(async {
                    tokio::select! {
                        read = host.read_mail(&run_id) => read.unwrap(),
                        () = rounds(QUIET) => {}
                    }
                });
                any |= !store.is_dead();
            }
        }
        any
    }

    fn calls(&self) -> u64 {
        self.rooms.iter().map(|room| room.store.calls()).sum()
    }

    pub(crate) fn wall(&self) -> Timestamp {
        self.time.wall()
    }

    /// Both clocks go on.
    pub(crate) fn pass(&mut self, length: Millis) {
        self.time.pass(length);
        self.settle();
    }

    /// When the next schedule is due.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.now(self.store.due_entries(None, 1)).first().and_then(|entry| entry.due)
    }

    /// Goes on to an instant, from one that a schedule is due at to the next.
    pub(crate) fn go_to(&mut self, end: &str) {
        let end = at(end);
        while let Some(due) = self.next_due().filter(|due| *due <= end && *due > self.wall()) {
            self.pass(due.since(self.wall()));
        }
        self.pass(end.since(self.wall()));
    }

    /// The store itself answers at once.
    pub(crate) fn now<T>(&self, asked: phasm::store::Pending<T>) -> T {
        self.outside.block_on(asked).unwrap()
    }

    pub(crate) fn put(&mut self, document: &str) {
        let plan = planned(document);
        let written = WrittenDocument { file: "s.yaml", text: document };
        let put = catalog::put_schedule(&*self.store, &plan, written, Some("Ada"), self.wall());
        self.outside.block_on(put).unwrap();
        self.settle();
    }

    pub(crate) fn suspend(&mut self, name: &str) {
        self.outside.block_on(catalog::suspend_schedule(&*self.store, "default", name)).unwrap();
        self.settle();
    }

    pub(crate) fn resume(&mut self, name: &str) {
        let resumed = catalog::resume_schedule(&*self.store, "default", name, self.wall());
        self.outside.block_on(resumed).unwrap();
        self.settle();
    }

    pub(crate) fn trigger(&self, name: &str) -> Arc<str> {
        let Room { host, runtime, .. } = self.rooms.first().unwrap();
        runtime
            .block_on(host.trigger(TriggerRequest {
                namespace: "default",
                name,
                parameters: &Map::new(),
                options: phasm::SubmitOptions::default(),
            }))
            .unwrap()
            .run_id
    }

    pub(crate) fn schedule(&self, name: &str) -> CatalogItem<ScheduleState> {
        self.outside.block_on(catalog::schedule(&*self.store, "default", name)).unwrap().unwrap()
    }

    /// The runs of a schedule, the first one first.
    pub(crate) fn runs(&self, name: &str) -> Vec<RunRow> {
        let filter = Filter { label: Some((SCHEDULE_LABEL.into(), name.into())), ..Filter::default() };
        let mut rows = self.now(self.store.list(filter, usize::MAX));
        rows.reverse();
        rows
    }

    /// The instants that its runs were fired for, in the order in which they were.
    pub(crate) fn fired(&self, name: &str) -> Vec<String> {
        let instant = |row: &RunRow| row.head.labels.get(SCHEDULED_LABEL).unwrap().to_string();
        self.runs(name).iter().map(instant).collect()
    }

    /// Whether none of its runs was fired for the instant of another.
    pub(crate) fn fired_once(&self, name: &str) -> bool {
        let fired = self.fired(name);
        fired.iter().collect::<BTreeSet<_>>().len() == fired.len()
    }

    pub(crate) fn output(&self, run_id: &str) -> String {
        let Room { host, runtime, .. } = self.rooms.first().unwrap();
        let view = runtime.block_on(async { host.run(run_id).await.unwrap().view().await }).unwrap();
        view.outputs.first().unwrap().value.as_str().unwrap().to_owned()
    }

    fn name(name: &str) -> EntryName {
        EntryName { shelf: CatalogKind::Schedules, namespace: "default".into(), name: name.into() }
    }

    /// Replaces its document by another, which no host could have kept.
    fn with_file(&mut self, name: &str, from: &str, to: &str) {
        let name = Self::name(name);
        let entry = self.now(self.store.entry(&name)).unwrap();
        let body = entry.body.replace(from, to).into();
        let change = Change { name, from: entry.revision, due: entry.due, body, texts: None };
        self.now(self.store.change(change));
        self.settle();
    }

    pub(crate) fn spoil(&mut self, name: &str) {
        // Its YAML does not parse as JSON.
        self.with_file(name, "s.yaml", "s.json");
    }

    pub(crate) fn mend(&mut self, name: &str) {
        self.with_file(name, "s.json", "s.yaml");
    }
}
