//! Signing in with a key, where keys are asked for.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use maud::html;

use super::{form::Form, format, see_other, shell::Shell};
use crate::{problem_response::ProblemResponse, request::RequestContext};

/// Where one signs in, to go on to that page.
pub(super) fn address(to: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("to", to).finish();
    format!("/login?{query}")
}

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let to = context.query.text("to").unwrap_or_default();
    let ticket = context.query.text("ticket");
    std::future::ready(match ticket {
        Some(ticket) => by_ticket(&context, &ticket, &to),
        None => Ok(render(StatusCode::OK, &to, None)),
    })
    .await
}

/// Signs in with a ticket. A browser with a valid session keeps it.
fn by_ticket(context: &RequestContext, ticket: &str, to: &str) -> Result<Response, ProblemResponse> {
    let key = context.app.auth.tickets.take(ticket);
    if context.app.auth.sessions.key(context.headers()).is_some_and(|key| known(context, &key)) {
        return Ok(see_other(here(to)));
    }
    match key {
        Some(Some(key)) if known(context, &key) => begin(context, &key, to),
        // None is asked for.
        Some(None) => Ok(see_other(here(to))),
        Some(Some(_)) | None => Ok(render(StatusCode::UNAUTHORIZED, to, Some(EXPIRED_TICKET))),
    }
}

const UNKNOWN_KEY: &str = "The key is not known, or was removed.";
const EXPIRED_TICKET: &str = "The sign-in link of `phasm open` has expired or was used. Run `phasm open` again, or enter the key here.";

fn known(context: &RequestContext, key: &str) -> bool {
    context.app.auth.caller(Some(&format!("Bearer {key}"))).is_ok()
}

fn render(status: StatusCode, to: &str, wrong: Option<&str>) -> Response {
    let shell = Shell { title: "Sign in", at: "", caller: None, live: None, standing: None };
    let body = html! {
        h1 { "Sign in" }
        @if let Some(wrong) = wrong { div class="callout bad" role="alert" { p { (format::prose(wrong)) } } }
        form class="sheet" method="post" action="/login" {
            input type="hidden" name="to" value=(to);
            div class="field" {
                label for="key" { "Key" }
                input id="key" name="key" type="password" autocomplete="current-password" required aria-describedby="key-help";
                p id="key-help" class="help" {
                    "The server's operator creates one with " code { "phasm key add NAME" } ". With it in "
                    code { "PHASM_KEY" } ", " code { "phasm open" } " signs in by itself."
                }
            }
            button { "Sign in" }
        }
    };
    shell.respond(status, &body)
}

pub(super) async fn login(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let form = Form::read(&mut context).await?;
    let (key, to) = (form.text("key").trim(), form.text("to"));
    if !known(&context, key) {
        return Ok(render(StatusCode::UNAUTHORIZED, to, Some(UNKNOWN_KEY)));
    }
    begin(&context, key, to)
}

fn begin(context: &RequestContext, key: &str, to: &str) -> Result<Response, ProblemResponse> {
    let cookie = context.app.auth.sessions.begin(key, context.app.config.tls.is_some());
    let cookie = cookie.map_err(|error| ProblemResponse::failed(&error))?;
    Ok(with_cookie(see_other(here(to)), &cookie))
}

/// A page of this server only.
fn here(to: &str) -> &str {
    let is_here = to.starts_with('/') && !to.starts_with("//") && !to.contains('\\');
    if is_here { to } else { "/runs" }
}

pub(super) async fn logout(context: RequestContext) -> Result<Response, ProblemResponse> {
    let cookie = context.app.auth.sessions.end(context.headers(), context.app.config.tls.is_some());
    std::future::ready(Ok(with_cookie(see_other("/login"), &cookie))).await
}

fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
