//! Disks that are full for a while, and files that cannot grow.

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    thread,
    time::Duration,
};

use phasm::store::SqliteReader;
use rustix::process::Signal;

use crate::{
    digest::Digest,
    kills,
    process::Process,
    random::Random,
    round::{Expectations, Round, undisturbed},
    workload::{ANSWER, WORKLOADS},
};

/// Looks at what is open, a twentieth of a second each, after which it is not taken to end.
const MOST_LOOKS: u32 = 1200;

/// A disk of a few MiB in memory, unmounted when it is dropped.
struct Disk(PathBuf);

impl Disk {
    /// None where this process may not mount any.
    fn mount(dir: PathBuf) -> Option<Self> {
        fs::create_dir_all(&dir).unwrap();
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(&dir).output();
        mounted.is_ok_and(|mounted| mounted.status.success()).then_some(Self(dir))
    }

    /// Leaves so much.
    fn fill(&self, left: u64) {
        let piece = vec![0; 1 << 12];
        let mut ballast = fs::File::create(self.0.join("ballast")).unwrap();
        while ballast.write_all(&piece).is_ok() {}
        let length = ballast.metadata().unwrap().len();
        ballast.set_len(length.saturating_sub(left)).unwrap();
    }

    fn make_room(&self) {
        fs::remove_file(self.0.join("ballast")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _busy = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn left_out() {
    let said = "full disks were left out: this process may not mount any\n";
    assert!(env::var_os("PHASM_TEST_ALL").is_none(), "{said}");
    // Not captured, as what passes is.
    std::io::stderr().write_all(said.as_bytes()).unwrap();
}

/// Whether it was accepted.
fn submit(round: &mut Round, name: &str) -> bool {
    let mut client = round.start(&["submit", &format!("{name}.yaml")]);
    let is_accepted = client.end().is_some_and(|status| status.success());
    if is_accepted {
        let id = client.said.iter().find(|line| line.len() == 36).cloned();
        round.promised(id.unwrap());
    }
    is_accepted
}

/// Submits one of each, of which some may be refused, and lets them go on for a while.
fn submit_all(round: &mut Round) {
    for (name, _) in WORKLOADS {
        submit(round, name);
    }
    let pause = round.millis(200, 1500);
    thread::sleep(pause);
}

fn ended(round: &mut Round, file: &Path, host: &mut Process) -> Vec<Digest> {
    for _ in 0..MOST_LOOKS {
        let store = SqliteReader::open(file);
        let runs = round.runs(store.map(|store| Arc::new(store) as _).map_err(|error| error.to_string()));
        if runs.iter().all(|run| !run.row.status.open) {
            return runs;
        }
        for run in runs.iter().filter(|run| !run.asks.is_empty()) {
            round.start(&["resume", &run.row.head.run_id, "ask", ANSWER]).end();
        }
        host.listen(Duration::from_millis(50));
    }
    let said = host.said.join("\n");
    round.fail(&format!("runs do not end; the host said\n{said}"))
}

/// Whether there are disks to fill, so that so much is left on them.
fn a_full_disk(random: &mut Random, expected: &Expectations, left: impl FnOnce(&mut Random) -> u64) -> bool {
    let mut round = Round::new(random, "disk/runs.db", 0);
    let Some(disk) = Disk::mount(round.bench.path("disk")) else { return false };
    let file = round.bench.path("disk/runs.db");
    // There is a store, at least.
    let mut first = round.start(&["run", "chains.yaml"]);
    round.end(&mut first, &[0]);
    let left = left(round.random);
    disk.fill(left);
    round.note(&format!("{left} bytes are left on the disk"));
    let mut host = round.start(&["serve"]);
    submit_all(&mut round);
    round.note("there is room again");
    disk.make_room();
    // Whatever was refused before, there is a run to drive now.
    assert!(submit(&mut round, "chains"), "there is room");
    let runs = ended(&mut round, &file, &mut host);
    round.check(&runs, expected);
    true
}

/// R-H7: once there is room, the host goes on by itself, with all that was acknowledged.
#[test]
fn runs_wait_while_their_disk_is_full() {
    let expected = undisturbed();
    let mut random = Random::new(4);
    for _ in 0..kills().div_ceil(12) {
        if !a_full_disk(&mut random, &expected, |random| 1 << (12 + random.below(8))) {
            return left_out();
        }
    }
}

/// R-H7: a host that finds its disk full when it starts is there once there is room.
#[test]
fn a_host_waits_for_room_to_start() {
    let expected = undisturbed();
    if !a_full_disk(&mut Random::new(6), &expected, |_| 0) {
        left_out();
    }
}

/// R-H7: if every write fails from some moment on, the next process continues.
#[test]
fn runs_survive_a_host_that_cannot_write() {
    let expected = undisturbed();
    let mut random = Random::new(5);
    for _ in 0..kills().div_ceil(12) {
        let mut round = Round::new(&mut random, "runs.db", 0);
        let file = round.bench.path("runs.db");
        let mut first = round.start(&["run", "chains.yaml"]);
        round.end(&mut first, &[0]);
        let kilobytes = 40 + round.random.below(400);
        let mut host = round.start_below(&["serve"], kilobytes);
        submit_all(&mut round);
        host.signal(Signal::KILL);
        host.end();

        let mut next = round.start(&["serve"]);
        let runs = ended(&mut round, &file, &mut next);
        round.check(&runs, &expected);
    }
}
