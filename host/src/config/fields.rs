//! Typed access to a configuration's tables; whatever does not fit becomes a problem.

use phasm_engine::{
    path::Path,
    problem::Problem,
    problem::codes::Entry,
    tree::{Key, Node, Span, Tree},
};

use super::catalogue;

/// What has been found so far.
#[derive(Default)]
pub(super) struct Findings {
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Findings {
    pub(super) fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub(super) fn warning(&mut self, warning: Problem) {
        self.warnings.push(warning);
    }

    /// Problems and warnings, each in the order of the text.
    pub(super) fn into_parts(mut self) -> (Vec<Problem>, Vec<Problem>) {
        self.problems.sort_by_key(|problem| problem.span.start);
        self.warnings.sort_by_key(|warning| warning.span.start);
        (self.problems, self.warnings)
    }
}

/// A value and where it stands.
#[derive(Clone)]
pub(super) struct Field<'t> {
    pub(super) tree: &'t Tree,
    pub(super) path: Path,
}

/// A table and where it stands.
pub(super) struct Table<'t> {
    pub(super) members: &'t [(Key, Tree)],
    pub(super) path: Path,
    pub(super) span: Span,
}

impl<'t> Field<'t> {
    pub(super) fn report(&self, entry: &Entry, message: impl Into<String>) -> Problem {
        Problem::new(entry, &self.path, self.tree.span, message).with_value(self.tree)
    }

    fn wrong_type(&self, expected: &str, findings: &mut Findings) {
        let found = self.tree.to_value().type_name();
        findings.problem(self.report(&catalogue::WRONG_TYPE, format!("{found}; expected {expected}")));
    }

    pub(super) fn bad_value(&self, message: impl Into<String>, findings: &mut Findings) {
        findings.problem(self.report(&catalogue::BAD_VALUE, message));
    }

    pub(super) fn text(&self, findings: &mut Findings) -> Option<&'t str> {
        match &self.tree.node {
            Node::String(text) => Some(text),
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::Array(_) | Node::Object(_) => {
                self.wrong_type("text", findings);
                None
            }
        }
    }

    pub(super) fn truth(&self, findings: &mut Findings) -> Option<bool> {
        match &self.tree.node {
            Node::Bool(truth) => Some(*truth),
            Node::Null | Node::String(_) | Node::Number(_) | Node::Array(_) | Node::Object(_) => {
                self.wrong_type("true or false", findings);
                None
            }
        }
    }

    fn items(&self, findings: &mut Findings) -> Vec<Self> {
        match &self.tree.node {
            Node::Array(items) => {
                let item = |(at, tree)| Self { tree, path: self.path.index(at) };
                items.iter().enumerate().map(item).collect()
            }
            Node::Null | Node::Bool(_) | Node::String(_) | Node::Number(_) | Node::Object(_) => {
                self.wrong_type("a list", findings);
                Vec::new()
            }
        }
    }
}

impl<'t> Table<'t> {
    /// The table that `tree` is.
    pub(super) fn of(tree: &'t Tree, path: Path, findings: &mut Findings) -> Option<Self> {
        match &tree.node {
            Node::Object(members) => Some(Self { members, path, span: tree.span }),
            Node::Null | Node::Bool(_) | Node::String(_) | Node::Number(_) | Node::Array(_) => {
                Field { tree, path }.wrong_type("a table", findings);
                None
            }
        }
    }

    /// Reports every key that is not one of `known`.
    pub(super) fn only(&self, known: &[&str], findings: &mut Findings) {
        for (key, _) in self.members.iter().filter(|(key, _)| !known.contains(&key.name.as_ref())) {
            let message = format!("`{}` is no key here; expected {}", key.name, known.join(", "));
            let path = self.path.key(key.name.clone());
            let problem = Problem::new(&catalogue::UNKNOWN_KEY, &path, key.span, message);
            findings.problem(with_suggestion(problem, &key.name, known.iter().copied()));
        }
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = (&'t Key, Field<'t>)> {
        self.members.iter().map(|(key, tree)| (key, Field { tree, path: self.path.key(key.name.clone()) }))
    }

    pub(super) fn get(&self, name: &str) -> Option<Field<'t>> {
        self.fields().find(|(key, _)| key.name.as_ref() == name).map(|(_, field)| field)
    }

    pub(super) fn require(&self, name: &str, findings: &mut Findings) -> Option<Field<'t>> {
        let found = self.get(name);
        if found.is_none() {
            let message = format!("`{name}` is missing; expected text");
            findings.problem(Problem::new(&catalogue::MISSING_KEY, &self.path, self.span, message));
        }
        found
    }

    pub(super) fn table(&self, name: &str, findings: &mut Findings) -> Option<Self> {
        let Field { tree, path } = self.get(name)?;
        Self::of(tree, path, findings)
    }

    /// The tables that stand in the table `name`.
    pub(super) fn tables(&self, name: &str, findings: &mut Findings) -> Vec<(&'t Key, Self)> {
        let Some(outer) = self.table(name, findings) else { return Vec::new() };
        let inner = outer.fields().filter_map(|(key, Field { tree, path })| {
            Self::of(tree, path, findings).map(|table| (key, table))
        });
        inner.collect()
    }

    /// The items of the list `name`; none if it is absent.
    pub(super) fn list(&self, name: &str, findings: &mut Findings) -> Vec<Field<'t>> {
        self.get(name).map(|field| field.items(findings)).unwrap_or_default()
    }
}

/// Adds the known word that was probably meant.
pub(super) fn with_suggestion<'k>(
    problem: Problem,
    word: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Problem {
    match phasm_engine::did_you_mean(word, known) {
        Some(hint) => problem.with_hint(hint),
        None => problem,
    }
}
