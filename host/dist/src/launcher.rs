//! Test of the launcher of npm: it ends as the command does, and says what to do where there is no command for it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{DistResult, folder};

/// How long the launcher may take to start the command, or to end after it.
const LIMIT: Duration = Duration::from_secs(30);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// Tests the launcher that is installed in `home`.
pub(crate) fn test(home: &Path) -> DistResult {
    statuses(home)?;
    signals(home)?;
    other_platform(home)?;
    missing_command(home)
}

/// The launcher, with nothing of this process' environment.
fn launcher(home: &Path, arguments: &[&str]) -> Command {
    let mut launcher = Command::new(home.join("node_modules/.bin/phasm"));
    launcher.env_clear().env("HOME", home).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    launcher.current_dir(home).args(arguments).stdin(Stdio::null());
    launcher
}

fn expect(is_so: bool, what: &str, found: &Output) -> DistResult {
    if is_so { Ok(()) } else { Err(format!("{what}, found {found:?}").into()) }
}

/// Exit statuses and output of the command are those of the launcher.
fn statuses(home: &Path) -> DistResult {
    let missing = launcher(home, &["run", "missing.yaml"]).output()?;
    let said = String::from_utf8_lossy(&missing.stderr);
    let is_so = missing.status.code() == Some(2) && said.contains("missing.yaml");
    expect(is_so, "expected status 2 and a message about missing.yaml", &missing)?;
    let version = launcher(home, &["-V"]).output()?;
    expect(version.status.success() && version.stdout.starts_with(b"phasm "), "expected a version", &version)
}

/// SIGTERM and SIGINT of the launcher reach the command, and a signal that ends the command ends the launcher.
fn signals(home: &Path) -> DistResult {
    for (signal, to_command, expected) in [
        (Signal::TERM, false, "exit status: 143"),
        (Signal::INT, false, "exit status: 130"),
        (Signal::KILL, true, "signal: 9"),
    ] {
        let mut launched = launcher(home, &["serve", "--store", "runs.db"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let tried = serving(home, &launched).and_then(|command| {
            let target = if to_command { command } else { Pid::from_child(&launched) };
            Ok(kill_process(target, signal)?)
        });
        if let Err(error) = tried {
            launched.kill()?;
            return Err(format!("{error}; {:?}", launched.wait_with_output()?).into());
        }
        let ended = launched.wait_with_output()?;
        let is_so = ended.status.to_string().starts_with(expected);
        expect(is_so, &format!("{signal:?}: expected {expected}"), &ended)?;
    }
    Ok(())
}

/// Waits until the command serves, and returns its process.
fn serving(home: &Path, launched: &Child) -> DistResult<Pid> {
    let children = PathBuf::from(format!("/proc/{0}/task/{0}/children", launched.id()));
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        let found = fs::read_to_string(&children)?;
        let pid = found.split_whitespace().next().and_then(|pid| Pid::from_raw(pid.parse().ok()?));
        if let Some(pid) = pid {
            // The command has the store open once it has its signal handlers.
            let open = fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero()));
            let mut open =
                open.into_iter().flatten().flatten().filter_map(|file| fs::read_link(file.path()).ok());
            if open.any(|file| file == home.join("runs.db")) {
                return Ok(pid);
            }
        }
        thread::sleep(PAUSE);
    }
    Err(format!("the launcher started no command that serves within {LIMIT:?}").into())
}

/// A platform without a package is named, with those that have one.
fn other_platform(home: &Path) -> DistResult {
    let preload = home.join("platform.js");
    folder::write(&preload, b"Object.defineProperty(process, 'platform', { value: 'plan9' });", 0o644)?;
    let options = format!("--require {}", preload.display());
    let other = launcher(home, &["-V"]).env("NODE_OPTIONS", options).output()?;
    let said = String::from_utf8_lossy(&other.stderr);
    let is_so = other.status.code() == Some(2) && said.contains("plan9") && said.contains("@phasm/linux-x64");
    expect(is_so, "expected status 2, the platform and those with a package", &other)
}

/// A package that is not installed is named, with how to install it.
fn missing_command(home: &Path) -> DistResult {
    let (package, away) = (home.join("node_modules/@phasm"), home.join("away"));
    fs::rename(&package, &away)?;
    let missing = launcher(home, &["-V"]).output()?;
    fs::rename(&away, &package)?;
    let said = String::from_utf8_lossy(&missing.stderr);
    let is_so = missing.status.code() == Some(2) && said.contains("npm install @phasm/linux-");
    expect(is_so, "expected status 2 and how to install the package", &missing)
}
