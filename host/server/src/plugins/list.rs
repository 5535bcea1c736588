//! Listing plugins.

use std::sync::Arc;

use axum::{http::StatusCode, response::Response};
use phasm::plugins::{PluginEntry, PluginRow, PluginView};
use serde_json::json;

use super::{nothing, seen};
use crate::{
    auth::caller::Caller,
    problem_response::ProblemResponse,
    request::{RequestContext, json},
    state::AppState,
};

/// Default number of entries of a page.
const DEFAULT_PAGE_PLUGINS: usize = 100;
/// At most.
const MAX_PAGE_PLUGINS: usize = 1000;

pub(crate) async fn list(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let limit = context.query.count("limit", 1, MAX_PAGE_PLUGINS).unwrap_or(DEFAULT_PAGE_PLUGINS);
    let read = |text: &str| PluginEntry::is_cursor(text).then(|| text.to_owned());
    let cursor = context.query.parsed("cursor", "`next` of the page before", read);
    let tenant = context.query.text("tenant");
    context.query.done()?;
    let mut all = seen(&context.app.host, &context.caller).await;
    if let Some(tenant) = tenant {
        all.retain(|entry| entry.tenant().is_some_and(|own| **own == *tenant));
    }
    if let Some(cursor) = cursor {
        all.retain(|entry| entry.is_behind(&cursor).unwrap_or_default());
    }
    let is_more = all.len() > limit;
    all.truncate(limit);
    let next = all.last().filter(|_| is_more).map(PluginEntry::cursor);
    let rows = rows(&context.app, &context.caller, all).await?;
    let mut response = json(StatusCode::OK, &json!({ "plugins": rows, "next": next }));
    if let Some(next) = next {
        context.link_next(&mut response, &next);
    }
    Ok(response)
}

pub(crate) async fn named(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let name = context.segment("name");
    let entries = entries(&context.app, &context.caller, name).await?;
    let versions = rows(&context.app, &context.caller, entries).await?;
    Ok(json(StatusCode::OK, &json!({ "name": name, "versions": versions })))
}

pub(crate) async fn version(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let tenant = context.query.text("tenant");
    context.query.done()?;
    let (name, version) = (context.segment("name"), context.segment("version"));
    let view = look(&context.app, &context.caller, name, version, tenant.as_deref()).await?;
    Ok(json(StatusCode::OK, &view))
}

/// Returns all plugins of a name that the caller can see.
///
/// # Errors
/// 404 if there are none.
pub(crate) async fn entries(
    app: &AppState,
    caller: &Caller,
    name: &str,
) -> Result<Vec<PluginEntry>, ProblemResponse> {
    let mut all = seen(&app.host, caller).await;
    all.retain(|entry| entry.name() == name);
    if all.is_empty() { Err(nothing(name)) } else { Ok(all) }
}

/// Returns the rows of a list. Files are read on a blocking thread.
///
/// # Errors
/// When the server is being stopped.
pub(crate) async fn rows(
    app: &Arc<AppState>,
    caller: &Caller,
    all: Vec<PluginEntry>,
) -> Result<Vec<PluginRow>, ProblemResponse> {
    let (app, is_bound) = (Arc::clone(app), caller.is_bound());
    let read = move || {
        let row = |entry: &PluginEntry| {
            let tenant = entry.tenant().map(|tenant| &**tenant);
            let row = entry.row(app.host.trusts(tenant), &app.rows);
            // Where things lie on this machine is for those alone who have to do with all of it.
            if !is_bound {
                return row;
            }
            let description = row.description.as_deref().map(|text| app.hidden_paths.hide(text));
            PluginRow { path: None, description, ..row }
        };
        all.iter().map(row).collect()
    };
    tokio::task::spawn_blocking(read).await.map_err(|error| ProblemResponse::failed(&error))
}

/// Returns the details of a plugin: by version, by digest, or the highest version with that prefix.
///
/// # Errors
/// 404 if there is none, 422 if it cannot be looked into.
pub(crate) async fn look(
    app: &Arc<AppState>,
    caller: &Caller,
    name: &str,
    version: &str,
    tenant: Option<&str>,
) -> Result<PluginView, ProblemResponse> {
    let mut all = entries(app, caller, name).await?;
    if let Some(tenant) = tenant {
        all.retain(|entry| entry.tenant().is_some_and(|own| **own == *tenant));
    }
    let rows = rows(app, caller, all.clone()).await?;
    let meant = PluginRow::select(&rows, version);
    let entry = meant.and_then(|at| all.into_iter().nth(at));
    let entry = entry.ok_or_else(|| nothing(&format!("{name}@{version}")))?;
    let (host, is_bound) = (Arc::clone(&app.host), caller.is_bound());
    let read = move || entry.view(host.trusts(entry.tenant().map(|tenant| &**tenant)));
    let view = tokio::task::spawn_blocking(read).await.map_err(|error| ProblemResponse::failed(&error))?;
    let view = view.map_err(|error| {
        // Why says where it lies.
        let why = if is_bound { "the plugin cannot be looked into".to_owned() } else { error.to_string() };
        ProblemResponse::new(StatusCode::UNPROCESSABLE_ENTITY, why)
    })?;
    Ok(PluginView { component: view.component.filter(|_| !is_bound), ..view })
}
