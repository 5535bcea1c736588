//! `[secrets]`: values by name and key, from the environment or files.

use std::sync::Arc;

use phasm_engine::{
    form::{Cursor, Field, Form, Name, Object, Report, Rule, TEXT, TEXTS, Table},
    tree::Key,
};
use serde_json::json;

use super::{ConfigSource, codes, http};
use crate::secrets::Secrets;
use phasm_files::read_regular_text;

/// The longest secret in a file, in bytes: a longer one is not recognised in what guests write.
const MAX_SECRET_BYTES: u64 = 64 << 10;

static SOURCE: Table = Table::closed(
    "source",
    "The source of a secret's value.",
    &[&VARIABLE, &FILE, &EGRESS],
    &[Rule::ExactlyOne(&["env", "file"])],
);

pub(super) static VARIABLE: Field<Name> =
    Field::optional("env", TEXT, "The environment variable that holds it.");
pub(super) static FILE: Field<Name> = Field::optional(
    "file",
    TEXT,
    "The file that holds it, of up to 64 KiB, relative to this file; a newline at its end is not part of it.",
);

static EGRESS: Field<Vec<Name>> = Field::optional(
    "egress",
    TEXTS,
    "Patterns of the requests that the secret is for. Plugins then get a placeholder, which the host replaces in headers and bodies of such requests.",
);

/// A secret as written.
pub(super) struct Secret {
    name: Arc<str>,
    key: Arc<str>,
    egress: Option<Vec<Name>>,
    source: SecretSource,
}

/// Where a value is.
pub(super) enum SecretSource {
    Env(Name),
    File(Name),
}

/// Sources by name and key.
pub(super) const SECRETS: Form<Vec<Secret>> = Form::new(
    |cursor, report| {
        let names = cursor.each_member(report)?;
        Some(names.flat_map(|(name, keys)| of_name(name, &keys, report)).collect())
    },
    |defs| {
        let keys = json!({ "type": "object", "additionalProperties": defs.object(&SOURCE) });
        json!({ "type": "object", "additionalProperties": keys })
    },
);

fn of_name(name: &Key, keys: &Cursor<'_>, report: &Report) -> Vec<Secret> {
    let secret = |(key, cursor): (&Key, Cursor<'_>)| {
        let object = cursor.object(&SOURCE, report)?;
        let (egress, source) = (object.optional(&EGRESS), SecretSource::read(&object)?);
        Some(Secret { name: name.name.clone(), key: key.name.clone(), egress, source })
    };
    keys.each_member(report).into_iter().flatten().filter_map(secret).collect()
}

impl SecretSource {
    pub(super) fn read(object: &Object<'_, '_>) -> Option<Self> {
        let env = object.optional(&VARIABLE).map(Self::Env);
        env.or(object.optional(&FILE).map(Self::File))
    }

    pub(super) fn value(&self, around: &ConfigSource<'_>) -> Result<String, String> {
        match self {
            Self::Env(name) => from_env(&name.value, around),
            Self::File(name) => from_file(&name.value, around),
        }
    }

    pub(super) fn written(&self) -> &Name {
        match self {
            Self::Env(name) | Self::File(name) => name,
        }
    }
}

impl Secret {
    /// Looks the value up; that it is not there is a warning.
    pub(super) fn look_up(&self, around: &ConfigSource<'_>, secrets: &mut Secrets, report: &Report) {
        match self.source.value(around) {
            Ok(value) => self.insert(value, secrets, report),
            Err(why) => {
                let message = format!("{why}; expected the secret's value");
                report.warning(self.source.written().problem(&codes::NO_SECRET, message));
            }
        }
    }
}

impl Secret {
    fn insert(&self, value: String, secrets: &mut Secrets, report: &Report) {
        let (name, key) = (self.name.clone(), self.key.clone());
        match &self.egress {
            None => secrets.insert(name, key, value),
            Some(to) => secrets.insert_for(name, key, value, http::patterns(to, report)),
        }
    }
}

fn from_env(name: &str, around: &ConfigSource<'_>) -> Result<String, String> {
    let reason = match (around.env)(name).map(std::ffi::OsString::into_string) {
        Some(Ok(value)) => return Ok(value),
        Some(Err(_)) => "is not text",
        None => "is not set",
    };
    Err(format!("the environment variable {name} {reason}"))
}

/// Without the newline that editors put at the end: it is hardly ever part of the secret, and would keep the secret from
/// being recognised, and hidden, where it stands in a line.
fn from_file(name: &str, around: &ConfigSource<'_>) -> Result<String, String> {
    let path = around.dir.join(name);
    let mut text = read_regular_text(&path, MAX_SECRET_BYTES)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    if text.ends_with('\n') {
        text.pop();
    }
    if text.ends_with('\r') {
        text.pop();
    }
    Ok(text)
}
