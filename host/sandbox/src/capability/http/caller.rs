//! On whose behalf requests are made.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use super::{
    EgressSecret, HttpGrant, HttpLimits, budget::Budget, egress, failure::Failure, lines::Lines, net::Net,
    target::Target,
};
use crate::{
    capability::Grants,
    executor::{Invocation, Level},
    transcript::Transcript,
};

/// So many refusals are kept for the attempt's message; each has a line of the log besides.
const KEPT: usize = 3;

/// One attempt, as its requests see it.
pub(super) struct Caller {
    pub(super) net: Arc<Net>,
    pub(super) invocation: Arc<Invocation>,
    /// Whose it is.
    pub(super) tenant: Arc<str>,
    pub(super) transcript: Arc<Transcript>,
    pub(super) budget: Budget,
    pub(super) lines: Lines,
    /// The secrets whose placeholders it was given.
    pub(super) secrets: Vec<EgressSecret>,
    grants: Arc<Grants>,
    made: AtomicU32,
    refusals: Mutex<Vec<String>>,
}

impl Caller {
    pub(super) fn new(
        net: &Arc<Net>,
        invocation: &Arc<Invocation>,
        grants: &Arc<Grants>,
        transcript: &Arc<Transcript>,
    ) -> Self {
        let tenant = net.tenants.of(&invocation.namespace);
        Self {
            budget: Budget::new(&net.config.limits),
            secrets: egress::given(&net.config.secrets, &tenant, invocation),
            tenant,
            net: Arc::clone(net),
            invocation: Arc::clone(invocation),
            transcript: Arc::clone(transcript),
            lines: Lines::default(),
            grants: Arc::clone(grants),
            made: AtomicU32::new(0),
            refusals: Mutex::default(),
        }
    }

    pub(super) fn limits(&self) -> &HttpLimits {
        &self.net.config.limits
    }

    pub(super) fn grant(&self) -> &HttpGrant {
        &self.grants.http
    }

    /// The plugin's name, as grants have it; a digest, where nothing else is known of it.
    pub(super) fn plugin(&self) -> &str {
        self.invocation.executor_type.split('@').next().unwrap_or_default()
    }

    /// Numbers a request.
    pub(super) fn number(&self) -> u32 {
        self.made.fetch_add(1, Relaxed)
    }

    /// Whether the request may be made at all.
    pub(super) fn allows(&self, target: &Target) -> Result<(), Failure> {
        if self.grant().allow.iter().any(|pattern| pattern.matches(target)) {
            return Ok(());
        }
        let (pattern, plugin) = (target.pattern(), self.plugin());
        let why = format!("not granted; `http = [\"{pattern}\"]` under `[grants.{plugin}]` grants it");
        Err(Failure::refused(why))
    }

    /// Keeps what an operator could have otherwise for the attempt's message, and says whether that is news.
    pub(super) fn refuse(&self, why: &str) -> bool {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = refusals.len() < KEPT && refusals.iter().all(|known| known != why);
        if is_news {
            refusals.push(why.to_owned());
        }
        is_news
    }

    pub(super) fn refusals(&self) -> Vec<String> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The attempt is over.
    pub(super) fn close(&self) {
        self.lines.rest().iter().for_each(|line| self.transcript.note(Level::Warn, line));
    }
}
