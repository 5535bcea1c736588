//! Test of the packages in a minimal system, as debootstrap makes one: nothing but a C library, Python for the wheel, and Node for npm.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    DistResult, files, folder,
    install::{LIMIT, expect_greeting, files_with, only},
    run, tarball,
};

/// From the install command until the page responds.
const PAGE_LIMIT: Duration = Duration::from_secs(120);
/// Folder in the system with all that the test puts there.
const HERE: &str = "/phasm-dist";
/// Folder in the system with the executors, if the command does not carry them.
const EXECUTORS: &str = "/phasm-dist/executors";

/// Oldest version of Node that the npm packages promise to run with.
const NODE: u32 = 18;

/// Package, the command line that installs it in [`HERE`], and the path of the command.
type Way = (&'static str, String, &'static str);

/// Installs each package of `out` in `system`, runs a workflow and asks for the page; prints how long both took.
/// A command that does not carry its executors finds them in `executors`.
pub(crate) fn test_all(out: &Path, system: &Path, executors: Option<&Path>) -> DistResult {
    has_proc(system)?;
    let here = system.join(HERE.trim_start_matches('/'));
    let archive = tarball::name(std::env::consts::ARCH);
    let tar = out.join(format!("{archive}.tar.gz"));
    let (wheel, deb) = (only(out, "whl")?, only(out, "deb")?);
    let mut npm = files_with(out, "tgz")?;
    npm.sort();
    let mut ways: Vec<Way> = vec![
        (
            "tarball",
            format!("tar -xzf {archive}.tar.gz && PREFIX={HERE}/tree sh {archive}/install.sh"),
            "/phasm-dist/tree/bin/phasm",
        ),
        ("debian", format!("dpkg -i {}", name(&deb)?), "/usr/bin/phasm"),
        (
            "wheel",
            // The variable is for distributions that keep pip out of their own folders; an older pip does not know the option.
            format!(
                "PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-index --force-reinstall {}",
                name(&wheel)?
            ),
            "/usr/local/bin/phasm",
        ),
    ];
    match node(system) {
        Ok(()) => {
            let names = npm.iter().map(|file| name(file)).collect::<DistResult<Vec<_>>>()?;
            let install = "npm install --offline --no-audit --no-fund --loglevel=error --prefix tree";
            let files: Vec<String> = names.iter().map(|name| format!("./{name}")).collect();
            let install = format!("mkdir tree && {install} {}", files.join(" "));
            ways.push(("npm", install, "/phasm-dist/tree/node_modules/.bin/phasm"));
        }
        Err(error) => writeln!(io::stdout(), "npm: not tried: {error}")?,
    }
    for (package, install, command) in ways {
        folder::make_empty(&here)?;
        for file in [&tar, &wheel, &deb].into_iter().chain(&npm) {
            folder::copy(file, &here.join(name(file)?), 0o644)?;
        }
        for entry in executors.map(fs::read_dir).transpose()?.into_iter().flatten() {
            let file = entry?.path();
            folder::copy(&file, &here.join("executors").join(name(&file)?), 0o644)?;
        }
        folder::copy(&files().join("hello.yaml"), &here.join("hello.yaml"), 0o644)?;
        let done = measure(system, &install, command);
        let (result, page) = done.map_err(|error| format!("{package}: {error}"))?;
        if result > LIMIT || page > PAGE_LIMIT {
            return Err(format!("{package}: a result after {result:.1?}, the page after {page:.1?}; expected {LIMIT:?} and {PAGE_LIMIT:?}").into());
        }
        writeln!(io::stdout(), "{package}: a result after {result:.1?}, the page after {page:.1?}")?;
    }
    debian_service(system)?;
    Ok(fs::remove_dir_all(&here)?)
}

/// Fails if the system has no `/proc`: Phasm starts itself by it, in a process that compiles.
fn has_proc(system: &Path) -> DistResult {
    if system.join("proc/self").exists() {
        return Ok(());
    }
    let proc = system.join("proc");
    let proc = proc.display();
    Err(format!("{proc}: not mounted, and phasm needs it to compile; run `mount -t proc proc {proc}`").into())
}

/// Fails if the system has no Node that is new enough.
fn node(system: &Path) -> DistResult {
    let said = run(&mut inside(system, &["node", "--version"]))
        .map_err(|_| format!("no node in {}; install nodejs and npm there", system.display()))?;
    if major(&said).is_some_and(|major| major >= NODE) {
        Ok(())
    } else {
        Err(format!("node {} in {}, expected {NODE} or later", said.trim(), system.display()).into())
    }
}

/// Returns the first number of a version as Node prints it.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// Installs one package; returns the times until a result and until the page.
fn measure(system: &Path, install: &str, command: &str) -> DistResult<(Duration, Duration)> {
    let start = Instant::now();
    run(&mut inside(system, &["sh", "-ec", &format!("cd {HERE} && {install}")]))?;
    let said = run(&mut inside(system, &[command, "run", &format!("{HERE}/hello.yaml")]))?;
    expect_greeting(&said)?;
    let result = start.elapsed();
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let store = format!("{HERE}/runs.db");
    let mut server = Server::start(system, &[command, "serve", "--listen", &address, "--store", &store])?;
    while !responds(&address) {
        server.wait_a_moment(start, PAGE_LIMIT)?;
    }
    let page = start.elapsed();
    server.stop()?;
    Ok((result, page))
}

/// Runs the Debian package's service as its unit says, and stops it: a status that the unit does not take for success is an error.
fn debian_service(system: &Path) -> DistResult {
    let unit = fs::read_to_string(system.join("usr/lib/systemd/system/phasm.service"))?;
    let value = |key: &str| unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    let state = system.join("var/lib/phasm");
    folder::make_empty(&state)?;
    let words: Vec<&str> = value("ExecStart").ok_or("no ExecStart")?.split(' ').collect();
    let start = Instant::now();
    let mut server = Server::start(system, &words)?;
    while !state.join("runs.db.lock").exists() {
        server.wait_a_moment(start, LIMIT)?;
    }
    let status = server.stop()?;
    let accepted = value("SuccessExitStatus").unwrap_or_default();
    if status != Some(0) && !accepted.split(' ').any(|one| one.parse().ok() == status) {
        return Err(
            format!("phasm.service: ends with {status:?} after SIGTERM, expected 0 or {accepted:?}").into()
        );
    }
    Ok(writeln!(io::stdout(), "service: starts and ends as its unit says")?)
}

/// True if the page is there, or the way to it.
fn responds(address: &str) -> bool {
    let asked = TcpStream::connect(address).and_then(|mut stream| {
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        let mut said = String::new();
        stream.take(64).read_to_string(&mut said).map(|_| said)
    });
    asked.is_ok_and(|said| said.starts_with("HTTP/1.1 200") || said.starts_with("HTTP/1.1 30"))
}

/// A program in the system, with nothing of this process' environment.
fn inside(system: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("chroot");
    command.arg(system).args(words).env_clear().env("HOME", HERE);
    if system.join(EXECUTORS.trim_start_matches('/')).exists() {
        command.env("PHASM_EXECUTORS", EXECUTORS);
    }
    command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    command
}

/// Name of a file without its folders.
fn name(path: &Path) -> DistResult<String> {
    let name = path.file_name().and_then(|name| name.to_str());
    Ok(name.ok_or_else(|| format!("{}: no name", path.display()))?.to_owned())
}

/// A server in the system, killed when it is dropped.
struct Server {
    child: Child,
    log: PathBuf,
}

impl Server {
    fn start(system: &Path, words: &[&str]) -> DistResult<Self> {
        let log = system.join(HERE.trim_start_matches('/')).join("server.log");
        let file = fs::File::create(&log)?;
        let child =
            inside(system, words).stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).spawn()?;
        Ok(Self { child, log })
    }

    /// Waits before the next look; fails if the server has ended, or took too long.
    fn wait_a_moment(&mut self, start: Instant, limit: Duration) -> DistResult {
        let ended = self.child.try_wait()?;
        if ended.is_some() || start.elapsed() > limit {
            let said = fs::read_to_string(&self.log)?;
            return Err(format!(
                "the server does not serve ({ended:?} after {:.1?}): {said}",
                start.elapsed()
            )
            .into());
        }
        thread::sleep(Duration::from_millis(20));
        Ok(())
    }

    /// Ends it by SIGTERM, and returns its exit status.
    fn stop(mut self) -> DistResult<Option<i32>> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        Ok(self.child.wait()?.code())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::{env, process};

    use super::*;

    #[test]
    fn a_system_without_proc_is_refused() {
        let system = env::temp_dir().join(format!("phasm-dist-bare-{}", process::id()));
        folder::make_empty(&system).unwrap();
        let error = test_all(&system, &system, None).unwrap_err().to_string();
        assert!(error.contains("mount -t proc"), "{error}");
        folder::make_empty(&system.join("proc/self")).unwrap();
        has_proc(&system).unwrap();
        fs::remove_dir_all(&system).unwrap();
    }

    /// R-L62: packages of npm are tried where Node is new enough.
    #[test]
    fn the_version_of_node_is_read() {
        assert_eq!(major("v18.19.0\n"), Some(18));
        assert_eq!(major("v8.0.0"), Some(8));
        assert_eq!(major("18.19.0"), None);
    }
}
