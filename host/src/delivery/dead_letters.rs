//! Gives up what waits for endpoints that nobody delivers to any more: none of the hosts that there are has them.

use std::{sync::Arc, time::Duration};

use phasm_engine::time::{Millis, Timestamp};

use crate::{
    core::{
        HostCore,
        background::{BackgroundTask, Wake, never},
    },
    notify::{NoticeProgress, NoticeTry, progress::Progress},
    store::{KeptNotice, Settle, StoreError},
};

/// Nobody has delivered to an endpoint, or has written a notice to it, for so long: a week, more than twice as long as a notice is tried.
const ORPHANED: Millis = 7 * 24 * 3600 * 1000;
const WHY: &str = "no host has had such an endpoint for 7 days";
/// Notices that are looked at at once.
const PAGE: usize = 256;

/// Gives up deliveries to endpoints that no host has.
pub(crate) struct DeadLetters;

impl BackgroundTask for DeadLetters {
    const WORK: &'static str = "list undeliverable notifications";

    fn wake(&self, core: &HostCore) -> Wake {
        let mut news = core.outlets.news.subscribe();
        Box::pin(async move {
            if news.changed().await.is_err() {
                never().await;
            }
        })
    }

    async fn round(&mut self, core: &Arc<HostCore>) -> Result<Option<Millis>, StoreError> {
        let next = look(core).await?;
        let left = Duration::from_millis(next.since(core.clock.now()));
        Ok(Some(core.clock.after(left)))
    }
}

/// Gives up what is to be; when there may be more. What is not there yet cannot be an orphan for as long as that takes.
async fn look(shared: &HostCore) -> Result<Timestamp, StoreError> {
    let now = shared.clock.now();
    let (mut next, mut last) = (now.after(ORPHANED), Arc::<str>::default());
    while let Some((endpoint, due)) = shared.store.endpoint_after(&last).await? {
        // Whoever delivers puts off what he has begun, so that the last of them is due in the past only where nobody does.
        let orphaned = due.after(ORPHANED);
        if shared.outlets.endpoints.contains_key(&endpoint) {
            // It waits for this host, or for a secret that it lacks.
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
        tracing::warn!("{count} notices to {endpoint} are given up: {WHY}");
    }
    Ok(())
}

/// What cannot be read stays as it is, and is not delivered either.
fn given_up(notice: KeptNotice, now: Timestamp) -> Settle {
    let body = Progress::read(&notice).map_or_else(
        |_unreadable| Arc::clone(&notice.body),
        |mut progress| {
            progress.last = Some(NoticeTry { at: now, status: None, why: Some(WHY.to_owned()) });
            progress.over(NoticeProgress::GivenUp).body()
        },
    );
    Settle { id: notice.id, from: notice.revision, due: None, body }
}
