//! Grants as a journal keeps them: without values of environment variables.

use std::{str::FromStr, sync::Arc};

use phasm_engine::value::{Map, Value};

use phasm_sandbox::{Grants, HttpPattern, Network, TcpPattern, WallClock};

/// `{dirs: {<path the guest sees>: ro | rw}, env: [<name>], http: [<pattern>], networks: [<network>], tcp: [<pattern>],
/// tcpNetworks: [<network>], artifacts: true, clock: real}`; null for nothing, and
/// of what came later nothing where there is none. Where on the host a directory lies is the operator's affair, on this machine and on the next.
pub(super) fn described(grants: &Grants) -> Value {
    let real = grants.wall_clock == WallClock::Real;
    if grants.dirs.is_empty()
        && grants.env.is_empty()
        && grants.http.is_empty()
        && grants.tcp.is_empty()
        && !grants.artifacts
        && !real
    {
        return Value::Null;
    }
    let mode = |read_only: bool| Value::from(if read_only { "ro" } else { "rw" });
    let dirs = grants.dirs.iter().map(|dir| (dir.guest.as_str().into(), mode(dir.read_only)));
    let env: Vec<_> = grants.env.keys().map(|name| Value::from(name.as_str())).collect();
    let known = [("dirs".into(), dirs.collect::<Map>().into()), ("env".into(), env.into())];
    let clock = real.then(|| ("clock".into(), Value::from("real")));
    let http = texts("http", &grants.http.allow).chain(texts("networks", &grants.http.networks));
    let tcp = texts("tcp", &grants.tcp.allow).chain(texts("tcpNetworks", &grants.tcp.networks));
    let artifacts = grants.artifacts.then(|| ("artifacts".into(), Value::from(true)));
    known.into_iter().chain(artifacts).chain(http).chain(tcp).chain(clock).collect::<Map>().into()
}

fn texts(name: &'static str, texts: &[impl ToString]) -> impl Iterator<Item = (Arc<str>, Value)> {
    let texts: Vec<_> = texts.iter().map(|text| Value::from(text.to_string())).collect();
    (!texts.is_empty()).then(|| (name.into(), texts.into())).into_iter()
}

/// Returns the grants of `then` that `now` lacks, each in words and with the line of the configuration that would grant it.
pub(super) fn lacking(then: &Value, now: &Grants) -> Vec<(String, String)> {
    let member = |name: &str| then.as_object().and_then(|then| then.get(name));
    let dirs = member("dirs").and_then(Value::as_object).into_iter().flatten();
    let dirs = dirs.filter_map(|(guest, mode)| lacking_dir(guest, mode, now));
    let env = member("env").and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_str);
    let env = env.filter(|name| !now.env.contains_key(*name));
    let clock = member("clock").is_some() && now.wall_clock != WallClock::Real;
    let clock = clock.then(|| ("the wall clock".to_owned(), "wall-clock = \"real\"".to_owned()));
    let env =
        env.map(|name| (format!("the environment variable {name}"), format!("env = {{ {name:?} = \"…\" }}")));
    let allows = |pattern: &HttpPattern| now.http.allow.iter().any(|own| own.covers(pattern));
    let reaches = |network: &Network| now.http.networks.iter().any(|own| own.covers(network));
    let http = missing(member("http"), allows)
        .map(|pattern| (format!("requests of {pattern}"), format!("http = [{pattern:?}]")));
    let networks = missing(member("networks"), reaches)
        .map(|network| (format!("addresses of {network}"), format!("http-networks = [{network:?}]")));
    let connects = |pattern: &TcpPattern| now.tcp.allow.iter().any(|own| own.covers(pattern));
    let is_within = |network: &Network| now.tcp.networks.iter().any(|own| own.covers(network));
    let tcp = missing(member("tcp"), connects)
        .map(|pattern| (format!("TCP connections to {pattern}"), format!("tcp = [{pattern:?}]")));
    let tcp_networks = missing(member("tcpNetworks"), is_within).map(|network| {
        (format!("TCP connections to addresses of {network}"), format!("tcp-networks = [{network:?}]"))
    });
    let artifacts = member("artifacts").is_some() && !now.artifacts;
    let artifacts = artifacts.then(|| ("artifacts".to_owned(), "artifacts = true".to_owned()));
    dirs.chain(artifacts)
        .chain(env)
        .chain(http)
        .chain(networks)
        .chain(tcp)
        .chain(tcp_networks)
        .chain(clock)
        .collect()
}

/// Returns the elements of `then` that are no longer granted.
fn missing<T: FromStr>(then: Option<&Value>, is_there: impl Fn(&T) -> bool) -> impl Iterator<Item = &str> {
    let then = then.and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_str);
    then.filter(move |text| !text.parse().is_ok_and(|known| is_there(&known)))
}

fn lacking_dir(guest: &str, mode: &Value, now: &Grants) -> Option<(String, String)> {
    let writes = mode.as_str() == Some("rw");
    let mode = if writes { ", mode = \"rw\"" } else { "" };
    let line = || format!("dirs = [{{ host = \"…\", guest = {guest:?}{mode} }}]");
    match now.dirs.iter().find(|dir| dir.guest == guest) {
        None => Some((format!("the directory {guest}"), line())),
        Some(dir) if writes && dir.read_only => Some((format!("writing to the directory {guest}"), line())),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use phasm_sandbox::{DirGrant, HttpGrant};

    use super::*;

    fn grants(dirs: &[(&str, bool)], env: &[&str]) -> Grants {
        let dir = |(guest, read_only): &(&str, bool)| DirGrant {
            read_only: *read_only,
            ..DirGrant::read_only("/somewhere", *guest)
        };
        Grants {
            dirs: dirs.iter().map(dir).collect(),
            env: env.iter().map(|name| ((*name).to_owned(), "hunter2".to_owned())).collect(),
            ..Grants::default()
        }
    }

    fn words(then: &Grants, now: &Grants) -> Vec<String> {
        lacking(&described(then), now).into_iter().map(|(what, _)| what).collect()
    }

    /// R-I10: missing and narrower grants are named, wider ones and other places on the host are none of them.
    #[test]
    fn what_is_lacking_is_named() {
        let then = grants(&[("/in", true), ("/out", false)], &["TOKEN"]);
        let rows: [(Grants, &[&str]); 5] = [
            (then.clone(), &[]),
            (grants(&[("/in", false), ("/out", false), ("/more", true)], &["TOKEN", "MORE"]), &[]),
            (grants(&[("/in", true), ("/out", true)], &["TOKEN"]), &["writing to the directory /out"]),
            (grants(&[("/out", false)], &[]), &["the directory /in", "the environment variable TOKEN"]),
            (
                Grants::default(),
                &["the directory /in", "the directory /out", "the environment variable TOKEN"],
            ),
        ];
        for (now, expected) in rows {
            assert_eq!(words(&then, &now), expected);
        }
        let timed = Grants { wall_clock: WallClock::Real, ..Grants::default() };
        assert_eq!(words(&timed, &then), ["the wall clock"]);
        assert_eq!(words(&timed, &timed), Vec::<String>::new());
        let asking = |pattern: &str, network: &str| {
            let (allow, networks) = (vec![pattern.parse().unwrap()], vec![network.parse().unwrap()]);
            Grants { http: HttpGrant { allow, networks }, ..Grants::default() }
        };
        let (wide, asking) =
            (asking("https://*", "10.0.0.0/8"), asking("GET https://a.example/b", "10.1.0.0/16"));
        assert_eq!(words(&asking, &wide), Vec::<String>::new());
        let lacks = ["requests of https://*", "addresses of 10.0.0.0/8"];
        assert_eq!(words(&wide, &asking), lacks);
        assert!(lacking(&Value::Null, &Grants::default()).is_empty());
        let lines: Vec<_> =
            lacking(&described(&then), &Grants::default()).into_iter().map(|(_, line)| line).collect();
        let expected = [
            "dirs = [{ host = \"…\", guest = \"/in\" }]",
            "dirs = [{ host = \"…\", guest = \"/out\", mode = \"rw\" }]",
            "env = { \"TOKEN\" = \"…\" }",
        ];
        assert_eq!(lines, expected);
        assert!(lines.iter().all(|line| line.parse::<toml::Table>().is_ok()));
        assert!(!described(&then).to_json().contains("hunter2"));
    }
}
