//! Codes of the problems (`C0…`) and warnings (`C1…`) that only a configuration can have, each with an explanation and an
//! example. Types, fields, words and numbers have the same codes as in workflow files.

use phasm_engine::problem::codes::Entry;

/// Text that is not TOML.
pub static SYNTAX: Entry = Entry {
    code: "C001",
    title: "Text that is not TOML",
    explanation: "The configuration is not valid TOML. Fix the text first; nothing else was checked.",
    wrong: "plugins = [\"../plugins\"",
    right: "plugins = [\"../plugins\"]",
};

/// A guest's path that stands for two directories.
pub static TAKEN_PATH: Entry = Entry {
    code: "C006",
    title: "Guest path that is taken",
    explanation: "A plugin sees each path once: two directories cannot have the same path.",
    wrong: "dirs = [{ host = \"a\", guest = \"/data\" }, { host = \"b\", guest = \"/data\" }]",
    right: "dirs = [{ host = \"a\", guest = \"/data\" }, { host = \"b\", guest = \"/more\" }]",
};

/// A namespace that two tenants have.
pub static TAKEN_NAMESPACE: Entry = Entry {
    code: "C010",
    title: "Namespace of another tenant",
    explanation: "A namespace belongs to one tenant.",
    wrong: "[tenants]\na = { namespaces = [\"prod\"] }\nb = { namespaces = [\"prod\"] }",
    right: "[tenants]\na = { namespaces = [\"prod\"] }\nb = { namespaces = [\"test\"] }",
};

/// A directory of a tenant outside of its root.
pub static OUTSIDE_ROOT: Entry = Entry {
    code: "C011",
    title: "Directory outside of the tenant's folder",
    explanation: "A tenant with a `root` has only directories within it: directories that its plugins are granted are paths relative to that folder, and do not lead out of it.",
    wrong: "[tenants.acme]\nroot = \"acme\"\ngrants = { file = { dirs = [{ host = \"../other\", guest = \"/data\" }] } }",
    right: "[tenants.acme]\nroot = \"acme\"\ngrants = { file = { dirs = [{ host = \"data\", guest = \"/data\" }] } }",
};

/// A text that is no pattern of requests.
pub static NO_PATTERN: Entry = Entry {
    code: "C007",
    title: "Invalid request pattern",
    explanation: "Requests are granted by patterns: optional methods; then `https://` or `http://`; a host, with `*.` before it for its \
                  subdomains; a port if it is not the usual one; and an optional path, with `*` at its end for a prefix.",
    wrong: "[grants.http]\nhttp = [\"api.example.com\"]",
    right: "[grants.http]\nhttp = [\"https://api.example.com\"]",
};

/// A text that is no address or network.
pub static NO_NETWORK: Entry = Entry {
    code: "C008",
    title: "Invalid address or network",
    explanation: "An address is written in numbers, a network as its first address and the number of its fixed bits.",
    wrong: "[grants.http]\nhttp-networks = [\"localhost\"]",
    right: "[grants.http]\nhttp-networks = [\"127.0.0.1\", \"10.1.0.0/16\"]",
};

/// A text that is no pattern of connections.
pub static NO_TCP_PATTERN: Entry = Entry {
    code: "C014",
    title: "Invalid TCP pattern",
    explanation: "TCP connections are granted by patterns: a host, with `*.` before it for its subdomains, or an address (IPv6 in brackets); \
                  then `:` and a port, or `*` for any port. Networks are granted by `tcp-networks`.",
    wrong: "[grants.sql]\ntcp = [\"db.internal\"]",
    right: "[grants.sql]\ntcp = [\"db.internal:5432\"]",
};

/// A file that holds no certificates.
pub static NO_ROOTS: Entry = Entry {
    code: "C009",
    title: "File without certificates",
    explanation: "The file cannot be read, or holds no certificate in PEM, which begins with `-----BEGIN CERTIFICATE-----`.",
    wrong: "[http]\nroots = [\"key.pem\"]",
    right: "[http]\nroots = [\"authority.pem\"]",
};

/// A text that is no public key.
pub static NO_KEY: Entry = Entry {
    code: "C012",
    title: "Invalid public key",
    explanation: "Plugins are signed with minisign keys. A public key is the last line of the file that `phasm plugin keygen` or \
                  `minisign -G` wrote: `RW` and 54 more characters.",
    wrong: "[trust]\nkeys = [\"greet.pub\"]",
    right: "[trust]\nkeys = [\"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\"]",
};

/// A certificate without its key, or a key without its certificate.
pub static HALF_TLS: Entry = Entry {
    code: "C013",
    title: "Certificate without its key",
    explanation: "A TLS server needs both a certificate and its private key.",
    wrong: "[server]\ntls-certificate = \"server.pem\"",
    right: "[server]\ntls-certificate = \"server.pem\"\ntls-key = \"server.key\"",
};

/// A collector that cannot be asked.
pub static NO_COLLECTOR: Entry = Entry {
    code: "C020",
    title: "Invalid collector URL",
    explanation: "Spans are sent to a collector by OTLP over HTTP: its URL has `http://` or `https://`, a host, a port if it is not the \
                  usual one, and a path if it has one; names of headers are letters, digits and `-`.",
    wrong: "[telemetry]\notlp = \"localhost:4317\"",
    right: "[telemetry]\notlp = \"http://localhost:4318\"",
};

/// A name that no endpoint may have.
pub static NO_ENDPOINT_NAME: Entry = Entry {
    code: "C021",
    title: "Invalid endpoint name",
    explanation: "The endpoint's name is part of the id of every delivery: it has up to 40 lower-case letters, digits and `-`.",
    wrong: "[notify.\"Our chat\"]\nurl = \"https://hooks.example.com\"\nsecrets = [{ env = \"HOOK\" }]",
    right: "[notify.our-chat]\nurl = \"https://hooks.example.com\"\nsecrets = [{ env = \"HOOK\" }]",
};

/// A text that is no URL to post to.
pub static NO_ENDPOINT_URL: Entry = Entry {
    code: "C022",
    title: "Invalid webhook URL",
    explanation: "Notifications are posted to a URL with `https://` or `http://` and a host. It has no user name, because a password would \
                  then be in the configuration; notifications are signed instead.",
    wrong: "[notify.chat]\nurl = \"hooks.example.com\"\nsecrets = [{ env = \"HOOK\" }]",
    right: "[notify.chat]\nurl = \"https://hooks.example.com/phasm\"\nsecrets = [{ env = \"HOOK\" }]",
};

/// A text that is no signing secret.
pub static NO_SIGNING_SECRET: Entry = Entry {
    code: "C023",
    title: "Invalid signing secret",
    explanation: "Notifications are signed by Standard Webhooks, with a secret that both sides share: `whsec_` and 24 to 64 random bytes in \
                  base64. `echo whsec_$(openssl rand -base64 32)` makes one.",
    wrong: "HOOK=hunter2",
    right: "HOOK=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
};

/// A bucket for artifacts that cannot be one.
pub static NO_BUCKET: Entry = Entry {
    code: "C030",
    title: "Invalid bucket",
    explanation: "A bucket for artifacts has the URL of its service, a name by the rules of S3, and may have a prefix of plain characters. A program that was \
                  built without HTTP has no buckets.",
    wrong: "[artifacts.bucket]\nendpoint = \"s3.example.com\"\nname = \"files\"\nregion = \"eu\"\naccess-key-id = \"A\"\nsecret-access-key = { env = \"S3_KEY\" }",
    right: "[artifacts.bucket]\nendpoint = \"https://s3.example.com\"\nname = \"files\"\nregion = \"eu\"\naccess-key-id = \"A\"\nsecret-access-key = { env = \"S3_KEY\" }",
};

/// A secret whose source is not there.
pub static NO_SECRET: Entry = Entry {
    code: "C102",
    title: "Secret whose source is missing",
    explanation: "The environment variable is not set, or the file cannot be read. Runs that do not use the secret \
                  are not affected; an attempt that does ends with code 3.",
    wrong: "db = { password = { env = \"NOT_SET\" } }",
    right: "db = { password = { env = \"DB_PASSWORD\" } }",
};

/// A granted directory that is not there.
pub static NO_DIRECTORY: Entry = Entry {
    code: "C103",
    title: "Granted directory that does not exist",
    explanation: "Attempts of the plugin end with code 3 until the directory exists; with `create = true` it is created before a run.",
    wrong: "dirs = [{ host = \"out\", guest = \"/out\", mode = \"rw\" }]",
    right: "dirs = [{ host = \"out\", guest = \"/out\", mode = \"rw\", create = true }]",
};

/// Grants for a plugin that is not installed.
pub static UNKNOWN_PLUGIN: Entry = Entry {
    code: "C104",
    title: "Grants for an unknown plugin",
    explanation: "Grants are given to plugins by name; no plugin has this one.",
    wrong: "[grants.fiel]",
    right: "[grants.file]",
};

/// A limit that is above one that counts.
pub static ABOVE_OTHERS: Entry = Entry {
    code: "C105",
    title: "Limit that bounds nothing",
    explanation: "Limits of a tenant or a plugin can only lower the limits of `[limits]`, of `[http]` and, for a tenant's plugins, of the tenant: \
                  the smallest one counts.",
    wrong: "[limits]\nmemory = \"64 MiB\"\n[tenants.acme]\nlimits = { memory = \"1 GiB\" }",
    right: "[limits]\nmemory = \"1 GiB\"\n[tenants.acme]\nlimits = { memory = \"64 MiB\" }",
};

/// All entries, by code.
pub static ENTRIES: &[&Entry] = &[
    &SYNTAX,
    &TAKEN_PATH,
    &NO_PATTERN,
    &NO_NETWORK,
    &NO_ROOTS,
    &TAKEN_NAMESPACE,
    &OUTSIDE_ROOT,
    &NO_KEY,
    &HALF_TLS,
    &NO_TCP_PATTERN,
    &NO_COLLECTOR,
    &NO_ENDPOINT_NAME,
    &NO_ENDPOINT_URL,
    &NO_SIGNING_SECRET,
    &NO_BUCKET,
    &NO_SECRET,
    &NO_DIRECTORY,
    &UNKNOWN_PLUGIN,
    &ABOVE_OTHERS,
];

/// The entry of `code`, in either case.
#[must_use]
pub fn find(code: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.code.eq_ignore_ascii_case(code)).copied()
}
