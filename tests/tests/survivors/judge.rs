//! Whether a host survived a case: it told what came of it in time, and that is what must come of it.

use std::{
    env,
    io::Read as _,
    path::Path,
    process::{Command, Stdio},
    sync::{Mutex, mpsc::channel},
    thread,
    time::Duration,
};

use super::{
    AS_HOST, TIER,
    case::{Came, Case, Ended},
    stage,
};

/// Where guests run: beside each other, or in processes of their own. What another host has is its own affair.
const TIERS: &[&str] = &["shared", "process"];
const OTHER_HOST: &str = "PHASM_HOSTILE_HOST";

/// A host that has said nothing for so long has not survived.
const PATIENCE: Duration = Duration::from_secs(240);

/// Plays all cases in every tier, two at a time; how many were not survived.
pub(crate) fn all(cases: &[Case]) -> usize {
    let tiers = if env::var_os(OTHER_HOST).is_some() { &["shared"] } else { TIERS };
    let next = Mutex::new(cases.iter().flat_map(|case| tiers.iter().map(move |tier| (case, *tier))));
    let fallen = Mutex::new(0);
    let play = || {
        while let Some((case, tier)) = { next.lock().unwrap().next() } {
            let judged = one(case, tier);
            println!(
                "| {} | {tier} | {} |",
                case.name,
                judged.as_ref().err().map_or("survives", String::as_str)
            );
            *fallen.lock().unwrap() += usize::from(judged.is_err());
        }
    };
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(play))));
    fallen.into_inner().unwrap()
}

fn one(case: &Case, tier: &str) -> Result<(), String> {
    let stage = stage::set(case);
    let came = played(stage.path(), tier)?;
    let each = came.outcomes.iter().map(|ended| of_guest(case, ended.as_ref()));
    each.chain([of_innocents(&came.innocents), of_growth(case, came.grown), of_stage(case, stage.path())])
        .collect()
}

/// What the host says, in a process of its own.
fn played(stage: &Path, tier: &str) -> Result<Came, String> {
    let program = env::var_os(OTHER_HOST).map_or_else(|| env::current_exe().unwrap(), Into::into);
    let mut command = Command::new(program);
    command.arg(stage).env(AS_HOST, "1").env(TIER, tier).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut host = command.spawn().map_err(|error| format!("no such host: {error}"))?;
    let mut stdout = host.stdout.take().unwrap();
    let (sender, said) = channel();
    thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.read_to_string(&mut text);
        sender.send(read.map(|_| text))
    });
    let said = said.recv_timeout(PATIENCE);
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

fn of_stage(case: &Case, stage: &Path) -> Result<(), String> {
    let lies = |path: &&String| stage.join(path).symlink_metadata().is_ok();
    let missing = case.expect.there.iter().find(|path| !lies(path));
    let left = case.expect.absent.iter().find(lies);
    match (missing, left) {
        (None, None) => Ok(()),
        (Some(path), _) => Err(format!("{path} is gone")),
        (None, Some(path)) => Err(format!("{path} is there")),
    }
}
