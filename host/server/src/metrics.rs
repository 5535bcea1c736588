//! Metrics of a host, with a bounded number of series.
//!
//! ```text
//!  Host::measured, the store's census, requests, /proc ──▶ Scrape ──▶ MetricWriter ──▶ OpenMetrics
//! ```
//!
//! Everything is counted where it happens; here it gets a name. Labels are words of this program, routes, configured tenants, and the
//! executors that the library counts apart.

mod cluster;
mod host;
mod notices;
mod process;
mod resources;
mod traffic;
mod writer;

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc, time::Duration};

use phasm::{
    Host, clock::Clock, fair_queue::QueueUsage, metrics::MetricsSnapshot, notify::NoticeCounts, store::Census,
};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, text::encode},
    registry::{Registry, Unit},
};
use tokio::{sync::Mutex, time::Instant};

pub(crate) use self::traffic::{RouteLabel, Traffic};
use self::{process::Process, writer::MetricWriter};
use crate::{resources::Resources, streams::Streams};

/// For how long a count of the store's open runs is believed.
const MAX_CENSUS_AGE: Duration = Duration::from_secs(5);

/// Counters of the server itself, and the last count of the store.
pub(crate) struct Metrics {
    pub(crate) traffic: Traffic,
    counted: Mutex<Option<(Instant, Option<Census>)>>,
}

impl Metrics {
    /// `paths` are those of all routes.
    pub(crate) fn new(paths: impl IntoIterator<Item = &'static str>) -> Self {
        Self { traffic: Traffic::new(paths), counted: Mutex::default() }
    }

    /// All of it, as OpenMetrics has it.
    pub(crate) async fn text(&self, host: &Host, streams: &Streams, resources: &Resources) -> String {
        let scrape = Scrape {
            census: self.census(host).await,
            measured: host.metrics(),
            notices: host.notice_counts(),
            loaded: host.loaded(),
            file: host.store().file(),
            traffic: self.traffic.now(),
            streams: streams.open(),
            dropped: streams.dropped(),
            resources: resources.usage().collect(),
            process: Process::now(),
        };
        let mut registry = Registry::default();
        registry.register_collector(Box::new(scrape));
        let mut text = String::new();
        // A string takes whatever is written.
        let _written = encode(&mut text, &registry);
        text
    }

    /// The store's open runs; nothing where it cannot be read. Counting reads them all, so it is done now and then.
    async fn census(&self, host: &Host) -> Option<Census> {
        let mut counted = self.counted.lock().await;
        if let Some((at, census)) = *counted
            && at.elapsed() < MAX_CENSUS_AGE
        {
            return census;
        }
        let census = host.store().census(Clock::start().now()).await.ok();
        *counted = Some((Instant::now(), census));
        census
    }
}

/// Values of one scrape.
struct Scrape {
    census: Option<Census>,
    measured: MetricsSnapshot,
    notices: BTreeMap<Arc<str>, NoticeCounts>,
    loaded: usize,
    file: Option<PathBuf>,
    traffic: traffic::TrafficSnapshot,
    streams: usize,
    dropped: u64,
    resources: Vec<(&'static str, QueueUsage)>,
    process: Process,
}

impl fmt::Debug for Scrape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scrape")
    }
}

impl Collector for Scrape {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut sheet = MetricWriter::new(encoder);
        sheet.info("phasm_build", "Version of this server", &[("version", env!("CARGO_PKG_VERSION"))])?;
        self.runs(&mut sheet)?;
        self.attempts(&mut sheet)?;
        self.sandbox(&mut sheet)?;
        self.store(&mut sheet)?;
        self.cluster(&mut sheet)?;
        self.notices(&mut sheet)?;
        self.traffic.tell(&mut sheet)?;
        sheet.gauge("phasm_streams", "Streams of events and logs", self.streams)?;
        let dropped = "Streams that were ended as their reader did not read";
        sheet.counter("phasm_streams_dropped", dropped, self.dropped)?;
        resources::tell(&self.resources, &mut sheet)?;
        self.process.tell(&mut sheet)
    }
}

impl Scrape {
    fn store(&self, sheet: &mut MetricWriter<'_>) -> fmt::Result {
        let readable = "Whether the store could be read when its open runs were counted last";
        sheet.gauge("phasm_store_readable", readable, u64::from(self.census.is_some()))?;
        let written = self.measured.written.as_ref();
        let took = "How long commits took, for as many as have written something";
        sheet.times("phasm_store_commit", took, written.map(|written| &written.took))?;
        let requests = "How many requests shared a commit";
        sheet.amounts(
            "phasm_store_commit_requests",
            requests,
            None,
            written.map(|written| &written.requests),
        )?;
        let bytes = "Bytes of records, logs and requests in a commit";
        sheet.amounts(
            "phasm_store_commit",
            bytes,
            Some(&Unit::Bytes),
            written.map(|written| &written.bytes),
        )?;
        let failed = written.map(|written| (Vec::new(), written.failed));
        sheet.counters("phasm_store_commits_failed", "Commits that failed", failed)?;
        let room = self.file.as_deref().and_then(process::room);
        let size = |of: fn(&process::Room) -> u64| room.as_ref().map(|room| (Vec::new(), of(room)));
        sheet.bytes("phasm_store_file", "The file of the store, with its log", size(|room| room.file))?;
        sheet.bytes(
            "phasm_store_disk_free",
            "Free space on the disk of the store",
            size(|room| room.free),
        )?;
        sheet.bytes("phasm_store_disk", "The disk of the store", size(|room| room.disk))
    }
}
