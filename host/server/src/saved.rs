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
    catalog::{SaveError, Saved, Version, WrittenDocument, saved_text},
    store::{ReadStore, StoreError},
};
use serde::Serialize;
use serde_json::json;

use crate::{
    auth::caller::Caller,
    call::{Call, is_storable, json},
    document::{self, Written},
    refusal::Refusal,
};

/// Default number of entries of a page.
const PAGE: usize = 100;
/// At most.
const MOST: usize = 1000;

/// Bytes of the name of a document's file.
const LONGEST_FILE: usize = 255;

type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Finds a page of what is kept of a kind.
pub(crate) type Find<T> = for<'a> fn(
    &'a dyn ReadStore,
    Option<&'a str>,
    Option<(&'a str, &'a str)>,
    usize,
) -> Pending<'a, Result<Vec<Saved<T>>, StoreError>>;

/// Keeps a document.
type Keep<T> = for<'a> fn(
    &'a Host,
    &'a Arc<Plan>,
    WrittenDocument<'a>,
    Option<&'a str>,
) -> Pending<'a, Result<Saved<T>, SaveError>>;

/// A page of what is kept of a kind, and the cursor of the next.
pub(crate) async fn found<T>(
    call: &mut Call,
    find: Find<T>,
) -> Result<(Vec<Saved<T>>, Option<String>), Refusal> {
    let listed = Listed::read(call)?;
    let store = call.app.reader();
    let mut found = Vec::new();
    for (namespace, after) in listed.left() {
        let left = listed.limit - found.len();
        found.extend(find(&*store, namespace, after, left).await?);
    }
    let last = found.last().filter(|_| found.len() == listed.limit);
    let next = last.map(|last| format!("{}/{}", last.namespace, last.name));
    Ok((found, next))
}

/// A page, under that word.
async fn list<T: Serialize>(mut call: Call, word: &str, find: Find<T>) -> Result<Response, Refusal> {
    let (found, next) = found(&mut call, find).await?;
    let mut response = json(StatusCode::OK, &json!({ word: found, "next": next }));
    if let Some(next) = next {
        call.link_next(&mut response, &next);
    }
    Ok(response)
}

/// Keeps the document of the body, which is to be the one that the path names: by its `own` name, if it has one.
async fn put<T: Serialize>(
    mut call: Call,
    own: fn(&Plan) -> Option<&str>,
    keep: Keep<T>,
) -> Result<Response, Refusal> {
    let is_json = call.content_type().as_deref() == Some(document::JSON);
    let expected = "the name of a file, which ends in `.json` only where JSON is sent";
    let called = call.query.parsed("file", expected, |name| {
        let fits = (1..=LONGEST_FILE).contains(&name.len()) && !name.contains(char::is_control);
        (fits && (is_json || !name.to_ascii_lowercase().ends_with(".json"))).then(|| name.to_owned())
    });
    call.query.done()?;
    let meant = named(&call)?;
    let (file, text, plan) = planned(&mut call).await?;
    if let Some(own) = own(&plan) {
        check_named(&meant, &plan, own)?;
    }
    let written = WrittenDocument { file: called.as_deref().unwrap_or(file), text: &text };
    let kept = keep(&call.app.host, &plan, written, by(&call.caller)).await?;
    Ok(json(StatusCode::OK, &kept))
}

/// A document as it was given.
async fn written(call: &Call, version: &Version) -> Result<Response, Refusal> {
    let text = saved_text(&*call.app.reader(), &version.digest).await?.unwrap_or_default();
    let mut response = text.into_response();
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    Ok(response)
}

/// Parameters of a list request.
struct Listed {
    namespaces: Vec<Option<String>>,
    after: Option<(String, String)>,
    limit: usize,
}

impl Listed {
    fn read(call: &mut Call) -> Result<Self, Refusal> {
        let namespace = call.query.text("namespace");
        let limit = call.query.count("limit", 1, MOST).unwrap_or(PAGE);
        let split = |text: &str| text.split_once('/').map(|(one, other)| (one.to_owned(), other.to_owned()));
        let split = |text: &str| split(text).filter(|_| is_storable(text));
        let after = call.query.parsed("cursor", "`next` of the page before", split);
        call.query.done()?;
        let own = || {
            let mut own: Vec<_> = call.caller.namespaces.iter().map(|name| Some(name.to_string())).collect();
            own.sort();
            if own.is_empty() { vec![None] } else { own }
        };
        let namespaces = match namespace {
            // In a namespace that does not exist for the caller there is nothing.
            Some(namespace) if !call.caller.sees(&namespace) || !is_storable(&namespace) => Vec::new(),
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
pub(crate) fn named(call: &Call) -> Result<(String, String), Refusal> {
    let (namespace, name) = (call.segment("namespace").to_owned(), call.segment("name").to_owned());
    if call.caller.sees(&namespace) && is_storable(&namespace) && is_storable(&name) {
        Ok((namespace, name))
    } else {
        Err(nothing(&namespace, &name))
    }
}

pub(crate) fn nothing(namespace: &str, name: &str) -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, format!("there is no {namespace}/{name}"))
}

/// The document of the body: what problems call it, as it is written, and planned.
async fn planned(call: &mut Call) -> Result<(&'static str, String, Arc<Plan>), Refusal> {
    let Written { file, text, draft } = document::written(call).await?;
    if let Some(namespace) = draft.namespace() {
        call.caller.may_submit_to(&namespace)?;
    }
    let plan = document::plan(call, file, text.len(), draft).await?;
    call.caller.may_submit_to(&plan.namespace)?;
    Ok((file, text, plan))
}

/// # Errors
/// 422 unless the document is the one that the path names.
fn check_named((namespace, name): &(String, String), plan: &Plan, own: &str) -> Result<(), Refusal> {
    if (&*plan.namespace, own) == (namespace.as_str(), name.as_str()) {
        return Ok(());
    }
    let detail =
        format!("the document is {}/{own}; expected {namespace}/{name}, as the path says", plan.namespace);
    Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, detail))
}

/// Name of the caller, for the record of who saved a document.
pub(crate) fn by(caller: &Caller) -> Option<&str> {
    caller.key.as_deref()
}

/// The answer to a deletion.
fn removed(was_there: bool, (namespace, name): &(String, String)) -> Result<Response, Refusal> {
    if was_there {
        Ok(json(StatusCode::OK, &json!({ "removed": true })))
    } else {
        Err(nothing(namespace, name))
    }
}

impl From<SaveError> for Refusal {
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

impl From<TriggerError> for Refusal {
    fn from(error: TriggerError) -> Self {
        match error {
            TriggerError::Saved(error) => error.into(),
            TriggerError::Crowded => Self::new(StatusCode::CONFLICT, error.to_string()),
            TriggerError::Submit(error) => error.into(),
        }
    }
}
