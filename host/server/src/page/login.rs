//! Signing in with a key, where keys are asked for.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use maud::html;

use super::{form::Form, format, see_other, shell::Shell};
use crate::{guard::is_of_own_page, problem_response::ProblemResponse, request::RequestContext, resources};

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

/// Says where a ticket leads. A browser with a valid session keeps it, and spends the ticket. Anything else is done by the form of this
/// page: a link of another page must not sign a browser in with a key of that page's author.
fn by_ticket(context: &RequestContext, ticket: &str, to: &str) -> Result<Response, ProblemResponse> {
    let auth = &context.app.auth;
    if auth.sessions.key(context.headers()).is_some_and(|key| known(context, &key)) {
        let _spent = auth.tickets.take(ticket);
        return Ok(see_other(here(to)));
    }
    match auth.tickets.look_at(ticket) {
        Some(Some(_)) => Ok(confirmation(ticket, to)),
        // No key is required.
        Some(None) => {
            let _spent = auth.tickets.take(ticket);
            Ok(see_other(here(to)))
        }
        None => Ok(render(StatusCode::UNAUTHORIZED, to, Some(EXPIRED_TICKET))),
    }
}

/// Signs in with a ticket, which the form of this server's own page sent.
fn redeem(context: &RequestContext, ticket: &str, to: &str) -> Result<Response, ProblemResponse> {
    if !is_of_own_page(context.headers()) {
        let detail =
            "a ticket signs in from the page of this server only; open `/login?ticket=` in a browser";
        return Err(ProblemResponse::new(StatusCode::FORBIDDEN, detail));
    }
    match context.app.auth.tickets.take(ticket) {
        Some(Some(key)) if known(context, &key) => begin(context, &key, to),
        Some(None) => Ok(see_other(here(to))),
        Some(Some(_)) | None => Ok(render(StatusCode::UNAUTHORIZED, to, Some(EXPIRED_TICKET))),
    }
}

fn confirmation(ticket: &str, to: &str) -> Response {
    let shell = Shell::outside("Sign in", None);
    let body = html! {
        h1 { "Sign in" }
        form class="sheet" method="post" action="/login" {
            input type="hidden" name="to" value=(here(to));
            input type="hidden" name="ticket" value=(ticket);
            p { (format::prose("`phasm open` made a sign-in link for your key.")) }
            button autofocus { "Sign in" }
        }
    };
    shell.respond(StatusCode::OK, &body)
}

const UNKNOWN_KEY: &str = "The key is not known, or was removed.";
const EXPIRED_TICKET: &str = "The sign-in link of `phasm open` has expired or was used. Run `phasm open` again, or enter the key here.";

fn known(context: &RequestContext, key: &str) -> bool {
    context.app.auth.caller(Some(&format!("Bearer {key}"))).is_ok()
}

fn render(status: StatusCode, to: &str, wrong: Option<&str>) -> Response {
    let shell = Shell::outside("Sign in", None);
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
    let ticket = form.text("ticket");
    if !ticket.is_empty() {
        return redeem(&context, ticket, to);
    }
    if !known(&context, key) {
        return Ok(render(StatusCode::UNAUTHORIZED, to, Some(UNKNOWN_KEY)));
    }
    begin(&context, key, to)
}

fn begin(context: &RequestContext, key: &str, to: &str) -> Result<Response, ProblemResponse> {
    let app = &context.app;
    let holder = resources::holder(&app.host, &app.auth.caller(Some(&format!("Bearer {key}")))?);
    let cookie = app.auth.sessions.begin(&holder, key, app.config.tls.is_some())?;
    Ok(with_cookie(see_other(here(to)), &cookie))
}

/// Returns the path on this server that `to` is, else that of the first page. Browsers drop tabs and line ends, and take a backslash for a
/// slash, before they look for the two slashes that begin the name of another server.
fn here(to: &str) -> &str {
    let path = to.split(['?', '#']).next().unwrap_or_default();
    let is_plain = to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_plain && path.starts_with('/') && !path.contains("//") { to } else { "/runs" }
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

#[cfg(test)]
mod tests {
    use super::here;

    /// R-A80: a sign-in leads to a path of this server, whatever browsers make of its characters.
    #[test]
    fn a_sign_in_leads_to_this_server_only() {
        for to in ["/runs", "/runs/a%20b?x=//y&z=%09", "/schedules#top", "/", "/a/../b"] {
            assert_eq!(here(to), to);
        }
        for to in [
            "",
            "runs",
            "//evil.example",
            "///evil.example",
            "/\t/evil.example/",
            "/\n/evil.example",
            "/\r/evil.example",
            "\t//evil.example",
            " //evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/ /evil.example",
            "/\0/evil.example",
            "/\u{7f}/evil.example",
            "/\u{a0}/evil.example",
            "/\u{ff0f}evil.example",
            "/.//evil.example",
            "/a//evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/runs\r\nset-cookie: a=b",
        ] {
            assert_eq!(here(to), "/runs", "{to:?}");
        }
    }
}
