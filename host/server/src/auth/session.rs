//! Sessions of browsers that signed in with a key. The cookie is a random token, never the key.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use axum::http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};

/// Sessions at once; the oldest ends for one more.
const MAX_SESSIONS: usize = 1000;
const COOKIE: &str = "phasm-session";
/// Seconds that a browser keeps it.
const SESSION_LIFETIME_SECONDS: u32 = 12 * 60 * 60;

/// Sessions since the server began, the oldest first: by the digest of its word, the key it has.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<VecDeque<([u8; 32], String)>>);

impl Sessions {
    /// Begins one with that key; what the browser is to keep, over TLS only if `secure`.
    pub(crate) fn begin(&self, key: &str, secure: bool) -> Result<String, getrandom::Error> {
        let word = random::<32>()?;
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_SESSIONS {
            all.pop_front();
        }
        all.push_back((digest(&word), key.to_owned()));
        Ok(cookie(&word, SESSION_LIFETIME_SECONDS, secure))
    }

    /// Ends that of a request; what makes the browser forget it.
    pub(crate) fn end(&self, headers: &HeaderMap, secure: bool) -> String {
        if let Some(word) = word(headers) {
            let digest = digest(word);
            self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, _)| *known != digest);
        }
        cookie("", 0, secure)
    }

    /// The key of a request's session.
    pub(crate) fn key(&self, headers: &HeaderMap) -> Option<String> {
        let digest = digest(word(headers)?);
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|(known, _)| *known == digest).map(|(_, key)| key.clone())
    }
}

/// Returns a random token of `BYTES` bytes, in hexadecimal.
pub(crate) fn random<const BYTES: usize>() -> Result<String, getrandom::Error> {
    let mut word = [0_u8; BYTES];
    getrandom::fill(&mut word)?;
    Ok(word.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Found by its digest, so that comparing tells nothing of the word.
pub(super) fn digest(word: &str) -> [u8; 32] {
    Sha256::digest(word.as_bytes()).into()
}

fn word(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| name.trim() == COOKIE).map(|(_, word)| word.trim())
}

/// Lax, as a link from elsewhere may lead here; what is posted from elsewhere the guard refuses.
fn cookie(word: &str, seconds: u32, secure: bool) -> String {
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
        let sessions = Sessions::default();
        let cookie = sessions.begin("secret", true).unwrap();
        assert!(!cookie.contains("secret") && cookie.contains("HttpOnly") && cookie.contains("Secure"));
        let headers = sent(&cookie);
        assert_eq!(sessions.key(&headers).as_deref(), Some("secret"));
        assert_eq!(sessions.key(&sent("phasm-session=00")), None);
        assert_eq!(sessions.key(&HeaderMap::new()), None);
        assert!(sessions.end(&headers, false).contains("Max-Age=0"));
        assert_eq!(sessions.key(&headers), None);
    }

    #[test]
    fn the_oldest_session_ends_for_one_more() {
        let sessions = Sessions::default();
        let first = sent(&sessions.begin("first", false).unwrap());
        let last: Vec<_> = (0..MAX_SESSIONS).map(|_| sessions.begin("other", false).unwrap()).collect();
        assert_eq!(sessions.key(&first), None);
        assert!(sessions.key(&sent(last.last().unwrap())).is_some());
    }
}
