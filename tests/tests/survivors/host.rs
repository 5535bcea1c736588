//! This host, as the suite wants to have any: a program that is given a stage and tells what came of it.

use std::{
    env, fs,
    num::NonZeroUsize,
    path::Path,
    process,
    sync::Arc,
    time::{Duration, Instant},
};

use phasm::{
    config::Config,
    executor::{Executor as _, Invocation, Level, Observer},
    plugins::Plugins,
    sandbox::{Isolation, Sandbox, SandboxConfig},
};
use phasm_engine::{outcome::Outcome, value::Value};

use super::{
    CACHE, TIER,
    case::{Came, Ended, Told},
};

/// How long beyond its deadline an attempt is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long an innocent call may take at least.
const INNOCENT_MS: u64 = 10_000;
/// Calls that must succeed, whatever happens beside them.
const INNOCENTS: usize = 20;

/// Plays the case on `stage`, reports the result, and ends the process: threads that hang are not waited for.
pub(crate) fn run(stage: &Path) -> ! {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let came = runtime.block_on(play(stage));
    println!("{}", serde_json::to_string(&came).unwrap());
    process::exit(0)
}

async fn play(stage: &Path) -> Came {
    let told: Told = serde_json::from_str(&fs::read_to_string(stage.join("case.json")).unwrap()).unwrap();
    let plugins = plugins(stage, &told);
    // A hostile deadline may be shorter than a busy machine's pauses.
    let patient = Told { deadline_ms: told.deadline_ms.max(INNOCENT_MS), ..told.clone() };
    // Whether the guest becomes a component does not matter here; its code must not count as growth of the host.
    let _ = plugins.load("guest").await;
    plugins.load("innocent").await.unwrap();
    let before = resident("VmRSS:");
    // The peak begins anew.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let hostile: Vec<_> = (0..told.copies).map(|_| call(&plugins, "guest", &told)).collect();
    let mut innocents = Vec::with_capacity(INNOCENTS + 1);
    // Once one of them does not end, no other will.
    while innocents.len() < INNOCENTS && innocents.last().is_none_or(Option::is_some) {
        innocents.push(ended(call(&plugins, "innocent", &patient), &patient).await);
    }
    let mut outcomes = Vec::with_capacity(told.copies);
    for one in hostile {
        outcomes.push(ended(one, &told).await);
    }
    innocents.push(ended(call(&plugins, "innocent", &patient), &patient).await);
    Came { outcomes, innocents, grown: resident("VmHWM:").saturating_sub(before) }
}

fn plugins(stage: &Path, told: &Told) -> Plugins {
    let config = Config::parse(&told.configuration, stage).unwrap();
    let standard = standard();
    let slots = config.slots.unwrap_or(standard.slots);
    let config_of_sandbox = SandboxConfig { slots, limits: config.limits, http: config.http, ..standard };
    let plugins = Plugins::new(Sandbox::new(config_of_sandbox).unwrap());
    for name in ["guest", "innocent"] {
        let bytes = fs::read(stage.join(format!("{name}.wasm"))).unwrap();
        plugins.register(name, bytes, config.grants.get(name).cloned().unwrap_or_default());
    }
    plugins
}

fn standard() -> SandboxConfig {
    let isolation = match env::var(TIER).as_deref() {
        Ok("process") => Isolation::Process,
        _ => Isolation::Shared,
    };
    let cache = env::var_os(CACHE).map(Into::into);
    SandboxConfig { slots: 64, threads: NonZeroUsize::new(2), isolation, cache, ..SandboxConfig::default() }
}

/// A sandbox as every case has it, with nothing in it yet.
pub(crate) fn sandbox() -> Plugins {
    Plugins::new(Sandbox::new(standard()).unwrap())
}

type Calling = tokio::task::JoinHandle<Outcome>;

pub(crate) fn call(plugins: &Plugins, name: &str, told: &Told) -> Calling {
    let inputs = (0..told.inputs).map(|n| (n.to_string().into(), n.into())).collect();
    let invocation = Invocation {
        run_id: "run".into(),
        workflow: "workflow".into(),
        namespace: name.into(),
        task_run_id: "run.task".into(),
        task: "task".into(),
        executor_type: name.into(),
        attempt: 1,
        dispatch: 1,
        resumed: false,
        deadline: Some(Instant::now() + Duration::from_millis(told.deadline_ms)),
        config: Value::Object(Arc::default()),
        inputs: Arc::new(inputs),
        memory: None,
        dirs: Vec::new(),
        trace: None,
    };
    tokio::spawn(plugins.execute(invocation, Arc::new(Deaf)))
}

async fn ended(calling: Calling, told: &Told) -> Option<Ended> {
    let patience = PATIENCE + Duration::from_millis(told.deadline_ms);
    let outcome = tokio::time::timeout(patience, calling).await.ok()?.ok()?;
    Some(Ended { code: outcome.code, message: outcome.message.to_string() })
}

/// Bytes of memory that this process has now, or had at most.
pub(crate) fn resident(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

struct Deaf;

impl Observer for Deaf {
    fn log(&self, _: Level, _: &str) {}
    fn progress(&self, _: Option<f64>, _: &str) {}
    fn activity(&self) {}
}
