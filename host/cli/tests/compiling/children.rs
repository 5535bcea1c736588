//! Children themselves: how many there are, when they end, and what they may say.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use phasm::sandbox::{Children, LoadError, Overrun, Sandbox, SandboxConfig};
use tempfile::TempDir;

use super::{config, guest, refusal};

/// A child that is a shell's script.
struct Script {
    dir: TempDir,
}

impl Script {
    fn new(script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("child");
        let text = format!("#!/bin/sh\nPATH=/usr/bin:/bin\nhere={}\n{script}\n", dir.path().display());
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
        Self { dir }
    }

    /// The command's own child, counted.
    fn counted() -> Self {
        Self::new(&format!("echo >> $here/started\nexec {} \"$@\"", env!("CARGO_BIN_EXE_phasm")))
    }

    fn started(&self) -> usize {
        fs::read_to_string(self.path("started")).unwrap_or_default().lines().count()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn config(&self) -> SandboxConfig {
        SandboxConfig { children: Some(Children::of(self.path("child"))), ..config() }
    }

    fn sandbox(&self) -> Sandbox {
        Sandbox::new(self.config()).unwrap()
    }
}

/// R-I16: one child for all who want the same component at the same time.
#[tokio::test]
async fn a_component_is_compiled_once() {
    let script = Script::counted();
    // A caller that comes when the first is done finds the component there.
    let cache = Some(script.path("cache"));
    let sandbox = Sandbox::new(SandboxConfig { cache, ..script.config() }).unwrap();
    let load = |name| {
        let sandbox = sandbox.clone();
        async move { sandbox.load(guest(name)).await.map(drop) }
    };
    let loads: Vec<_> = ["echo", "say"].repeat(10).into_iter().map(|name| tokio::spawn(load(name))).collect();
    for loaded in loads {
        assert_eq!(loaded.await.unwrap(), Ok(()));
    }
    assert_eq!(script.started(), 2);
}

/// R-I7: what was compiled is kept, sealed, and no child is started for it again.
#[tokio::test]
async fn a_warm_start_starts_nothing() {
    let script = Script::counted();
    for _ in 0..2 {
        let cache = Some(script.path("cache"));
        let sandbox = Sandbox::new(SandboxConfig { cache, ..script.config() }).unwrap();
        sandbox.load(guest("echo")).await.unwrap();
    }
    assert_eq!(script.started(), 1);
}

/// Reading this to its end waits for all processes that hold it.
fn pipe(path: &Path) -> std::thread::JoinHandle<String> {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let path = path.to_owned();
    std::thread::spawn(move || fs::read_to_string(path).unwrap())
}

const SLEEPS: &str = "exec 9> $here/pipe\necho begun >> $here/started\nexec sleep 100000";

#[tokio::test]
async fn a_child_that_nobody_waits_for_is_killed() {
    let script = Script::new(SLEEPS);
    let held = pipe(&script.path("pipe"));
    let sandbox = script.sandbox();
    let mut load = Box::pin(sandbox.load(guest("echo")));
    while script.started() == 0 {
        tokio::select! {
            _ = &mut load => panic!("it sleeps"),
            () = tokio::task::yield_now() => {}
        }
    }
    drop(load);
    assert_eq!(held.join().unwrap(), "");
}

/// R-I16.
#[tokio::test]
async fn a_child_that_never_ends_is_killed() {
    let script = Script::new(SLEEPS);
    let held = pipe(&script.path("pipe"));
    let mut config = script.config();
    config.limits.compile_time = Duration::from_millis(100);
    let error = refusal(Sandbox::new(config).unwrap().load(guest("echo")).await);
    assert_eq!(error, LoadError::Overrun(Overrun::Time(Duration::from_millis(400))), "{error}");
    assert_eq!(held.join().unwrap(), "");
}

/// A child whose parent is gone ends.
#[test]
fn a_child_ends_with_its_parent() {
    use std::{io::Write as _, process::Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_phasm"))
        .args(["--phasm-child", "compile", "1073741824", "60000", "524288"])
        .env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let bomb = super::bombs::live_locals(9_000, 25);
    let mut input = child.stdin.take().unwrap();
    input.write_all(&(bomb.len() as u64).to_le_bytes()).unwrap();
    input.write_all(&bomb).unwrap();
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

/// R-I16: nothing that a child says is believed without a check, and none of it is kept without a bound.
#[tokio::test]
async fn what_a_child_says_is_bounded() {
    let long = || Err(LoadError::Overrun(Overrun::Code(0)));
    let rows: [(&str, Result<&str, LoadError>); 5] = [
        ("exec cat /dev/zero", long()),
        ("echo junk; exec cat >/dev/null <&0 &", Ok("the component cannot be compiled: ")),
        ("exit 7", Ok("host fault while compiling: the process that compiles ended with exit status: 7: ")),
        ("kill -SEGV $$", Ok("host fault while compiling: the process that compiles ended with signal: 11")),
        ("echo the reason; exit 3", Ok("the component cannot be compiled: the reason")),
    ];
    for (script, expected) in rows {
        let error = refusal(Script::new(script).sandbox().load(guest("echo")).await);
        match expected {
            Ok(says) => assert!(error.to_string().starts_with(says), "{script}: {error}"),
            Err(_) => assert!(matches!(error, LoadError::Overrun(Overrun::Code(_))), "{script}: {error}"),
        }
    }
    let nowhere = SandboxConfig { children: Some(Children::of("/nowhere")), ..config() };
    let error = refusal(Sandbox::new(nowhere).unwrap().load(guest("echo")).await);
    assert!(
        error.to_string().starts_with("host fault while compiling: no process to compile in: "),
        "{error}"
    );
}

/// A child sees nothing of what is around its parent.
#[tokio::test]
async fn a_child_gets_nothing_of_its_parents() {
    let script = Script::new("env > $here/env; pwd > $here/pwd; ls /proc/$$/fd > $here/fd; exit 1");
    let secret: Arc<[u8]> = guest("echo");
    refusal(script.sandbox().load(secret).await);
    let read = |name| fs::read_to_string(script.path(name)).unwrap();
    assert_eq!(read("pwd"), "/\n");
    let names = read("env");
    let mut names: Vec<_> =
        names.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    // The shell's own, and `here` is not exported.
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_", "PATH"].contains(name));
    names.sort_unstable();
    assert_eq!(names, ["MIMALLOC_ARENA_EAGER_COMMIT", "RAYON_NUM_THREADS"]);
    // Its three streams, and the script itself.
    assert_eq!(read("fd").lines().filter(|fd| fd.len() == 1).collect::<Vec<_>>(), ["0", "1", "2"]);
}
