//! Where the database is, as a URL says it; shown without its password.

use std::{
    env, io,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio_postgres::{Config, config::SslMode};

use super::{super::StoreError, tls::Tls};

/// How a URL begins.
pub(super) const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// How long a host is taken to be there after its last heartbeat, unless the URL says otherwise.
const LEASE: Duration = Duration::from_secs(15);
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// A server that is silently gone, or connected and mute, is noticed after this long.
const SILENCE: Duration = Duration::from_secs(20);
/// Slowest connection that records are written over: a mebibyte in a second.
const BYTES_PER_MILLISECOND: usize = 1 << 10;
/// Default of the library where the address asks for no keep-alive.
const NOT_KEPT_ALIVE: Duration = Duration::from_secs(2 * 60 * 60);

const EXPECTED: &str = "expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, with options such as ?sslmode=verify-full \
    behind it, with special characters of a password written as %40";

/// A database, and how to get to it.
pub(super) struct Address {
    pub(super) config: Config,
    /// The namespace of the tables.
    pub(super) schema: String,
    pub(super) tls: Tls,
    pub(super) lease: Duration,
    shown: PathBuf,
}

impl Address {
    /// # Errors
    /// When it is no URL of a database, or an option is not known.
    pub(super) fn parse(url: &str) -> Result<Self, StoreError> {
        let shown = shown(url);
        let wrong = |what: String| StoreError::Io {
            path: PathBuf::from(&shown),
            action: "opened",
            source: io::Error::new(io::ErrorKind::InvalidInput, what).into(),
        };
        let Options { mut mode, mut roots, mut schema, mut lease, rest } = Options::default();
        let (base, options) = url.split_once('?').unwrap_or((url, ""));
        let mut rest: Vec<&str> = rest;
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("sslmode", given)) => mode = given,
                Some(("sslrootcert", given)) => roots = Some(given),
                Some(("schema", given)) => schema = given,
                Some(("lease", given)) => lease = given.parse().ok().map(Duration::from_secs),
                _ => rest.push(option),
            }
        }
        let config = format!("{base}?{}", rest.join("&")).parse::<Config>();
        // The parser's message may contain a part of the password.
        let mut config = config.map_err(|_| wrong(format!("it cannot be understood; {EXPECTED}")))?;
        if !is_plain(schema) {
            return Err(wrong(format!("schema is {schema:?}; expected lower-case letters, digits and `_`")));
        }
        let lease = lease.filter(|lease| (1..=3600).contains(&lease.as_secs()));
        let lease =
            lease.ok_or_else(|| wrong("lease is the time of a lease in seconds, 1 to 3600".into()))?;
        config.ssl_mode(ssl_mode(mode).ok_or_else(|| {
            wrong(format!("sslmode is {mode:?}; expected disable, prefer, require, verify-ca or verify-full"))
        })?);
        let tls = Tls::new(mode, roots.map(Path::new)).map_err(|source| wrong(source.to_string()))?;
        if let Some(password) = env::var_os("PGPASSWORD").filter(|_| config.get_password().is_none()) {
            config.password(password.into_encoded_bytes());
        }
        watchful(&mut config);
        Ok(Self { config, schema: schema.to_owned(), tls, lease, shown: shown.into() })
    }

    /// How long the server may take to answer what has that many bytes.
    pub(super) fn patience(&self, bytes: usize) -> Duration {
        let silence = self.config.get_tcp_user_timeout().copied().unwrap_or(SILENCE);
        silence + Duration::from_millis(u64::try_from(bytes / BYTES_PER_MILLISECOND).unwrap_or(u64::MAX))
    }

    /// Returns the address for messages.
    pub(super) fn path(&self) -> PathBuf {
        self.shown.clone()
    }
}

/// Options of the URL that are handled here, and the rest for the library.
struct Options<'a> {
    mode: &'a str,
    roots: Option<&'a str>,
    schema: &'a str,
    lease: Option<Duration>,
    rest: Vec<&'a str>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { mode: "prefer", roots: None, schema: "phasm", lease: Some(LEASE), rest: Vec::new() }
    }
}

fn ssl_mode(word: &str) -> Option<SslMode> {
    match word {
        "disable" => Some(SslMode::Disable),
        "prefer" => Some(SslMode::Prefer),
        "require" | "verify-ca" | "verify-full" => Some(SslMode::Require),
        _ => None,
    }
}

/// Notices a server that is gone without a word, unless the URL says how.
fn watchful(config: &mut Config) {
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    if config.get_keepalives_idle() == NOT_KEPT_ALIVE {
        config.keepalives_idle(SILENCE / 2).keepalives_interval(SILENCE / 4).keepalives_retries(2);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENCE);
    }
    if config.get_application_name().is_none() {
        config.application_name("phasm");
    }
}

/// A name that needs no quotes.
fn is_plain(name: &str) -> bool {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    (1..=63).contains(&name.len())
        && name.chars().all(word)
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the URL without its password. All text before the last `@` may belong to a password; text that cannot be told from one
/// is left out.
pub(super) fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "the database".to_owned() };
    let place = |rest: &str| {
        let (place, options) = rest.split_once('?').unwrap_or((rest, ""));
        let options =
            options.split('&').filter(|option| !option.is_empty() && !option.starts_with("password"));
        let options: Vec<&str> = options.collect();
        if options.is_empty() { place.to_owned() } else { format!("{place}?{}", options.join("&")) }
    };
    match rest.rsplit_once('@') {
        None => format!("{scheme}://{}", place(rest)),
        Some((before, _)) if before.contains(['?', '#']) => format!("{scheme}://…"),
        Some((before, rest)) => {
            let user = before.split([':', '/', '@']).next().unwrap_or_default();
            format!("{scheme}://{user}@{}", place(rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-H12: a password is never shown, however the URL is mistyped.
    #[test]
    fn an_address_is_shown_without_its_password() {
        let rows = [
            (
                "postgres://phasm:secret@db.example:5432/runs?sslmode=require",
                "postgres://phasm@db.example:5432/runs?sslmode=require",
            ),
            ("postgres://db.example/runs?password=secret", "postgres://db.example/runs"),
            (
                "postgresql://phasm:secret@%2Frun%2Fpostgresql/runs",
                "postgresql://phasm@%2Frun%2Fpostgresql/runs",
            ),
            ("postgres://phasm:se/secret@db/runs", "postgres://phasm@db/runs"),
            ("postgres://phasm:se@secret@db/runs", "postgres://phasm@db/runs"),
            ("postgres://phasm:se?secret@db/runs", "postgres://…"),
            ("secret", "the database"),
        ];
        for (url, expected) in rows {
            assert_eq!(shown(url), expected);
            if let Err(error) = Address::parse(url) {
                assert!(!format!("{error:?}").contains("secret"), "{error:?}");
            }
        }
    }

    #[test]
    fn options_are_checked() {
        let rows = [
            ("sslmode=maybe", "expected disable, prefer, require, verify-ca or verify-full"),
            ("schema=Robert'); DROP", "expected lower-case letters"),
            ("lease=0", "1 to 3600"),
            ("lease=soon", "1 to 3600"),
            ("no_such=1", "expected postgres://USER"),
            ("sslmode=verify-full&sslrootcert=/no/such/file", "/no/such/file"),
        ];
        for (options, expected) in rows {
            let error = Address::parse(&format!("postgres://u@h/d?{options}")).err().unwrap();
            let StoreError::Io { source, .. } = error else { panic!("{error:?}") };
            assert!(source.to_string().contains(expected), "{options}: {source}");
        }
        let address = Address::parse("postgres://u@h/d?schema=other&lease=3&connect_timeout=2")
            .unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!((address.schema.as_str(), address.lease), ("other", Duration::from_secs(3)));
        assert_eq!(address.config.get_connect_timeout(), Some(&Duration::from_secs(2)));
    }
}
