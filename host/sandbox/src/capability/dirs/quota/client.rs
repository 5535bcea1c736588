//! The child's side of accounting.

use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
};

use super::{
    messages::{QuotaRequest, QuotaResponse},
    usage::{OverQuota, Usage},
};

/// Sends accounting to the parent of this process.
pub(crate) struct QuotaClient {
    send: Box<dyn Fn(QuotaRequest) + Send + Sync>,
    responses_in: Sender<QuotaResponse>,
    /// Locked by a caller until its response has come.
    responses: Mutex<Receiver<QuotaResponse>>,
}

impl QuotaClient {
    /// Makes a client that sends requests with `send`.
    pub(crate) fn new(send: impl Fn(QuotaRequest) + Send + Sync + 'static) -> Arc<Self> {
        let (responses_in, responses) = channel();
        Arc::new(Self { send: Box::new(send), responses_in, responses: Mutex::new(responses) })
    }

    /// Takes a response, on a thread that makes no requests.
    pub(crate) fn receive(&self, response: QuotaResponse) {
        // The caller waits for it.
        let _ = self.responses_in.send(response);
    }

    pub(super) fn send(&self, request: QuotaRequest) {
        (self.send)(request);
    }

    /// Sends a request and waits for the response. Blocking holds up no other guest in this process.
    fn ask(&self, request: QuotaRequest) -> Option<QuotaResponse> {
        let responses = self.responses.lock().unwrap_or_else(PoisonError::into_inner);
        self.send(request);
        responses.recv().ok()
    }

    /// Has the usage counted.
    ///
    /// # Errors
    /// Says why it could not be counted.
    pub(in crate::capability::dirs) fn count(&self, grant: u32) -> io::Result<()> {
        match self.ask(QuotaRequest::Count(grant)) {
            Some(QuotaResponse::Failed(why)) => Err(io::Error::other(why)),
            Some(QuotaResponse::Done | QuotaResponse::OverQuota(_)) | None => Ok(()),
        }
    }

    pub(super) fn take(&self, grant: u32, more: Usage) -> Result<(), OverQuota> {
        if more == Usage::default() {
            return Ok(());
        }
        match self.ask(QuotaRequest::Take(grant, more)) {
            Some(QuotaResponse::OverQuota(full)) => Err(full),
            Some(QuotaResponse::Done | QuotaResponse::Failed(_)) | None => Ok(()),
        }
    }

    pub(super) fn give(&self, grant: u32, less: Usage) {
        if less != Usage::default() {
            self.send(QuotaRequest::Give(grant, less));
        }
    }
}
