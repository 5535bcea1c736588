//! Gives up notifications to endpoints that no host has any more.

use std::{sync::Arc, time::Duration};

use phasm_engine::time::{Millis, Timestamp};

use crate::{
    core::{
        HostCore,
        background::{BackgroundTask, Wake, next_change},
    },
    notify::{NoticeProgress, NoticeTry, progress::Progress},
    store::{NoticeRow, Settle, StoreError},
};

/// Time without a delivery to an endpoint, or a new notification to it, after which no host has it: a week, more than twice as
/// long as a notification is retried.
const ORPHANED: Millis = 7 * 24 * 3600 * 1000;
const WHY: &str = "no host has had such an endpoint for 7 days";
/// Notices that are looked at at once.
const PAGE: usize = 256;

/// Gives up deliveries to endpoints that no host has.
pub(crate) struct DeadLetters;

impl BackgroundTask for DeadLetters {
    const WORK: &'static str = "list undeliverable notifications";

    fn wake(&self, core: &HostCore) -> Wake {
        Box::pin(next_change(core.webhooks.news.subscribe()))
    }

    async fn round(&mut self, core: &Arc<HostCore>) -> Result<Option<Millis>, StoreError> {
        let next = look(core).await?;
        let left = Duration::from_millis(next.since(core.clock.now()));
        Ok(Some(core.clock.after(left)))
    }
}

/// Gives up the notifications that are due for it; returns when there may be more. A new notification cannot be due for it
/// earlier.
async fn look(shared: &HostCore) -> Result<Timestamp, StoreError> {
    let now = shared.clock.now();
    let (mut next, mut last) = (now.after(ORPHANED), Arc::<str>::default());
    while let Some((endpoint, due)) = shared.store.endpoint_after(&last).await? {
        // A host that delivers postpones what it has claimed, so the last due time is in the past only if no host delivers.
        let orphaned = due.after(ORPHANED);
        if shared.webhooks.endpoints.contains_key(&endpoint) {
            // The notification waits for this host, or for a secret that the host lacks.
        } else if orphaned > now {
            next = next.min(orphaned);
        } else {
            give_up(shared, &endpoint, now).await?;
        }
        last = endpoint;
    }
    Ok(next)
}

async fn give_up(shared: &HostCore, endpoint: &str, now: Timestamp) -> Result<(), StoreError> {
    let mut count = 0;
    loop {
        let page = shared.store.due_notices(endpoint, PAGE).await?;
        let orphans =
            page.into_iter().filter(|notice| notice.due.is_some_and(|due| due.after(ORPHANED) <= now));
        let mut settled = 0;
        for notice in orphans {
            settled += usize::from(shared.store.settle(given_up(notice, now)).await?);
        }
        count += settled;
        if settled == 0 {
            break;
        }
    }
    if count > 0 {
        tracing::warn!("{count} notifications to {endpoint} are given up: {WHY}");
    }
    Ok(())
}

/// Marks a notification as given up. An unreadable one stays as it is, and is not delivered either.
fn given_up(notice: NoticeRow, now: Timestamp) -> Settle {
    let body = Progress::read(&notice).map_or_else(
        |_unreadable| Arc::clone(&notice.body),
        |mut progress| {
            progress.last = Some(NoticeTry { at: now, status: None, why: Some(WHY.to_owned()) });
            progress.over(NoticeProgress::GivenUp).body()
        },
    );
    Settle { id: notice.id, from: notice.revision, due: None, body }
}
