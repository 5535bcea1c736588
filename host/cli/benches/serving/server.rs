//! A `phasm serve` of its own, and what it takes of the machine.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// After which it is taken to hang.
const LONGEST: Duration = Duration::from_secs(60);

/// A process; ended when it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// From `exec` to the first `/readyz` with 200.
    pub(crate) started: Duration,
}

/// CPU time and switches of a process so far.
#[derive(Debug)]
pub(crate) struct ResourceUse {
    ticks: u64,
    /// How often each of its threads was woken up.
    wakes: BTreeMap<OsString, u64>,
}

impl ResourceUse {
    /// Ticks of CPU time and wake-ups since then.
    pub(crate) fn since(&self, before: &Self) -> (u64, u64) {
        let woken = |(thread, count): (&OsString, &u64)| count - before.wakes.get(thread).unwrap_or(&0);
        (self.ticks - before.ticks, self.wakes.iter().map(woken).sum())
    }
}

impl Server {
    /// Serves `runs.db` of a folder, with the plugins that are in `plugins` there, and waits until it is ready.
    pub(crate) fn start(dir: &Path) -> Self {
        let address = free();
        let log = fs::File::create(dir.join("serve.log")).expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_phasm"));
        command.args([
            "serve",
            "--store",
            "runs.db",
            "--listen",
            &address.to_string(),
            "--config",
            "phasm.toml",
        ]);
        command
            .current_dir(dir)
            .env("PHASM_CACHE_DIR", dir.join("cache"))
            .env("XDG_DATA_HOME", dir.join("data"));
        command.env("PHASM_EXECUTORS", "").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let configuration = "[server]\nstreams = 100000\nconnections = 100000\n";
        fs::write(dir.join("phasm.toml"), configuration).expect("a file");
        let begun = Instant::now();
        let child = command.spawn().expect("phasm");
        let mut server = Self { child, address, started: Duration::ZERO };
        while !is_ready(address) {
            let said = || fs::read_to_string(dir.join("serve.log")).unwrap_or_default();
            let ended = server.child.try_wait().expect("a process");
            assert!(ended.is_none() && begun.elapsed() < LONGEST, "it does not serve: {}", said());
            sleep(Duration::from_micros(100));
        }
        server.started = begun.elapsed();
        server
    }

    /// Bytes of memory that it has.
    pub(crate) fn resident(&self) -> u64 {
        let status = self.read("status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line");
        line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") << 10
    }

    pub(crate) fn spent(&self) -> ResourceUse {
        let stat = self.read("stat");
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok()).expect("a number");
        ResourceUse { ticks: field(11) + field(12), wakes: self.wakes() }
    }

    fn wakes(&self) -> BTreeMap<OsString, u64> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("its threads");
        let each = tasks.flatten().filter_map(|task| {
            let status = fs::read_to_string(task.path().join("status")).ok()?;
            let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
            Some((task.file_name(), count.trim().parse().ok()?))
        });
        each.collect()
    }

    fn read(&self, what: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{what}", self.child.id())).expect("Linux")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended = kill_process(Pid::from_child(&self.child), Signal::INT);
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            sleep(Duration::from_millis(5));
        }
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// An address with no listener.
fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("an address")
}

fn is_ready(address: SocketAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect(address) else { return false };
    let asked = stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    let mut said = String::new();
    asked.is_ok() && stream.read_to_string(&mut said).is_ok() && said.starts_with("HTTP/1.1 200")
}
