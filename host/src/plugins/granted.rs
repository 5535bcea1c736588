//! What a plugin was granted, as a journal keeps it: what it may touch, and no value of the environment.

use phasm_engine::value::{Map, Value};

use crate::sandbox::{Grants, WallClock};

/// `{dirs: {<path the guest sees>: ro | rw}, env: [<name>], clock: real}`; null for nothing, and no clock where it stands. Where on the host a directory lies is the
/// operator's affair, on this machine and on the next.
pub(super) fn described(grants: &Grants) -> Value {
    let real = grants.wall_clock == WallClock::Real;
    if grants.dirs.is_empty() && grants.env.is_empty() && !real {
        return Value::Null;
    }
    let mode = |read_only: bool| Value::from(if read_only { "ro" } else { "rw" });
    let dirs = grants.dirs.iter().map(|dir| (dir.guest.as_str().into(), mode(dir.read_only)));
    let env: Vec<_> = grants.env.keys().map(|name| Value::from(name.as_str())).collect();
    let known = [("dirs".into(), dirs.collect::<Map>().into()), ("env".into(), env.into())];
    let clock = real.then(|| ("clock".into(), Value::from("real")));
    known.into_iter().chain(clock).collect::<Map>().into()
}

/// What of the grants that were described is not granted now, each in a sentence.
pub(super) fn lacking(then: &Value, now: &Grants) -> Vec<String> {
    let member = |name: &str| then.as_object().and_then(|then| then.get(name));
    let dirs = member("dirs").and_then(Value::as_object).into_iter().flatten();
    let dirs = dirs.filter_map(|(guest, mode)| lacking_dir(guest, mode, now));
    let env = member("env").and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_str);
    let env = env.filter(|name| !now.env.contains_key(*name));
    let clock = member("clock").is_some() && now.wall_clock != WallClock::Real;
    let clock = clock.then(|| "the wall clock".to_owned());
    dirs.chain(env.map(|name| format!("the environment variable {name}"))).chain(clock).collect()
}

fn lacking_dir(guest: &str, mode: &Value, now: &Grants) -> Option<String> {
    let writes = mode.as_str() == Some("rw");
    match now.dirs.iter().find(|dir| dir.guest == guest) {
        None => Some(format!("the directory {guest}")),
        Some(dir) if writes && dir.read_only => Some(format!("writing to the directory {guest}")),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::sandbox::DirGrant;

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
            assert_eq!(lacking(&described(&then), &now), expected);
        }
        let timed = Grants { wall_clock: WallClock::Real, ..Grants::default() };
        assert_eq!(lacking(&described(&timed), &then), ["the wall clock"]);
        assert_eq!(lacking(&described(&timed), &timed), Vec::<String>::new());
        assert_eq!(lacking(&Value::Null, &Grants::default()), Vec::<String>::new());
        assert!(!described(&then).to_json().contains("hunter2"));
    }
}
