//! Doubt whether this host owns runs that it does not know.

use tokio::sync::Notify;

use crate::store::StoreError;

/// Raised when an operation that gives or takes ownership has failed, or its reply was lost. A background task then compares the
/// runs that the store says are this host's with those that it drives.
#[derive(Debug, Default)]
pub(crate) struct OwnershipDoubt(Notify);

impl OwnershipDoubt {
    /// Notes that the outcome of an operation is unknown, or that it has to be done again.
    pub(crate) fn raise(&self, error: &StoreError) {
        if error.is_passing() {
            self.0.notify_one();
        }
    }

    /// Resolves when there is doubt, at once if it was raised since the last call.
    pub(crate) async fn raised(&self) {
        self.0.notified().await;
    }
}
