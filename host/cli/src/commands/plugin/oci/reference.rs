//! References to plugins in registries.

use std::{fmt, str::FromStr};

use phasm::sandbox::Digest;

/// `HOST[:PORT]/REPOSITORY[:TAG][@sha256:…]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    /// With the port.
    pub(super) host: String,
    pub(super) repository: String,
    pub(super) tag: Option<String>,
    pub(super) digest: Option<Digest>,
}

const MAX_REPOSITORY_LENGTH: usize = 255;
const MAX_TAG_LENGTH: usize = 128;

impl Reference {
    /// Returns the tag or digest that the registry is asked for.
    pub(super) fn pulled_by(&self) -> String {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => digest.to_string(),
            (None, tag) => tag.clone().unwrap_or_else(|| "latest".to_owned()),
        }
    }

    /// The last part of the repository's name.
    pub(super) fn called(&self) -> String {
        self.repository.rsplit('/').next().unwrap_or_default().to_owned()
    }

    /// The same, as what it is now.
    pub(super) fn exactly(&self, digest: &Digest) -> String {
        Self { digest: Some(*digest), ..self.clone() }.to_string()
    }

    pub(super) fn is_on_this_machine(&self) -> bool {
        let host = match self.host.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => host,
            _ => &self.host,
        };
        ["localhost", "127.0.0.1", "[::1]"].contains(&host)
    }
}

impl FromStr for Reference {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (
                rest,
                Some(
                    digest
                        .parse()
                        .map_err(|_| "the text after the @ is not sha256: and 64 hexadecimal digits")?,
                ),
            ),
            None => (text, None),
        };
        let (host, path) = rest.split_once('/').ok_or("expected HOST/REPOSITORY:TAG")?;
        let (repository, tag) = match path.split_once(':') {
            Some((repository, tag)) => (repository, Some(tag.to_owned())),
            None => (path, None),
        };
        let is_host = |b: u8| b.is_ascii_alphanumeric() || b"-.:[]_".contains(&b);
        if host.is_empty() || !host.bytes().all(is_host) {
            return Err("its host is not valid");
        }
        let is_part = |part: &str| {
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-._".contains(&b);
            let edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
            part.bytes().all(plain) && edge(part.as_bytes().first()) && edge(part.as_bytes().last())
        };
        if repository.len() > MAX_REPOSITORY_LENGTH || !repository.split('/').all(is_part) {
            return Err(
                "its repository is not valid: expected lower-case letters, digits, `-`, `.`, `_` and `/`",
            );
        }
        let is_tag = |tag: &String| {
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._".contains(&b);
            !tag.is_empty()
                && tag.len() <= MAX_TAG_LENGTH
                && tag.bytes().all(plain)
                && !tag.starts_with(['-', '.'])
        };
        if !tag.as_ref().is_none_or(is_tag) {
            return Err("its tag is not valid: expected letters, digits, `-`, `.` and `_`");
        }
        Ok(Self { host: host.to_owned(), repository: repository.to_owned(), tag, digest })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "oci://{}/{}", self.host, self.repository)?;
        self.tag.iter().try_for_each(|tag| write!(f, ":{tag}"))?;
        self.digest.iter().try_for_each(|digest| write!(f, "@{digest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_and_written() {
        let digest = Digest::of(b"");
        for (text, asked) in [
            ("ghcr.io/a/b:1.2.0".to_owned(), "1.2.0".to_owned()),
            ("localhost:5000/b".to_owned(), "latest".to_owned()),
            (format!("[::1]:5000/a/b-c.d:x@{digest}"), digest.to_string()),
        ] {
            let reference: Reference = text.parse().unwrap();
            assert_eq!((reference.to_string(), reference.pulled_by()), (format!("oci://{text}"), asked));
        }
        for wrong in [
            "a",
            "/b",
            "a/",
            "a/B",
            "a/../b",
            "a/b:",
            "a/b:-x",
            "a/b@sha256:0",
            "u@a/b",
            "a/b//c",
            "a b/c",
            "a/b:x y",
        ] {
            assert!(wrong.parse::<Reference>().is_err(), "{wrong}");
        }
        let here = |text: &str| text.parse::<Reference>().unwrap().is_on_this_machine();
        assert!(here("localhost:1/a") && here("127.0.0.1/a") && here("[::1]/a") && here("[::1]:80/a"));
        assert!(!here("localhost.example/a") && !here("10.0.0.1:80/a"));
    }
}
