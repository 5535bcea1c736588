//! The outcome of a response.

use std::time::Duration;

use phasm_sdk::{Map, prelude::*};

/// Status and headers of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// The outcome without a body; `ok` are further statuses that are no error.
    pub(crate) fn outcome(&self, request: &str, ok: &[u16]) -> Outcome {
        let Self { status, .. } = *self;
        let outcome = if (200..300).contains(&status) || ok.contains(&status) {
            Outcome::succeeded()
        } else {
            self.refusal(request)
        };
        let after = self.retry_after().map(|after| ("retryAfter".to_owned(), after.into()));
        let http = [("status".to_owned(), status.into()), ("headers".to_owned(), self.by_name())];
        let http: Map<String, Value> = http.into_iter().chain(after).collect();
        outcome.output("status", status).output("headers", self.by_name()).detail("http", http)
    }

    fn refusal(&self, request: &str) -> Outcome {
        let (kind, again) = judge(self.status);
        let message = format!("{request}: {}", self.in_words());
        let outcome = if again { Outcome::error(message) } else { Outcome::failed(message) };
        outcome.kind(kind).error_code(self.status).retryable(again)
    }

    fn in_words(&self) -> String {
        let status = match reason(self.status) {
            Some(reason) => format!("{} {reason}", self.status),
            None => self.status.to_string(),
        };
        match self.retry_after() {
            Some(seconds) => format!("{status}, to be tried again after {seconds} s"),
            None => status,
        }
    }

    /// Several of a name are one text, as RFC 9110 joins them. Several cookies are a list, as a comma may stand within each.
    fn by_name(&self) -> Value {
        let mut headers: Map<String, Value> = Map::new();
        for (name, value) in &self.headers {
            let both = match headers.remove(name) {
                None => value.as_str().into(),
                Some(Value::Array(before)) => before.into_iter().chain([value.as_str().into()]).collect(),
                Some(before) if name == "set-cookie" => vec![before, value.as_str().into()].into(),
                Some(before) => format!("{}, {value}", before.as_str().unwrap_or_default()).into(),
            };
            headers.insert(name.clone(), both);
        }
        headers.into()
    }

    /// `Retry-After` in seconds; an instant counts from the answer's own `Date`, so that no clock is needed.
    fn retry_after(&self) -> Option<u64> {
        let text = self.header("retry-after")?.trim();
        if let Ok(seconds) = text.parse() {
            return Some(seconds);
        }
        let then = httpdate::parse_http_date(text).ok()?;
        let now = httpdate::parse_http_date(self.header("date")?).ok()?;
        Some(then.duration_since(now).unwrap_or(Duration::ZERO).as_secs())
    }
}

/// Returns the kind of error that a status is, and whether another attempt may succeed.
fn judge(status: u16) -> (&'static str, bool) {
    match status {
        401 | 403 | 407 => ("auth", false),
        408 => ("timeout", true),
        425 => ("client_error", true),
        429 => ("rate_limit", true),
        400..=499 => ("client_error", false),
        501 | 505 => ("server_error", false),
        500..=599 => ("server_error", true),
        300..=399 => ("redirect", false),
        _ => ("protocol", false),
    }
}

fn reason(status: u16) -> Option<&'static str> {
    Some(match status {
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        425 => "Too Early",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => return None,
    })
}
