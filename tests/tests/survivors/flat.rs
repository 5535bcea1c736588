//! Hostile attempts by the hundred in one process, or by ten thousand: nothing of them is left there.

use std::{
    env, fs,
    path::Path,
    process::{self, Command},
    time::Duration,
};

use phasm::{config::Config, plugins::Plugins, sandbox::Grants};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::{
    AS_HOST as WHO, CACHE, TIER, TIERS,
    case::{Case, Told},
    host, judge, stage, suite,
};

pub(crate) const NAME: &str = "nothing-is-left";
pub(crate) const AS_HOST: &str = "flat";

/// Least number of attempts, over all guests that can be called at all.
const ATTEMPTS: &str = "PHASM_HOSTILE_ATTEMPTS";
const USUAL: usize = 400;
/// In processes of their own an attempt takes longer, and there is less of it in the host.
const APART: usize = 10;

/// Attempts at once, and how long each of them may take.
const AT_ONCE: usize = 16;
const DEADLINE_MS: u64 = 100;
/// Rounds after which a process has all that it keeps: pools, threads, compiled code, the allocator's own.
const WARM: usize = 5;

/// By how much a process may have grown after that, in MiB: what an allocator does not give back. A mebibyte in a thousand attempts
/// would be seen in ten thousand, a page of each attempt as well.
const GROWN_MIB: u64 = 32;
/// Idle children and what waits for them come and go.
const SLACK: usize = 8;
/// Largest memory in MiB: that of all that run at once, and the host itself.
const PEAK_MIB: u64 = AT_ONCE as u64 * 64 + 256;

#[derive(Debug, Deserialize, Serialize)]
struct Flat {
    attempts: usize,
    guests: usize,
    fallen: Vec<String>,
    /// Bytes, before and after, and at most.
    resident: (u64, u64),
    peak: u64,
    descriptors: (usize, usize),
    threads: (usize, usize),
}

/// Plays it in every tier and says what came of it.
pub(crate) fn judge(cache: &Path) -> Result<(), String> {
    let attempts = env::var(ATTEMPTS).map_or(USUAL, |text| text.parse().unwrap());
    TIERS.iter().try_for_each(|tier| {
        let attempts = if *tier == "process" { attempts / APART } else { attempts };
        let mut command = Command::new(env::current_exe().unwrap());
        command.arg(attempts.to_string()).env(WHO, AS_HOST).env(TIER, tier).env(CACHE, cache);
        let patience = Duration::from_secs(240 + attempts as u64);
        let flat: Flat = judge::heard(&mut command, patience)?;
        println!("| {NAME} | {tier} | {flat:?} |");
        flat.check().map_err(|why| format!("{tier}: {why}"))
    })
}

impl Flat {
    fn check(&self) -> Result<(), String> {
        let (before, after) = self.resident;
        let wrong = [
            (!self.fallen.is_empty(), "innocent calls fell"),
            (after.saturating_sub(before) >> 20 > GROWN_MIB, "memory is left"),
            (self.peak >> 20 > PEAK_MIB, "more memory than all guests together may have"),
            (self.descriptors.1 > self.descriptors.0 + SLACK, "descriptors are left"),
            (self.threads.1 > self.threads.0 + SLACK, "threads are left"),
        ];
        let wrong = wrong.into_iter().find_map(|(is, what)| is.then_some(what));
        wrong.map_or(Ok(()), |what| Err(what.to_owned()))
    }
}

/// Plays it, says what came of it, and ends the process.
pub(crate) fn run(attempts: usize) -> ! {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let flat = runtime.block_on(play(attempts));
    println!("{}", serde_json::to_string(&flat).unwrap());
    process::exit(0)
}

async fn play(attempts: usize) -> Flat {
    let plugins = host::sandbox();
    plugins.register("innocent", stage::innocent(), Grants::default());
    let staged: Vec<_> = Case::all(&suite()).iter().map(|case| set(case, &plugins)).collect();
    let mut guests = Vec::new();
    for (name, told, _) in &staged {
        if plugins.load(name).await.is_ok() {
            guests.push((name.as_str(), told));
        }
    }
    let mut fallen = Vec::new();
    for _ in 0..WARM {
        round(&plugins, &guests, &mut fallen).await;
    }
    let before = (host::resident("VmRSS:"), descriptors(), threads());
    let mut made = 0;
    while made < attempts {
        made += round(&plugins, &guests, &mut fallen).await;
    }
    Flat {
        attempts: made,
        guests: guests.len(),
        fallen,
        resident: (before.0, host::resident("VmRSS:")),
        peak: host::resident("VmHWM:"),
        descriptors: (before.1, descriptors()),
        threads: (before.2, threads()),
    }
}

/// The guest with what it is granted, and the stage that it needs for that.
fn set(case: &Case, plugins: &Plugins) -> (String, Told, TempDir) {
    // There are no servers: a guest that asks gets no connection.
    let stage = stage::set(case, 1).unwrap();
    let told = Told { deadline_ms: DEADLINE_MS, ..case.told(1) };
    let config = Config::parse(&told.configuration, stage.path()).unwrap();
    let bytes = fs::read(stage.path().join("guest.wasm")).unwrap();
    plugins.register(case.name.clone(), bytes, config.grants.get("guest").cloned().unwrap_or_default());
    (case.name.clone(), told, stage)
}

/// Calls each guest once and the innocent one after each; how many hostile calls that were.
async fn round(plugins: &Plugins, guests: &[(&str, &Told)], fallen: &mut Vec<String>) -> usize {
    let mut calls = JoinSet::new();
    for (name, told) in guests {
        calls.spawn(host::call(plugins, name, told));
        let innocent = host::call(plugins, "innocent", &Told { deadline_ms: 60_000, ..(*told).clone() });
        let outcome = innocent.await.unwrap();
        if outcome.code != 0 {
            fallen.push(format!("beside {name}: {} {}", outcome.code, outcome.message));
        }
        while calls.len() >= AT_ONCE {
            calls.join_next().await;
        }
    }
    calls.join_all().await;
    guests.len()
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}
