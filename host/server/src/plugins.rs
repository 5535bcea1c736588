//! Plugins: what there is, and adding, approving and removing versions.

pub(crate) mod change;
pub(crate) mod list;

use std::sync::Arc;

use axum::http::StatusCode;
use phasm::{
    Host, PluginAdminError,
    plugins::{AddError, LibraryError, PluginEntry},
};

use crate::{auth::caller::Caller, problem_response::ProblemResponse};

/// Returns the installed plugins that the caller can see: the shared ones, and those of tenants whose runs it may see.
pub(crate) async fn seen(host: &Host, caller: &Caller) -> Vec<PluginEntry> {
    let own: Vec<_> = caller.namespaces.iter().map(|namespace| host.tenant_of(namespace)).collect();
    host.plugin_entries(|tenant| !caller.is_bound() || own.contains(tenant)).await
}

/// Returns the tenants whose plugins the caller may change: the key is bound to all of their namespaces.
pub(crate) fn own_tenants(host: &Host, caller: &Caller) -> Vec<Arc<str>> {
    let is_whole =
        |namespaces: &[Arc<str>]| !namespaces.is_empty() && namespaces.iter().all(|own| caller.sees(own));
    let own = host.tenants().filter(|(_, namespaces)| !caller.is_bound() || is_whole(namespaces));
    own.map(|(name, _)| Arc::clone(name)).collect()
}

/// Returns the tenant whose plugins a request changes. `None` for the shared plugins.
///
/// # Errors
/// 403 and 404 for tenants that the caller may not change, 400 if the tenant must be named.
pub(crate) fn whose(
    host: &Host,
    caller: &Caller,
    asked: Option<String>,
) -> Result<Option<Arc<str>>, ProblemResponse> {
    let own = own_tenants(host, caller);
    let asked = asked.map(Arc::from).filter(|asked: &Arc<str>| !asked.is_empty());
    match (asked, own.as_slice()) {
        (Some(asked), own) if own.contains(&asked) => Ok(Some(asked)),
        (None, _) if !caller.is_bound() => Ok(None),
        (Some(asked), _) if !caller.is_bound() => {
            Err(ProblemResponse::new(StatusCode::NOT_FOUND, format!("there is no tenant {asked}")))
        }
        (None, [only]) => Ok(Some(Arc::clone(only))),
        (None, [_, _, ..]) => {
            let detail = format!(
                "the tenant of the plugin is missing; expected `tenant` as one of {}",
                own.join(", ")
            );
            Err(ProblemResponse::new(StatusCode::BAD_REQUEST, detail))
        }
        (Some(_), _) | (None, []) => {
            let detail = "a key that is bound to namespaces changes the plugins of a tenant whose namespaces it is bound to, all of them; \
                          plugins of all are changed with a key that is bound to none";
            Err(ProblemResponse::new(StatusCode::FORBIDDEN, detail))
        }
    }
}

/// Nothing that exists for the caller.
pub(crate) fn nothing(name: &str) -> ProblemResponse {
    ProblemResponse::new(StatusCode::NOT_FOUND, format!("there is no plugin {name}"))
}

impl From<PluginAdminError> for ProblemResponse {
    fn from(error: PluginAdminError) -> Self {
        let refused = |status| Self::new(status, error.to_string());
        match &error {
            PluginAdminError::NoLibrary => refused(StatusCode::NOT_FOUND),
            PluginAdminError::OfAll { .. } => refused(StatusCode::CONFLICT),
            PluginAdminError::AddError(AddError::Library(library)) | PluginAdminError::Library(library) => {
                match library {
                    LibraryError::Absent(_) => refused(StatusCode::NOT_FOUND),
                    LibraryError::Taken(_) => refused(StatusCode::CONFLICT),
                    LibraryError::Refused(_) => refused(StatusCode::UNPROCESSABLE_ENTITY),
                    LibraryError::File { .. } | _ => Self::unavailable(&error),
                }
            }
            PluginAdminError::AddError(_) => refused(StatusCode::UNPROCESSABLE_ENTITY),
            PluginAdminError::Closed | _ => Self::unavailable(&error),
        }
    }
}
