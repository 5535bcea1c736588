//! A request in progress, which is logged when it ends.

use std::sync::Arc;

use super::{
    budget::Transfer,
    caller::Caller,
    failure::{Failure, OverLimit},
    request_log::GIVEN_UP,
    target::Target,
};

/// A request in progress. Dropping it before [`Self::end`] logs it as given up.
pub(super) struct PendingRequest {
    caller: Arc<Caller>,
    number: u32,
}

impl PendingRequest {
    /// Enters a request into the log of its caller.
    pub(super) fn new(caller: &Arc<Caller>, number: u32, target: &Target, transfer: &Arc<Transfer>) -> Self {
        caller.log.insert(number, target, transfer);
        Self { caller: Arc::clone(caller), number }
    }

    /// Notes the status of the response.
    pub(super) fn set_status(&self, status: u16) {
        self.caller.log.set_status(self.number, status);
    }

    /// Returns the failure of a request that reached a limit.
    pub(super) fn over(&self, over: OverLimit) -> Failure {
        self.caller.over(over)
    }

    /// Keeps a refusal for the attempt's message, as an operator could grant the request.
    pub(super) fn refuse(&self, failure: &Failure) {
        if failure.refusal {
            self.caller.refuse(&failure.why);
        }
    }

    /// Logs how the request ended: well, unless `why` says otherwise. Only the first call counts.
    pub(super) fn end(&self, why: Option<&str>) {
        if let Some(entry) = self.caller.log.remove(self.number) {
            entry.report(&self.caller.transcript, || self.caller.span(self.number), why);
        }
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        self.end(Some(GIVEN_UP));
    }
}
