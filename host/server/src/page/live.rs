//! That something has changed, and no more: the page is asked for again then.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
    time::Duration,
};

use axum::{body::Bytes, response::Response};
use phasm::{
    Host,
    fair_queue::Holder,
    store::{CatalogKind, EntryQuery, Filter, ReadStore, StoreError},
};
use tokio::{
    sync::{broadcast, watch},
    time::{Instant, sleep, sleep_until},
};

use crate::{
    document::UNKNOWN_SIZE,
    problem_response::ProblemResponse,
    request::RequestContext,
    sse::{self, EventSender, KEEP_ALIVE_INTERVAL, StreamEnd},
    state::AppState,
};

/// Several changes within this time are one.
const CHANGE_INTERVAL: Duration = Duration::from_millis(400);

/// Subject of a live page.
enum Subject {
    /// One run.
    Run(watch::Receiver<()>),
    /// All runs, and all saved documents.
    All(Changes),
    /// Runs and documents of some namespaces. Changes elsewhere are not told.
    Bound { changes: Changes, namespaces: Arc<[Arc<str>]>, holder: Holder, seen: u64 },
}

/// Changes of anything that the store has.
struct Changes {
    tidings: broadcast::Receiver<phasm::RunLifecycleEvent>,
    heard: [watch::Receiver<()>; 3],
}

impl Changes {
    fn of(host: &Host) -> Self {
        let store = host.store();
        let heard = [store.changed(), store.rows_changed(), store.entries_changed()];
        Self { tidings: host.lifecycle(), heard }
    }

    async fn next(&mut self) -> bool {
        let [changed, rows, entries] = &mut self.heard;
        tokio::select! {
            heard = self.tidings.recv() => !matches!(heard, Err(broadcast::error::RecvError::Closed)),
            changed = changed.changed() => changed.is_ok(),
            rows = rows.changed() => rows.is_ok(),
            entries = entries.changed() => entries.is_ok(),
        }
    }
}

impl Subject {
    /// Waits for a change. Returns false once no more changes will be reported.
    async fn changes(&mut self) -> bool {
        match self {
            Self::Run(written) => written.changed().await.is_ok(),
            Self::All(changes) | Self::Bound { changes, .. } => changes.next().await,
        }
    }

    /// Returns whether the change is one that the client may see.
    async fn is_visible(&mut self, app: &AppState) -> bool {
        let Self::Bound { namespaces, holder, seen, .. } = self else { return true };
        let (store, namespaces) = (app.reader(), Arc::clone(namespaces));
        let looked = async move { visible(&*store, &namespaces).await };
        // A store that cannot be read, or not now, reports that when the page is asked for.
        let Ok(Ok(now)) = app.resources.work(holder, looked).await else { return true };
        std::mem::replace(seen, now) != now
    }
}

/// Runs and entries that a page shows at most.
const MAX_SHOWN: usize = 200;

/// Returns a number that is another when the newest runs or the saved documents of the namespaces are others.
async fn visible(store: &dyn ReadStore, namespaces: &[Arc<str>]) -> Result<u64, StoreError> {
    let mut hasher = DefaultHasher::new();
    let filter = Filter { namespaces: namespaces.to_vec(), ..Filter::default() };
    for row in store.list(filter, MAX_SHOWN).await? {
        (&row.head.run_id, row.seq, row.status.open, row.note.is_some()).hash(&mut hasher);
    }
    for namespace in namespaces {
        for shelf in [CatalogKind::Schedules, CatalogKind::Workflows] {
            let namespace = Some(Arc::clone(namespace));
            let wanted = EntryQuery { shelf, namespace, after: None, limit: MAX_SHOWN };
            for entry in store.entries(wanted).await? {
                entry.revision.hash(&mut hasher);
            }
        }
    }
    Ok(hasher.finish())
}

pub(super) async fn live(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let run = context.query.text("run");
    context.query.done()?;
    let host = &context.app.host;
    let looked = match run {
        Some(run_id) => {
            let row = host.store().get(&run_id).await?;
            row.filter(|row| context.caller.sees(&row.head.namespace))
                .ok_or_else(|| ProblemResponse::no_run(&run_id))?;
            Subject::Run(host.store().follow(&run_id))
        }
        None if context.caller.is_bound() => {
            let (changes, namespaces) = (Changes::of(host), Arc::clone(&context.caller.namespaces));
            let (store, looked) = (context.app.reader(), Arc::clone(&namespaces));
            let seen = async move { visible(&*store, &looked).await };
            let (holder, seen) = (context.holder.clone(), context.work_on(UNKNOWN_SIZE, seen).await??);
            Subject::Bound { changes, namespaces, holder, seen }
        }
        None => Subject::All(Changes::of(host)),
    };
    let streaming = context.app.streams.enter(&context.caller)?;
    let (outlet, response) = sse::open(streaming, context.app.config.limits.write_time);
    tokio::spawn(tell(Arc::clone(&context.app), looked, outlet));
    Ok(response)
}

async fn tell(app: Arc<AppState>, mut looked: Subject, outlet: EventSender) {
    let stops = app.stops();
    let mut stops = std::pin::pin!(stops);
    // Something may have changed since the page was made.
    let mut word = sse::piece(None, "changed", "{}");
    loop {
        if outlet.send(word, None).await.is_err() {
            return;
        }
        let quiet = Instant::now() + KEEP_ALIVE_INTERVAL;
        word = loop {
            sleep(CHANGE_INTERVAL).await;
            tokio::select! {
                biased;
                () = &mut stops => return outlet.end(StreamEnd::Early("stopping"), None),
                () = outlet.left() => return,
                changed = looked.changes() => {
                    if !changed {
                        // No more changes will be reported. The stream stays open, so that the browser does not reconnect at once.
                        outlet.left().await;
                        return;
                    }
                    if looked.is_visible(&app).await {
                        break sse::piece(None, "changed", "{}");
                    }
                }
                () = sleep_until(quiet) => break Bytes::from_static(b":\n\n"),
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use phasm::Map;

    use super::*;

    /// R-A84: a change counts if it is in one of the caller's namespaces.
    #[tokio::test]
    async fn changes_of_others_are_not_seen() {
        let host = Host::builder().allow_missing().open().unwrap();
        let submit = async |namespace: &str| {
            let text = format!(
                "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{name: w, namespace: {namespace}}}\nspec:\n  entrypoint: t\n  \
                 templates:\n  - task: {{name: t, executor: {{type: none}}}}\n"
            );
            let plan = host.plan("w.yaml", &text).await.unwrap();
            let run = host.new_run(&plan, &Map::new()).await.unwrap().start().await.unwrap();
            run.wait().await.unwrap();
        };
        submit("mine").await;
        let mine = [Arc::from("mine")];
        let seen = async || visible(&**host.store(), &mine).await.unwrap();
        let before = seen().await;
        submit("theirs").await;
        assert_eq!(seen().await, before);
        submit("mine").await;
        assert_ne!(seen().await, before);
    }
}
