//! Delivers the notices to one endpoint, a few at a time.

use std::{
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
    time::Duration,
};

use phasm_engine::time::{Millis, Timestamp};
use tokio::{
    sync::{Notify, Semaphore},
    task::JoinSet,
};

use crate::{
    core::{
        HostCore,
        background::{BackgroundTask, Wake},
    },
    notify::{
        Endpoint, NoticeProgress, NoticeTally, NoticeTry,
        post::{self, NoReply},
        progress::Progress,
        retry,
    },
    store::{NoticeRow, Notices, Settle, StoreError},
};

/// Posts at once to one endpoint.
const MAX_POSTS_AT_ONCE: usize = 8;
/// Time within which a host that has claimed a delivery records its result; afterwards other hosts post it.
const CLAIM_MILLIS: Millis = 60_000;
/// Other notices of a run that one answer settles, at once.
const PAGE: usize = 256;

/// The result of posting a notification.
enum Delivery {
    Taken(u16),
    Gone(u16),
    Failed { status: Option<u16>, why: String, wish: Option<Millis> },
}

/// Delivers the notifications to one endpoint.
pub(crate) struct DeliveryWorker {
    route: Route,
    posts: JoinSet<()>,
    /// A permit for each post that may start. The join set cannot tell: it learns of an end only after the post has notified.
    room: Arc<Semaphore>,
    /// Notified when a post has returned its permit.
    ended: Arc<Notify>,
}

/// The endpoint of a worker, for posts that outlive a round.
#[derive(Clone)]
struct Route {
    host: Weak<HostCore>,
    name: Arc<str>,
    endpoint: Arc<Endpoint>,
    tally: Arc<NoticeTally>,
}

impl DeliveryWorker {
    /// A worker for the endpoint of that name; none if the configuration has no such endpoint.
    pub(crate) fn new(core: &Arc<HostCore>, name: &Arc<str>) -> Option<Self> {
        let webhooks = &core.webhooks;
        let endpoint = Arc::new(webhooks.endpoints.get(name)?.clone());
        let tally = Arc::clone(webhooks.tallies.get(name)?);
        let route = Route { host: Arc::downgrade(core), name: Arc::clone(name), endpoint, tally };
        Some(Self {
            route,
            posts: JoinSet::new(),
            room: Arc::new(Semaphore::new(MAX_POSTS_AT_ONCE)),
            ended: Arc::default(),
        })
    }
}

impl BackgroundTask for DeliveryWorker {
    const WORK: &'static str = "deliver notifications";

    fn wake(&self, core: &HostCore) -> Wake {
        let mut changed = core.store.notices_changed();
        let mut news = core.webhooks.news.subscribe();
        let ended = Arc::clone(&self.ended);
        Box::pin(async move {
            tokio::select! {
                _ = changed.changed() => {}
                _ = news.changed() => {}
                () = ended.notified() => {}
            }
        })
    }

    async fn round(&mut self, core: &Arc<HostCore>) -> Result<Option<Millis>, StoreError> {
        let due = self.start_due(core).await?;
        Ok(due.map(|due| core.clock.after(Duration::from_millis(due.since(core.clock.now())))))
    }
}

impl DeliveryWorker {
    /// Starts due deliveries as far as there is room; returns when the next one is due, if that is known.
    async fn start_due(&mut self, core: &Arc<HostCore>) -> Result<Option<Timestamp>, StoreError> {
        loop {
            while self.posts.try_join_next().is_some() {}
            let room = self.room.available_permits();
            if room == 0 {
                return Ok(None);
            }
            let page = core.store.due_notices(&self.route.name, room).await?;
            if page.is_empty() {
                return Ok(None);
            }
            for delivery in page {
                match delivery.due {
                    Some(due) if due > core.clock.now() => return Ok(Some(due)),
                    _ => self.claim(core, delivery).await?,
                }
            }
        }
    }

    /// Claims a delivery by postponing it for other hosts, and posts it unless another host was faster.
    async fn claim(&mut self, core: &Arc<HostCore>, notice: NoticeRow) -> Result<(), StoreError> {
        let Ok(permit) = Arc::clone(&self.room).try_acquire_owned() else { return Ok(()) };
        let Some(place) = core.webhooks.poster.place(&self.route.name).await else { return Ok(()) };
        let mut progress = match Progress::read(&notice) {
            Ok(progress) => progress,
            Err(error) => return self.route.set_aside(core, notice, &error).await,
        };
        progress.tries += 1;
        let due = Some(core.clock.now().after(CLAIM_MILLIS));
        let settle = Settle { id: notice.id.clone(), from: notice.revision, due, body: progress.body() };
        if !core.store.settle(settle).await? {
            return Ok(());
        }
        let claimed = NoticeRow { revision: notice.revision + 1, due, ..notice };
        let is_unwanted = self.route.is_unwanted(core, &claimed).await?;
        let route = self.route.clone();
        let webhooks = Arc::clone(&core.webhooks);
        let clock = core.clock.clone();
        let ended = Arc::clone(&self.ended);
        self.posts.spawn(async move {
            let _place = place;
            route.tally.under_way.fetch_add(1, Relaxed);
            let payload = progress.payload.clone().unwrap_or_default();
            let verdict = if is_unwanted {
                Delivery::Gone(410)
            } else {
                let id = claimed.id.to_string();
                Delivery::of(webhooks.poster.post(&route.endpoint, &id, &payload, clock.now()).await)
            };
            route.tally.under_way.fetch_sub(1, Relaxed);
            route.finish(claimed, progress, verdict).await;
            drop(permit);
            ended.notify_one();
        });
        Ok(())
    }
}

impl Route {
    /// Gives up a notification that cannot be read, so that it does not delay others.
    async fn set_aside(
        &self,
        shared: &HostCore,
        notice: NoticeRow,
        error: &StoreError,
    ) -> Result<(), StoreError> {
        tracing::warn!(error = error as &dyn std::error::Error, "notification {} is given up", notice.id);
        self.tally.given_up.fetch_add(1, Relaxed);
        let NoticeRow { id, revision: from, body, .. } = notice;
        shared.store.settle(Settle { id, from, due: None, body }).await.map(drop)
    }

    /// Whether the endpoint has said of the notice before that it wants nothing more of the run.
    async fn is_unwanted(&self, shared: &HostCore, notice: &NoticeRow) -> Result<bool, StoreError> {
        let before = shared.store.notices(self.others(notice, Some(notice.id.seq), 1)).await?;
        let standing = before.first().map(Progress::read).transpose()?.map(|progress| progress.standing);
        Ok(standing == Some(NoticeProgress::Gone))
    }

    /// Selects notifications of the same run.
    fn others(&self, notice: &NoticeRow, before: Option<u64>, limit: usize) -> Notices {
        let (run_id, endpoint) = (Arc::clone(&notice.id.run_id), Some(Arc::clone(&self.name)));
        Notices { run_id, endpoint, before, limit }
    }

    /// Records the result. If that cannot be written, the notification is posted again.
    async fn finish(&self, notice: NoticeRow, progress: Progress, verdict: Delivery) {
        let Some(shared) = self.host.upgrade() else { return };
        let (settle, gone) = self.settled(&notice, progress, verdict, shared.clock.now());
        let mut written = shared.store.settle(settle).await.map(drop);
        if gone && written.is_ok() {
            written = self.drop_others(&shared, &notice).await;
        }
        if let Err(error) = written {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(
                error,
                "the result of notification {} cannot be written; it is posted again",
                notice.id
            );
        }
    }

    /// Returns the state to write, and whether the endpoint wants nothing more of the run.
    fn settled(
        &self,
        notice: &NoticeRow,
        mut progress: Progress,
        verdict: Delivery,
        now: Timestamp,
    ) -> (Settle, bool) {
        let (id, from, name) = (notice.id.clone(), notice.revision, &self.name);
        let (status, why, wish) = match verdict {
            Delivery::Taken(status) => {
                self.tally.delivered.fetch_add(1, Relaxed);
                tracing::debug!("notification {id} was delivered");
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
            tracing::warn!("notification {id} to {name} is given up: {why}");
            let standing = if wish.is_none() { NoticeProgress::Gone } else { NoticeProgress::GivenUp };
            let body = progress.over(standing).body();
            return (Settle { id, from, due: None, body }, wish.is_none());
        };
        let due = Some(now.after(pause));
        tracing::info!("notification {id} to {name} failed and is tried again in {} s: {why}", pause / 1000);
        (Settle { id, from, due, body: progress.body() }, false)
    }

    /// The endpoint wants nothing more of the run: what waits for it is not posted.
    async fn drop_others(&self, shared: &HostCore, notice: &NoticeRow) -> Result<(), StoreError> {
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
    fn of(posted: Result<post::EndpointReply, NoReply>) -> Self {
        match posted {
            Ok(post::EndpointReply { status: status @ 200..300, .. }) => Self::Taken(status),
            Ok(post::EndpointReply { status: 410, .. }) => Self::Gone(410),
            Ok(post::EndpointReply { status, wish }) => {
                Self::Failed { status: Some(status), why: post::refusal(status), wish }
            }
            Err(NoReply { why }) => Self::Failed { status: None, why, wish: None },
        }
    }
}
