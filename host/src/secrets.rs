//! The operator's secrets: handed to guests, hidden from everybody else.

mod forms;
mod matcher;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    sync::{Arc, OnceLock},
};

use phasm_engine::{
    outcome::{Outcome, Output},
    plan::SecretRef,
    value::{Map, Number, Value},
};
use uuid::Uuid;

use phasm_sandbox::{AwsSigning, EgressSecret, HttpPattern};

use self::{
    forms::Form,
    matcher::{HIDDEN, Matcher},
};

/// Lines of a secret that are shorter say too little, and stand in too much else, to be hidden where they stand alone: in what
/// people read, and in data that is passed on.
const MIN_LINE_CHARS: (usize, usize) = (8, 16);

/// The first and last line of an armoured key are the same in all keys.
const ARMOUR: &str = "-----";

/// Up to here doubles tell all whole numbers apart.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Secret values by name and key, shared by clones. Neither printed nor recorded anywhere.
#[derive(Clone, Default)]
pub struct Secrets(Arc<Vault>);

#[derive(Clone, Default)]
struct Vault {
    values: BTreeMap<Key, Arc<str>>,
    /// Secrets for which guests hold a placeholder as the value.
    egress: BTreeMap<Key, EgressSecret>,
    /// Made when it is first needed.
    sought: OnceLock<Arc<SearchForms>>,
}

/// The forms that are searched for.
struct SearchForms {
    /// In what people read.
    in_text: Matcher,
    /// In what is passed on.
    in_data: Matcher,
    /// Secrets that are numbers.
    numbers: Vec<f64>,
    /// Secrets of several lines.
    of_lines: Vec<String>,
}

/// A secret's name and the key within it.
type Key = (Arc<str>, Arc<str>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.values.keys()).finish()
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
        let place = (name.into(), key.into());
        let known = Arc::make_mut(&mut self.0);
        known.egress.remove(&place);
        known.values.insert(place, value.into());
        known.sought = OnceLock::new();
    }

    /// Adds a secret that guests get a placeholder of, which the host replaces in requests `to` where it belongs. The placeholder
    /// is another in each process, and hidden as the value is.
    pub fn insert_for(
        &mut self,
        name: impl Into<Arc<str>>,
        key: impl Into<Arc<str>>,
        value: impl Into<Arc<str>>,
        to: impl Into<Arc<[HttpPattern]>>,
    ) {
        self.insert_egress(name.into(), key.into(), value.into(), to.into(), None);
    }

    /// Adds a secret access key, with which the host signs requests `to` where it belongs. Guests get a placeholder of it, and their
    /// attempts are those whose requests are signed.
    pub fn insert_signing(
        &mut self,
        name: impl Into<Arc<str>>,
        key: impl Into<Arc<str>>,
        value: impl Into<Arc<str>>,
        to: impl Into<Arc<[HttpPattern]>>,
        signing: AwsSigning,
    ) {
        self.insert_egress(name.into(), key.into(), value.into(), to.into(), Some(signing));
    }

    fn insert_egress(
        &mut self,
        name: Arc<str>,
        key: Arc<str>,
        value: Arc<str>,
        to: Arc<[HttpPattern]>,
        signing: Option<AwsSigning>,
    ) {
        let placeholder: Arc<str> =
            format!("phasm-{}{}", Uuid::now_v7().simple(), Uuid::now_v7().simple()).into();
        let named = format!("{name}/{key}").into();
        let secret =
            EgressSecret { name: named, placeholder: placeholder.clone(), value, to, tenant: None, signing };
        let known = Arc::make_mut(&mut self.0);
        known.values.insert((name.clone(), key.clone()), placeholder);
        known.egress.insert((name, key), secret);
        known.sought = OnceLock::new();
    }

    /// These, and those of `others` that are called otherwise.
    pub(crate) fn and(&self, others: &Self) -> Self {
        let mut all = others.clone();
        if !self.is_empty() {
            let known = Arc::make_mut(&mut all.0);
            known.egress.retain(|place, _| !self.0.values.contains_key(place));
            known.egress.extend(self.0.egress.iter().map(|(place, secret)| (place.clone(), secret.clone())));
            known
                .values
                .extend(self.0.values.iter().map(|(place, value)| (place.clone(), Arc::clone(value))));
            known.sought = OnceLock::new();
        }
        all
    }

    /// Secrets for which guests hold a placeholder.
    pub(crate) fn egress(&self) -> impl Iterator<Item = &EgressSecret> {
        self.0.egress.values()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.values.is_empty()
    }

    /// The value that a guest receives for a reference: the secret, or its placeholder.
    #[must_use]
    pub fn get(&self, secret: &SecretRef) -> Option<&Arc<str>> {
        self.0.values.get(&(secret.name.clone(), secret.key.clone()))
    }

    /// `text`, which people read, without any secret in any of the forms in which it usually stands, and without lines of secrets that
    /// have several.
    #[must_use]
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.sought().map_or(text.into(), |sought| sought.in_text.hide(text))
    }

    /// Whether lines that end `text` may be the beginning of a secret of several lines.
    pub(crate) fn may_go_on(&self, text: &str) -> bool {
        let goes_on = |secret: &String| {
            let ends = secret.match_indices('\n').filter_map(|(at, _)| secret.get(..=at));
            { ends }.any(|begun| text.ends_with(begun))
        };
        self.sought().is_some_and(|sought| sought.of_lines.iter().any(goes_on))
    }

    /// An outcome without any secret in its message, outputs or detail.
    #[must_use]
    pub fn hide_in(&self, mut outcome: Outcome) -> Outcome {
        let Some(sought) = self.sought() else { return outcome };
        outcome.message = self.hide(&outcome.message).into();
        outcome.outputs = outcome.outputs.iter().map(|output| sought.hide_output(output)).collect();
        outcome.detail = outcome.detail.map(|detail| sought.hide_value(&detail));
        outcome
    }

    fn sought(&self) -> Option<&SearchForms> {
        (!self.is_empty()).then(|| &**self.0.sought.get_or_init(|| Arc::new(SearchForms::of(&self.0.all()))))
    }
}

impl Vault {
    /// Values and placeholders.
    fn all(&self) -> Vec<&Arc<str>> {
        self.values.values().chain(self.egress.values().map(|secret| &secret.value)).collect()
    }
}

impl SearchForms {
    fn of(values: &[&Arc<str>]) -> Self {
        let lines = |is_line: fn(&&str) -> bool| {
            let lines = values.iter().flat_map(|value| value.lines().map(str::trim)).filter(is_line);
            lines.map(|line| Form::from(line.to_owned())).collect::<Vec<_>>()
        };
        let whole: Vec<_> = values.iter().flat_map(|value| forms::of(value)).collect();
        let ends = values.iter().flat_map(|value| forms::line_ends(value));
        Self {
            in_text: Matcher::new([lines(|line| line.len() >= MIN_LINE_CHARS.0), whole.clone()].concat()),
            in_data: Matcher::new(
                [lines(|line| line.len() >= MIN_LINE_CHARS.1 && !line.starts_with(ARMOUR)), whole].concat(),
            ),
            numbers: values.iter().filter_map(|value| value.trim().parse().ok()).collect(),
            of_lines: ends.filter(|value| value.contains('\n')).collect(),
        }
    }

    fn hide_shared(&self, text: &Arc<str>) -> Arc<str> {
        match self.in_data.hide(text) {
            Cow::Borrowed(_) => Arc::clone(text),
            Cow::Owned(hidden) => hidden.into(),
        }
    }

    fn hide_output(&self, output: &Output) -> Output {
        Output { name: self.hide_shared(&output.name), value: self.hide_value(&output.value) }
    }

    fn hide_value(&self, value: &Value) -> Value {
        match value {
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(number) => {
                if self.is_secret(number) {
                    HIDDEN.into()
                } else {
                    value.clone()
                }
            }
            Value::String(text) => Value::String(self.hide_shared(text)),
            Value::Array(items) => items.iter().map(|item| self.hide_value(item)).collect::<Vec<_>>().into(),
            Value::Object(members) => {
                let hidden =
                    members.iter().map(|(key, value)| (self.hide_shared(key), self.hide_value(value)));
                hidden.collect::<Map>().into()
            }
        }
    }

    /// Whether a number is the one that a secret says, however it is written.
    fn is_secret(&self, number: &Number) -> bool {
        !self.numbers.is_empty()
            && (matches!(self.in_data.hide(&number.to_string()), Cow::Owned(hidden) if hidden == HIDDEN)
                || number
                    .as_f64()
                    .is_some_and(|number| number.abs() <= EXACT && self.numbers.contains(&number)))
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
            ..Outcome::default()
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
        // A guest may hold the armour line of any key, so the line alone is not hidden.
        secrets.insert(
            "tls",
            "key",
            "-----BEGIN PRIVATE KEY-----\nkind: Config\nMIIEvQIBADANBgkqhkiG\n-----END PRIVATE KEY-----",
        );
        let rows = [
            ("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----"),
            ("kind: Config", "kind: Config"),
            ("key MIIEvQIBADANBgkqhkiG", "key •••"),
        ];
        for (text, expected) in rows {
            assert_eq!(in_output(&secrets, text.into()), expected.into());
        }
    }

    fn in_output(secrets: &Secrets, value: Value) -> Value {
        secrets.hide_in(Outcome::default().output("o", value)).outputs.first().unwrap().value.clone()
    }

    /// R-B9.
    #[test]
    fn a_secret_is_hidden_in_every_usual_form() {
        let mut secrets = Secrets::default();
        secrets.insert("db", "pw", "p\"w/ö d7\n");
        secrets.insert("db", "token", "s3cr3t-t0k3n-0123456789");
        let rows = [
            (r#"p"w/ö d7"#, "•••"),
            (r#"{"a":"p\"w/ö d7"}"#, r#"{"a":"•••"}"#),
            (r#"{"a":"p\"w\/\u00f6 d7\n"}"#, r#"{"a":"•••\n"}"#),
            (r#"{"a":"p\"w/\u00f6 d7\n"}"#, r#"{"a":"•••\n"}"#),
            ("?q=p%22w%2F%C3%B6%20d7&r", "?q=•••&r"),
            ("?q=p%22w%2f%c3%b6+d7", "?q=•••"),
            ("70 2277 2f", "70 2277 2f"),
            ("x7022772fc3b6206437x", "x•••x"),
            // Alone, behind `u:` and behind `us:`, before `!`.
            ("Basic czNjcjN0LXQwazNuLTAxMjM0NTY3ODk=", "Basic •••="),
            ("Basic dTpzM2NyM3QtdDBrM24tMDEyMzQ1Njc4OQ==", "Basic dT•••=="),
            ("Basic dXM6czNjcjN0LXQwazNuLTAxMjM0NTY3ODkh", "Basic dXM6•••h"),
        ];
        for (text, expected) in rows {
            assert_eq!(secrets.hide(text), expected);
            assert_eq!(in_output(&secrets, text.into()), expected.into());
        }
    }

    /// R-B9.
    #[test]
    fn a_secret_that_is_a_number_is_hidden_as_one() {
        let mut secrets = Secrets::default();
        secrets.insert("a", "pin", "0481516\n");
        secrets.insert("a", "id", "12345678901234567890");
        let value =
            Value::from_json(r#"[481516, 481516.0, 4815160, 12345678901234567890, 12345678901234567891, 3]"#)
                .unwrap();
        let expected = r#"["•••","•••",4815160,"•••",12345678901234567891,3]"#;
        assert_eq!(in_output(&secrets, value).to_json(), expected);
    }

    #[test]
    fn lines_that_may_go_on_to_be_a_secret_are_known() {
        let mut secrets = Secrets::default();
        assert!(!secrets.may_go_on("ab\n"));
        secrets.insert("a", "k", "ab\ncd\r\nef\n");
        for (text, goes_on) in [
            ("x ab\n", true),
            ("ab\ncd\n", true),
            ("ab\r\ncd\r\n", true),
            ("ab\nc\n", false),
            ("cd\n", false),
            ("", false),
        ] {
            assert_eq!(secrets.may_go_on(text), goes_on, "{text:?}");
        }
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
