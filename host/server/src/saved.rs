//! What is kept by a name: workflows, and schedules.

pub(crate) mod schedules;
pub(crate) mod workflows;

use std::sync::Arc;

use axum::{http::StatusCode, response::Response};
use phasm::{
    Plan, TriggerError,
    saved::{SaveError, Saved},
};
use serde::Serialize;
use serde_json::json;

use crate::{
    call::{Call, is_storable, json, link_next},
    caller::Caller,
    document::{self, Written},
    refusal::Refusal,
};

/// Of a page, unless asked.
const PAGE: usize = 100;
/// At most.
const MOST: usize = 1000;

/// What a page of a list was asked for.
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

    /// Those namespaces that a page may still have something of, and what it begins behind there.
    fn left(&self) -> impl Iterator<Item = (Option<&str>, Option<(&str, &str)>)> {
        let after = self.after.as_ref().map(|(namespace, name)| (namespace.as_str(), name.as_str()));
        let namespaces = self.namespaces.iter().map(Option::as_deref);
        namespaces.filter_map(move |namespace| match (namespace, after) {
            (Some(own), Some((last, _))) if own < last => None,
            (Some(own), Some((last, _))) if own > last => Some((namespace, None)),
            _ => Some((namespace, after)),
        })
    }

    /// The answer.
    fn page<T: Serialize>(&self, call: &Call, word: &str, found: &[Saved<T>]) -> Response {
        let last = found.last().filter(|_| found.len() == self.limit);
        let next = last.map(|last| format!("{}/{}", last.namespace, last.name));
        let mut response = json(StatusCode::OK, &json!({ word: found, "next": next }));
        if let Some(next) = next {
            let (path, query) = call.path_and_query();
            let query = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
            let others = query.filter(|(key, _)| key != "cursor");
            let mut query = form_urlencoded::Serializer::new(String::new());
            let query = query.extend_pairs(others).append_pair("cursor", &next).finish();
            link_next(&mut response, path, &query);
        }
        response
    }
}

/// The name of the path, in a namespace that exists for the caller.
fn named(call: &Call) -> Result<(String, String), Refusal> {
    let (namespace, name) = (call.segment("namespace").to_owned(), call.segment("name").to_owned());
    if call.caller.sees(&namespace) && is_storable(&namespace) && is_storable(&name) {
        Ok((namespace, name))
    } else {
        Err(nothing(&namespace, &name))
    }
}

fn nothing(namespace: &str, name: &str) -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, format!("there is no {namespace}/{name}"))
}

/// The document of the body: what problems call it, as it is written, and planned.
async fn planned(call: &mut Call) -> Result<(&'static str, String, Arc<Plan>), Refusal> {
    let Written { file, text, draft } = document::written(call).await?;
    if let Some(namespace) = draft.namespace() {
        call.caller.may_submit_to(&namespace)?;
    }
    let plan = call.app.host.plan_draft(draft).await.map_err(|found| Refusal::problems(file, &found))?;
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

/// Who saved it.
fn by(caller: &Caller) -> Option<&str> {
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
