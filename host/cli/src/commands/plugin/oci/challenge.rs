//! Authentication challenges of registries.

/// `WWW-Authenticate` of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// A name and a password.
    Basic,
    /// A token, from there.
    Bearer { realm: String, service: Option<String>, scope: Option<String> },
}

impl Challenge {
    pub(super) fn read(header: &str) -> Option<Self> {
        let (scheme, rest) = header.trim().split_once(' ')?;
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let find = |name: &str| {
            parameters(rest).into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
        };
        Some(Self::Bearer { realm: find("realm")?, service: find("service"), scope: find("scope") })
    }
}

/// `name="value"`, with commas between, which may stand in values, too.
fn parameters(mut text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while let Some((name, rest)) = text.split_once("=\"") {
        let Some((value, rest)) = rest.split_once('"') else { break };
        let name = name.trim_start_matches([',', ' ']).to_ascii_lowercase();
        found.push((name, value.to_owned()));
        text = rest;
    }
    found
}

/// `text` as a value in a query.
pub(super) fn encoded(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~:/".contains(&b);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read() {
        let bearer = "Bearer realm=\"https://auth.example/token\",service=\"registry.example\",scope=\"repository:a/b:pull,push\"";
        let expected = Challenge::Bearer {
            realm: "https://auth.example/token".to_owned(),
            service: Some("registry.example".to_owned()),
            scope: Some("repository:a/b:pull,push".to_owned()),
        };
        assert_eq!(Challenge::read(bearer), Some(expected));
        assert_eq!(Challenge::read("basic realm=\"x\""), Some(Challenge::Basic));
        for wrong in
            ["", "Bearer", "Bearer realm=x", "Bearer service=\"x\"", "Digest realm=\"x\"", "Bearer realm=\"x"]
        {
            assert_eq!(Challenge::read(wrong), None, "{wrong}");
        }
        assert_eq!(encoded("repository:a/b:pull,push &"), "repository:a/b:pull%2Cpush%20%26");
    }
}
