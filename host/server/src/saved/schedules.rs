//! Schedules.

use std::sync::Arc;

use axum::{http::StatusCode, response::Response};
use phasm::{
    Map, SubmitError, SubmitOptions, TriggerError, TriggerReceipt, TriggerRequest,
    catalog::{self, CatalogItem, ScheduleState},
    engine::time::Timestamp,
};
use serde_json::json;

use super::{Find, named, nothing, removed, written};
use crate::{
    answer::submitted,
    document,
    problem_response::ProblemResponse,
    request::{RequestContext, json},
    runs::submit,
};

/// Instants that are told at most.
const MAX_NEXT_TIMES: usize = 1000;

pub(crate) const FIND: Find<ScheduleState> =
    |store, namespace, after, limit| Box::pin(catalog::schedules(store, namespace, after, limit));

pub(crate) async fn list(context: RequestContext) -> Result<Response, ProblemResponse> {
    super::list(context, "schedules", FIND).await
}

pub(crate) async fn get(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    view(&context).await
}

/// The schedule as it is kept now.
async fn view(context: &RequestContext) -> Result<Response, ProblemResponse> {
    Ok(json(StatusCode::OK, &one(context).await?))
}

/// The schedule of the path.
pub(crate) async fn one(context: &RequestContext) -> Result<CatalogItem<ScheduleState>, ProblemResponse> {
    let (namespace, name) = named(context)?;
    let found = catalog::schedule(&*context.app.reader(), &namespace, &name).await?;
    found.ok_or_else(|| nothing(&namespace, &name))
}

pub(crate) async fn document(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    written(&context, &one(&context).await?.what.document).await
}

pub(crate) async fn put(context: RequestContext) -> Result<Response, ProblemResponse> {
    super::put(
        context,
        // A document that is no schedule has no name to compare.
        |plan| plan.cron.as_ref().map(|cron| &*cron.name),
        |host, plan, written, by| Box::pin(host.put_schedule(plan, written, by)),
    )
    .await
}

pub(crate) async fn remove(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let meant = named(&context)?;
    let was_there = catalog::remove_schedule(&**context.app.host.store(), &meant.0, &meant.1).await?;
    removed(was_there, &meant.0, &meant.1)
}

pub(crate) async fn suspend(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let (namespace, name) = named(&context)?;
    context.app.host.suspend_schedule(&namespace, &name).await?;
    view(&context).await
}

pub(crate) async fn resume(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let (namespace, name) = named(&context)?;
    context.app.host.resume_schedule(&namespace, &name).await?;
    view(&context).await
}

pub(crate) async fn next(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let count = context.query.count("count", 1, MAX_NEXT_TIMES).unwrap_or(5);
    context.query.done()?;
    let (namespace, name) = named(&context)?;
    let instants = context.app.host.next_instants(&namespace, &name, count).await?;
    let instants: Vec<_> = instants.into_iter().map(Timestamp::to_rfc3339).collect();
    Ok(json(StatusCode::OK, &json!({ "next": instants })))
}

pub(crate) async fn trigger(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let key = submit::idempotency_key(&context)?;
    let given = context.query.beginning("param.");
    context.query.done()?;
    let (namespace, name) = named(&context)?;
    let mut parameters: Map = document::object(&mut context).await?;
    let found = one(&context).await?;
    let (host, reader) = (Arc::clone(&context.app.host), context.app.reader());
    let options = SubmitOptions { key: key.map(Into::into), by: context.caller.requester() };
    let begin = async move {
        let texts = given.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        parameters.extend(catalog::given_parameters(&*reader, &found, texts).await?);
        let request = TriggerRequest { namespace: &namespace, name: &name, parameters: &parameters, options };
        host.trigger(request).await
    };
    let triggered = context.work_on(document::UNKNOWN_SIZE, begin).await?;
    if let Err(TriggerError::Submit(SubmitError::Problems(found))) = &triggered {
        return Err(ProblemResponse::problems("schedule", &submit::shaped(found, "schedule")));
    }
    let TriggerReceipt { run_id, is_new, .. } = triggered?;
    let found = context.app.host.store().get(&run_id).await?;
    let workflow = found.map(|row| row.head.workflow.clone()).unwrap_or_default();
    Ok(submitted(&run_id, &workflow, is_new))
}
