//! The API's login tickets.

use std::time::Instant;

use axum::{
    http::{StatusCode, header},
    response::Response,
};
use serde_json::json;

use crate::{
    auth::ticket::TICKET_LIFETIME,
    problem_response::ProblemResponse,
    request::{RequestContext, json},
};

/// Makes a ticket for the key of the request.
pub(crate) async fn make(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let given = context.header(&header::AUTHORIZATION).and_then(|given| given.split_once(' '));
    let given = given.map(|(_, key)| key.trim().to_owned());
    let auth = &context.app.auth;
    let key = given.or_else(|| auth.sessions.key(context.headers())).filter(|_| context.caller.key.is_some());
    let word = auth.tickets.begin(&context.holder, key, Instant::now())?;
    let answer = json!({ "ticket": word, "seconds": TICKET_LIFETIME.as_secs() });
    std::future::ready(Ok(json(StatusCode::OK, &answer))).await
}
