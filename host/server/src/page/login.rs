//! Signing in with a key, where keys are asked for.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use maud::html;

use super::{form::Form, see_other, shell::Shell};
use crate::{call::Call, caller::Caller, refusal::Refusal};

/// Where one signs in, to go on to that page.
pub(super) fn address(to: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("to", to).finish();
    format!("/login?{query}")
}

pub(super) async fn page(mut call: Call) -> Result<Response, Refusal> {
    let to = call.query.text("to").unwrap_or_default();
    std::future::ready(Ok(shown(StatusCode::OK, &to, false))).await
}

fn shown(status: StatusCode, to: &str, wrong: bool) -> Response {
    let shell = Shell { title: "Sign in", at: "", caller: None, live: None, standing: None };
    let body = html! {
        h1 { "Sign in" }
        @if wrong { div class="notice bad" role="alert" { p { "The key is not known, or was removed." } } }
        form class="sheet" method="post" action="/login" {
            input type="hidden" name="to" value=(to);
            div class="field" {
                label for="key" { "Key" }
                input id="key" name="key" type="password" autocomplete="current-password" required aria-describedby="key-help";
                p id="key-help" class="help" { "Whoever runs the server makes one with " code { "phasm key add NAME" } "." }
            }
            button { "Sign in" }
        }
    };
    shell.answered(status, &body)
}

pub(super) async fn login(mut call: Call) -> Result<Response, Refusal> {
    let form = Form::read(&mut call).await?;
    let (key, to) = (form.text("key").trim(), form.text("to"));
    if Caller::of(&call.app, Some(&format!("Bearer {key}"))).is_err() {
        return Ok(shown(StatusCode::UNAUTHORIZED, to, true));
    }
    let cookie = call.app.sessions.begin(key, call.app.config.tls.is_some());
    let cookie = cookie.map_err(|error| Refusal::failed(&error))?;
    // Only to a page of this server.
    let is_here = to.starts_with('/') && !to.starts_with("//") && !to.contains('\\');
    Ok(with_cookie(see_other(if is_here { to } else { "/runs" }), &cookie))
}

pub(super) async fn logout(call: Call) -> Result<Response, Refusal> {
    let cookie = call.app.sessions.end(call.headers(), call.app.config.tls.is_some());
    std::future::ready(Ok(with_cookie(see_other("/login"), &cookie))).await
}

fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
