//! Saved documents: workflows and schedules.

pub(crate) mod schedules;
pub(crate) mod workflows;

use std::{pin::Pin, sync::Arc};

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use phasm::{
    Host, Plan, TriggerError,
    catalog::{CatalogItem, CatalogPage, DamagedEntry, SaveError, Version, WrittenDocument, saved_text},
    store::{ReadStore, StoreError},
};
use serde::Serialize;
use serde_json::json;

use crate::{
    auth::caller::Caller,
    document::{self, DocumentFile},
    problem_response::ProblemResponse,
    request::{RequestContext, json},
};

/// Default number of entries of a page.
const DEFAULT_PAGE_ENTRIES: usize = 100;
/// At most.
const MAX_PAGE_ENTRIES: usize = 1000;

/// Bytes of the name of a document's file.
const MAX_FILE_NAME_BYTES: usize = 255;

type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Finds a page of what is kept of a kind.
pub(crate) type Find<T> = for<'a> fn(
    &'a dyn ReadStore,
    Option<&'a str>,
    Option<(&'a str, &'a str)>,
    usize,
) -> Pending<'a, Result<CatalogPage<T>, StoreError>>;

/// Keeps a document.
type Keep<T> = for<'a> fn(
    &'a Host,
    &'a Arc<Plan>,
    WrittenDocument<'a>,
    Option<&'a str>,
) -> Pending<'a, Result<CatalogItem<T>, SaveError>>;

/// A page of what is kept of a kind.
pub(crate) struct EntryPage<T> {
    pub(crate) items: Vec<CatalogItem<T>>,
    pub(crate) damaged: Vec<DamagedEntry>,
    /// Cursor of the next page.
    pub(crate) next: Option<String>,
}

pub(crate) async fn found<T>(
    context: &mut RequestContext,
    find: Find<T>,
) -> Result<EntryPage<T>, ProblemResponse> {
    let listed = ListQuery::read(context)?;
    let store = context.app.reader();
    let mut found = EntryPage { items: Vec::new(), damaged: Vec::new(), next: None };
    for (namespace, after) in listed.left() {
        let left = listed.limit - found.items.len() - found.damaged.len();
        if left == 0 {
            break;
        }
        let page = find(&*store, namespace, after, left).await?;
        found.items.extend(page.items);
        found.damaged.extend(page.damaged);
        found.next = page.next.map(|(namespace, name)| format!("{namespace}/{name}"));
    }
    Ok(found)
}

/// A page, under that word.
async fn list<T: Serialize>(
    mut context: RequestContext,
    word: &str,
    find: Find<T>,
) -> Result<Response, ProblemResponse> {
    let EntryPage { items, damaged, next } = found(&mut context, find).await?;
    let mut page = json!({ word: items, "next": next });
    if let Some(page) = page.as_object_mut().filter(|_| !damaged.is_empty()) {
        page.insert("damaged".to_owned(), json!(damaged));
    }
    let mut response = json(StatusCode::OK, &page);
    if let Some(next) = next {
        context.link_next(&mut response, &next);
    }
    Ok(response)
}

/// Keeps the document of the body, which is to be the one that the path names: by its `own` name, if it has one.
async fn put<T: Serialize>(
    mut context: RequestContext,
    own: fn(&Plan) -> Option<&str>,
    keep: Keep<T>,
) -> Result<Response, ProblemResponse> {
    let is_json = context.content_type().as_deref() == Some(document::JSON);
    let expected = "the name of a file, which ends in `.json` only where JSON is sent";
    let called = context.query.parsed("file", expected, |name| {
        let fits = (1..=MAX_FILE_NAME_BYTES).contains(&name.len()) && !name.contains(char::is_control);
        (fits && (is_json || !name.to_ascii_lowercase().ends_with(".json"))).then(|| name.to_owned())
    });
    context.query.done()?;
    let meant = named(&context)?;
    let (file, text, plan) = planned(&mut context).await?;
    if let Some(own) = own(&plan) {
        check_name(&meant, &plan, own)?;
    }
    let written = WrittenDocument { file: called.as_deref().unwrap_or(file), text: &text };
    let kept = keep(&context.app.host, &plan, written, by(&context.caller)).await?;
    Ok(json(StatusCode::OK, &kept))
}

/// A document as it was given.
async fn written(context: &RequestContext, version: &Version) -> Result<Response, ProblemResponse> {
    let text = saved_text(&*context.app.reader(), &version.digest).await?.unwrap_or_default();
    let mut response = text.into_response();
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    Ok(response)
}

/// Parameters of a list request.
struct ListQuery {
    namespaces: Vec<Option<String>>,
    after: Option<(String, String)>,
    limit: usize,
}

impl ListQuery {
    fn read(context: &mut RequestContext) -> Result<Self, ProblemResponse> {
        let namespace = context.query.text("namespace");
        let limit = context.query.count("limit", 1, MAX_PAGE_ENTRIES).unwrap_or(DEFAULT_PAGE_ENTRIES);
        let split = |text: &str| text.split_once('/').map(|(one, other)| (one.to_owned(), other.to_owned()));
        let after = context.query.parsed("cursor", "`next` of the page before", split);
        context.query.done()?;
        let own = || {
            let mut own: Vec<_> =
                context.caller.namespaces.iter().map(|name| Some(name.to_string())).collect();
            own.sort();
            if own.is_empty() { vec![None] } else { own }
        };
        let namespaces = match namespace {
            // In a namespace that does not exist for the caller there is nothing.
            Some(namespace) if !context.caller.sees(&namespace) => Vec::new(),
            Some(namespace) => vec![Some(namespace)],
            None => own(),
        };
        Ok(Self { namespaces, after, limit })
    }

    /// Returns the namespaces that the rest of the list is in, with the name that the page begins after.
    fn left(&self) -> impl Iterator<Item = (Option<&str>, Option<(&str, &str)>)> {
        let after = self.after.as_ref().map(|(namespace, name)| (namespace.as_str(), name.as_str()));
        let namespaces = self.namespaces.iter().map(Option::as_deref);
        namespaces.filter_map(move |namespace| match (namespace, after) {
            (Some(own), Some((last, _))) if own < last => None,
            (Some(own), Some((last, _))) if own > last => Some((namespace, None)),
            _ => Some((namespace, after)),
        })
    }
}

/// The name of the path, in a namespace that exists for the caller.
pub(crate) fn named(context: &RequestContext) -> Result<(String, String), ProblemResponse> {
    let (namespace, name) = (context.segment("namespace").to_owned(), context.segment("name").to_owned());
    if context.caller.sees(&namespace) { Ok((namespace, name)) } else { Err(nothing(&namespace, &name)) }
}

pub(crate) fn nothing(namespace: &str, name: &str) -> ProblemResponse {
    ProblemResponse::new(StatusCode::NOT_FOUND, format!("there is no {namespace}/{name}"))
}

/// The document of the body: what problems call it, as it is written, and planned.
async fn planned(context: &mut RequestContext) -> Result<(&'static str, String, Arc<Plan>), ProblemResponse> {
    let DocumentFile { file, text, draft } = document::read_file(context).await?;
    if let Some(namespace) = draft.namespace() {
        context.caller.may_submit_to(&namespace)?;
    }
    let plan = document::plan(context, file, text.len(), draft).await?;
    context.caller.may_submit_to(&plan.namespace)?;
    Ok((file, text, plan))
}

/// # Errors
/// 422 unless the document is the one that the path names.
fn check_name(meant: &(String, String), plan: &Plan, own: &str) -> Result<(), ProblemResponse> {
    let (namespace, name) = meant;
    if (&*plan.namespace, own) == (namespace.as_str(), name.as_str()) {
        return Ok(());
    }
    let detail =
        format!("the workflow file is {}/{own}; expected {namespace}/{name}, as in the path", plan.namespace);
    Err(ProblemResponse::new(StatusCode::UNPROCESSABLE_ENTITY, detail))
}

/// Name of the caller, for the record of who saved a document.
pub(crate) fn by(caller: &Caller) -> Option<&str> {
    caller.key.as_deref()
}

/// The answer to a deletion.
fn removed(was_there: bool, namespace: &str, name: &str) -> Result<Response, ProblemResponse> {
    if was_there {
        Ok(json(StatusCode::OK, &json!({ "removed": true })))
    } else {
        Err(nothing(namespace, name))
    }
}

impl From<SaveError> for ProblemResponse {
    fn from(error: SaveError) -> Self {
        match error {
            SaveError::Problems(found) => Self::problems("document", &found),
            SaveError::NotFound { namespace, name, .. } => nothing(&namespace, &name),
            SaveError::NoSchedule | SaveError::IsSchedule => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
            }
            SaveError::Store(error) => error.into(),
        }
    }
}

impl From<TriggerError> for ProblemResponse {
    fn from(error: TriggerError) -> Self {
        match error {
            TriggerError::Saved(error) => error.into(),
            TriggerError::Crowded => Self::new(StatusCode::CONFLICT, error.to_string()),
            TriggerError::Submit(error) => error.into(),
        }
    }
}
