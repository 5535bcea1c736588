//! Who asks, and what he may.

use std::sync::{Arc, atomic::Ordering};

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, header, request::Parts},
};
use serde::{Deserialize, Serialize};

use crate::{app::App, refusal::Refusal};

/// What a key lets its holder do; each may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Look at runs.
    Read,
    /// Submit runs, answer and cancel them.
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
            Self::Run => "run",
            Self::Admin => "admin",
        }
    }
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The key's name; nothing where no key is asked for.
    pub(crate) key: Option<Arc<str>>,
    pub(crate) role: Role,
    /// Those that the key is bound to; all, if there are none.
    pub(crate) namespaces: Arc<[Arc<str>]>,
}

impl Caller {
    /// Where no key is asked for.
    fn anybody() -> Self {
        Self { key: None, role: Role::Admin, namespaces: Arc::default() }
    }

    pub(crate) fn name(&self) -> &str {
        self.key.as_deref().unwrap_or("-")
    }

    /// Whether what is in that namespace exists for him.
    pub(crate) fn sees(&self, namespace: &str) -> bool {
        self.namespaces.is_empty() || self.namespaces.iter().any(|own| &**own == namespace)
    }

    pub(crate) fn is_bound(&self) -> bool {
        !self.namespaces.is_empty()
    }

    /// # Errors
    /// 403 if he may not do what `needed` may.
    pub(crate) fn may(&self, needed: Role) -> Result<(), Refusal> {
        if self.role >= needed {
            return Ok(());
        }
        let (needed, has) = (needed.word(), self.role.word());
        Err(Refusal::new(
            StatusCode::FORBIDDEN,
            format!("this needs the role `{needed}`; the key has `{has}`"),
        ))
    }

    /// # Errors
    /// 403 if he may not submit runs there.
    pub(crate) fn may_submit_to(&self, namespace: &str) -> Result<(), Refusal> {
        if self.sees(namespace) {
            return Ok(());
        }
        let own = self.namespaces.join("`, `");
        let detail = format!("the key is bound to the namespaces `{own}`; the document says `{namespace}`");
        Err(Refusal::new(StatusCode::FORBIDDEN, detail))
    }

    /// The caller that a header names.
    ///
    /// # Errors
    /// 401 without a key that is known, where one is asked for.
    pub(crate) fn of(app: &App, authorization: Option<&str>) -> Result<Self, Refusal> {
        let keys = app.keys.now().map_err(|error| Refusal::failed(&error))?;
        if keys.is_empty() && !app.is_exposed.load(Ordering::Relaxed) {
            return Ok(Self::anybody());
        }
        let refused = |detail: &str| {
            Refusal::new(StatusCode::UNAUTHORIZED, detail)
                .with(header::WWW_AUTHENTICATE, "Bearer realm=\"phasm\"")
        };
        let given = authorization.ok_or_else(|| refused("expected a key, as `Authorization: Bearer KEY`"))?;
        let (scheme, key) = given.split_once(' ').unwrap_or((given, ""));
        let found = keys.find(key.trim()).filter(|_| scheme.eq_ignore_ascii_case("bearer"));
        let key = found.ok_or_else(|| refused("the key is not known, or was removed"))?;
        let namespaces = key.namespaces.iter().map(|name| Arc::from(name.as_str())).collect();
        Ok(Self { key: Some(key.name.as_str().into()), role: key.role, namespaces })
    }
}

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let given = parts.headers.get(header::AUTHORIZATION);
        let given = given.map(|value| value.to_str().unwrap_or_default().to_owned());
        // A browser that has signed in has a session for its key.
        let session = || app.sessions.key(&parts.headers).map(|key| format!("Bearer {key}"));
        Self::of(app, given.or_else(session).as_deref())
    }
}
