//! Sessions of browsers that signed in with a key. The cookie is a random token, never the key.

use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use phasm::fair_queue::{FairQueue, Holder};

use super::token::{TokenError, Tokens};

const COOKIE: &str = "phasm-session";
/// Time that a session lasts, here and in the browser.
const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// Sessions since the server began.
pub(crate) struct Sessions(Tokens);

impl Sessions {
    pub(crate) fn new(places: FairQueue) -> Self {
        Self(Tokens::new(places, SESSION_LIFETIME))
    }

    /// Begins one with a key of that holder; what the browser is to keep, over TLS only if `secure`.
    pub(crate) fn begin(&self, holder: &Holder, key: &str, secure: bool) -> Result<String, TokenError> {
        let word = self.0.begin(holder, Some(key.to_owned()), Instant::now())?;
        Ok(cookie(&word, SESSION_LIFETIME.as_secs(), secure))
    }

    /// Ends that of a request; what makes the browser forget it.
    pub(crate) fn end(&self, headers: &HeaderMap, secure: bool) -> String {
        if let Some(word) = word(headers) {
            self.0.take(word, Instant::now());
        }
        cookie("", 0, secure)
    }

    /// The key of a request's session.
    pub(crate) fn key(&self, headers: &HeaderMap) -> Option<String> {
        self.0.find(word(headers)?, Instant::now()).flatten()
    }
}

fn word(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| name.trim() == COOKIE).map(|(_, word)| word.trim())
}

/// Lax, as a link from elsewhere may lead here; what is posted from elsewhere the guard refuses.
fn cookie(word: &str, seconds: u64, secure: bool) -> String {
    let secure = if secure { "; Secure" } else { "" };
    format!("{COOKIE}={word}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn sent(cookie: &str) -> HeaderMap {
        let pair = cookie.split(';').next().unwrap();
        let value = HeaderValue::from_str(&format!("other=1; {pair}")).unwrap();
        HeaderMap::from_iter([(header::COOKIE, value)])
    }

    #[test]
    fn a_session_has_its_key_until_it_ends() {
        let sessions = Sessions::new(FairQueue::new(8, 0));
        let holder = Holder { tenant: "t".into(), key: "k".into(), weight: 1 };
        let cookie = sessions.begin(&holder, "secret", true).unwrap();
        assert!(!cookie.contains("secret") && cookie.contains("HttpOnly") && cookie.contains("Secure"));
        let headers = sent(&cookie);
        assert_eq!(sessions.key(&headers).as_deref(), Some("secret"));
        assert_eq!(sessions.key(&sent("phasm-session=00")), None);
        assert_eq!(sessions.key(&HeaderMap::new()), None);
        assert!(sessions.end(&headers, false).contains("Max-Age=0"));
        assert_eq!(sessions.key(&headers), None);
    }
}
