//! Whether a host survived a case: it told what came of it in time, and that is what must come of it.

use std::{
    env, fs,
    io::Read as _,
    path::{self, Path},
    process::{Command, Stdio},
    sync::{Mutex, mpsc::channel},
    thread,
    time::Duration,
};

use serde::de::DeserializeOwned;

use super::{
    AS_HOST, CACHE, TIER, TIERS,
    case::{Came, Case, Ended},
    server::Server,
    stage,
};

const OTHER_HOST: &str = "PHASM_HOSTILE_HOST";

/// A host that has said nothing for so long has not survived.
const PATIENCE: Duration = Duration::from_secs(240);

/// Whether this host is judged, and not another.
pub(crate) fn is_own() -> bool {
    env::var_os(OTHER_HOST).is_none()
}

/// Plays all cases, first in one tier and then in the other, two at a time; how many were not survived.
pub(crate) fn all(cases: &[Case], cache: &Path) -> usize {
    // Tiers of another host are its own affair.
    let tiers = if is_own() { TIERS } else { &["shared"] };
    let is_played = |case: &Case, tier: &str| case.tiers.iter().any(|played| played == tier);
    let all = tiers.iter().flat_map(|tier| cases.iter().map(move |case| (case, *tier)));
    let next = Mutex::new(all.filter(|(case, tier)| is_played(case, tier)));
    let fallen = Mutex::new(0);
    let play = || {
        while let Some((case, tier)) = { next.lock().unwrap().next() } {
            let judged = one(case, tier, cache);
            let told = judged.as_ref().map_or_else(String::clone, |came| format!("survives: {came}"));
            println!("| {} | {tier} | {told} |", case.name);
            *fallen.lock().unwrap() += usize::from(judged.is_err());
        }
    };
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(play))));
    fallen.into_inner().unwrap()
}

/// Returns the result in a few words.
fn one(case: &Case, tier: &str, cache: &Path) -> Result<String, String> {
    let server = case.server.as_ref().map(Server::start);
    let stage = stage::set(case, server.as_ref().map_or(0, |server| server.port))?;
    let came = played(stage.path(), tier, cache)?;
    let each = came.outcomes.iter().map(|ended| of_guest(case, ended.as_ref()));
    let rest = [
        of_innocents(&came.innocents),
        of_growth(case, came.grown),
        of_stage(case, stage.path()),
        of_server(case, server.as_ref()),
    ];
    each.chain(rest).collect::<Result<(), _>>()?;
    Ok(came.outcomes.iter().flatten().next().map_or_else(String::new, brief))
}

fn brief(Ended { code, message }: &Ended) -> String {
    let message: String = message.chars().take(100).collect();
    format!("{code} {}", message.escape_debug())
}

/// Returns the report of the host, in a process of its own.
fn played(stage: &Path, tier: &str, cache: &Path) -> Result<Came, String> {
    let other = env::var_os(OTHER_HOST).map(|program| path::absolute(program).unwrap());
    let program = other.unwrap_or_else(|| env::current_exe().unwrap());
    let mut command = Command::new(program);
    // The host is told a relative stage, so that every path of its configuration is relative at first.
    let (above, name) = (stage.parent().unwrap(), stage.file_name().unwrap());
    command.current_dir(above).arg(name).env(AS_HOST, "1").env(TIER, tier).env(CACHE, cache);
    heard(&mut command, PATIENCE)
}

/// Returns the output of a host of this suite, if it comes in time.
pub(crate) fn heard<T: DeserializeOwned>(command: &mut Command, patience: Duration) -> Result<T, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut host = command.spawn().map_err(|error| format!("no such host: {error}"))?;
    let mut stdout = host.stdout.take().unwrap();
    let (sender, said) = channel();
    thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.read_to_string(&mut text);
        sender.send(read.map(|_| text))
    });
    let said = said.recv_timeout(patience);
    let _ = host.kill();
    let status = host.wait().map_err(|error| error.to_string())?;
    let text = said.map_err(|_| "the host said nothing in time")?.map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| format!("the host died ({status}): {error}"))
}

fn of_guest(case: &Case, ended: Option<&Ended>) -> Result<(), String> {
    let Ended { code, message } = ended.ok_or("an attempt did not end")?;
    let as_told =
        case.expect.codes.contains(code) && case.expect.message.iter().all(|text| message.contains(text));
    let wanted = || format!("{:?} {}", case.expect.codes, case.expect.message.join(" … "));
    if as_told { Ok(()) } else { Err(format!("code {code} {message:?} instead of {}", wanted())) }
}

fn of_innocents(innocents: &[Option<Ended>]) -> Result<(), String> {
    let fell = innocents.iter().find(|ended| ended.as_ref().is_none_or(|ended| ended.code != 0));
    fell.map_or(Ok(()), |ended| Err(format!("an innocent call came to {ended:?}")))
}

fn of_growth(case: &Case, grown: u64) -> Result<(), String> {
    let limit = case.expect.grown_mib.unwrap_or(u64::MAX);
    if grown >> 20 <= limit {
        Ok(())
    } else {
        Err(format!("the host grew by {} MiB, over {limit}", grown >> 20))
    }
}

fn of_server(case: &Case, server: Option<&Server>) -> Result<(), String> {
    let asked = server.map(Server::asked);
    let wrong = case.expect.asked.filter(|wanted| asked != Some(*wanted));
    wrong.map_or(Ok(()), |wanted| Err(format!("{asked:?} requests instead of {wanted}")))
}

fn of_stage(case: &Case, stage: &Path) -> Result<(), String> {
    let lies = |path: &&String| stage.join(path).symlink_metadata().is_ok();
    let missing = case.expect.there.iter().find(|path| !lies(path));
    let left = case.expect.absent.iter().find(lies);
    let is_other =
        |path: &&String| fs::read_to_string(stage.join(path)).ok().as_ref() != case.setup.files.get(*path);
    let changed = case.expect.unchanged.iter().find(is_other);
    let told = [(missing, "is gone"), (left, "is there"), (changed, "is another")];
    let wrong = told.into_iter().find_map(|(path, what)| path.map(|path| format!("{path} {what}")));
    wrong.map_or(Ok(()), Err)
}
