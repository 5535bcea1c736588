//! Where something stands in a document, as `spec.templates[1].dag.tasks[3].retry.limit`.

use std::{fmt, sync::Arc};

/// A document path; clones share their beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(Option<Arc<Joint>>);

#[derive(Debug, PartialEq, Eq)]
struct Joint {
    parent: Path,
    segment: Segment,
}

#[derive(Debug, PartialEq, Eq)]
enum Segment {
    Key(Arc<str>),
    Index(usize),
    /// Written out already.
    Text(Arc<str>),
}

impl Path {
    /// The document itself.
    #[must_use]
    pub fn root() -> Self {
        Self(None)
    }

    /// The member `key` of what stands here.
    #[must_use]
    pub fn key(&self, key: impl Into<Arc<str>>) -> Self {
        self.step(Segment::Key(key.into()))
    }

    /// The element `index`, from 0, of what stands here.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.step(Segment::Index(index))
    }

    /// Returns the path of `suffix`, such as `[2].name`, below this one.
    #[must_use]
    pub fn suffixed(&self, suffix: &str) -> Self {
        if suffix.is_empty() { self.clone() } else { self.step(Segment::Text(suffix.into())) }
    }

    /// Returns the spelling that leaves braces as they are, if this is the value or the default of a parameter, or below it.
    pub(crate) fn raw_spelling(&self) -> Option<&'static str> {
        let step = self.0.as_ref()?;
        let outer = step.parent.0.as_ref();
        let is_called = |step: Option<&Arc<Joint>>, names: &[&str]| {
            step.is_some_and(|step| matches!(&step.segment, Segment::Key(key) if names.contains(&&**key)))
        };
        let Segment::Key(key) = &step.segment else { return step.parent.raw_spelling() };
        let list = outer.and_then(|entry| entry.parent.0.as_ref());
        if matches!(&**key, "value" | "default") && is_called(list, &["parameters"]) {
            return Some("`raw: true` next to the value");
        }
        if &**key != "parameters" && is_called(outer, &["inputs", "arguments"]) {
            return Some("the value as `{raw: true, value: …}`");
        }
        step.parent.raw_spelling()
    }

    /// Whether it is a place inside what stands at `outer`.
    pub(crate) fn is_below(&self, outer: &Self) -> bool {
        let parents = std::iter::successors(self.parent(), |path| path.parent());
        parents.into_iter().any(|path| path == outer)
    }

    /// Whether the last step is the member `key`.
    pub(crate) fn ends_with(&self, key: &str) -> bool {
        self.0.as_ref().is_some_and(|step| matches!(&step.segment, Segment::Key(last) if **last == *key))
    }

    /// Whether the last step but one is the member `key`.
    pub(crate) fn is_in(&self, key: &str) -> bool {
        self.parent().is_some_and(|parent| parent.ends_with(key))
    }

    fn parent(&self) -> Option<&Self> {
        self.0.as_ref().map(|step| &step.parent)
    }

    fn step(&self, segment: Segment) -> Self {
        Self(Some(Arc::new(Joint { parent: self.clone(), segment })))
    }
}

/// Characters of a key that a path repeats: a thousand problems below a key of a megabyte are not a gigabyte.
const MAX_KEY_CHARS: usize = 80;

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(step) = &self.0 else { return Ok(()) };
        step.parent.fmt(f)?;
        match &step.segment {
            Segment::Text(text) => f.write_str(text),
            Segment::Index(index) => write!(f, "[{index}]"),
            Segment::Key(key) => write_key(key, step.parent.0.is_none(), f),
        }
    }
}

fn write_key(key: &str, is_first: bool, f: &mut impl fmt::Write) -> fmt::Result {
    let end = key.char_indices().nth(MAX_KEY_CHARS).map(|(end, _)| end);
    let shown = key.get(..end.unwrap_or(key.len())).unwrap_or_default();
    let more = if end.is_some() { "…" } else { "" };
    match (is_plain(shown), is_first) {
        (false, _) => write!(f, "[{shown:?}{more}]"),
        (true, true) => write!(f, "{shown}{more}"),
        (true, false) => write!(f, ".{shown}{more}"),
    }
}

/// The member `key` as a path below something says it.
pub(crate) fn key_segment(key: &str) -> String {
    let mut segment = String::new();
    // Writing to a string cannot fail.
    let _ = write_key(key, false, &mut segment);
    segment
}

/// Whether a key reads unmistakably without quotes.
fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_in_the_specification() {
        let tasks = Path::root().key("spec").key("templates").index(1).key("dag").key("tasks");
        assert_eq!(
            tasks.index(3).key("retry").key("limit").to_string(),
            "spec.templates[1].dag.tasks[3].retry.limit"
        );
        assert_eq!(tasks.suffixed("[2].name").to_string(), "spec.templates[1].dag.tasks[2].name");
        assert_eq!(tasks.suffixed(""), tasks);
        assert_eq!(Path::root().to_string(), "");
        assert_eq!(Path::root().key("metadata").key("app.io/x").to_string(), r#"metadata["app.io/x"]"#);
        assert_eq!(Path::root().index(0).key("").to_string(), r#"[0][""]"#);
    }

    #[test]
    fn long_keys_are_cut_at_a_character() {
        let path = Path::root().key("a").key("é".repeat(81)).key("b c".repeat(40));
        let expected = format!("a.{}…[\"{}b \"…].x", "é".repeat(80), "b c".repeat(26));
        assert_eq!(path.key("x").to_string(), expected);
        assert_eq!(key_segment("app.io/x"), r#"["app.io/x"]"#);
    }
}
