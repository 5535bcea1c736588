//! Credentials for registries, from `docker login`.

use std::{collections::BTreeMap, env, io::ErrorKind, path::PathBuf};

use phasm_files::read_regular_text;
use serde::Deserialize;

const MAX_FILE_BYTES: u64 = 1 << 20;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct DockerConfig {
    auths: BTreeMap<String, Auth>,
    creds_store: Option<String>,
    cred_helpers: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Auth {
    auth: Option<String>,
}

/// Returns the authorization header for that host, if there are credentials.
///
/// # Errors
/// When the file cannot be read, or has them elsewhere.
pub(super) fn of(host: &str) -> Result<Option<String>, String> {
    let Some(path) = path() else { return Ok(None) };
    let text = match read_regular_text(&path, MAX_FILE_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    // Its text is not shown: it holds passwords.
    let config: DockerConfig = serde_json::from_str(&text)
        .map_err(|_| format!("{} is not a configuration of docker's", path.display()))?;
    found(&config, host).map_err(|why| format!("{}: {why}", path.display()))
}

fn found(config: &DockerConfig, host: &str) -> Result<Option<String>, String> {
    let own = [host.to_owned(), format!("https://{host}"), format!("http://{host}")];
    let auth = own.iter().find_map(|name| config.auths.get(name));
    if let Some(auth) = auth.and_then(|auth| auth.auth.as_deref()).filter(|auth| !auth.is_empty()) {
        let is_plain = auth.bytes().all(|b| b.is_ascii_graphic());
        return if is_plain {
            Ok(Some(format!("Basic {auth}")))
        } else {
            Err(format!("`auth` of {host} is not valid"))
        };
    }
    let helped = config.cred_helpers.contains_key(host) || auth.is_some() && config.creds_store.is_some();
    if helped {
        return Err(format!(
            "the password for {host} is kept by a credential helper of docker, which is not supported; expected `auth` below `auths`"
        ));
    }
    Ok(None)
}

fn path() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let dir = set("DOCKER_CONFIG").or_else(|| Some(set("HOME")?.join(".docker")))?;
    Some(dir.join("config.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_those_of_the_host() {
        let text = r#"{"auths": {"a.example:5000": {"auth": "dTpw"}, "https://b.example": {"auth": "YTpi"}, "c.example": {}},
            "credsStore": "pass", "credHelpers": {"d.example": "x"}}"#;
        let config: DockerConfig = serde_json::from_str(text).unwrap();
        let of = |host: &str| found(&config, host);
        assert_eq!(of("a.example:5000"), Ok(Some("Basic dTpw".to_owned())));
        assert_eq!(of("b.example"), Ok(Some("Basic YTpi".to_owned())));
        assert_eq!(of("a.example"), Ok(None));
        for helped in ["c.example", "d.example"] {
            assert!(of(helped).unwrap_err().contains("by a credential helper of docker"), "{helped}");
        }
    }
}
