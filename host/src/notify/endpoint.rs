//! Where notices go, and which.

use std::{fmt, sync::Arc};

use phasm_engine::phase::Phase;

use super::SigningSecret;
use crate::store::RunHead;

/// Phases that an endpoint can be notified of.
pub const TOLD_PHASES: [Phase; 8] = [
    Phase::Running,
    Phase::Suspended,
    Phase::Succeeded,
    Phase::Failed,
    Phase::Error,
    Phase::Timeout,
    Phase::Skipped,
    Phase::Cancelled,
];

/// Phases that an endpoint is notified of by default: the run has ended, or waits for people.
pub const DEFAULT_PHASES: &[Phase] = match TOLD_PHASES.split_first() {
    Some((_running, others)) => others,
    None => &[],
};

/// Where notices go, and of which runs and phases.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// Where they are posted to, with `https://` or `http://`.
    pub url: Arc<str>,
    /// Signing secrets. Each signs every notification, so that a new one can be added before the old one is removed. Without any
    /// nothing is posted.
    pub secrets: Vec<SigningSecret>,
    /// Phases among [`TOLD_PHASES`].
    pub on: Vec<Phase>,
    /// Namespaces of the runs; all, if there are none.
    pub namespaces: Vec<Arc<str>>,
    /// Workflows of the runs; all, if there are none.
    pub workflows: Vec<Arc<str>>,
    /// Only of runs whose document names it.
    pub named: bool,
    /// Whether its name may stand for an address inside of a network (private, loopback and so on).
    pub inside: bool,
}

/// Without what stands in its URL behind the host, which may be a secret.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("url", &self.shown()).field("on", &self.on).finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Its URL as far as its host, for people: what stands behind that may be a secret.
    #[must_use]
    pub fn shown(&self) -> String {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        format!("{scheme}://{host}")
    }

    /// Whether a run is any of its business.
    pub(crate) fn concerns(&self, head: &RunHead, is_named: bool) -> bool {
        let is_wanted = self.workflows.is_empty() || self.workflows.contains(&head.workflow);
        self.is_open_to(&head.namespace) && (is_named || (is_wanted && !self.named))
    }

    /// Whether documents of a namespace may name it.
    #[must_use]
    pub fn is_open_to(&self, namespace: &Arc<str>) -> bool {
        self.namespaces.is_empty() || self.namespaces.contains(namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_url_its_host_is_shown() {
        for (url, expected) in [
            ("https://hooks.example/services/T0/SECRET", "https://hooks.example"),
            ("http://user:pass@10.0.0.1:8080?key=SECRET", "http://10.0.0.1:8080"),
        ] {
            let endpoint = Endpoint { url: url.into(), ..Endpoint::default() };
            assert_eq!(endpoint.shown(), expected);
            assert!(!format!("{endpoint:?}").contains("SECRET"));
        }
    }
}
