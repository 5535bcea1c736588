//! Where an answer sends one.

use crate::{answer::Head, request::Request};

/// Headers that are for the first host alone.
const PRIVATE: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

/// The request that `answer` asks for, or why there is none.
pub(crate) fn next(request: &Request, answer: &Head) -> Option<Result<Request, String>> {
    let location = match answer.status {
        301 | 302 | 303 | 307 | 308 => answer.header("location")?,
        _ => return None,
    };
    let followed = follow(request, location).map(|mut next| {
        if becomes_get(&request.method, answer.status) {
            next.method = "GET".to_owned();
            next.body = None;
            next.headers.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("content-"));
        }
        next
    });
    Some(followed.map_err(|why| format!("redirected {why}")))
}

/// Returns the same request to another place, without credentials if that is another host.
///
/// # Errors
/// The words for a place that is not to be asked.
pub(crate) fn follow(request: &Request, location: &str) -> Result<Request, String> {
    let url = request.url.join(location).map_err(|why| format!("to `{location}`: {why}"))?;
    if request.url.secure && !url.secure {
        return Err(format!("from https to {}", url.shown()));
    }
    let mut next = Request { url, ..request.clone() };
    if !next.url.is_same_origin(&request.url) {
        let is_private = |name: &str| PRIVATE.contains(&name) || request.credential.as_deref() == Some(name);
        next.headers.retain(|(name, _)| !is_private(&name.to_ascii_lowercase()));
    }
    Ok(next)
}

fn becomes_get(method: &str, status: u16) -> bool {
    match status {
        303 => method != "HEAD",
        301 | 302 => method == "POST",
        _ => false,
    }
}
