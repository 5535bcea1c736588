//! The operator's secrets: handed to guests, hidden from everybody else.

use std::{borrow::Cow, cmp::Reverse, collections::BTreeMap, fmt, sync::Arc};

use phasm_engine::{
    outcome::{Outcome, Output},
    plan::SecretRef,
    value::{Map, Value},
};

/// What a secret's text is replaced by.
const HIDDEN: &str = "•••";

/// Lines of a secret that are shorter say too little, and stand in too much else, to be hidden where they stand alone.
const SHORTEST_LINE: usize = 8;

/// Secret values by name and key, shared by clones. Neither printed nor recorded anywhere.
#[derive(Clone, Default)]
pub struct Secrets {
    values: Arc<BTreeMap<Key, Arc<str>>>,
    /// What is looked for in data, and in what people read: there the lines of those that have several, too. The longest come
    /// first, as one may be part of another.
    in_data: Arc<Vec<Arc<str>>>,
    in_text: Arc<Vec<Arc<str>>>,
}

/// A secret's name and the key within it.
type Key = (Arc<str>, Arc<str>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

impl Secrets {
    /// Adds a secret's value. An empty one hides nothing.
    pub fn insert(
        &mut self,
        name: impl Into<Arc<str>>,
        key: impl Into<Arc<str>>,
        value: impl Into<Arc<str>>,
    ) {
        Arc::make_mut(&mut self.values).insert((name.into(), key.into()), value.into());
        let whole = || self.values.values().filter(|value| !value.is_empty()).map(Arc::clone);
        self.in_data = longest_first(whole().collect());
        self.in_text = longest_first(whole().chain(whole().flat_map(|value| lines(&value))).collect());
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value a reference stands for.
    #[must_use]
    pub fn get(&self, secret: &SecretRef) -> Option<&Arc<str>> {
        self.values.get(&(secret.name.clone(), secret.key.clone()))
    }

    /// `text`, which people read, without any secret, and without lines of secrets that have several.
    #[must_use]
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        hide(&self.in_text, text)
    }

    fn hide_shared(&self, text: &Arc<str>) -> Arc<str> {
        match hide(&self.in_data, text) {
            Cow::Borrowed(_) => Arc::clone(text),
            Cow::Owned(hidden) => hidden.into(),
        }
    }

    /// An outcome without any secret in its message, outputs or detail.
    #[must_use]
    pub fn hide_in(&self, mut outcome: Outcome) -> Outcome {
        if self.is_empty() {
            return outcome;
        }
        outcome.message = self.hide(&outcome.message).into();
        outcome.outputs = outcome.outputs.iter().map(|output| self.hide_output(output)).collect();
        outcome.detail = outcome.detail.map(|detail| self.hide_value(&detail));
        outcome
    }

    fn hide_output(&self, output: &Output) -> Output {
        Output { name: self.hide_shared(&output.name), value: self.hide_value(&output.value) }
    }

    fn hide_value(&self, value: &Value) -> Value {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(text) => Value::String(self.hide_shared(text)),
            Value::Array(items) => items.iter().map(|item| self.hide_value(item)).collect::<Vec<_>>().into(),
            Value::Object(members) => {
                let hidden =
                    members.iter().map(|(key, value)| (self.hide_shared(key), self.hide_value(value)));
                hidden.collect::<Map>().into()
            }
        }
    }
}

fn hide<'t>(secrets: &[Arc<str>], text: &'t str) -> Cow<'t, str> {
    secrets.iter().fold(text.into(), |text: Cow<'t, str>, secret| {
        if text.contains(secret.as_ref()) { text.replace(secret.as_ref(), HIDDEN).into() } else { text }
    })
}

fn longest_first(mut secrets: Vec<Arc<str>>) -> Arc<Vec<Arc<str>>> {
    secrets.sort_unstable_by(|a, b| (Reverse(a.len()), a).cmp(&(Reverse(b.len()), b)));
    secrets.dedup();
    Arc::new(secrets)
}

/// The lines of a secret, as guests write them one by one.
fn lines(value: &str) -> Vec<Arc<str>> {
    let long = value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE);
    long.map(Into::into).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_at_any_depth() {
        let mut secrets = Secrets::default();
        secrets.insert("db", "password", "hunter2");
        secrets.insert("db", "empty", "");
        let value = Value::from_json(r#"{"a":["x hunter2 y"],"hunter2":1}"#).unwrap();
        let outcome = Outcome {
            code: 2,
            message: "login with hunter2 failed".into(),
            outputs: vec![Output::new("o", value.clone())],
            detail: Some(value),
        };
        let hidden = secrets.hide_in(outcome);
        assert_eq!(hidden.message.as_ref(), "login with ••• failed");
        assert_eq!(hidden.outputs.first().unwrap().value.to_json(), r#"{"a":["x ••• y"],"•••":1}"#);
        assert!(!format!("{hidden:?} {secrets:?}").contains("hunter2"));
    }

    /// R-B9: what guests write is cut into lines before anybody can see that they belong together.
    #[test]
    fn lines_of_a_secret_are_hidden_where_they_stand_alone() {
        let mut secrets = Secrets::default();
        secrets.insert("tls", "key", "-----BEGIN-----\r\n  MIIEvQIBADAN\n}\n-----END-----");
        let rows = [
            ("key: MIIEvQIBADAN.", "key: •••."),
            ("-----BEGIN-----", "•••"),
            (r"-----BEGIN-----\nMIIEvQIBADAN\n", r"•••\n•••\n"),
            ("{ a }", "{ a }"),
            ("-----BEGIN-----\r\n  MIIEvQIBADAN\n}\n-----END-----", "•••"),
        ];
        for (text, expected) in rows {
            assert_eq!(secrets.hide(text), expected);
        }
        // What is passed on is not changed for a line that is no secret by itself.
        let outcome = Outcome::default().output("o", "-----BEGIN-----");
        assert_eq!(secrets.hide_in(outcome.clone()).outputs, outcome.outputs);
    }

    #[test]
    fn a_secret_within_another_leaves_nothing_of_it() {
        let mut secrets = Secrets::default();
        secrets.insert("a", "user", "admin");
        secrets.insert("b", "url", "db://admin:pw@host");
        assert_eq!(secrets.hide("at db://admin:pw@host as admin"), "at ••• as •••");
        secrets.insert("b", "url", "other");
        assert_eq!(secrets.hide("other, db://admin:pw@host"), "•••, db://•••:pw@host");
    }
}
