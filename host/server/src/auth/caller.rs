//! The caller of a request, and its permissions.

use std::sync::Arc;

use axum::http::StatusCode;
use phasm::Requester;
use serde::{Deserialize, Serialize};

use crate::problem_response::ProblemResponse;

/// Role of a key. Each role includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Look at runs.
    Read,
    /// Respond to tasks that wait for people.
    Approve,
    /// Submit runs and cancel them.
    Run,
    /// Change what runs find: plugins.
    Admin,
}

impl Role {
    /// Its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Approve => "approve",
            Self::Run => "run",
            Self::Admin => "admin",
        }
    }
}

/// The caller of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The key's name; nothing where no key is asked for.
    pub(crate) key: Option<Arc<str>>,
    pub(crate) role: Role,
    /// Namespaces that the key is bound to. Empty means all.
    pub(crate) namespaces: Arc<[Arc<str>]>,
}

impl Caller {
    /// The caller of a server that requires no key.
    pub(super) fn without_key() -> Self {
        Self { key: None, role: Role::Admin, namespaces: Arc::default() }
    }

    /// Returns the name that is recorded with requests; none where no key is asked for.
    pub(crate) fn requester(&self) -> Option<Requester> {
        self.key.as_deref().map(Requester::key)
    }

    pub(crate) fn name(&self) -> &str {
        self.key.as_deref().unwrap_or("-")
    }

    /// Returns whether the caller can see that namespace.
    pub(crate) fn sees(&self, namespace: &str) -> bool {
        self.namespaces.is_empty() || self.namespaces.iter().any(|own| &**own == namespace)
    }

    pub(crate) fn is_bound(&self) -> bool {
        !self.namespaces.is_empty()
    }

    /// # Errors
    /// 403 if the caller's role does not include `needed`.
    pub(crate) fn may(&self, needed: Role) -> Result<(), ProblemResponse> {
        if self.role >= needed {
            return Ok(());
        }
        let (needed, has) = (needed.word(), self.role.word());
        Err(ProblemResponse::new(
            StatusCode::FORBIDDEN,
            format!("this needs the role `{needed}`; the key has `{has}`"),
        ))
    }

    /// # Errors
    /// 403 if the caller may not submit runs to that namespace.
    pub(crate) fn may_submit_to(&self, namespace: &str) -> Result<(), ProblemResponse> {
        if self.sees(namespace) {
            return Ok(());
        }
        let own = self.namespaces.join("`, `");
        let detail =
            format!("the key is bound to the namespaces `{own}`; the workflow file says `{namespace}`");
        Err(ProblemResponse::new(StatusCode::FORBIDDEN, detail))
    }
}
