//! Schedules.

use axum::{http::StatusCode, response::Response};
use phasm::{
    Map, SubmitError, TriggerError,
    catalog::{self, Saved, ScheduleState},
    engine::time::Timestamp,
};
use serde_json::json;

use super::{Find, named, nothing, removed, written};
use crate::{
    answer::submitted,
    call::{Call, json},
    document,
    refusal::Refusal,
};

/// Instants that are told at most.
const MOST_INSTANTS: usize = 1000;

pub(crate) const FIND: Find<ScheduleState> =
    |store, namespace, after, limit| Box::pin(catalog::schedules(store, namespace, after, limit));

pub(crate) async fn list(call: Call) -> Result<Response, Refusal> {
    super::list(call, "schedules", FIND).await
}

pub(crate) async fn get(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    shown(&call).await
}

/// The schedule as it is kept now.
async fn shown(call: &Call) -> Result<Response, Refusal> {
    Ok(json(StatusCode::OK, &one(call).await?))
}

/// The schedule of the path.
pub(crate) async fn one(call: &Call) -> Result<Saved<ScheduleState>, Refusal> {
    let (namespace, name) = named(call)?;
    let found = catalog::schedule(&*call.app.reader(), &namespace, &name).await?;
    found.ok_or_else(|| nothing(&namespace, &name))
}

pub(crate) async fn document(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    written(&call, &one(&call).await?.what.document).await
}

pub(crate) async fn put(call: Call) -> Result<Response, Refusal> {
    super::put(
        call,
        // A document that is no schedule has no name to compare.
        |plan| plan.cron.as_ref().map(|cron| &*cron.name),
        |host, plan, written, by| Box::pin(host.put_schedule(plan, written, by)),
    )
    .await
}

pub(crate) async fn remove(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let meant = named(&call)?;
    let was_there = catalog::remove_schedule(&**call.app.host.store(), &meant.0, &meant.1).await?;
    removed(was_there, &meant)
}

pub(crate) async fn suspend(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let (namespace, name) = named(&call)?;
    call.app.host.suspend_schedule(&namespace, &name).await?;
    shown(&call).await
}

pub(crate) async fn resume(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let (namespace, name) = named(&call)?;
    call.app.host.resume_schedule(&namespace, &name).await?;
    shown(&call).await
}

pub(crate) async fn next(mut call: Call) -> Result<Response, Refusal> {
    let count = call.query.count("count", 1, MOST_INSTANTS).unwrap_or(5);
    call.query.done()?;
    let (namespace, name) = named(&call)?;
    let instants = call.app.host.next_instants(&namespace, &name, count).await?;
    let instants: Vec<_> = instants.into_iter().map(Timestamp::to_rfc3339).collect();
    Ok(json(StatusCode::OK, &json!({ "next": instants })))
}

pub(crate) async fn trigger(mut call: Call) -> Result<Response, Refusal> {
    let given = call.query.beginning("param.");
    call.query.done()?;
    let (namespace, name) = named(&call)?;
    let mut parameters: Map = document::object(&mut call).await?;
    let found = one(&call).await?;
    let texts = given.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    parameters.extend(catalog::given_parameters(&*call.app.reader(), &found, texts).await?);
    let host = &call.app.host;
    let triggered = host.trigger(&namespace, &name, &parameters).await;
    if let Err(TriggerError::Submit(SubmitError::Problems(found))) = &triggered {
        return Err(Refusal::problems("schedule", found));
    }
    let run_id = triggered?;
    let workflow = host.store().get(&run_id).await?.map(|row| row.head.workflow.clone()).unwrap_or_default();
    Ok(submitted(&run_id, &workflow, true))
}
