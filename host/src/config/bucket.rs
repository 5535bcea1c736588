//! `[artifacts.bucket]`: a bucket for artifacts, instead of a directory.

use std::sync::Arc;

use phasm_engine::form::{Field, Form, Name, Report, SIZE, TEXT, Table, word};

use super::{
    ConfigSource, codes,
    notify::is_url,
    secrets::{SECRET_SOURCE, SecretSource},
};
use phasm_artifacts::{Addressing, BucketConfig};
use phasm_sandbox::{AwsSigning, HttpConfig, SigningKey};

static BUCKET: Table = Table::closed(
    "bucket",
    "A bucket on AWS, or on a server with the API of S3. Hosts that share a database share it.",
    &[&ENDPOINT, &NAME, &PREFIX, &ADDRESSING, &REGION, &ACCESS_KEY_ID, &SECRET_ACCESS_KEY, &CACHE],
    &[],
);

static ENDPOINT: Field<Name> = Field::required(
    "endpoint",
    "the URL of the service",
    TEXT,
    "The URL of the service, such as `https://s3.eu-central-1.amazonaws.com`. It may be on an internal network.",
);
static NAME: Field<Name> = Field::required("name", "the name of the bucket", TEXT, "The name of the bucket.");
static PREFIX: Field<Name> = Field::optional(
    "prefix",
    TEXT,
    "The beginning of all keys, such as `phasm`; without it, keys begin with a namespace.",
);
static ADDRESSING: Field<Addressing> = Field::optional(
    "addressing",
    word(),
    "How URLs name the bucket: as the first part of their `path`, or of their `host`.",
)
.or("path");
static REGION: Field<Name> = Field::required(
    "region",
    "the region of the bucket",
    TEXT,
    "The region in signatures, such as `eu-central-1`. Most servers that are not AWS's take any.",
);
static ACCESS_KEY_ID: Field<Name> =
    Field::required("access-key-id", "the id of the key", TEXT, "The id of the key that signs requests.");
static SECRET_ACCESS_KEY: Field<SecretSource> = Field::required(
    "secret-access-key",
    "the source of the key, as `{ env = \"S3_KEY\" }`",
    KEY,
    "The source of the secret access key. It may list, read, write and delete objects.",
);
static CACHE: Field<u64> = Field::optional(
    "cache",
    SIZE,
    "Bytes of content that this host keeps in `directory`, so that several attempts fetch it once.",
)
.or("4 GiB");

const KEY: Form<SecretSource> = Form::new(
    |cursor, report| SecretSource::read(&cursor.object(&SECRET_SOURCE, report)?),
    |defs| defs.object(&SECRET_SOURCE),
);

/// A bucket as written.
pub(super) struct BucketTable {
    endpoint: Name,
    name: Name,
    prefix: Option<Name>,
    addressing: Addressing,
    region: Name,
    access_key_id: Name,
    secret_access_key: SecretSource,
    cache: u64,
}

pub(super) const BUCKET_FORM: Form<BucketTable> = Form::new(
    |cursor, report| {
        let object = cursor.object(&BUCKET, report)?;
        let (endpoint, name) = (object.optional(&ENDPOINT), object.optional(&NAME));
        let (region, id) = (object.optional(&REGION), object.optional(&ACCESS_KEY_ID));
        let (prefix, key) = (object.optional(&PREFIX), object.optional(&SECRET_ACCESS_KEY));
        // Before a missing field ends this: every fault is reported at once.
        endpoint.iter().for_each(|endpoint| check_endpoint(endpoint, report));
        name.iter().for_each(|name| check_name(name, report));
        prefix.iter().for_each(|prefix| check_prefix(prefix, report));
        Some(BucketTable {
            prefix,
            addressing: object.or_default(&ADDRESSING),
            cache: object.or_default(&CACHE),
            endpoint: endpoint?,
            name: name?,
            region: region?,
            access_key_id: id?,
            secret_access_key: key?,
        })
    },
    |defs| defs.object(&BUCKET),
);

impl BucketTable {
    /// Returns the bucket. A key that is not there is a warning: the bucket then refuses requests.
    pub(super) fn config(
        &self,
        around: &ConfigSource<'_>,
        http: &HttpConfig,
        report: &Report,
    ) -> BucketConfig {
        let secret = self.secret_access_key.value(around).unwrap_or_else(|why| {
            let message = format!("{why}; expected the secret access key of the bucket");
            report.warning(self.secret_access_key.written().problem(&codes::NO_SECRET, message));
            String::new()
        });
        let signing = AwsSigning {
            access_key_id: Arc::clone(&self.access_key_id.value),
            region: Arc::clone(&self.region.value),
            service: "s3".into(),
        };
        BucketConfig {
            endpoint: Arc::clone(&self.endpoint.value),
            name: Arc::clone(&self.name.value),
            addressing: self.addressing,
            prefix: self.prefix.as_ref().map(|prefix| Arc::clone(&prefix.value)).unwrap_or_default(),
            key: SigningKey { signing, secret: secret.into() },
            cache_bytes: self.cache,
            http: http.clone(),
        }
    }
}

/// Reports an endpoint that cannot be one, or that this program cannot use.
fn check_endpoint(endpoint: &Name, report: &Report) {
    if !cfg!(feature = "http") {
        let message = "this program was built without HTTP (the feature `http`); expected `directory`";
        report.problem(endpoint.problem(&codes::NO_BUCKET, message));
    }
    if !is_url(&endpoint.value) || endpoint.value.contains(['?', '#']) {
        let message =
            "no URL of a service; expected `https://` or `http://`, and a host without a user and a password";
        report.problem(endpoint.problem(&codes::NO_BUCKET, message));
    }
}

fn check_name(name: &Name, report: &Report) {
    if !(3..=63).contains(&name.value.len()) || !name.value.chars().all(is_plain) {
        let message =
            format!("`{}` is no name of a bucket; expected 3 to 63 of a-z, 0-9, `-` and `.`", name.value);
        report.problem(name.problem(&codes::NO_BUCKET, message));
    }
}

fn check_prefix(prefix: &Name, report: &Report) {
    if prefix.value.len() > 200 || !prefix.value.chars().all(|c| is_plain(c) || c == '/') {
        let message = format!(
            "`{}` is no beginning of keys; expected up to 200 letters, digits, `-`, `.`, `_` and `/`",
            prefix.value
        );
        report.problem(prefix.problem(&codes::NO_BUCKET, message));
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._".contains(c)
}
