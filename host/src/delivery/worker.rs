//! Delivers the notices to one endpoint, a few at a time.

use std::{
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
    time::Duration,
};

use phasm_engine::time::{Millis, Timestamp};
use tokio::task::JoinSet;

use crate::{
    clock::Clock,
    core::{PAUSES, Shared},
    notify::{
        Endpoint, NoticeProgress, NoticeTally, NoticeTry,
        post::{self, Unanswered},
        progress::Progress,
        retry,
    },
    store::{KeptNotice, Notices, Settle, StoreError},
};

/// Posts at once to one endpoint.
const AT_ONCE: usize = 8;
/// Whoever has begun to post a notice has so long to say what came of it; then others post it.
const LEASE: Millis = 60_000;
/// Other notices of a run that one answer settles, at once.
const PAGE: usize = 256;

/// What came of posting a notice.
enum Delivery {
    Taken(u16),
    Gone(u16),
    Failed { status: Option<u16>, why: String, wish: Option<Millis> },
}

/// Somebody to deliver for.
#[derive(Clone)]
struct Errand {
    host: Weak<Shared>,
    name: Arc<str>,
    endpoint: Arc<Endpoint>,
    tally: Arc<NoticeTally>,
}

/// Delivers until the host is gone.
pub(crate) async fn run_errand(host: Weak<Shared>, name: Arc<str>) {
    let Some(errand) = Errand::new(&host, &name) else { return };
    let mut posts = JoinSet::new();
    let mut pause = PAUSES.0;
    while let Some(shared) = host.upgrade().filter(|shared| shared.begins()) {
        let clock = shared.clock.clone();
        // What comes while this round goes on makes the next.
        let (mut changed, mut news) = (shared.store.notices_changed(), shared.outlets.news.subscribe());
        let looked = errand.take_up(&shared, &mut posts).await;
        // Nobody keeps the host alive by waiting for what is due.
        drop(shared);
        let next = errand.next_look(looked, &clock, &mut pause);
        let next_due = async {
            match next {
                Some(at) => clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = changed.changed() => {}
            _ = news.changed() => {}
            Some(_) = posts.join_next(), if !posts.is_empty() => {}
            () = next_due => {}
        }
    }
}

impl Errand {
    fn new(host: &Weak<Shared>, name: &Arc<str>) -> Option<Self> {
        let outlets = Arc::clone(&host.upgrade()?.outlets);
        let endpoint = Arc::new(outlets.endpoints.get(name)?.clone());
        let tally = Arc::clone(outlets.tallies.get(name)?);
        Some(Self { host: Weak::clone(host), name: Arc::clone(name), endpoint, tally })
    }

    /// What will have elapsed when the next notice is due; later, if the store cannot be asked now.
    fn next_look(
        &self,
        looked: Result<Option<Timestamp>, StoreError>,
        clock: &Clock,
        pause: &mut Duration,
    ) -> Option<Millis> {
        match looked {
            Ok(due) => {
                *pause = PAUSES.0;
                due.map(|due| clock.after(Duration::from_millis(due.since(clock.now()))))
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "notices to {} cannot be looked at now; trying again", self.name);
                let next = clock.after(*pause);
                *pause = (*pause * 2).min(PAUSES.1);
                Some(next)
            }
        }
    }

    /// Takes up what is due as far as there is room; when the next one is due, if that is known.
    async fn take_up(
        &self,
        shared: &Arc<Shared>,
        posts: &mut JoinSet<()>,
    ) -> Result<Option<Timestamp>, StoreError> {
        loop {
            while posts.try_join_next().is_some() {}
            let room = AT_ONCE.saturating_sub(posts.len());
            if room == 0 {
                return Ok(None);
            }
            let page = shared.store.due_notices(&self.name, room).await?;
            if page.is_empty() {
                return Ok(None);
            }
            for notice in page {
                match notice.due {
                    Some(due) if due > shared.clock.now() => return Ok(Some(due)),
                    _ => self.claim(shared, notice, posts).await?,
                }
            }
        }
    }

    /// Puts the notice off for others, and posts it, if nobody else has done so.
    async fn claim(
        &self,
        shared: &Arc<Shared>,
        notice: KeptNotice,
        posts: &mut JoinSet<()>,
    ) -> Result<(), StoreError> {
        let Some(place) = shared.outlets.poster.place().await else { return Ok(()) };
        let mut progress = match Progress::read(&notice) {
            Ok(progress) => progress,
            Err(error) => return self.set_aside(shared, notice, &error).await,
        };
        progress.tries += 1;
        let due = Some(shared.clock.now().after(LEASE));
        let settle = Settle { id: notice.id.clone(), from: notice.revision, due, body: progress.body() };
        if !shared.store.settle(settle).await? {
            return Ok(());
        }
        let claimed = KeptNotice { revision: notice.revision + 1, due, ..notice };
        let (errand, outlets, clock) = (self.clone(), Arc::clone(&shared.outlets), shared.clock.clone());
        let is_unwanted = self.is_unwanted(shared, &claimed).await?;
        posts.spawn(async move {
            let _place = place;
            errand.tally.under_way.fetch_add(1, Relaxed);
            let payload = progress.payload.clone().unwrap_or_default();
            let verdict = if is_unwanted {
                Delivery::Gone(410)
            } else {
                let id = claimed.id.to_string();
                Delivery::of(outlets.poster.post(&errand.endpoint, &id, &payload, clock.now()).await)
            };
            errand.tally.under_way.fetch_sub(1, Relaxed);
            errand.finish(claimed, progress, verdict).await;
        });
        Ok(())
    }

    /// Nobody can post what cannot be read; others are not held up by it.
    async fn set_aside(
        &self,
        shared: &Shared,
        notice: KeptNotice,
        error: &StoreError,
    ) -> Result<(), StoreError> {
        tracing::warn!(error = error as &dyn std::error::Error, "notice {} is given up", notice.id);
        self.tally.given_up.fetch_add(1, Relaxed);
        let KeptNotice { id, revision: from, body, .. } = notice;
        shared.store.settle(Settle { id, from, due: None, body }).await.map(drop)
    }

    /// Whether the endpoint has said of the notice before that it wants nothing more of the run.
    async fn is_unwanted(&self, shared: &Shared, notice: &KeptNotice) -> Result<bool, StoreError> {
        let before = shared.store.notices(self.others(notice, Some(notice.id.seq), 1)).await?;
        let standing = before.first().map(Progress::read).transpose()?.map(|progress| progress.standing);
        Ok(standing == Some(NoticeProgress::Gone))
    }

    /// Of the same run.
    fn others(&self, notice: &KeptNotice, before: Option<u64>, limit: usize) -> Notices {
        let (run_id, endpoint) = (Arc::clone(&notice.id.run_id), Some(Arc::clone(&self.name)));
        Notices { run_id, endpoint, before, limit }
    }

    /// Says what came of it. If that cannot be written somebody posts it again.
    async fn finish(&self, notice: KeptNotice, progress: Progress, verdict: Delivery) {
        let Some(shared) = self.host.upgrade() else { return };
        let (settle, gone) = self.settled(&notice, progress, verdict, shared.clock.now());
        let mut written = shared.store.settle(settle).await.map(drop);
        if gone && written.is_ok() {
            written = self.drop_others(&shared, &notice).await;
        }
        if let Err(error) = written {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "what came of notice {} cannot be written; it is posted again", notice.id);
        }
    }

    /// What is written of it, and whether the endpoint wants nothing more of the run.
    fn settled(
        &self,
        notice: &KeptNotice,
        mut progress: Progress,
        verdict: Delivery,
        now: Timestamp,
    ) -> (Settle, bool) {
        let (id, from, name) = (notice.id.clone(), notice.revision, &self.name);
        let (status, why, wish) = match verdict {
            Delivery::Taken(status) => {
                self.tally.delivered.fetch_add(1, Relaxed);
                tracing::debug!("notice {id} was delivered");
                progress.last = Some(NoticeTry { at: now, status: Some(status), why: None });
                let body = progress.over(NoticeProgress::Delivered).body();
                return (Settle { id, from, due: None, body }, false);
            }
            Delivery::Gone(status) => (Some(status), post::refusal(status), None),
            Delivery::Failed { status, why, wish } => (status, why, Some(wish)),
        };
        self.tally.failed.fetch_add(1, Relaxed);
        let pause = wish.and_then(|wish| retry::pause(&id, progress.tries, wish));
        progress.last = Some(NoticeTry { at: now, status, why: Some(why.clone()) });
        let Some(pause) = pause else {
            self.tally.given_up.fetch_add(1, Relaxed);
            tracing::warn!("notice {id} to {name} is given up: {why}");
            let standing = if wish.is_none() { NoticeProgress::Gone } else { NoticeProgress::GivenUp };
            let body = progress.over(standing).body();
            return (Settle { id, from, due: None, body }, wish.is_none());
        };
        let due = Some(now.after(pause));
        tracing::info!("notice {id} to {name} failed and is tried again in {} s: {why}", pause / 1000);
        (Settle { id, from, due, body: progress.body() }, false)
    }

    /// The endpoint wants nothing more of the run: what waits for it is not posted.
    async fn drop_others(&self, shared: &Shared, notice: &KeptNotice) -> Result<(), StoreError> {
        let mut before = None;
        loop {
            let page = shared.store.notices(self.others(notice, before, PAGE)).await?;
            for other in page.iter().filter(|other| other.due.is_some()) {
                let body = Progress::read(other)?.over(NoticeProgress::Gone).body();
                let settle = Settle { id: other.id.clone(), from: other.revision, due: None, body };
                if shared.store.settle(settle).await? {
                    self.tally.given_up.fetch_add(1, Relaxed);
                }
            }
            before = page.last().map(|last| last.id.seq);
            if page.len() < PAGE {
                return Ok(());
            }
        }
    }
}

impl Delivery {
    fn of(posted: Result<post::Posted, Unanswered>) -> Self {
        match posted {
            Ok(post::Posted { status: status @ 200..300, .. }) => Self::Taken(status),
            Ok(post::Posted { status: 410, .. }) => Self::Gone(410),
            Ok(post::Posted { status, wish }) => {
                Self::Failed { status: Some(status), why: post::refusal(status), wish }
            }
            Err(Unanswered { why }) => Self::Failed { status: None, why, wish: None },
        }
    }
}
