//! What an operator sees of a host, with a bounded number of series.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use phasm::{Became, Host, Phase, clock::Clock, store::Census};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};
use tokio::{
    sync::{Mutex, broadcast::error::RecvError},
    time::Instant,
};

use crate::app::App;

/// For how long a count of the store's open runs is believed.
const FRESH: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfPhase {
    phase: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfState {
    state: &'static str,
}

/// Everything that is measured.
pub(crate) struct Metrics {
    registry: Registry,
    submitted: Counter,
    ended: Family<OfPhase, Counter>,
    open: Family<OfState, Gauge>,
    slots: Gauge,
    loaded: Gauge,
    streams: Gauge,
    counted: Mutex<Option<(Instant, Census)>>,
    listening: Arc<AtomicU64>,
}

impl Metrics {
    pub(crate) fn new(host: &Arc<Host>) -> Self {
        let mut registry = Registry::with_prefix("phasm");
        let (submitted, ended, open) = (Counter::default(), Family::default(), Family::default());
        let (slots, loaded, streams) = (Gauge::default(), Gauge::default(), Gauge::default());
        registry.register("runs_submitted", "Runs submitted over HTTP", submitted.clone());
        registry.register("runs_ended", "Runs of this host that ended, by phase", Family::clone(&ended));
        registry.register(
            "runs_open",
            "Runs of the store that have not ended, by who goes on with them",
            Family::clone(&open),
        );
        registry.register("slots", "Attempts that may be in flight", slots.clone());
        registry.register("runs_loaded", "Runs in memory", loaded.clone());
        registry.register("streams", "Streams of events and logs", streams.clone());
        for phase in Phase::ALL.into_iter().filter(|phase| phase.is_terminal()) {
            drop(ended.get_or_create(&OfPhase { phase: phase.as_str() }));
        }
        let metrics = Self {
            registry,
            submitted,
            ended,
            open,
            slots,
            loaded,
            streams,
            counted: Mutex::default(),
            listening: Arc::default(),
        };
        metrics.listen(host);
        metrics
    }

    /// Counts what becomes of runs, as long as the host is there.
    fn listen(&self, host: &Host) {
        let (mut tidings, ended) = (host.tidings(), self.ended.clone());
        let missed = Arc::clone(&self.listening);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            loop {
                match tidings.recv().await {
                    Ok(tiding) => {
                        if let Became::Ended(phase) = tiding.what {
                            ended.get_or_create(&OfPhase { phase: phase.as_str() }).inc();
                        }
                    }
                    Err(RecvError::Lagged(count)) => drop(missed.fetch_add(count, Relaxed)),
                    Err(RecvError::Closed) => return,
                }
            }
        });
    }

    pub(crate) fn submitted(&self) {
        self.submitted.inc();
    }

    /// All of it, as OpenMetrics has it.
    pub(crate) async fn text(&self, app: &App) -> String {
        self.slots.set(app.host.slots().into());
        self.loaded.set(i64::try_from(app.host.loaded()).unwrap_or(i64::MAX));
        self.streams.set(i64::try_from(app.streams.open()).unwrap_or(i64::MAX));
        if let Some(Census { owned, due, waiting, parked, .. }) = self.census(app).await {
            for (state, count) in [("driven", owned), ("due", due), ("waiting", waiting), ("parked", parked)]
            {
                self.open.get_or_create(&OfState { state }).set(i64::try_from(count).unwrap_or(i64::MAX));
            }
        }
        let mut text = String::new();
        // A string takes whatever is written.
        let _written = encode(&mut text, &self.registry);
        text
    }

    /// The store's open runs. Counting reads them all, so it is done now and then.
    async fn census(&self, app: &App) -> Option<Census> {
        let mut counted = self.counted.lock().await;
        if let Some((at, census)) = *counted
            && at.elapsed() < FRESH
        {
            return Some(census);
        }
        let census = app.host.store().census(Clock::start().now()).await.ok()?;
        *counted = Some((Instant::now(), census));
        Some(census)
    }
}
