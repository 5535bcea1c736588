//! Authentication: API keys, sessions of browsers and one-time login tickets.

pub(crate) mod caller;
pub(crate) mod disguise;
pub mod keys;
pub(crate) mod session;
pub(crate) mod ticket;
pub(crate) mod token;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::http::{HeaderMap, StatusCode, header};

use self::{
    caller::Caller,
    disguise::Disguise,
    keys::{KeyFileError, Keys},
    session::Sessions,
    ticket::Tickets,
};
use crate::{
    problem_response::ProblemResponse,
    resources::{Resource, Resources},
};

/// Decides which caller a request has.
pub(crate) struct Auth {
    keys: Keys,
    pub(crate) sessions: Sessions,
    pub(crate) tickets: Tickets,
    /// Set when other machines can reach the server. A key is required then, even if all keys are removed.
    exposed: AtomicBool,
}

impl Auth {
    pub(crate) fn new(key_file: Option<PathBuf>, resources: &Resources) -> Self {
        Self {
            keys: Keys::at(key_file),
            sessions: Sessions::new(resources.queue(Resource::Sessions).clone()),
            tickets: Tickets::new(resources.queue(Resource::Tickets).clone()),
            exposed: AtomicBool::new(false),
        }
    }

    /// Returns whether a key exists.
    ///
    /// # Errors
    /// When the key file cannot be read.
    pub(crate) fn has_keys(&self) -> Result<bool, KeyFileError> {
        Ok(!self.keys.now()?.is_empty())
    }

    /// Requires a key from now on: other machines can reach the server.
    pub(crate) fn set_exposed(&self) {
        self.exposed.store(true, Ordering::Relaxed);
    }

    /// Returns how a caller that is bound to namespaces sees numbers of rows.
    pub(crate) fn disguise(&self, caller: &Caller) -> Option<Disguise> {
        caller.is_bound().then(|| Disguise::of_key(&self.keys.seed(), caller.name()))
    }

    /// Returns the caller of a request, by its `Authorization` header or else by its session.
    ///
    /// # Errors
    /// 401 without a valid key, where one is required.
    pub(crate) fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, ProblemResponse> {
        let given = headers.get(header::AUTHORIZATION);
        let given = given.map(|value| value.to_str().unwrap_or_default().to_owned());
        // A browser that has signed in has a session for its key.
        let session = || self.sessions.key(headers).map(|key| format!("Bearer {key}"));
        self.caller(given.or_else(session).as_deref())
    }

    /// Returns the caller that the value of an `Authorization` header names.
    ///
    /// # Errors
    /// 401 without a valid key, where one is required.
    pub(crate) fn caller(&self, authorization: Option<&str>) -> Result<Caller, ProblemResponse> {
        let keys = self.keys.now().map_err(|error| ProblemResponse::failed(&error))?;
        if keys.is_empty() && !self.exposed.load(Ordering::Relaxed) {
            return Ok(Caller::without_key());
        }
        let refused = |detail: &str| {
            ProblemResponse::new(StatusCode::UNAUTHORIZED, detail)
                .with(header::WWW_AUTHENTICATE, "Bearer realm=\"phasm\"")
        };
        let given = authorization.ok_or_else(|| refused("expected a key, as `Authorization: Bearer KEY`"))?;
        let (scheme, key) = given.split_once(' ').unwrap_or((given, ""));
        let found = keys.find(key.trim()).filter(|_| scheme.eq_ignore_ascii_case("bearer"));
        let key = found.ok_or_else(|| refused("the key is not known, or was removed"))?;
        let namespaces = key.namespaces.iter().map(|name| Arc::from(name.as_str())).collect();
        Ok(Caller { key: Some(key.name.as_str().into()), role: key.role, namespaces })
    }
}
