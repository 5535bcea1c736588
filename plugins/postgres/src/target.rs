//! The server, the database and the user.

use std::{collections::BTreeMap, env};

use percent_encoding::percent_decode_str;
use phasm_sdk::prelude::*;

use crate::Task;

const PORT: u16 = 5432;

/// Where to connect, and as which user.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) database: String,
    pub(crate) user: String,
    pub(crate) password: Option<String>,
}

/// The parts of a URL.
#[derive(Default)]
struct Parts {
    host: Option<String>,
    port: Option<u16>,
    database: Option<String>,
    user: Option<String>,
    password: Option<String>,
    sslmode: Option<String>,
}

impl Target {
    pub(crate) fn of(task: &Task) -> Result<Self> {
        let parts = match (&task.url, &task.auth) {
            (Some(_), Some(_)) => {
                return Err(mistake("inputs `url` and `auth` both name a database; write one"));
            }
            (Some(url), None) => Parts::read(url).map_err(|why| mistake(&format!("input `url`: {why}")))?,
            (None, Some(name)) => granted(name)?,
            (None, None) => Parts::default(),
        };
        if let Some(mode) =
            parts.sslmode.as_deref().filter(|mode| !matches!(*mode, "disable" | "allow" | "prefer"))
        {
            return Err(mistake(&format!(
                "`sslmode={mode}`: this executor cannot connect by TLS; use a server or pooler that your network protects, and \
                 `sslmode=disable`"
            )));
        }
        let Some(host) = task.host.clone().or(parts.host).filter(|host| !host.is_empty()) else {
            return Err(mistake("input `host` is missing; expected the server's host, or `url` or `auth`"));
        };
        let user = task.user.clone().or(parts.user).unwrap_or_else(|| "postgres".to_owned());
        let target = Self {
            host,
            port: task.port.or(parts.port).unwrap_or(PORT),
            database: task.database.clone().or(parts.database).unwrap_or_else(|| user.clone()),
            user,
            password: task.password.clone().or(parts.password),
        };
        if [&target.host, &target.database, &target.user].iter().any(|text| text.contains('\0'))
            || task.command.contains('\0')
        {
            return Err(mistake("an input has a character NUL, which PostgreSQL does not know"));
        }
        Ok(target)
    }
}

/// Reads the URL that the operator gave the plugin under this name.
fn granted(name: &str) -> Result<Parts> {
    let url = env::var(name).map_err(|_| {
        let message = format!(
            "input `auth`: this plugin has no database `{name}`; `env = {{ {name} = \"postgres://…\" }}` under `[grants.postgres]` \
             in the host's configuration gives it one"
        );
        Outcome::error(message).kind("grant").retryable(false)
    })?;
    Parts::read(&url).map_err(|why| mistake(&format!("variable `{name}` of the plugin's environment: {why}")))
}

/// An outcome for inputs that do not fit. No message repeats a URL, which may have a password.
fn mistake(message: &str) -> Outcome {
    Outcome::error(message).kind("input").retryable(false)
}

impl Parts {
    /// # Errors
    /// The reason why the text is no URL of a database.
    fn read(url: &str) -> Result<Self, String> {
        let rest = ["postgres://", "postgresql://"].iter().find_map(|scheme| url.trim().strip_prefix(scheme));
        let rest = rest.ok_or("expected `postgres://USER:PASSWORD@HOST:PORT/DATABASE`")?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (user, host),
            None => ("", authority),
        };
        let (user, password) = match user.split_once(':') {
            Some((user, password)) => (user, Some(decoded(password)?)),
            None => (user, None),
        };
        let mut query = settings(query)?;
        let sslmode = query.remove("sslmode");
        if let Some(unknown) = query.keys().next() {
            return Err(format!("unknown setting `{unknown}`; only `sslmode` is known"));
        }
        let (host, port) = host_and_port(host)?;
        let given = |text: &str| decoded(text).map(|text| Some(text).filter(|text| !text.is_empty()));
        Ok(Self {
            host: given(host)?,
            port,
            database: given(database)?,
            user: given(user)?,
            password,
            sslmode,
        })
    }
}

fn decoded(text: &str) -> Result<String, String> {
    let text = percent_decode_str(text).decode_utf8();
    text.map(|text| text.into_owned()).map_err(|_| "a part is not UTF-8 once it is decoded".to_owned())
}

fn settings(query: &str) -> Result<BTreeMap<String, String>, String> {
    let settings = query.split('&').filter(|setting| !setting.is_empty());
    settings
        .map(|setting| {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            Ok((decoded(name)?, decoded(value)?))
        })
        .collect()
}

/// Splits `host:port` and `[::1]:port`.
fn host_and_port(text: &str) -> Result<(&str, Option<u16>), String> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']').ok_or("the `[` of the address has no `]`")?;
            (address, port.strip_prefix(':'))
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    if host.contains(',') || port.is_some_and(|port| port.contains(',')) {
        return Err("several hosts; expected one".to_owned());
    }
    let port = port.map(str::parse).transpose().map_err(|_| "the port is not a number up to 65535")?;
    Ok((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<(String, u16, String, String, Option<String>), String> {
        let parts = Parts::read(url)?;
        Ok((
            parts.host.unwrap_or_default(),
            parts.port.unwrap_or_default(),
            parts.database.unwrap_or_default(),
            parts.user.unwrap_or_default(),
            parts.password,
        ))
    }

    #[test]
    fn parts_of_a_url_are_decoded() {
        let owned = |host: &str, port, database: &str, user: &str, password: Option<&str>| {
            Ok((host.to_owned(), port, database.to_owned(), user.to_owned(), password.map(str::to_owned)))
        };
        assert_eq!(
            read("postgres://ada:s%40c%2Fret@db.example:5433/my%20shop"),
            owned("db.example", 5433, "my shop", "ada", Some("s@c/ret"))
        );
        assert_eq!(read("postgresql://db"), owned("db", 0, "", "", None));
        assert_eq!(read("postgres://ada@[::1]:1/x?sslmode=disable"), owned("::1", 1, "x", "ada", None));
    }

    #[test]
    fn a_message_does_not_repeat_the_url() {
        for url in [
            "mysql://ada:geheim@db/x",
            "postgres://ada:geheim@db:port/x",
            "postgres://ada:geheim@a,b/x",
            "postgres://ada:geheim@[::1/x",
            "postgres://ada:geheim@db/x?target_session_attrs=geheim",
            "postgres://ada:%ff@db/x",
        ] {
            let why = read(url).err();
            assert!(why.as_ref().is_some_and(|why| !why.contains("geheim")), "{url}: {why:?}");
        }
    }
}
