//! Where a request goes to. The host checks every part of it; here it is only taken apart.

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that are percent-encoded in a path or a query. Text that is encoded already stays as it is.
const OUTSIDE: AsciiSet = CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Characters that are percent-encoded in a name or value of a query.
const WITHIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A URL's parts, as they are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) secure: bool,
    pub(crate) authority: String,
    /// From the first `/` on.
    pub(crate) path: String,
    /// With its `?`, or empty.
    pub(crate) query: String,
}

impl Url {
    /// # Errors
    /// The reason why the text is not a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").ok_or("expected `https://…` or `http://…`")?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err("expected `https://…` or `http://…`"),
        };
        let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if authority.is_empty() {
            return Err("expected a host after the scheme");
        }
        let (path, query) = target(rest);
        Ok(Self { secure, authority: authority.to_owned(), path, query })
    }

    /// Resolves `reference` against this URL.
    pub(crate) fn join(&self, reference: &str) -> Result<Self, &'static str> {
        let reference = reference.trim();
        if let Some(rest) = reference.strip_prefix("//") {
            return Self::parse(&format!("{}://{rest}", self.scheme()));
        }
        if has_scheme(reference) {
            return Self::parse(reference);
        }
        let (path, query) = target(reference);
        let joined = if reference.starts_with('/') {
            Self { path, query, ..self.clone() }
        } else if reference.starts_with('?') {
            Self { query, ..self.clone() }
        } else {
            let above = self.path.rsplit_once('/').map_or("", |(above, _)| above);
            Self { path: format!("{above}{path}"), query, ..self.clone() }
        };
        Ok(Self { path: without_dots(&joined.path), ..joined })
    }

    /// Adds to the query.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        self.query.push(if self.query.is_empty() { '?' } else { '&' });
        self.query.extend(utf8_percent_encode(name, &WITHIN));
        self.query.push('=');
        self.query.extend(utf8_percent_encode(value, &WITHIN));
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }

    /// For people: nothing of the query, where keys may be, and nothing of a user.
    pub(crate) fn shown(&self) -> String {
        let host = self.authority.rsplit('@').next().unwrap_or_default();
        format!("{}://{host}{}", self.scheme(), self.path)
    }

    pub(crate) fn is_same_origin(&self, other: &Self) -> bool {
        self.secure == other.secure && self.authority.eq_ignore_ascii_case(&other.authority)
    }
}

/// Path and query of what stands behind an authority.
fn target(rest: &str) -> (String, String) {
    let rest = rest.split('#').next().unwrap_or_default();
    let (path, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
    let path = utf8_percent_encode(path, &OUTSIDE).to_string();
    let path = if path.starts_with('/') { path } else { format!("/{path}") };
    let query = utf8_percent_encode(query, &OUTSIDE).to_string();
    (path, if query == "?" { String::new() } else { query })
}

fn has_scheme(reference: &str) -> bool {
    let scheme = reference.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut parts = path.split('/').skip(1).peekable();
    while let Some(part) = parts.next() {
        match part {
            ".." => drop(kept.pop()),
            "." => {}
            _ => kept.push(part),
        }
        if parts.peek().is_none() && [".", ".."].contains(&part) {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}
