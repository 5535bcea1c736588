//! `[secrets]`: values by name and key, from the environment or files.

use std::sync::Arc;

use phasm_engine::{
    form::{Cursor, Field, Form, Name, Object, Refusal, Report, Rule, TEXT, TEXTS, Table, When, Words, word},
    problem::codes::shape,
    tree::Key,
};
use serde_json::json;

use super::{ConfigSource, codes, http};
use crate::secrets::Secrets;
use phasm_files::read_regular_text;
use phasm_sandbox::AwsSigning;

/// The longest secret in a file, in bytes: a longer one is not recognised in what guests write.
const MAX_SECRET_BYTES: u64 = 64 << 10;

static SOURCE: Table = Table::closed(
    "source",
    "The source of a secret's value.",
    &[&VARIABLE, &FILE, &EGRESS, &SIGN, &ACCESS_KEY_ID, &REGION, &SERVICE],
    &[
        Rule::ExactlyOne(&["env", "file"]),
        Rule::Needed {
            field: "egress",
            when: When::With("sign"),
            expected: "patterns of the requests to sign",
        },
        Rule::Needed { field: "access-key-id", when: When::With("sign"), expected: "the id of the key" },
        Rule::Needed { field: "region", when: When::With("sign"), expected: "the region of the service" },
        Rule::Refused(Refusal {
            fields: &["access-key-id", "region", "service"],
            when: When::Without(&["sign"]),
            entry: &shape::NOT_ALLOWED,
            why: "is of a key that signs requests",
            hint: "add `sign = \"aws-sigv4\"`",
        }),
    ],
);

static VARIABLE: Field<Name> = Field::optional("env", TEXT, "The environment variable that holds it.");
static FILE: Field<Name> = Field::optional(
    "file",
    TEXT,
    "The file that holds it, of up to 64 KiB, relative to this file; a newline at its end is not part of it.",
);

pub(super) static SECRET_SOURCE: Table = Table::closed(
    "secret-source",
    "The source of a secret that no plugin gets.",
    &[&VARIABLE, &FILE],
    &[Rule::ExactlyOne(&["env", "file"])],
);

static EGRESS: Field<Vec<Name>> = Field::optional(
    "egress",
    TEXTS,
    "Patterns of the requests that the secret is for. Plugins then get a placeholder, which the host replaces in headers and bodies of such requests.",
);

static SIGN: Field<Signature> = Field::optional(
    "sign",
    word(),
    "The host signs requests that `egress` covers with the secret, which is a secret access key, and puts it into none.",
);
static ACCESS_KEY_ID: Field<Name> =
    Field::optional("access-key-id", TEXT, "The id of the key; required with `sign`.");
static REGION: Field<Name> = Field::optional(
    "region",
    TEXT,
    "The region in signatures, such as `eu-central-1`; required with `sign`.",
);
static SERVICE: Field<Name> = Field::optional("service", TEXT, "The service in signatures.").or("s3");

/// Scheme of signatures.
#[derive(Clone, Copy)]
enum Signature {
    /// AWS Signature Version 4.
    AwsV4,
}

impl Words for Signature {
    const WORDS: &'static [(&'static str, Self)] = &[("aws-sigv4", Self::AwsV4)];
}

/// A secret as written.
pub(super) struct Secret {
    name: Arc<str>,
    key: Arc<str>,
    egress: Option<Vec<Name>>,
    signing: Option<AwsSigning>,
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
        let signing = signing(&object);
        Some(Secret { name: name.name.clone(), key: key.name.clone(), egress, signing, source })
    };
    keys.each_member(report).into_iter().flatten().filter_map(secret).collect()
}

/// Returns how the secret signs requests, if it does.
fn signing(object: &Object<'_, '_>) -> Option<AwsSigning> {
    let text = |field| object.optional(field).map(|name: Name| name.value);
    let (id, region, service) = (text(&ACCESS_KEY_ID), text(&REGION), text(&SERVICE));
    object.optional(&SIGN).map(|Signature::AwsV4| AwsSigning {
        access_key_id: id.unwrap_or_default(),
        region: region.unwrap_or_default(),
        service: service.unwrap_or_else(|| "s3".into()),
    })
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
            Some(to) => {
                let to = http::patterns(to, report);
                match self.signing.clone() {
                    None => secrets.insert_for(name, key, value, to),
                    Some(signing) => secrets.insert_signing(name, key, value, to, signing),
                }
            }
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
