//! Objects with the fields of their [`Table`].

use crate::{
    problem::codes::{Entry, shape, warnings},
    tree::{Key, Tree, TreeNode},
};

use super::{
    AnyField as _, Cursor, Field, Report, Rest, Site, Table, cursor::each_member, listed, listed_if_few,
};

/// An object whose fields have been checked against its table.
pub struct Object<'t, 'r> {
    /// Where it stands.
    pub site: Site,
    members: &'t [(Key, Tree)],
    table: &'static Table,
    /// Where its problems go.
    pub report: &'r Report,
}

impl<'t> Cursor<'t> {
    /// The object that stands here, or a problem; problems, too, are unknown and missing fields and what breaks a rule
    /// of `table`.
    pub fn object<'r>(&self, table: &'static Table, report: &'r Report) -> Option<Object<'t, 'r>> {
        let TreeNode::Object(members) = &self.tree.node else {
            let is_plain = matches!(self.tree.node, TreeNode::String(_) | TreeNode::Number(_));
            if is_plain && !table.alone.is_empty() {
                report.problem(self.mismatch(&expected(table)).with_hint(table.alone));
            } else {
                self.wrong_type(&expected(table), report);
            }
            return None;
        };
        let object = Object { site: self.site(), members, table, report };
        object.check();
        Some(object)
    }
}

/// An object, and what may stand in it if that is little.
fn expected(table: &Table) -> String {
    let fields = table.fields.iter().map(|field| field.name());
    let named = listed_if_few(fields, "");
    if named.is_empty() { "an object".to_owned() } else { format!("an object with {named}") }
}

impl<'t> Object<'t, '_> {
    fn check(&self) {
        self.table.rules.iter().all(|rule| rule.check(self));
        for field in self.table.fields {
            if let (Some(expected), false) = (field.expected(), self.has(field.name())) {
                self.report_missing(field.name(), expected);
            }
        }
        self.unknown().for_each(|key| self.report_unknown(key));
    }

    /// The field's value; of duplicate keys the first, as they are a problem anyway.
    pub fn get(&self, field: &str) -> Option<Cursor<'t>> {
        let (key, tree) = self.members.iter().find(|(key, _)| &*key.name == field)?;
        Some(Cursor { tree, path: self.site.path.key(key.name.clone()) })
    }

    /// Whether the field is written.
    pub fn has(&self, field: &str) -> bool {
        self.members.iter().any(|(key, _)| &*key.name == field)
    }

    /// Where the field is written: at its key.
    pub fn key_site(&self, field: &str) -> Option<Site> {
        let (key, _) = self.members.iter().find(|(key, _)| &*key.name == field)?;
        Some(Site { path: self.site.path.key(key.name.clone()), span: key.span })
    }

    /// The field's value, if it is there.
    pub fn optional<T>(&self, field: &Field<T>) -> Option<T> {
        field.read(&self.get(field.name())?, self.report)
    }

    /// The field's value, or its default.
    pub fn or_default<T: Default>(&self, field: &Field<T>) -> T {
        self.optional(field).or_else(|| field.read_default()).unwrap_or_default()
    }

    /// Which of `fields` is there, if it is only one.
    pub fn only(&self, fields: &[&'static str]) -> Option<&'static str> {
        let mut found = fields.iter().copied().filter(|field| self.has(field));
        found.next().filter(|_| found.next().is_none())
    }

    /// The members, keys free to choose.
    pub fn members(&self) -> impl Iterator<Item = (&'t Key, Cursor<'t>)> + use<'t> {
        each_member(self.members, self.site.path.clone())
    }

    /// The members that are none of the table's fields, and that no rule refuses.
    pub fn rest(&self) -> impl Iterator<Item = (&'t Key, Cursor<'t>)> {
        self.members().filter(|(key, _)| !self.table.mentions(&key.name))
    }

    /// The keys of members that may not be there because the table says nothing of them.
    pub fn unknown(&self) -> impl Iterator<Item = &'t Key> {
        self.rest().map(|(key, _)| key).filter(|_| matches!(self.table.rest, Rest::Unknown))
    }

    /// Reports that the field is not there, and what was `expected`.
    pub fn report_missing(&self, field: &str, expected: &str) {
        let message = format!("missing field `{field}`; expected {expected}");
        self.report.at(&shape::MISSING_FIELD, &self.site.missing(field), message);
    }

    fn report_unknown(&self, key: &Key) {
        let site = Site { path: self.site.path.key(key.name.clone()), span: key.span };
        let refused = |name: &&str| self.table.rules.iter().any(|rule| rule.refused(self).contains(name));
        let known: Vec<_> = self.table.names().filter(|name| !refused(name)).collect();
        let message = format!("unknown field `{}`; expected {}", key.name, listed(&known));
        let problem = site.problem(&shape::UNKNOWN_FIELD, message);
        let hint = self.table.counterpart(&key.name).map(|hint| self.report.spelled(hint));
        self.report
            .problem(problem.with_hint_if(hint.or_else(|| self.report.did_you_mean(&key.name, known))));
    }

    /// Reports `fields` that are there though they may not be.
    pub fn refuse(&self, fields: &[&str], entry: &Entry, why: &str, hint: &str) {
        for field in fields {
            if let Some(site) = self.key_site(field) {
                self.report.problem(site.problem(entry, format!("`{field}` {why}")).with_hint(hint));
            }
        }
    }

    /// Warns that the field has no effect.
    pub fn warn_ignored(&self, field: &Field<()>, expected: &str, hint: &str) {
        let name = field.name();
        let Some(site) = self.key_site(name) else { return };
        let warning = site.problem(&warnings::IGNORED, format!("`{name}` is ignored; expected {expected}"));
        self.report.warning(if hint.is_empty() { warning } else { warning.with_hint(hint) });
    }
}
