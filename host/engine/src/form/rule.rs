//! Rules among the fields of one object, for the reader and for the JSON Schema.

use serde_json::{Map, Value as Json, json};

use crate::{
    problem::codes::{Entry, shape},
    suggest::did_you_mean,
    tree::TreeNode,
};

use super::{Defs, Object, Site, joined, listed};

/// A condition on the fields of one object.
pub enum Rule {
    /// Exactly one of these is there. Otherwise the later rules are skipped, because the author's intention is unknown.
    ExactlyOne(&'static [&'static str]),
    /// These may not be there.
    Refused(Refusal),
    /// These belong elsewhere, which the object's reader says.
    Misplaced(&'static [&'static str]),
    /// This must be there.
    Needed {
        /// The field.
        field: &'static str,
        /// Where it is needed.
        when: When,
        /// Description of its value, for messages.
        expected: &'static str,
    },
    /// Checked by the object's reader itself.
    Stated(fn(&mut Defs) -> Json),
}

/// Fields that may not be there, and what to say of them.
pub struct Refusal {
    /// The fields.
    pub fields: &'static [&'static str],
    /// Where they are refused.
    pub when: When,
    /// The kind of problem.
    pub entry: &'static Entry,
    /// Why, following the name of the field.
    pub why: &'static str,
    /// The text to write instead.
    pub hint: &'static str,
}

/// Where a rule applies.
pub enum When {
    /// Everywhere.
    Always,
    /// The field is there.
    With(&'static str),
    /// None of the fields is there.
    Without(&'static [&'static str]),
    /// The field is one of these words.
    Says(&'static str, &'static [&'static str]),
    /// The field is there, and not null.
    Holds(&'static str),
    /// The field is not there, or null.
    Lacks(&'static str),
}

impl Rule {
    /// Reports what is wrong with `object`; whether the rules behind this one make sense.
    pub fn check(&self, object: &Object<'_, '_>) -> bool {
        match self {
            Self::ExactlyOne(fields) => return check_exactly_one(object, fields),
            Self::Refused(refusal) => refusal.check(object),
            Self::Needed { field, when, expected } => {
                if when.applies(object) && !object.has(field) {
                    object.report_missing(field, expected);
                }
            }
            Self::Misplaced(_) | Self::Stated(_) => {}
        }
        true
    }

    /// The fields that may never be there, and are therefore none of the object's.
    pub fn never(&self) -> &'static [&'static str] {
        match self {
            Self::Refused(Refusal { fields, when: When::Always, .. }) | Self::Misplaced(fields) => fields,
            Self::Refused(_) | Self::ExactlyOne(_) | Self::Needed { .. } | Self::Stated(_) => &[],
        }
    }

    /// The fields that may not be there in `object`, as it is.
    pub fn refused(&self, object: &Object<'_, '_>) -> &'static [&'static str] {
        match self {
            Self::Refused(refusal) if refusal.when.applies(object) => refusal.fields,
            Self::Misplaced(fields) => fields,
            Self::Refused(_) | Self::ExactlyOne(_) | Self::Needed { .. } | Self::Stated(_) => &[],
        }
    }

    /// The rule as JSON Schema.
    pub fn schema(&self, defs: &mut Defs) -> Json {
        match self {
            Self::ExactlyOne(fields) => {
                json!({ "oneOf": fields.iter().map(|field| json!({ "required": [field] })).collect::<Vec<_>>() })
            }
            Self::Refused(refusal) => refusal.when.then(none_of(refusal.fields)),
            Self::Misplaced(fields) => none_of(fields),
            Self::Needed { field, when, .. } => when.then(json!({ "required": [field] })),
            Self::Stated(schema) => schema(defs),
        }
    }
}

fn none_of(fields: &[&str]) -> Json {
    let none = fields.iter().map(|field| ((*field).to_owned(), json!(false)));
    json!({ "properties": none.collect::<Map<_, _>>() })
}

fn check_exactly_one(object: &Object<'_, '_>, fields: &[&'static str]) -> bool {
    let found: Vec<_> = fields.iter().copied().filter(|field| object.has(field)).collect();
    if let [_] = found.as_slice() {
        return true;
    }
    let expected = listed(fields);
    if let Some(second) = found.get(1) {
        let message = format!("{} together; expected exactly one of {expected}", joined(&found, "and"));
        let span = object.key_site(second).unwrap_or_else(|| object.site.clone()).span;
        let site = Site { path: object.site.path.clone(), span };
        object.report.at(&shape::NOT_EXACTLY_ONE, &site, message);
        return false;
    }
    // A slip in the field's name is reported as such, once.
    if object.unknown().all(|key| did_you_mean(&key.name, fields.iter().copied()).is_none()) {
        let message = format!("none of {expected}; expected exactly one of them");
        object.report.at(&shape::NOT_EXACTLY_ONE, &object.site, message);
    }
    false
}

impl Refusal {
    fn check(&self, object: &Object<'_, '_>) {
        if self.when.applies(object) {
            object.refuse(self.fields, self.entry, self.why, self.hint);
        }
    }
}

impl When {
    /// Whether the rule applies to `object`, as it is.
    pub fn applies(&self, object: &Object<'_, '_>) -> bool {
        match self {
            Self::Always => true,
            Self::With(field) => object.has(field),
            Self::Without(fields) => !fields.iter().any(|field| object.has(field)),
            Self::Says(field, words) => object.get(field).is_some_and(
                |cursor| matches!(&cursor.tree.node, TreeNode::String(text) if words.contains(&&**text)),
            ),
            Self::Holds(field) => object.get(field).is_some_and(|cursor| !cursor.is_null()),
            Self::Lacks(field) => object.get(field).is_none_or(|cursor| cursor.is_null()),
        }
    }

    /// The schema of an object for which `then` holds wherever this applies.
    fn then(&self, then: Json) -> Json {
        let condition = match self {
            Self::Always => return then,
            Self::With(field) => json!({ "required": [field] }),
            Self::Without(fields) => {
                json!({ "not": { "anyOf": fields.iter().map(|field| json!({ "required": [field] })).collect::<Vec<_>>() } })
            }
            Self::Says(field, words) => {
                json!({ "properties": { *field: { "enum": words } }, "required": [field] })
            }
            Self::Holds(field) => {
                json!({ "properties": { *field: { "not": { "type": "null" } } }, "required": [field] })
            }
            Self::Lacks(field) => json!({ "properties": { *field: { "type": "null" } } }),
        };
        json!({ "if": condition, "then": then })
    }
}
