//! The request to send.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use phasm_sdk::{Map, prelude::*};

use crate::{Auth, Task, content::Content, patience::Patience, url::Url};

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) url: Url,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Content>,
    pub(crate) patience: Patience,
    /// The header that says whom to be, in lower case.
    pub(crate) credential: Option<String>,
}

impl Request {
    /// # Errors
    /// Code 3, naming the input that does not fit.
    pub(crate) fn of(task: &Task, key: &str) -> Result<Self> {
        let url = Url::parse(&task.url).map_err(|why| wrong("url", why))?;
        let method = method(&task.method)?;
        let patience = Patience::of(task);
        let mut request = Self { method, url, headers: Vec::new(), body: None, patience, credential: None };
        for (name, value) in pairs("params", task.params.as_ref())? {
            request.url.add(&name, &value);
        }
        request.headers = pairs("headers", task.headers.as_ref())?;
        if let Some(name) = request.headers.iter().map(|(name, _)| name).find(|name| is_framing(name)) {
            return Err(wrong("headers", &format!("`{name}` follows from `body`; leave it out")));
        }
        if let Some((name, value)) = credentials(task.auth.as_deref(), task.secret.as_deref())? {
            request.credential = Some(name.to_ascii_lowercase());
            request.usually(&name, value);
        }
        if let Some(content) = Content::of(task)? {
            request.usually("content-type", content.media.clone());
            request.body = Some(content);
        }
        if task.idempotency_key {
            request.usually("idempotency-key", key.to_owned());
        }
        request.usually("user-agent", concat!("phasm-http/", env!("CARGO_PKG_VERSION")).to_owned());
        request.usually("accept", "application/json, */*;q=0.8".to_owned());
        Ok(request)
    }

    /// Number of bytes that is said to follow. A request whose method is about content says that there is none, as servers refuse one that
    /// says nothing (411).
    #[cfg_attr(
        not(any(test, target_arch = "wasm32")),
        expect(dead_code, reason = "nothing is sent natively")
    )]
    pub(crate) fn content_length(&self) -> Option<u64> {
        let has_none = ["GET", "HEAD"].contains(&self.method.as_str());
        self.body.as_ref().map(Content::len).or((!has_none).then_some(0))
    }

    /// For people.
    pub(crate) fn shown(&self) -> String {
        format!("{} {}", self.method, self.url.shown())
    }

    /// Adds a header that is not given.
    fn usually(&mut self, name: &str, value: String) {
        if !self.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)) {
            self.headers.push((name.to_owned(), value));
        }
    }
}

/// Whether a header says where a message ends.
fn is_framing(name: &str) -> bool {
    ["content-length", "transfer-encoding"].iter().any(|framing| framing.eq_ignore_ascii_case(name))
}

fn method(text: &str) -> Result<String> {
    let is_word = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
    if is_word {
        Ok(text.to_ascii_uppercase())
    } else {
        Err(wrong("method", "expected a word such as `GET`"))
    }
}

/// The header that says whom to be.
fn credentials(auth: Option<&Auth>, secret: Option<&str>) -> Result<Option<(String, String)>> {
    let authorization = |value| Ok(Some(("authorization".to_owned(), value)));
    match (auth, secret) {
        (None, None) => Ok(None),
        (None, Some(token)) => authorization(format!("Bearer {token}")),
        (Some(Auth { bearer: Some(token), username: None, password: None, header: None }), None) => {
            authorization(format!("Bearer {token}"))
        }
        (Some(Auth { bearer: None, username: Some(name), password, header: None }), secret) => {
            let password = password.as_deref().or(secret).unwrap_or_default();
            authorization(format!("Basic {}", STANDARD.encode(format!("{name}:{password}"))))
        }
        (Some(Auth { bearer: None, username: None, password: None, header: Some(name) }), Some(value)) => {
            Ok(Some((name.clone(), value.to_owned())))
        }
        _ => Err(wrong(
            "auth",
            "expected `bearer`, or `username` and `password`, or `header` and the input `secret`",
        )),
    }
}

/// Names and values, lists taken apart.
fn pairs(input: &str, members: Option<&Map<String, Value>>) -> Result<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    for (name, value) in members.into_iter().flatten() {
        let values = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
        for value in values {
            match value {
                Value::Null => {}
                Value::String(text) => pairs.push((name.clone(), text.clone())),
                Value::Bool(_) | Value::Number(_) => pairs.push((name.clone(), value.to_string())),
                Value::Array(_) | Value::Object(_) => {
                    let expected =
                        format!("expected a text, a number, true, false, null or a list of them in `{name}`");
                    return Err(wrong(input, &expected));
                }
            }
        }
    }
    Ok(pairs)
}

pub(crate) fn wrong(input: &str, why: &str) -> Outcome {
    Outcome::error(format!("input `{input}`: {why}")).kind("input").retryable(false)
}
