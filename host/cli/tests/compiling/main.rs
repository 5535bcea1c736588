//! Components are compiled in a child process under limits: expensive ones are refused, and others do not
//! notice.
#![expect(clippy::unwrap_used, reason = "tests")]
#![cfg(target_os = "linux")]

mod bombs;
mod children;

use std::{fs, path::Path, process::Command, sync::Arc, time::Duration};

use phasm::sandbox::{
    Children, Limits, LoadError, Overrun, Program, Sandbox, SandboxConfig, check_complexity,
};

/// A guest of the tests, in its world.
fn guest(name: &str) -> Arc<[u8]> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/guests");
    let read = |name: &str| fs::read_to_string(dir.join(format!("{name}.wat"))).unwrap();
    wat::parse_str(read("world").replace(";; GUEST", &read(name))).unwrap().into()
}

/// A sandbox whose children are the command's.
fn config() -> SandboxConfig {
    let children = Some(Children::of(env!("CARGO_BIN_EXE_phasm")));
    SandboxConfig { slots: 8, children, ..SandboxConfig::default() }
}

fn sandbox(limit: impl Fn(&mut Limits)) -> Sandbox {
    let mut config = config();
    limit(&mut config.limits);
    Sandbox::new(config).unwrap()
}

fn refusal(loaded: Result<Program, LoadError>) -> LoadError {
    loaded.map(drop).unwrap_err()
}

const FLOW: &str = "65536 edges and values of `br_table` and blocks in one function";

/// R-I16: what can be counted is counted, before anything is started.
#[tokio::test]
async fn too_much_of_anything_is_refused_unread() {
    let rows = [
        (bombs::nested(10_000), "16 levels of nested components"),
        (bombs::empty_functions(200_000), "100000 functions"),
        (bombs::nested_blocks(20_000), "10000 nested blocks in one function"),
        (bombs::branches(1000, 5000, 5000), FLOW),
        (bombs::branches(1000, 0, 70), FLOW),
        (bombs::branches(0, 70_000, 1), FLOW),
        (bombs::live_locals(10_001, 1), "10000 local variables in one function"),
        (bombs::live_locals(9_000, 40), "2097152 bytes in one function"),
    ];
    let nowhere = SandboxConfig { children: Some(Children::of("/nowhere")), ..config() };
    let sandbox = Sandbox::new(nowhere).unwrap();
    for (bomb, most) in rows {
        let says = format!("the component has more than {most}, the most that is compiled");
        assert_eq!(check_complexity(&bomb).unwrap_err().to_string(), says);
        assert_eq!(refusal(sandbox.load(bomb.into()).await).to_string(), says);
    }
}

#[test]
fn what_is_just_enough_is_not_too_much() {
    for fine in [bombs::nested(16), bombs::empty_functions(100_000), bombs::nested_blocks(9_000)] {
        assert_eq!(check_complexity(&fine), Ok(()));
    }
    assert_eq!(check_complexity(&guest("echo")), Ok(()));
}

/// R-I16.
#[tokio::test]
async fn what_takes_too_much_memory_is_refused_by_that_name() {
    let sandbox = sandbox(|limits| limits.compile_memory = 64 << 20);
    let error = refusal(sandbox.load(bombs::wide_functions(600).into()).await);
    assert_eq!(error, LoadError::Overrun(Overrun::Memory(64 << 20)), "{error}");
    assert!(error.to_string().contains("64 MiB of memory; the limit is `compile-memory`"), "{error}");
}

/// R-I16.
#[tokio::test]
async fn what_takes_too_long_is_refused_by_that_name() {
    let sandbox = sandbox(|limits| limits.compile_time = Duration::from_secs(1));
    let mut error = refusal(sandbox.load(bombs::live_locals(4_000, 30).into()).await);
    // On a machine that gives the child less than a quarter of a core, four times as long in wall-clock time is over first.
    for _ in 0..20 {
        if error != LoadError::Overrun(Overrun::Time(Duration::from_secs(4))) {
            break;
        }
        error = refusal(sandbox.load(bombs::live_locals(4_000, 30).into()).await);
    }
    assert_eq!(error, LoadError::Overrun(Overrun::Cpu(Duration::from_secs(1))), "{error}");
    assert!(error.to_string().contains("1s of CPU time; the limit is `compile-time`"), "{error}");
}

/// R-I16: a stack that is full ends a process, and no one can catch that.
#[tokio::test]
async fn what_nests_too_deep_ends_the_child_only() {
    let error = refusal(sandbox(|_| ()).load(bombs::nested_types(200_000).into()).await);
    assert_eq!(error, LoadError::Overrun(Overrun::Stack), "{error}");
}

/// R-I16: neither the memory nor the turns of others are the bombs'.
#[tokio::test]
async fn others_are_compiled_and_nothing_grows_meanwhile() {
    let sandbox = sandbox(|limits| {
        (limits.compile_memory, limits.compile_time) = (128 << 20, Duration::from_secs(1));
    });
    let bombs = [
        bombs::wide_functions(2_000),
        bombs::branches(250, 120, 120),
        bombs::live_locals(4_000, 30),
        bombs::empty_functions(100_000),
        bombs::nested_types(200_000),
    ];
    let before = peak_kib();
    let load = |bytes: Arc<[u8]>| {
        let sandbox = sandbox.clone();
        async move { sandbox.load(bytes).await.map(drop) }
    };
    let hostile: Vec<_> = bombs.into_iter().map(|bomb| tokio::spawn(load(bomb.into()))).collect();
    for name in ["echo", "count", "say"] {
        assert_eq!(load(guest(name)).await, Ok(()), "{name}");
    }
    for bomb in hostile {
        assert!(bomb.await.unwrap().is_err());
    }
    let grown = peak_kib() - before;
    assert!(grown < 256 << 10, "{grown} KiB");
}

fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

/// R-I16, R-C1: running or inspecting such a plugin reports it.
#[test]
fn the_command_names_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    fs::create_dir(dir.path().join("plugins")).unwrap();
    write("plugins/deep.wasm", &bombs::nested(100));
    write("plugins/slow.wasm", &bombs::live_locals(4_000, 30));
    write("limits.toml", b"[limits]\ncompile-time = \"1s\"\n");
    for plugin in ["deep", "slow"] {
        let task = format!(r#"{{"task": {{"name": "main", "executor": {{"type": "{plugin}"}}}}}}"#);
        let head = r#""apiVersion": "aether/v1", "kind": "Workflow", "metadata": {"name": "w"}"#;
        let document = format!(r#"{{{head}, "spec": {{"entrypoint": "main", "templates": [{task}]}}}}"#);
        write(&format!("{plugin}.json"), document.as_bytes());
    }
    let phasm = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_phasm"));
        command.args(arguments).args(["--plugins", "plugins"]).current_dir(dir.path());
        command.env("PHASM_CACHE_DIR", dir.path().join("cache")).env("PHASM_EXECUTORS", "");
        let ran = command.output().unwrap();
        (ran.status.code(), String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap())
    };
    let (status, said) = phasm(&["plugin", "inspect", "deep"]);
    assert!(status == Some(1) && said.contains("more than 16 levels of nested components"), "{said}");
    let (status, said) = phasm(&["run", "slow.json", "--config", "limits.toml"]);
    // On a busy machine the limit of elapsed time, four times that of CPU time, is reached first.
    let is_limited =
        ["more than 1s of CPU time", "takes longer than 4s"].iter().any(|says| said.contains(says));
    assert!(status == Some(2) && is_limited, "{status:?} {said}");
    for (plugin, limit) in [("deep", "16 levels"), ("slow", "`compile-time` in [limits]")] {
        let (status, said) =
            phasm(&["run", &format!("{plugin}.json"), "--config", "limits.toml", "--allow-missing"]);
        assert!(status == Some(3) && said.contains(limit), "{status:?} {said}");
    }
}
