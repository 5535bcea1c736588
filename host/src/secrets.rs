//! The operator's secrets: handed to guests, hidden from everybody else.

use std::{collections::BTreeMap, fmt, sync::Arc};

use phasm_engine::{
    outcome::{Outcome, Output},
    plan::SecretRef,
    value::{Map, Value},
};

/// What a secret's text is replaced by.
const HIDDEN: &str = "•••";

/// Secret values by name and key, shared by clones. Neither printed nor recorded anywhere.
#[derive(Clone, Default)]
pub struct Secrets {
    values: Arc<BTreeMap<Key, Arc<str>>>,
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

    /// `text` without any secret.
    #[must_use]
    pub fn hide(&self, text: &str) -> Option<String> {
        let mut hidden: Option<String> = None;
        for secret in self.values.values().filter(|secret| !secret.is_empty()) {
            let current = hidden.as_deref().unwrap_or(text);
            if current.contains(secret.as_ref()) {
                hidden = Some(current.replace(secret.as_ref(), HIDDEN));
            }
        }
        hidden
    }

    /// An outcome without any secret in its message, outputs or detail.
    #[must_use]
    pub fn hide_in(&self, mut outcome: Outcome) -> Outcome {
        if self.is_empty() {
            return outcome;
        }
        if let Some(message) = self.hide(&outcome.message) {
            outcome.message = message.into();
        }
        outcome.outputs = outcome.outputs.into_iter().map(|output| self.hide_output(output)).collect();
        outcome.detail = outcome.detail.map(|detail| self.hide_value(&detail));
        outcome
    }

    fn hide_output(&self, output: Output) -> Output {
        Output {
            name: self.hide(&output.name).map_or(output.name, Into::into),
            value: self.hide_value(&output.value),
        }
    }

    fn hide_value(&self, value: &Value) -> Value {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(text) => self.hide(text).map_or_else(|| value.clone(), Value::from),
            Value::Array(items) => items.iter().map(|item| self.hide_value(item)).collect::<Vec<_>>().into(),
            Value::Object(members) => {
                let hidden = members.iter().map(|(key, value)| {
                    (self.hide(key).map_or_else(|| key.clone(), Into::into), self.hide_value(value))
                });
                hidden.collect::<Map>().into()
            }
        }
    }
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
}
