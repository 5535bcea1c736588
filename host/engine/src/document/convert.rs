//! Rewriting of files of `aether/v1` as files of `phasm/v1` that mean the same, edit by edit: comments and layout stay.

mod groups;
mod paths;

use std::{collections::BTreeMap, fmt::Write as _};

use crate::tree::{Key, Span, Tree, TreeNode};

use super::dialect::{AETHER, PHASM};

/// A file in the other dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// Its text.
    pub text: String,
    /// Places that keep an older spelling, as lines and the reason.
    pub kept: Vec<(u32, &'static str)>,
    /// Lines of values that an alias repeats elsewhere, where they would change as well: the text is of no use if there are any.
    pub repeated: Vec<u32>,
}

/// Rewrites `text`, which `tree` was read from, as a file of `phasm/v1`; none if it is not a file of `aether/v1`.
#[must_use]
pub fn convert(text: &str, tree: &Tree) -> Option<Conversion> {
    let version = member(tree, "apiVersion")?;
    if !matches!(&version.node, TreeNode::String(name) if **name == *AETHER.name) {
        return None;
    }
    let mut seen = BTreeMap::new();
    count_spans(tree, &mut seen);
    let shared = seen.values().filter(|(_, count)| *count > 1).map(|(span, _)| *span).collect();
    let mut edits = Edits { text, by_place: BTreeMap::new(), kept: Vec::new(), shared };
    let quote = edits.quote_of(version.span);
    edits.replace(version.span, format!("{quote}{}{quote}", PHASM.name));
    let spec = member(tree, "spec")?;
    edits.paths(tree);
    edits.spec(member(spec, "workflowSpec").unwrap_or(spec));
    let repeated = edits.repeated();
    Some(edits.applied(repeated))
}

fn member<'t>(tree: &'t Tree, name: &str) -> Option<&'t Tree> {
    members(tree).iter().find(|(key, _)| &*key.name == name).map(|(_, value)| value)
}

fn members(tree: &Tree) -> &[(Key, Tree)] {
    if let TreeNode::Object(members) = &tree.node { members } else { &[] }
}

fn items(tree: Option<&Tree>) -> &[Tree] {
    if let Some(TreeNode::Array(items)) = tree.map(|tree| &tree.node) { items } else { &[] }
}

/// Changes of a text by the place where they begin. A value that an alias repeats is changed once.
struct Edits<'t> {
    text: &'t str,
    by_place: BTreeMap<(usize, usize), String>,
    kept: Vec<(u32, &'static str)>,
    /// Values that have several places in the file: an alias repeats what its anchor holds, with the anchor's spans.
    shared: Vec<Span>,
}

impl Edits<'_> {
    fn spec(&mut self, spec: &Tree) {
        if member(spec, "timeout").is_none() {
            self.insert(spec, "timeout", |quote| {
                format!("{{{quote}active{quote}: {}}}", quoted("1h", quote))
            });
        }
        for template in items(member(spec, "templates")) {
            for (_, body) in members(template) {
                self.task(body);
                items(member(body, "tasks")).iter().for_each(|task| self.task(task));
            }
        }
        self.hooks(spec);
        self.parameters_of_run(spec);
    }

    /// A task, or a labelled one.
    fn task(&mut self, task: &Tree) {
        if let [(_, labelled)] = members(task) {
            member(labelled, "spec").into_iter().for_each(|spec| self.clocks(spec));
        }
        self.clocks(task);
        self.groups(task);
        self.hooks(task);
        member(task, "retry").into_iter().for_each(|retry| self.retry(retry));
    }

    /// The arguments of hooks.
    fn hooks(&mut self, object: &Tree) {
        for (_, hook) in member(object, "hooks").map(members).unwrap_or_default() {
            self.groups(hook);
            items(Some(hook)).iter().for_each(|hook| self.groups(hook));
        }
    }

    fn clocks(&mut self, object: &Tree) {
        for (key, value) in members(object) {
            if !["maxRuntime", "maxInactivity", "deadline"].contains(&&*key.name) {
                continue;
            }
            if let TreeNode::Object(_) = value.node {
                if member(value, "errorOnTimeout").is_none() {
                    self.insert(value, "errorOnTimeout", |_| "false".to_owned());
                }
                continue;
            }
            let quote = self.quote_of(key.span);
            let Some(written) = self.text.get(value.span.start..value.span.end) else { continue };
            let policy = format!("{{{quote}timeout{quote}: {written}, {quote}errorOnTimeout{quote}: false}}");
            self.replace(value.span, policy);
        }
    }

    fn retry(&mut self, retry: &Tree) {
        let has = |name| member(retry, name).is_some();
        // Without a count there is one attempt, and nothing to keep.
        let filtered = has("expression");
        for (key, value) in members(retry) {
            let name = match &*key.name {
                "limit" => {
                    if let TreeNode::Number(limit) = &value.node
                        && let Some(limit) = limit.as_u64()
                    {
                        self.replace(value.span, (limit + 1).to_string());
                    }
                    "attempts"
                }
                "maxAttempts" if filtered => "attempts",
                "maxAttempts" => {
                    self.kept.push((
                        key.span.line,
                        "`maxAttempts` also retries Failed, which `attempts` does not",
                    ));
                    continue;
                }
                "exponentialBackoff" => "backoff",
                "expression" => "when",
                _ => continue,
            };
            let quote = self.quote_of(key.span);
            self.replace(key.span, format!("{quote}{name}{quote}"));
        }
    }

    /// The quotation mark that stands at the beginning of `span`, if one does.
    fn quote_of(&self, span: Span) -> &'static str {
        match self.text.as_bytes().get(span.start) {
            Some(b'"') => "\"",
            Some(b'\'') => "'",
            _ => "",
        }
    }

    /// The text between two places, with the edits in it.
    fn edited(&self, start: usize, end: usize) -> Option<String> {
        let mut text = String::new();
        let mut at = start;
        for ((first, last), with) in
            self.by_place.range((start, 0)..).take_while(|((first, _), _)| *first < end)
        {
            text.push_str(self.text.get(at..*first)?);
            text.push_str(with);
            at = *last;
        }
        text.push_str(self.text.get(at..end)?);
        Some(text)
    }

    fn replace(&mut self, span: Span, with: String) {
        self.by_place.insert((span.start, span.end), with);
    }

    /// Adds a member at the beginning of `object`, in the layout that it has.
    fn insert(&mut self, object: &Tree, name: &str, value: impl Fn(&str) -> String) {
        let Some((first, _)) = members(object).first() else { return };
        let quote = self.quote_of(first.span);
        let mut added = format!("{quote}{name}{quote}: {}", value(quote));
        if self.text.as_bytes().get(object.span.start) == Some(&b'{') {
            added.push_str(", ");
        } else {
            let indent = usize::try_from(first.span.column.saturating_sub(1)).unwrap_or_default();
            let _written = write!(added, "\n{:indent$}", "");
        }
        // Before a replacement of the key itself.
        self.by_place.insert((first.span.start, first.span.start), added);
    }

    /// Lines of edits in values that have several places in the file.
    fn repeated(&self) -> Vec<u32> {
        let is_within =
            |span: &&Span| self.by_place.keys().any(|(start, end)| span.start <= *start && *end <= span.end);
        self.shared.iter().filter(is_within).map(|span| span.line).collect()
    }

    /// Whether a value with several places is around this part of the text, or in it: there, nothing is written in another way
    /// that could stay.
    fn is_shared(&self, start: usize, end: usize) -> bool {
        self.shared.iter().any(|span| span.start < end && start < span.end)
    }

    fn applied(self, repeated: Vec<u32>) -> Conversion {
        let mut text = String::with_capacity(self.text.len() + 64);
        let mut at = 0;
        for ((start, end), with) in &self.by_place {
            text.push_str(self.text.get(at..*start).unwrap_or_default());
            text.push_str(with);
            at = *end;
        }
        text.push_str(self.text.get(at..).unwrap_or_default());
        Conversion { text, kept: self.kept, repeated }
    }
}

/// Counts the values at each span that is not empty.
fn count_spans(tree: &Tree, seen: &mut BTreeMap<(usize, usize), (Span, usize)>) {
    if tree.span.start < tree.span.end {
        seen.entry((tree.span.start, tree.span.end)).or_insert((tree.span, 0)).1 += 1;
    }
    items(Some(tree)).iter().for_each(|item| count_spans(item, seen));
    members(tree).iter().for_each(|(_, value)| count_spans(value, seen));
}

fn quoted(text: &str, quote: &str) -> String {
    format!("{quote}{text}{quote}")
}
