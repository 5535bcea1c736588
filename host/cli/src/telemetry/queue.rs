//! The queue of spans, and the thread that empties it.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc as std_mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use phasm::spans::Span;
use tokio::{
    runtime::Builder as RuntimeBuilder,
    sync::{
        mpsc::{Receiver, Sender, channel},
        watch,
    },
    time::sleep,
};

use super::otlp::{Collector, ExportError};

/// Spans that wait at most.
const MAX_QUEUED_SPANS: usize = 8192;
/// Spans that are sent at once.
const MAX_BATCH_SPANS: usize = 512;
/// How long a batch that is not full waits for more.
const BATCH_INTERVAL: Duration = Duration::from_millis(500);
/// After which a batch is sent again that a collector had no time for.
const RETRY_DELAYS: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(4), Duration::from_secs(16)];
/// How often it is said that spans are lost.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// Where spans are left.
#[derive(Clone)]
pub(super) struct SpanQueue(Arc<Inner>);

struct Inner {
    queue: Sender<Span>,
    /// Until the thread is there, which begins with the first span.
    waiting: Mutex<Option<(Receiver<Span>, Collector)>>,
    is_begun: AtomicBool,
    dropped: Arc<AtomicU64>,
    ending: watch::Sender<bool>,
    /// Heard once all is sent.
    ended: Mutex<Option<std_mpsc::Receiver<()>>>,
}

impl SpanQueue {
    pub(super) fn to(collector: Collector) -> Self {
        let (queue, spans) = channel(MAX_QUEUED_SPANS);
        Self(Arc::new(Inner {
            queue,
            waiting: Mutex::new(Some((spans, collector))),
            is_begun: AtomicBool::new(false),
            dropped: Arc::default(),
            ending: watch::Sender::new(false),
            ended: Mutex::default(),
        }))
    }

    /// Leaves a span to be sent. Where there is no room it is counted only.
    pub(super) fn take(&self, span: Span) {
        if !self.0.is_begun.swap(true, Relaxed) {
            self.0.begin();
        }
        if self.0.queue.try_send(span).is_err() {
            self.0.dropped.fetch_add(1, Relaxed);
        }
    }

    /// Sends what is there, as far as the time allows.
    pub(super) fn end(&self, within: Duration) {
        self.0.ending.send_replace(true);
        let ended = lock(&self.0.ended).take();
        if let Some(ended) = ended
            && matches!(ended.recv_timeout(within), Err(std_mpsc::RecvTimeoutError::Timeout))
        {
            let left = self.0.queue.max_capacity() - self.0.queue.capacity();
            let dropped = self.0.dropped.swap(0, Relaxed);
            tracing::warn!(
                "{left} spans and those being sent are lost: the collector takes too long; {dropped} found the queue full"
            );
        }
    }
}

impl Inner {
    fn begin(&self) {
        let Some((spans, collector)) = lock(&self.waiting).take() else { return };
        let (tells, ended) = std_mpsc::channel();
        let ending = self.ending.subscribe();
        let work = Worker { spans, collector, ending, losses: Losses::new(Arc::clone(&self.dropped)) };
        let runtime = RuntimeBuilder::new_current_thread().enable_all().build();
        let begun = runtime.and_then(|runtime| {
            let thread = thread::Builder::new().name("phasm-traces".to_owned());
            thread.spawn(move || {
                runtime.block_on(work.until_the_end());
                drop(tells);
            })
        });
        match begun {
            Ok(_) => *lock(&self.ended) = Some(ended),
            Err(error) => tracing::warn!(%error, "there is no thread that sends traces"),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Worker {
    spans: Receiver<Span>,
    collector: Collector,
    ending: watch::Receiver<bool>,
    losses: Losses,
}

impl Worker {
    async fn until_the_end(mut self) {
        let mut batch = Vec::with_capacity(MAX_BATCH_SPANS);
        loop {
            let is_closed = tokio::select! {
                biased;
                count = self.spans.recv_many(&mut batch, MAX_BATCH_SPANS) => count == 0,
                _ = self.ending.wait_for(|ending| *ending) => false,
            };
            if is_closed {
                return self.losses.say_all();
            }
            if batch.len() < MAX_BATCH_SPANS {
                tokio::select! {
                    () = sleep(BATCH_INTERVAL) => {}
                    _ = self.ending.wait_for(|ending| *ending) => {}
                }
                let more = std::iter::from_fn(|| self.spans.try_recv().ok());
                let room = MAX_BATCH_SPANS - batch.len();
                batch.extend(more.take(room));
            }
            if batch.is_empty() && *self.ending.borrow() {
                return self.losses.say_all();
            }
            self.send(std::mem::take(&mut batch)).await;
        }
    }

    async fn send(&mut self, batch: Vec<Span>) {
        if batch.is_empty() {
            return;
        }
        let mut pauses = RETRY_DELAYS.iter();
        loop {
            let ExportError { why, is_passing } = match self.collector.send(&batch).await {
                Ok(()) => return self.losses.say(),
                Err(untaken) => untaken,
            };
            let pause = pauses.next().filter(|_| is_passing && !*self.ending.borrow());
            let Some(pause) = pause else {
                self.losses.refused += batch.len() as u64;
                self.losses.why = Some(format!("{}: {why}", self.collector.url()));
                return self.losses.say();
            };
            tokio::select! {
                () = sleep(*pause) => {}
                _ = self.ending.wait_for(|ending| *ending) => {}
            }
        }
    }
}

/// Number of spans that were lost, and when that was reported.
struct Losses {
    dropped: Arc<AtomicU64>,
    refused: u64,
    /// Why the last of them were refused.
    why: Option<String>,
    said: Option<Instant>,
}

impl Losses {
    fn new(dropped: Arc<AtomicU64>) -> Self {
        Self { dropped, refused: 0, why: None, said: None }
    }

    /// Says what was lost since it was said last, but not all the time.
    fn say(&mut self) {
        if self.said.is_none_or(|said| said.elapsed() >= REPORT_INTERVAL) {
            self.say_all();
        }
    }

    /// Says it at the end, whenever something was said before.
    fn say_all(&mut self) {
        if let Some(words) = self.unsaid() {
            tracing::warn!("{words}");
        }
    }

    fn unsaid(&mut self) -> Option<String> {
        let (refused, dropped) = (std::mem::take(&mut self.refused), self.dropped.swap(0, Relaxed));
        if refused + dropped == 0 {
            return None;
        }
        self.said = Some(Instant::now());
        let why = self.why.take().map(|why| format!("; {why}")).unwrap_or_default();
        Some(format!(
            "spans are lost: the collector did not take {refused}, and {dropped} found the queue full{why}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use phasm::{
        config::TelemetrySettings,
        sandbox::{
            HttpConfig,
            trace::{SpanId, TraceContext, TraceId},
        },
        spans::SpanKind,
    };

    use super::*;

    fn span(number: usize) -> Span {
        let name = number.to_string();
        Span {
            context: TraceContext::new(TraceId::of_run("r"), SpanId::of(&name), true),
            parent: None,
            kind: SpanKind::Step,
            name: name.into(),
            since: SystemTime::UNIX_EPOCH,
            until: SystemTime::UNIX_EPOCH,
            attributes: Vec::new(),
            failed: None,
        }
    }

    /// R-O5: recording a span never blocks. Spans that the queue has no room for are counted and reported once.
    #[test]
    fn what_finds_the_queue_full_is_counted() {
        let settings =
            TelemetrySettings { otlp: Some("http://127.0.0.1:1".to_owned()), ..Default::default() };
        let sending = SpanQueue::to(Collector::new(&settings, &HttpConfig::default()).unwrap());
        // Nothing empties the queue.
        sending.0.is_begun.store(true, Relaxed);
        for number in 0..MAX_QUEUED_SPANS + 3 {
            sending.take(span(number));
        }
        assert_eq!(sending.0.queue.capacity(), 0);
        let mut losses = Losses::new(Arc::clone(&sending.0.dropped));
        assert_eq!(
            losses.unsaid().as_deref(),
            Some("spans are lost: the collector did not take 0, and 3 found the queue full")
        );
        assert_eq!(losses.unsaid(), None);
        let (mut spans, _collector) = lock(&sending.0.waiting).take().unwrap();
        let kept: Vec<_> = std::iter::from_fn(|| spans.try_recv().ok()).map(|span| span.name).collect();
        assert_eq!(
            (kept.len(), &*kept[MAX_QUEUED_SPANS - 1]),
            (MAX_QUEUED_SPANS, "8191"),
            "those that came first"
        );
    }
}
