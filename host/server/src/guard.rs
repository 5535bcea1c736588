//! Checks of every request: its `Host`, its origin, and the security headers of its response.

use std::{net::IpAddr, sync::Arc, time::Instant};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use crate::{
    connection::Connection,
    metrics::RouteLabel,
    problem_response::ProblemResponse,
    resources::{Resource, unknown},
    state::AppState,
    turns::sent_in_turns,
};

/// Nothing but what the server itself serves, and no code within a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Not none at all: browsers would not say of which origin a form is, then.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

pub(crate) async fn guard(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let (began, method) = (Instant::now(), request.method().clone());
    let connection = request.extensions().get::<Connection>().cloned();
    let mut response = match check(&app.config.hosts, request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    let route = response.extensions_mut().remove::<RouteLabel>();
    app.metrics.traffic.record(route, &method, response.status(), began.elapsed());
    // Known once the request is carried out.
    let holder = connection.map_or_else(unknown, |connection| connection.holder());
    sent_in_turns(response, app.resources.queue(Resource::Turns), holder)
}

/// # Errors
/// 421 for a name that is not this server's, 403 for a page that is another's.
fn check(names: &[String], uri: &Uri, headers: &HeaderMap) -> Result<(), ProblemResponse> {
    let host = match uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => headers.get(header::HOST).and_then(|value| value.to_str().ok()),
    };
    let host = host.filter(|_| headers.get_all(header::HOST).iter().count() <= 1).unwrap_or_default();
    if !is_ours(names, host) {
        let detail = "the server has another name than the request's Host; expected an address in numbers, localhost, or one of \
                      `hosts` under [server] of the configuration";
        return Err(ProblemResponse::new(StatusCode::MISDIRECTED_REQUEST, detail));
    }
    let from_elsewhere =
        || ProblemResponse::new(StatusCode::FORBIDDEN, "the request was made by a page of another origin");
    if let Some(site) = headers.get("sec-fetch-site")
        && !["same-origin", "none"].iter().any(|own| site == own)
        && !is_navigation(headers)
    {
        return Err(from_elsewhere());
    }
    match headers.get(header::ORIGIN).map(HeaderValue::to_str) {
        None => Ok(()),
        Some(Ok(origin)) if origin.split_once("://").is_some_and(|(_, from)| from == host) => Ok(()),
        Some(_) => Err(from_elsewhere()),
    }
}

/// Returns whether a browser says that a page of this server made the request, whose origin was checked.
pub(crate) fn is_of_own_page(headers: &HeaderMap) -> bool {
    let is_same = headers.get("sec-fetch-site").is_none_or(|site| site == "same-origin");
    is_same && (headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site"))
}

/// Returns whether the request follows a link. The page with the link cannot read the response.
fn is_navigation(headers: &HeaderMap) -> bool {
    let is = |name: &str, wanted: &str| headers.get(name).is_some_and(|value| value == wanted);
    is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
        && !headers.contains_key(header::ORIGIN)
}

/// A name in numbers cannot be made to mean another machine meanwhile.
fn is_ours(names: &[String], host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    name.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || (!name.is_empty() && names.iter().any(|own| own.eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(given: &[(&'static str, &'static str)]) -> u16 {
        let headers = given
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let names = ["phasm.example".to_owned()];
        match check(&names, &Uri::from_static("/v1/runs"), &headers.collect()) {
            Ok(()) => 200,
            Err(refusal) => refusal.into_response().status().as_u16(),
        }
    }

    /// R-A7.
    #[test]
    fn a_name_that_can_be_made_to_mean_this_machine_is_not_its_own() {
        for host in [
            "127.0.0.1:1",
            "127.0.0.1",
            "[::1]:80",
            "localhost:3",
            "LOCALHOST",
            "phasm.example",
            "10.1.2.3:9",
        ] {
            assert_eq!(checked(&[("host", host)]), 200, "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:80",
            "127.0.0.1.evil.example",
            "localhost.evil",
            "",
            ":80",
            "[evil]",
        ] {
            assert_eq!(checked(&[("host", host)]), 421, "{host}");
        }
        assert_eq!(checked(&[]), 421);
    }

    /// R-A7.
    #[test]
    fn a_page_of_another_origin_is_refused() {
        let host = ("host", "localhost:1");
        assert_eq!(checked(&[host, ("origin", "http://localhost:1")]), 200);
        for origin in ["http://localhost:2", "http://evil.example", "null", "", "localhost:1"] {
            assert_eq!(checked(&[host, ("origin", origin)]), 403, "{origin}");
        }
        for (site, status) in [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)] {
            assert_eq!(checked(&[host, ("sec-fetch-site", site)]), status, "{site}");
        }
        let link = [
            host,
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert_eq!(checked(&link), 200);
        assert_eq!(checked(&[&link[..], &[("origin", "http://evil.example")]].concat()), 403);
    }
}
