//! Background tasks of a host: one loop for all of them.

use std::{
    future::{Future, pending},
    pin::Pin,
    sync::{Arc, Weak},
    time::Duration,
};

use phasm_engine::time::Millis;
use tokio::sync::watch;

use super::HostCore;
use crate::{plugins::Plugins, store::StoreError};

/// Pauses after a store failed: the first, and the longest; each is twice the one before.
pub(crate) const RETRY_PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(30));

/// A future that resolves when there may be work.
pub(crate) type Wake = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Work that a host repeats for as long as it is open.
pub(crate) trait BackgroundTask: Send {
    /// The work in the infinitive, for the log: "claim due runs".
    const WORK: &'static str;

    /// Whether the work goes on; by default as long as the host may start attempts.
    fn is_wanted(&self, core: &HostCore) -> bool {
        core.begins()
    }

    /// Returns the wake-up for the next round. It is made before a round, so that a change during the round causes the next one.
    fn wake(&self, core: &HostCore) -> Wake;

    /// Works through all that is due. Returns the time of the next round, in milliseconds of the host's clock, or nothing if only
    /// a wake-up can bring new work.
    fn round(
        &mut self,
        core: &Arc<HostCore>,
    ) -> impl Future<Output = Result<Option<Millis>, StoreError>> + Send;
}

/// Starts a task on the host's control threads. It ends once the host is gone, or its work is no longer wanted.
pub(crate) fn start(core: &Arc<HostCore>, task: impl BackgroundTask + 'static) {
    core.control.spawn(run(Arc::downgrade(core), task));
}

async fn run<T: BackgroundTask>(host: Weak<HostCore>, mut task: T) {
    let mut pause = RETRY_PAUSES.0;
    while let Some(core) = host.upgrade().filter(|core| task.is_wanted(core)) {
        let clock = core.clock.clone();
        let wake = task.wake(&core);
        let result = task.round(&core).await;
        if let Err(error) = &result {
            // The store may have carried out a part of the round, such as a claim.
            core.ownership_doubt.raise(error);
        }
        // A task that waits must not keep the host alive.
        drop(core);
        match result {
            Ok(next) => {
                pause = RETRY_PAUSES.0;
                let timer = async {
                    match next {
                        Some(at) => clock.sleep_until(at).await,
                        None => pending().await,
                    }
                };
                tokio::select! {
                    () = wake => {}
                    () = timer => {}
                }
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "failed to {}; retrying", T::WORK);
                clock.sleep(pause).await;
                pause = (pause * 2).min(RETRY_PAUSES.1);
            }
        }
    }
}

/// A wake-up that never comes, for work that only time brings.
pub(crate) fn never() -> Wake {
    Box::pin(pending())
}

/// Resolves at the next change; never once the sender is gone, which the host is then as well.
pub(crate) async fn next_change<T>(mut changes: watch::Receiver<T>) {
    if changes.changed().await.is_err() {
        pending::<()>().await;
    }
}

/// Changes of the installed plugins, seen by one task.
pub(crate) struct PluginChanges(Option<watch::Receiver<()>>);

impl PluginChanges {
    /// Subscribes to the shared plugins.
    pub(crate) fn of(core: &HostCore) -> Self {
        Self(core.environments.common().plugins.as_ref().map(Plugins::changed))
    }

    /// Returns true once for each change since the last call.
    pub(crate) fn take(&mut self) -> bool {
        let Some(changes) = &mut self.0 else { return false };
        let has_changed = changes.has_changed().unwrap_or(false);
        if has_changed {
            changes.mark_unchanged();
        }
        has_changed
    }

    /// Resolves at the next change that was not taken.
    pub(crate) fn next(&self) -> impl Future<Output = ()> + Send + use<> {
        let changes = self.0.clone();
        async move {
            match changes {
                Some(changes) => next_change(changes).await,
                None => pending().await,
            }
        }
    }
}
