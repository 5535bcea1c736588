//! Injection of secrets that guests never hold: placeholders are replaced in requests to the secrets' destinations.

use std::{sync::Arc, time::SystemTime};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header, request};
use http_body_util::{BodyExt as _, Full, Limited};
use wasmtime_wasi_http::WasiBody;

use super::{EgressSecret, aws_signature, failure::Failure, target::Target};
use crate::executor::Invocation;

/// Maximum size of a body, for attempts with such secrets, in bytes: the whole body is searched.
const MAX_BODY_BYTES: usize = 1 << 20;

/// Returns the secrets whose placeholders the attempt of the tenant was given. A placeholder that it got in another way, or of
/// another tenant's secret, is worthless.
pub(super) fn given(all: &[EgressSecret], tenant: &str, invocation: &Invocation) -> Vec<EgressSecret> {
    if all.is_empty() {
        return Vec::new();
    }
    let inputs = invocation.inputs.iter().map(|(_, value)| value.to_json());
    let texts: Vec<_> = inputs.chain([invocation.config.to_json()]).collect();
    let is_given = |secret: &&EgressSecret| texts.iter().any(|text| text.contains(&*secret.placeholder));
    let is_own = |secret: &&EgressSecret| secret.tenant.as_deref().is_none_or(|own| own == tenant);
    all.iter().filter(is_own).filter(is_given).cloned().collect()
}

/// Encoding of the value in the place of its placeholder.
#[derive(Clone, Copy)]
enum Form {
    Plain,
    Json,
    Query,
}

/// Refuses a placeholder in a URL, which every system on the way may log.
pub(super) fn check_url(secrets: &[EgressSecret], url: &str) -> Result<(), Failure> {
    match secrets.iter().find(|secret| url.contains(&*secret.placeholder)) {
        Some(secret) => Err(Failure::refused(format!(
            "the secret {} is for headers and bodies, not for URLs",
            secret.name
        ))),
        None => Ok(()),
    }
}

/// Replaces placeholders in headers, within Basic authentication too.
pub(super) fn swap_headers(
    secrets: &[EgressSecret],
    target: &Target,
    headers: &mut HeaderMap,
) -> Result<(), Failure> {
    for value in headers.values_mut() {
        let text = value.to_str().unwrap_or_default();
        let swapped = match basic(text) {
            Some(inner) => swap(secrets, target, &inner, Form::Plain)?
                .map(|inner| format!("Basic {}", STANDARD.encode(inner))),
            None => swap(secrets, target, text, Form::Plain)?,
        };
        if let Some(swapped) = swapped {
            let refused =
                |_| Failure::refused("a secret cannot stand in a header, as it has more than one line");
            *value = HeaderValue::from_str(&swapped).map_err(refused)?;
            value.set_sensitive(true);
        }
    }
    Ok(())
}

/// Replaces placeholders in the body, which may change its length.
pub(super) async fn swap_body(
    secrets: &[EgressSecret],
    target: &Target,
    headers: &mut HeaderMap,
    body: WasiBody,
) -> Result<WasiBody, Failure> {
    if secrets.iter().all(|secret| secret.signing.is_some()) {
        return Ok(body);
    }
    let bytes = collect(body).await?;
    let form = form(headers);
    let swapped = match std::str::from_utf8(&bytes) {
        Ok(text) => swap(secrets, target, text, form)?.map(Bytes::from),
        Err(_) => None,
    };
    let bytes = swapped.unwrap_or(bytes);
    if headers.contains_key(header::CONTENT_LENGTH) {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    }
    Ok(whole(bytes))
}

/// Signs a request to a destination of a key that the attempt was given. The key whose placeholder is the request's credential comes
/// first.
pub(super) async fn sign(
    secrets: &[EgressSecret],
    target: &Target,
    parts: &mut request::Parts,
    body: WasiBody,
) -> Result<WasiBody, Failure> {
    let credential = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let is_credential =
        |secret: &EgressSecret| credential.is_some_and(|text| text.contains(&*secret.placeholder));
    let keys = secrets.iter().filter_map(|secret| Some((secret, secret.signing.as_ref()?)));
    let keys = keys.filter(|(secret, _)| secret.to.iter().any(|pattern| pattern.matches(target)));
    let Some((secret, signing)) = keys.min_by_key(|(secret, _)| !is_credential(secret)) else {
        return Ok(body);
    };
    let (payload, body) = if signing.hashes_body() {
        let bytes = collect(body).await?;
        (aws_signature::hash(&bytes), whole(bytes))
    } else {
        (aws_signature::UNSIGNED.to_owned(), body)
    };
    let request::Parts { method, uri, headers, .. } = parts;
    signing.sign(&secret.value, method, uri, headers, &payload, SystemTime::now())?;
    Ok(body)
}

async fn collect(body: WasiBody) -> Result<Bytes, Failure> {
    let too_long = |_| {
        Failure::refused(format!(
            "a request with a secret that the host puts in has a body of at most {} KiB",
            MAX_BODY_BYTES / 1024
        ))
    };
    Ok(Limited::new(body, MAX_BODY_BYTES).collect().await.map_err(too_long)?.to_bytes())
}

fn whole(bytes: Bytes) -> WasiBody {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

/// Replaces placeholders in `text`; `None` if there are none.
fn swap(
    secrets: &[EgressSecret],
    target: &Target,
    text: &str,
    form: Form,
) -> Result<Option<String>, Failure> {
    let mut swapped: Option<String> = None;
    for secret in secrets.iter().filter(|secret| text.contains(&*secret.placeholder)) {
        if !secret.to.iter().any(|pattern| pattern.matches(target)) {
            let to: Vec<_> = secret.to.iter().map(ToString::to_string).collect();
            let why = format!(
                "the secret {} is only for {}, not for {}",
                secret.name,
                to.join(", "),
                target.shown()
            );
            return Err(Failure::refused(why));
        }
        // A key is part of no request: its placeholder stays, which is worthless elsewhere.
        if secret.signing.is_some() {
            continue;
        }
        let before = swapped.as_deref().unwrap_or(text);
        swapped = Some(before.replace(&*secret.placeholder, &form.write(&secret.value)));
    }
    Ok(swapped)
}

fn basic(value: &str) -> Option<String> {
    let (scheme, encoded) = value.split_once(' ')?;
    let decoded = scheme.eq_ignore_ascii_case("basic").then(|| STANDARD.decode(encoded.trim()).ok())??;
    String::from_utf8(decoded).ok()
}

fn form(headers: &HeaderMap) -> Form {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind == "application/json" || kind.ends_with("+json") {
        Form::Json
    } else if kind == "application/x-www-form-urlencoded" {
        Form::Query
    } else {
        Form::Plain
    }
}

impl Form {
    fn write(self, value: &Arc<str>) -> String {
        match self {
            Self::Plain => value.to_string(),
            Self::Json => {
                let quoted = serde_json::Value::from(&**value).to_string();
                quoted.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned()
            }
            Self::Query => {
                let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
                value
                    .bytes()
                    .map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") })
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(to: &str) -> Vec<EgressSecret> {
        let to = vec![to.parse().unwrap()].into();
        vec![EgressSecret {
            name: "api/key".into(),
            placeholder: "phasm-0".into(),
            value: "a\"b&".into(),
            to,
            tenant: None,
            signing: None,
        }]
    }

    fn target() -> Target {
        Target::of_url("POST", "https://a.example/x").unwrap()
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    /// R-I26: in headers, within basic authentication too.
    #[test]
    fn a_value_takes_the_place_of_its_placeholder_in_headers() {
        // `Ada:phasm-0`
        let mut sent =
            headers(&[("x-key", "<phasm-0>"), ("authorization", "basic QWRhOnBoYXNtLTA="), ("x", "1")]);
        assert!(swap_headers(&secret("https://a.example"), &target(), &mut sent).is_ok());
        assert_eq!(sent["x-key"], "<a\"b&>");
        assert_eq!(sent["authorization"], format!("Basic {}", STANDARD.encode("Ada:a\"b&")));
        assert!(sent["x-key"].is_sensitive() && !sent["x"].is_sensitive());
        for hidden in [("x-key", "phasm-0"), ("authorization", "Basic QWRhOnBoYXNtLTA=")] {
            let refused = swap_headers(&secret("https://b.example"), &target(), &mut headers(&[hidden]));
            let why = refused.err().map(|failure| failure.why).unwrap_or_default();
            assert_eq!(
                why,
                "the secret api/key is only for https://b.example, not for POST https://a.example/x"
            );
        }
        assert!(check_url(&secret("https://a.example"), "https://a.example/?k=phasm-0").is_err());
    }

    async fn body(kind: &'static str, text: String) -> Result<String, String> {
        let mut headers = headers(&[("content-type", kind), ("content-length", "1")]);
        let body = Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync();
        let swapped = swap_body(&secret("https://a.example"), &target(), &mut headers, body).await;
        let bytes = swapped.map_err(|failure| failure.why)?.collect().await.unwrap().to_bytes();
        assert_eq!(headers["content-length"], bytes.len().to_string());
        Ok(String::from_utf8(bytes.to_vec()).unwrap())
    }

    /// R-I26: in bodies, in the encoding of their type.
    #[tokio::test]
    async fn a_value_takes_the_place_of_its_placeholder_in_bodies() {
        let rows = [
            ("application/vnd.a+json; charset=utf-8", r#"{"k":"phasm-0"}"#, r#"{"k":"a\"b&"}"#),
            ("application/x-www-form-urlencoded", "k=phasm-0&l=1", "k=a%22b%26&l=1"),
            ("text/plain", "phasm-0phasm-0", "a\"b&a\"b&"),
            ("text/plain", "phasm-", "phasm-"),
        ];
        for (kind, text, expected) in rows {
            assert_eq!(body(kind, text.to_owned()).await.as_deref(), Ok(expected), "{kind}");
        }
        let why = body("text/plain", "x".repeat(MAX_BODY_BYTES + 1)).await.unwrap_err();
        assert_eq!(why, "a request with a secret that the host puts in has a body of at most 1024 KiB");
    }
}
