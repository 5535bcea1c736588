//! Subscriptions to runs that other hosts drive.
//!
//! ```text
//!  follower ── "I follow RUN", repeatedly ──▶ every host ── for a lease time: "RUN", with each commit ──▶ follower
//! ```
//!
//! A server that announces every commit to all would serialise all commits. Followers of all runs are notified
//! a few times a second at most.

use std::{
    collections::HashMap,
    future::poll_fn,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    runtime::Handle,
    sync::{Notify, watch},
    time::{sleep, timeout},
};
use tokio_postgres::{AsyncMessage, Client};

use super::{super::subscriptions::Subscriptions, address::Address, connection::connect, reconnect::PAUSES};

/// Tells another process of something: a channel, and what is said on it.
pub(super) const TELL: &str = "SELECT pg_notify($1, $2)";

/// Where hosts say which runs they have written to.
pub(super) fn written(schema: &str) -> String {
    format!("{schema}.written")
}

/// Where it is said which runs are followed.
pub(super) fn wanted(schema: &str) -> String {
    format!("{schema}.wanted")
}

/// Stands for all runs: no run is called so.
pub(super) const ALL: &str = "*";
/// Interval within which writes are announced together to followers of all runs.
pub(super) const AT_ONCE: Duration = Duration::from_millis(200);

/// Runs that have followers in this process.
#[derive(Debug, Default)]
pub(super) struct Following {
    followed: Subscriptions,
    more: Notify,
    listens: AtomicBool,
}

impl Following {
    pub(super) fn follow(
        self: &Arc<Self>,
        run_id: &str,
        address: &Arc<Address>,
        handle: &Handle,
    ) -> watch::Receiver<()> {
        let following = self.followed.follow(run_id);
        if self.listens.swap(true, Ordering::AcqRel) {
            self.more.notify_one();
        } else {
            handle.spawn(listen(Arc::clone(address), Arc::downgrade(self)));
        }
        following
    }
}

/// Listens until the store is closed.
async fn listen(address: Arc<Address>, following: Weak<Following>) {
    let mut pause = PAUSES.0;
    while following.strong_count() > 0 {
        match listen_once(&address, &following).await {
            Ok(()) => pause = PAUSES.0,
            Err(_) => pause = PAUSES.1.min(pause * 2),
        }
        sleep(pause).await;
    }
}

/// Ends when the connection does.
async fn listen_once(address: &Address, following: &Weak<Following>) -> Result<(), tokio_postgres::Error> {
    let patience = address.patience(0);
    // The caller tries again after either failure.
    let Ok(connected) = timeout(patience, connect(address)).await else { return Ok(()) };
    let (client, mut connection) = connected?;
    let heard = Weak::clone(following);
    let hearing = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
            let AsyncMessage::Notification(said) = message else { continue };
            let Some(following) = heard.upgrade() else { return };
            if let Some(told) = following.followed.of(said.payload()) {
                told.send_replace(());
            }
        }
    });
    let listens = format!("LISTEN \"{}\"", written(&address.schema));
    if !matches!(timeout(patience, client.batch_execute(&listens)).await, Ok(Ok(()))) {
        hearing.abort();
        return Ok(());
    }
    let mut is_first = true;
    while let Some(following) = following.upgrade() {
        let said = timeout(patience, say(&client, address, &following, std::mem::take(&mut is_first))).await;
        if !matches!(said, Ok(Ok(()))) {
            hearing.abort();
            break;
        }
        // Each time sooner than hosts forget it.
        drop(timeout(address.lease / 3, following.more.notified()).await);
        if hearing.is_finished() {
            break;
        }
    }
    Ok(())
}

/// Announces what is followed. Writes before the announcement have to be looked up; writes to any run are announced until then.
async fn say(
    client: &Client,
    address: &Address,
    following: &Following,
    is_first: bool,
) -> Result<(), tokio_postgres::Error> {
    for (run_id, told) in following.followed.all() {
        client.execute(TELL, &[&wanted(&address.schema), &&*run_id]).await?;
        if is_first || &*run_id != ALL {
            told.send_replace(());
        }
    }
    Ok(())
}

/// The runs that others want to hear of, as far as they said so lately.
#[derive(Debug, Default)]
pub(super) struct Audience {
    any: AtomicBool,
    /// Whether it is about to be told that something was written to some run.
    telling: AtomicBool,
    until: Mutex<HashMap<Box<str>, Instant>>,
}

/// Maximum number of announced runs per database; followers of more hear of the others at the next repetition.
const MOST_FOLLOWED: usize = 10_000;

impl Audience {
    /// Adds a follower of a run for a lease time.
    pub(super) fn take(&self, run_id: &str, lease: Duration) {
        let mut until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if until.len() >= MOST_FOLLOWED {
            until.retain(|_, at| *at > now);
        }
        if until.len() < MOST_FOLLOWED {
            until.insert(run_id.into(), now + lease);
            self.any.store(true, Ordering::Release);
        }
    }

    /// Returns whether followers of all runs need a notification. Then the caller sends it soon, and until [`Self::tells`] no
    /// other caller does.
    pub(super) fn wants_all(&self) -> bool {
        self.wants(ALL) && !self.telling.swap(true, Ordering::AcqRel)
    }

    /// From now on what is written is to be told anew.
    pub(super) fn tells(&self) {
        self.telling.store(false, Ordering::Release);
    }

    /// Returns whether the run has followers.
    pub(super) fn wants(&self, run_id: &str) -> bool {
        if !self.any.load(Ordering::Acquire) {
            return false;
        }
        let mut until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        let wants = until.get(run_id).is_some_and(|at| *at > Instant::now());
        if !wants {
            until.remove(run_id);
            self.any.store(!until.is_empty(), Ordering::Release);
        }
        wants
    }
}
