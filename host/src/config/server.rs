//! `[server]`: how `phasm serve --listen` is reached.

use std::path::PathBuf;

use phasm_engine::form::{Cursor, Field, Form, Name, Report, SIZE, TEXT, TEXTS, Table, whole};

use super::{ConfigSource, codes};

static SERVER: Table = Table::closed(
    "server",
    "How `phasm serve --listen` is reached, and the limits of its clients.",
    &[&AUDIT, &BODY, &CONNECTIONS, &HOSTS, &KEYS, &STREAMS, &TLS_CERTIFICATE, &TLS_KEY, &UPLOAD],
    &[],
);

static KEYS: Field<Name> = Field::optional(
    "keys",
    TEXT,
    "The file of API keys, relative to this file; without it `FILE.keys` next to the store's file, else `server.keys` in the user's data directory.",
);
static HOSTS: Field<Vec<Name>> = Field::optional(
    "hosts",
    TEXTS,
    "Names under which the server is reached, in addition to `localhost` and addresses in numbers. Requests under other names are refused.",
)
.or("[]");
static TLS_CERTIFICATE: Field<Name> = Field::optional(
    "tls-certificate",
    TEXT,
    "The certificate and its chain, in PEM, relative to this file; read again when it has changed. Needs `tls-key`.",
);
static TLS_KEY: Field<Name> =
    Field::optional("tls-key", TEXT, "The certificate's private key, in PEM, relative to this file.");
static AUDIT: Field<Name> = Field::optional(
    "audit",
    TEXT,
    "The audit log, one JSON object a line, relative to this file; without it audit entries go to the log.",
);
static BODY: Field<u64> = Field::optional("body", SIZE, "Bytes of a request's body at most.").or("4 MiB");
static CONNECTIONS: Field<u32> =
    Field::optional("connections", COUNT, "Connections at once, of which a key has a third at most. By default at most half of the files that the process may have open.").or("16384");
static STREAMS: Field<u32> =
    Field::optional("streams", COUNT, "Streams of events and logs at once of one key.").or("1024");
static UPLOAD: Field<u64> = Field::optional(
    "upload",
    SIZE,
    "Bytes of an uploaded plugin at most; `component` under `[limits]` applies as well.",
)
.or("64 MiB");

const COUNT: Form<u32> = whole::<u32, 1, 1_000_000>();

/// How `phasm serve --listen` is reached, as configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerSettings {
    /// The file of keys.
    pub keys: Option<PathBuf>,
    /// Names under which the server is reached.
    pub hosts: Vec<String>,
    /// The certificate and its key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Where it is written down who did what.
    pub audit: Option<PathBuf>,
    /// Bytes of a body.
    pub body: Option<u64>,
    /// Connections at once.
    pub connections: Option<u32>,
    /// Streams at once of one key.
    pub streams: Option<u32>,
    /// Bytes of a plugin that is uploaded.
    pub upload: Option<u64>,
}

/// The section as it is written, before its paths are checked.
#[derive(Default)]
pub(super) struct ServerTable {
    keys: Option<Name>,
    hosts: Vec<Name>,
    certificate: Option<Name>,
    key: Option<Name>,
    audit: Option<Name>,
    body: Option<u64>,
    connections: Option<u32>,
    streams: Option<u32>,
    upload: Option<u64>,
}

pub(super) const SERVER_FORM: Form<ServerTable> = Form::new(read, |defs| defs.object(&SERVER));

fn read(cursor: &Cursor<'_>, report: &Report) -> Option<ServerTable> {
    let object = cursor.object(&SERVER, report)?;
    let written = ServerTable {
        keys: object.optional(&KEYS),
        hosts: object.or_default(&HOSTS),
        certificate: object.optional(&TLS_CERTIFICATE),
        key: object.optional(&TLS_KEY),
        audit: object.optional(&AUDIT),
        body: object.optional(&BODY),
        connections: object.optional(&CONNECTIONS),
        streams: object.optional(&STREAMS),
        upload: object.optional(&UPLOAD),
    };
    Some(written)
}

impl ServerTable {
    pub(super) fn settings(&self, around: &ConfigSource<'_>, report: &Report) -> ServerSettings {
        let path = |name: &Option<Name>| name.as_ref().map(|name| around.dir.join(&*name.value));
        let tls = match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => {
                Some((around.dir.join(&*certificate.value), around.dir.join(&*key.value)))
            }
            (Some(alone), None) | (None, Some(alone)) => {
                let message = "one of `tls-certificate` and `tls-key`; expected both, or none";
                report.problem(alone.problem(&codes::HALF_TLS, message).with_hint("name the other one, too"));
                None
            }
            (None, None) => None,
        };
        let hosts = self.hosts.iter().map(|host| host.value.to_string()).collect();
        let (body, connections, streams) = (self.body, self.connections, self.streams);
        ServerSettings {
            keys: path(&self.keys),
            hosts,
            tls,
            audit: path(&self.audit),
            body,
            connections,
            streams,
            upload: self.upload,
        }
    }
}
