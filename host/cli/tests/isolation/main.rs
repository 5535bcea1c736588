//! Attempts in processes of their own: the same outcomes, and nothing of one plugin in another's process.
#![expect(clippy::unwrap_used, reason = "tests")]
#![cfg(target_os = "linux")]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use phasm::{
    executor::{Executor as _, Invocation, Level, Observer},
    plugins::Plugins,
    sandbox::{
        Allowance, Children, DirGrant, Grants, Isolation, Limit, Quota, Sandbox, SandboxConfig,
        trace::TraceContext,
    },
};
use phasm_engine::{outcome::Outcome, usage::ResourceUsage, value::Value};

/// A guest of the tests: the file itself, or the world around its core module.
fn guest(name: &str) -> Vec<u8> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/guests");
    let read = |name: &str| fs::read_to_string(dir.join(format!("{name}.wat"))).unwrap();
    let text = read(name);
    if text.contains("(component") {
        return wat::parse_str(text).unwrap();
    }
    wat::parse_str(read("world").replace(";; GUEST", &text)).unwrap()
}

fn plugins(isolation: Isolation, names: &[&str]) -> Plugins {
    granted(isolation, names, &Grants::default())
}

fn granted(isolation: Isolation, names: &[&str], grants: &Grants) -> Plugins {
    let children = Some(Children::of(env!("CARGO_BIN_EXE_phasm")));
    let config = SandboxConfig { slots: 32, children, isolation, ..SandboxConfig::default() };
    let plugins = Plugins::new(Sandbox::new(config).unwrap());
    names.iter().for_each(|name| plugins.register(*name, guest(name), grants.clone()));
    plugins
}

fn invocation(executor_type: &str) -> Invocation {
    Invocation {
        inputs: Arc::new(vec![("greeting".into(), Value::from("hello"))]),
        ..Invocation::first(executor_type)
    }
}

/// Remembers what it hears.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Observer for Heard {
    fn log(&self, level: Level, text: &str) {
        self.0.lock().unwrap().push(format!("{level:?} {text}"));
    }
    fn progress(&self, fraction: Option<f64>, text: &str) {
        self.0.lock().unwrap().push(format!("{fraction:?} {text}"));
    }
    fn activity(&self) {}
}

async fn call(plugins: &Plugins, invocation: Invocation) -> (Outcome, Vec<String>) {
    let heard = Arc::new(Heard::default());
    let outcome = plugins.execute(invocation, Arc::clone(&heard) as _).await;
    let heard = heard.0.lock().unwrap().clone();
    (outcome, heard)
}

/// R-I27.
#[tokio::test]
async fn every_guest_comes_to_the_same() {
    let names = [
        "allocate",
        "allocate-at-once",
        "assert",
        "bad-detail",
        "bad-json",
        "bad-text",
        "big-log",
        "big-memory",
        "big-output",
        "code",
        "count",
        "deep-json",
        "describe",
        "directories",
        "echo",
        "empty-name",
        "environment",
        "exit",
        "flood",
        "flood-empty",
        "flood-stdout",
        "many-outputs",
        "network",
        "overflow",
        "panic",
        "say",
        "suspend",
        "table",
        "timers",
        "trap",
        "two-memories",
        "wild-pointer",
    ];
    let [shared, apart] = [Isolation::Shared, Isolation::Process].map(|tier| plugins(tier, &names));
    for name in names {
        let [shared, apart] = [call(&shared, invocation(name)).await, call(&apart, invocation(name)).await];
        assert_eq!(timeless(shared), timeless(apart), "{name}");
    }
}

/// The same without the time it took, which differs.
fn timeless((mut outcome, heard): (Outcome, Vec<String>)) -> (Outcome, Vec<String>) {
    assert!(outcome.metered.cpu_us > 0, "{outcome:?}");
    outcome.metered.cpu_us = 0;
    (outcome, heard)
}

/// R-O6: the attempt's place in its run's trace is in the environment, in a process too, unless the grant says another.
#[tokio::test]
async fn guests_can_read_where_they_belong() {
    let run = TraceContext::read("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", Some("vendor=1"));
    let traced = Invocation { trace: run.map(Arc::new), ..invocation("environment") };
    let place = traced.span().parent();
    assert!(place.starts_with("00-0af7651916cd43dd8448eb211c80319c-") && place.ends_with("-00"), "{place}");
    let own = Grants { env: [("TRACEPARENT".to_owned(), "own".to_owned())].into(), ..Grants::default() };
    for isolation in [Isolation::Shared, Isolation::Process] {
        for (grants, expected) in [(&Grants::default(), (1, &*place)), (&own, (0, "own"))] {
            let plugins = granted(isolation, &["environment"], grants);
            let (outcome, _) = call(&plugins, traced.clone()).await;
            assert_eq!((outcome.code, &*outcome.message), expected, "{isolation:?}");
        }
    }
}

/// R-I41, R-I27: a guest that computes too long takes its process with it, one that waits does not.
#[tokio::test]
async fn cpu_time_is_limited_in_a_process_too() {
    let children = Some(Children::of(env!("CARGO_BIN_EXE_phasm")));
    let isolation = Isolation::Process;
    let mut config = SandboxConfig { slots: 4, children, isolation, ..SandboxConfig::default() };
    let acme = Arc::from("acme");
    config.tenants.add(&acme, 1, ["default".into()]);
    config.tenants.limit(&acme, Allowance::default().with(Limit::Cpu, 40_000));
    let plugins = Plugins::new(Sandbox::new(config).unwrap());
    ["spin", "doze"].iter().for_each(|name| plugins.register(*name, guest(name), Grants::default()));
    for _ in 0..2 {
        let (outcome, _) = call(&plugins, invocation("spin")).await;
        let message = "CPU time limit of 40ms reached, set for tenant acme ([tenants.acme] limits.cpu)";
        assert_eq!((outcome.code, &*outcome.message), (3, message));
        assert!(outcome.metered.cpu_us >= 40_000, "{outcome:?}");
        let (outcome, _) = call(&plugins, invocation("doze")).await;
        assert_eq!(outcome.code, 0, "{}", outcome.message);
    }
}

/// Remembers what was used.
#[derive(Default)]
struct Meter(Mutex<ResourceUsage>);

impl Observer for Meter {
    fn log(&self, _: Level, _: &str) {}
    fn progress(&self, _: Option<f64>, _: &str) {}
    fn activity(&self) {}
    fn used(&self, metered: ResourceUsage) {
        *self.0.lock().unwrap() = metered;
    }
}

/// R-I42, R-I27: what one has used that is stopped is known.
#[tokio::test]
async fn what_a_stopped_attempt_used_is_told() {
    let plugins = plugins(Isolation::Process, &["spin"]);
    let meter = Arc::new(Meter::default());
    let deadline = Some(Instant::now() + Duration::from_millis(500));
    let attempt = Invocation { deadline, ..invocation("spin") };
    assert_eq!(plugins.execute(attempt, Arc::clone(&meter) as _).await.code, 4);
    let heard = *meter.0.lock().unwrap();
    assert!(heard.cpu_us > 1_000 && heard.pages == 1, "{heard:?}");
    // One that is not wanted any more.
    let meter = Arc::new(Meter::default());
    let mut spin = Box::pin(plugins.execute(invocation("spin"), Arc::clone(&meter) as _));
    while meter.0.lock().unwrap().cpu_us == 0 {
        tokio::select! {
            _ = &mut spin => unreachable!("it spins for ever"),
            () = tokio::task::yield_now() => {}
        }
    }
}

/// R-I43, R-I27: processes wait for the memory of all.
#[tokio::test]
async fn processes_have_their_memory_of_the_budget() {
    let children = Some(Children::of(env!("CARGO_BIN_EXE_phasm")));
    let (isolation, all_memory) = (Isolation::Process, Some(512 << 20));
    let config = SandboxConfig { slots: 4, children, isolation, all_memory, ..SandboxConfig::default() };
    let plugins = Plugins::new(Sandbox::new(config).unwrap());
    ["spin", "echo"].iter().for_each(|name| plugins.register(*name, guest(name), Grants::default()));
    // Three have 64 of 256 MiB each, and a fourth would leave nothing.
    let heard = Arc::new(Heard::default());
    let mut spinners = tokio::task::JoinSet::new();
    for _ in 0..3 {
        spinners.spawn(plugins.execute(invocation("spin"), Arc::clone(&heard) as _));
    }
    while heard.0.lock().unwrap().len() < 3 {
        tokio::task::yield_now().await;
    }
    let waits =
        Invocation { deadline: Some(Instant::now() + Duration::from_millis(200)), ..invocation("echo") };
    assert_eq!(call(&plugins, waits).await.0.code, 4);
    spinners.shutdown().await;
    assert_eq!(call(&plugins, invocation("echo")).await.0.code, 0);
}

/// The command as a child, and the numbers of the processes that were started for attempts.
struct ProcessCounter(tempfile::TempDir);

impl ProcessCounter {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (here, phasm) = (dir.path().display(), env!("CARGO_BIN_EXE_phasm"));
        let log = format!("[ \"$2\" = attempt ] && echo $$ >> {here}/started");
        let script = format!("#!/bin/sh\n{log}\nexec {phasm} \"$@\"\n");
        fs::write(dir.path().join("child"), script).unwrap();
        fs::set_permissions(dir.path().join("child"), fs::Permissions::from_mode(0o700)).unwrap();
        Self(dir)
    }

    fn plugins(&self, names: &[&str]) -> Plugins {
        let children = Some(Children::of(self.0.path().join("child")));
        let config =
            SandboxConfig { slots: 32, children, isolation: Isolation::Process, ..SandboxConfig::default() };
        let plugins = Plugins::new(Sandbox::new(config).unwrap());
        names.iter().for_each(|name| plugins.register(*name, guest(name), Grants::default()));
        plugins
    }

    fn started(&self) -> Vec<String> {
        let text = fs::read_to_string(self.0.path().join("started")).unwrap_or_default();
        text.lines().map(ToOwned::to_owned).collect()
    }

    /// Waits until none of the processes is there any more.
    async fn gone(&self) {
        while self.started().iter().any(|process| Path::new("/proc").join(process).exists()) {
            tokio::task::yield_now().await;
        }
    }
}

/// R-I27: a process is kept for the next attempt, of the same plugin only, and not if its guest came to grief.
#[tokio::test]
async fn a_process_serves_one_plugin() {
    let counted = ProcessCounter::new();
    let plugins = counted.plugins(&["echo", "count", "trap"]);
    for name in ["echo", "echo", "echo", "count", "echo", "count"] {
        assert_eq!(call(&plugins, invocation(name)).await.0.code, 0, "{name}");
    }
    assert_eq!(counted.started().len(), 2);
    for _ in 0..2 {
        assert_eq!(call(&plugins, invocation("trap")).await.0.code, 3);
    }
    assert_eq!(counted.started().len(), 4);
}

/// R-I27: grants are a process's for good.
#[tokio::test]
async fn a_process_has_the_grants_it_began_with() {
    let counted = ProcessCounter::new();
    let plugins = counted.plugins(&["echo"]);
    let env = [("A".to_owned(), "1".to_owned())].into();
    plugins.register("other", guest("echo"), Grants { env, ..Grants::default() });
    for name in ["echo", "other", "echo", "other"] {
        assert_eq!(call(&plugins, invocation(name)).await.0.code, 0, "{name}");
    }
    assert_eq!(counted.started().len(), 2);
}

/// R-I27, R-T4: no guest outlives its deadline, nor its attempt, nor its host.
#[tokio::test]
async fn a_process_ends_with_its_attempt_or_its_host() {
    let counted = ProcessCounter::new();
    let plugins = counted.plugins(&["spin", "echo"]);
    let deadline = Some(Instant::now() + Duration::from_millis(300));
    let (outcome, _) = call(&plugins, Invocation { deadline, ..invocation("spin") }).await;
    assert_eq!((outcome.code, &*outcome.message), (4, "stopped at its deadline"));
    counted.gone().await;
    // One that is aborted, once it has begun.
    let mut spin = Box::pin(call(&plugins, invocation("spin")));
    while counted.started().len() < 2 {
        tokio::select! {
            _ = &mut spin => unreachable!("it spins for ever"),
            () = tokio::task::yield_now() => {}
        }
    }
    drop(spin);
    counted.gone().await;
    // And one that is idle when its host goes.
    assert_eq!(call(&plugins, invocation("echo")).await.0.code, 0);
    assert_eq!(counted.started().len(), 3);
    drop(plugins);
    counted.gone().await;
}

/// R-I27: what the kernel says about a process that waits for calls.
#[tokio::test]
async fn a_process_is_locked_in() {
    let counted = ProcessCounter::new();
    let plugins = counted.plugins(&["echo"]);
    call(&plugins, invocation("echo")).await;
    let [process] = counted.started().try_into().unwrap();
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = |name: &str| {
        let found = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        found.trim().to_owned()
    };
    assert_eq!([line("NoNewPrivs:"), line("Seccomp:")], ["1", "2"]);
    for task in fs::read_dir(format!("/proc/{process}/task")).unwrap() {
        let status = fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        assert!(status.contains("Seccomp:\t2\n"), "{status}");
        // Also where root started it.
        for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            let is_bounding = set == "CapBnd" && !rustix::process::geteuid().is_root();
            assert!(is_bounding || status.contains(&format!("{set}:\t0000000000000000\n")), "{status}");
        }
    }
    let limits = fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
    let limit =
        |name: &str| limits.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    assert!(limit("Max core file size").starts_with("0 "), "{limits}");
    assert!(limit("Max data size").starts_with("402"), "{limits}");
}

/// R-I27: what a compiler makes has memory that begins with something, of which the system is asked for a file before anything is locked.
#[tokio::test]
async fn an_executor_that_ships_runs_in_a_process() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/echo");
    let built = phasm_builder::bring_up_to_date(&[folder], &|_: &str| {}).remove(0).unwrap();
    let plugins = plugins(Isolation::Process, &[]);
    plugins.register("shipped", fs::read(built.wasm).unwrap(), Grants::default());
    for _ in 0..2 {
        let (outcome, _) = call(&plugins, invocation("shipped")).await;
        assert_eq!((outcome.code, &*outcome.message), (0, ""));
        assert_eq!(outcome.outputs.len(), 1);
    }
}

/// Children of a program that starts none are not to be had, and nothing runs without them.
#[tokio::test]
async fn without_processes_nothing_runs() {
    let config = SandboxConfig { children: None, isolation: Isolation::Process, ..SandboxConfig::default() };
    let plugins = Plugins::new(Sandbox::new(config).unwrap());
    plugins.register("echo", guest("echo"), Grants::default());
    let (outcome, _) = call(&plugins, invocation("echo")).await;
    assert_eq!(outcome.code, 3);
    assert!(outcome.message.contains("this program starts none"), "{}", outcome.message);
}

/// Writes 4 KiB to a file that is called as it is, and as its attempt.
const WRITER: &str = r#"(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
  (import "wasi" "write-file" (func $write-file (param i32 i32 i32 i64 i32)))
  (data (i32.const 500) "NAME-")
  (func (export "execute") (param $invocation i32) (result i32)
    (i32.store8 (i32.const 502) (i32.add (i32.const 96) (i32.load offset=40 (local.get $invocation))))
    (call $get-directories (i32.const 400))
    ;; create, write
    (call $open (i32.load (i32.load (i32.const 400)))
      (i32.const 0) (i32.const 500) (i32.const 3) (i32.const 1) (i32.const 2) (i32.const 408))
    (if (i32.eqz (i32.load8_u (i32.const 408))) (then
      (call $write-file (i32.load (i32.const 412)) (i32.const 0) (i32.const 4096) (i64.const 0) (i32.const 424))))
    (i32.store (i32.const 0) (i32.add
      (i32.mul (i32.load8_u (i32.const 408)) (i32.add (i32.const 100) (i32.load8_u (i32.const 412))))
      (i32.mul (i32.load8_u (i32.const 424)) (i32.add (i32.const 200) (i32.load8_u (i32.const 432))))))
    (i64.store (i32.const 4) (i64.const 0))
    (i64.store (i32.const 12) (i64.const 0))
    (i32.store (i32.const 20) (i32.const 0))
    (i32.const 0)))"#;

/// R-I19, R-I27: files in a directory are counted once, whichever attempt writes them.
#[tokio::test]
async fn a_quota_is_the_directorys_and_not_a_processs() {
    let dir = tempfile::tempdir().unwrap();
    let children = Some(Children::of(env!("CARGO_BIN_EXE_phasm")));
    let config = SandboxConfig { slots: 8, children, ..SandboxConfig::default() };
    let plugins = Plugins::new(Sandbox::new(config).unwrap());
    let quota = Quota { bytes: Some(4 * 4096), files: None };
    let dirs = vec![DirGrant { quota, ..DirGrant::read_write(dir.path(), "/data") }];
    let tiers = [("a-", Isolation::Shared), ("b-", Isolation::Process), ("c-", Isolation::Process)];
    for (name, isolation) in tiers {
        let grants = Grants { dirs: dirs.clone(), isolation: Some(isolation), ..Grants::default() };
        plugins.register(name, writer(&format!("{name}-")), grants);
    }
    let mut codes = Vec::new();
    for attempt in 1..=2 {
        for (name, _) in tiers {
            let (outcome, _) = call(&plugins, Invocation { attempt, ..invocation(name) }).await;
            assert_eq!(
                outcome.code != 0,
                outcome.message.contains("quota of 16 KiB"),
                "{name} {attempt}: {outcome:?}"
            );
            codes.push(outcome.code);
        }
    }
    assert_eq!(codes, [0, 0, 0, 0, 206, 206]);
    let sizes = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
    assert_eq!(sizes.sum::<u64>(), 4 * 4096);
    // Space that one attempt frees is available to the other.
    fs::remove_file(dir.path().join("a-a")).unwrap();
    let again = call(&plugins, Invocation { attempt: 3, ..invocation("c-") }).await.0;
    assert_eq!(again.code, 0, "{}", again.message);
}

/// R-I2, R-I27: a directory is granted to a process as it is to a guest.
#[tokio::test]
async fn granted_directories_are_there_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "text").unwrap();
    for read_only in [true, false] {
        let host = dir.path().to_owned();
        let granted_dir = DirGrant { read_only, ..DirGrant::read_only(host, "/data") };
        let grants = Grants { dirs: vec![granted_dir], ..Grants::default() };
        let both = [Isolation::Shared, Isolation::Process];
        let [shared, apart] = both.map(|tier| granted(tier, &["directories"], &grants));
        let [shared, apart] =
            [call(&shared, invocation("directories")).await, call(&apart, invocation("directories")).await];
        assert_eq!(timeless(shared), timeless(apart));
    }
    let gone = DirGrant::read_only("/nowhere", "/data");
    let plugins =
        granted(Isolation::Process, &["directories"], &Grants { dirs: vec![gone], ..Grants::default() });
    let (outcome, _) = call(&plugins, invocation("directories")).await;
    assert!(outcome.message.starts_with("granted directory `/data`: "), "{}", outcome.message);
}

/// A component that writes a file whose name begins so.
fn writer(name: &str) -> Vec<u8> {
    let world = include_str!("../../../../tests/hostile/world.wat");
    let text = world.replace(";; GUEST", &WRITER.replace("NAME-", name));
    wat::parse_str(text.replace(";; TYPES\n", "")).unwrap()
}

/// R-I27: a relative path means the working directory of the host, in whatever process the guest is.
#[tokio::test]
async fn a_relative_grant_is_a_place_of_the_host() {
    let here = tempfile::tempdir_in(".").unwrap();
    let relative = Path::new(here.path().file_name().unwrap());
    for (name, isolation) in [("a-", Isolation::Shared), ("b-", Isolation::Process)] {
        let grants = Grants { dirs: vec![DirGrant::read_write(relative, "/data")], ..Grants::default() };
        let plugins = granted(isolation, &[], &Grants::default());
        plugins.register("writer", writer(&format!("{name}-")), grants);
        let (outcome, _) = call(&plugins, invocation("writer")).await;
        assert_eq!((outcome.code, &*outcome.message), (0, ""), "{isolation:?}");
        assert!(here.path().join(format!("{name}a")).is_file(), "{isolation:?}");
    }
}

/// R-L7, R-I27: paths of a configuration are relative to its file, wherever the command is started, and in whatever process guests are.
#[test]
fn a_relative_configuration_grants_places_next_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    ["conf/own", "plugins", "elsewhere"].iter().for_each(|path| fs::create_dir_all(at(path)).unwrap());
    fs::write(at("plugins/writer.wasm"), writer("a--")).unwrap();
    let flow = r#"{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {"name": "w"}, "spec": {"entrypoint": "m",
        "templates": [{"dag": {"name": "m", "tasks": [{"name": "a", "executor": {"type": "writer"}}]}}]}}"#;
    fs::write(at("flow.json"), flow).unwrap();
    let granted = r#"writer.dirs = [{ host = "HOST", guest = "/w", mode = "rw" }]"#;
    let rows = [
        ("conf", format!("[grants]\n{}", granted.replace("HOST", "."))),
        ("conf/own", format!("[grants]\n{}", granted.replace("HOST", "./own"))),
        ("conf/own", format!("[grants]\n{}", granted.replace("HOST", "../conf/own"))),
        (
            "conf",
            format!(
                "[tenants.default]\nroot = \".\"\n[tenants.default.grants]\n{}",
                granted.replace("HOST", ".")
            ),
        ),
        (
            "conf/own",
            format!(
                "[tenants.default]\nroot = \"own\"\n[tenants.default.grants]\n{}",
                granted.replace("HOST", ".")
            ),
        ),
    ];
    for (place, grants) in &rows {
        for tier in ["shared", "process"] {
            fs::write(at("conf/phasm.toml"), format!("limits.isolation = \"{tier}\"\n{grants}\n")).unwrap();
            for (working, config) in
                [("", "conf/phasm.toml"), ("elsewhere", "../conf/phasm.toml"), ("conf", "phasm.toml")]
            {
                let mut command = Command::new(env!("CARGO_BIN_EXE_phasm"));
                command.current_dir(at(working)).env_remove("PHASM_CONFIG");
                command
                    .args(["run", "--config", config])
                    .arg("--plugins")
                    .arg(at("plugins"))
                    .arg(at("flow.json"));
                let output = command.output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                let written = at(place).join("a-a");
                assert!(written.is_file(), "{grants} {tier} {working}: {said}");
                assert!(!Path::new("/a-a").exists());
                assert!(output.status.success(), "{said}");
                fs::remove_file(written).unwrap();
            }
        }
    }
}

/// Appends pieces of a stream until one fails, and then once more. Its code is that of the first error, or the second where they differ, and
/// 100 more.
const FILLER: &str = r#"(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
  (import "wasi" "append-stream" (func $append-stream (param i32 i32)))
  (import "wasi" "flush-zeroes" (func $flush-zeroes (param i32 i64 i32)))
  (import "wasi" "write-file" (func $write-file (param i32 i32 i32 i64 i32)))
  (data (i32.const 500) "n")
  (func (export "execute") (param i32) (result i32)
    (local $file i32) (local $stream i32) (local $n i32)
    (call $get-directories (i32.const 400))
    (call $open (i32.load (i32.load (i32.const 400)))
      (i32.const 0) (i32.const 500) (i32.const 1) (i32.const 1) (i32.const 2) (i32.const 408))
    (local.set $file (i32.load (i32.const 412)))
    (call $append-stream (local.get $file) (i32.const 408))
    (local.set $stream (i32.load (i32.const 412)))
    (loop $more
      (call $flush-zeroes (local.get $stream) (i64.const 4096) (i32.const 408))
      (br_if $more (i32.eqz (i32.load8_u (i32.const 408)))))
    ;; 0: the last operation failed; 1: closed
    (local.set $n (i32.load8_u (i32.const 412)))
    (call $flush-zeroes (local.get $stream) (i64.const 4096) (i32.const 408))
    (local.set $n (i32.add (local.get $n) (i32.mul (i32.const 2) (i32.load8_u (i32.const 412)))))
    (call $write-file (local.get $file) (i32.const 0) (i32.const 4096) (i64.const 1048576) (i32.const 424))
    (i32.store (i32.const 0) (i32.add (i32.mul (local.get $n) (i32.const 100)) (i32.load8_u (i32.const 432))))
    (i64.store (i32.const 4) (i64.const 0))
    (i64.store (i32.const 12) (i64.const 0))
    (i32.store (i32.const 20) (i32.const 0))
    (i32.const 0)))"#;

/// R-I19: a full disk is told as such, at every call. Nothing is tested where this process may not mount a disk.
#[tokio::test]
async fn a_full_disk_is_told_as_such() {
    let dir = tempfile::tempdir().unwrap();
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(dir.path()).output();
    if !mounted.is_ok_and(|mounted| mounted.status.success()) {
        return;
    }
    let world = include_str!("../../../../tests/hostile/world.wat");
    let filler = wat::parse_str(world.replace(";; GUEST", FILLER).replace(";; TYPES\n", "")).unwrap();
    let mut codes = Vec::new();
    for isolation in [Isolation::Shared, Isolation::Process] {
        let grants = Grants { dirs: vec![DirGrant::read_write(dir.path(), "/data")], ..Grants::default() };
        let plugins = granted(isolation, &[], &Grants::default());
        plugins.register("filler", filler.clone(), Grants { isolation: Some(isolation), ..grants });
        codes.push(call(&plugins, invocation("filler")).await.0.code);
    }
    drop(Command::new("umount").arg("-l").arg(dir.path()).status());
    // The error is `insufficient-space`, and no stream is merely closed.
    assert_eq!(codes, [23, 23]);
}
