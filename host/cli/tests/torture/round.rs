//! One store with runs of every kind, and what is done to those who drive them.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use phasm::store::ReadStore;
use rustix::process::Signal;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{
    bench::Bench,
    clock::{Clock, OFFSETS},
    digest::{self, Digest},
    process::Process,
    random::Random,
    tally::{KILLS, Tally},
    workload::{self, ANSWER, WORKLOADS},
};

/// Results of each workflow without disturbances.
pub(crate) type Expectations = BTreeMap<String, String>;

/// A store, its runs and what was done.
pub(crate) struct Round<'t> {
    pub(crate) random: &'t mut Random,
    pub(crate) bench: Bench,
    /// Argument of `--store`.
    pub(crate) store: String,
    pub(crate) done: Vec<String>,
    /// How many are to be killed yet.
    pub(crate) left: u32,
    pub(crate) tally: Tally,
    /// Processes that were started.
    started: u32,
    acknowledged: BTreeSet<String>,
}

/// Faults of a process.
#[derive(Clone, Copy, Debug)]
enum Strike {
    Kill,
    Terminate,
    /// Stopped for a while, and killed a moment after it went on.
    Freeze,
}

impl<'t> Round<'t> {
    pub(crate) fn new(random: &'t mut Random, store: &str, kills: u32) -> Self {
        let bench = Bench::new();
        workload::write(&bench);
        let (done, acknowledged) = (Vec::new(), BTreeSet::new());
        let (store, tally) = (store.to_owned(), Tally::default());
        Self { random, bench, store, done, left: kills, tally, started: 0, acknowledged }
    }

    /// Ends the test, and leaves everything as it is.
    pub(crate) fn fail(&mut self, why: &str) -> ! {
        let (dir, seed) = (self.bench.path(""), self.random.seed);
        // The file would be removed with its owner.
        std::mem::forget(std::mem::replace(&mut self.bench, Bench::new()));
        let done = self.done.join("\n  ");
        panic!("PHASM_TORTURE_SEED={seed}, store {} in {}\n  {done}\n{why}", self.store, dir.display());
    }

    pub(crate) fn millis(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(least + self.random.below(most - least))
    }

    /// Starts a command on the store.
    pub(crate) fn start(&mut self, arguments: &[&str]) -> Process {
        self.done.push(format!("phasm {}", arguments.join(" ")));
        self.started += 1;
        let mut command = self.bench.command(arguments);
        let clock = Clock::give(&mut command, self.bench.path(&format!("clock{}", self.started)));
        let mut process = Process::start(command.args(["--store", &self.store]));
        process.clock = clock;
        process
    }

    /// Sets the wall clock of a process an hour forward or back, or right.
    pub(crate) fn set_clock(&mut self, process: &Process) {
        let Some(clock) = &process.clock else { return };
        let offset = *self.random.pick(&OFFSETS);
        self.note(&format!("its clock is {offset} s off"));
        self.tally.count("clock set");
        clock.set(offset);
    }

    pub(crate) fn kill(&mut self, process: &mut Process) {
        if process.signal(Signal::KILL) {
            self.tally.count(KILLS);
            self.left = self.left.saturating_sub(1);
        }
    }

    /// Same as [`Self::start`], in a process whose files cannot grow beyond this size.
    pub(crate) fn start_below(&mut self, arguments: &[&str], kilobytes: u64) -> Process {
        self.done.push(format!("phasm {} with files of {kilobytes} KiB at most", arguments.join(" ")));
        let command = self.bench.command(arguments);
        let mut shell = Command::new("sh");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        // A write beyond it fails, instead of ending the process; the unit is 512 bytes.
        let script = "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"";
        shell.args(["-c", script, &(2 * kilobytes).to_string()]).current_dir(self.bench.path(""));
        shell.arg(command.get_program()).args(command.get_args());
        Process::start(shell.args(["--store", &self.store]).stdin(Stdio::null()))
    }

    pub(crate) fn note(&mut self, what: &str) {
        self.done.push(format!("  {what}"));
    }

    /// A process that reports a submission promises the end of the run.
    pub(crate) fn acknowledge(&mut self, process: &Process) {
        for line in &process.said {
            let event = serde_json::from_str::<Value>(line).unwrap_or_default();
            if event.get("type").and_then(Value::as_str) == Some("run.submitted") {
                let id = event.get("runID").and_then(Value::as_str).unwrap();
                self.acknowledged.insert(id.to_owned());
            }
        }
    }

    /// That run was acknowledged, and has to end.
    pub(crate) fn promised(&mut self, id: String) {
        self.acknowledged.insert(id);
    }

    /// Lets a command go on for a while, then strikes it, if anything is left; else waits for its end.
    pub(crate) fn suffer(&mut self, process: &mut Process, longest: u64) {
        if self.left == 0 {
            return self.end(process, &[0, 1, 3, 4, 5, 6]);
        }
        if self.random.chance(50) {
            let moment = self.millis(0, longest / 2);
            process.listen(moment);
            self.set_clock(process);
        }
        let moment = self.millis(0, longest);
        if process.listen(moment) {
            return self.end(process, &[0, 1, 3, 4, 5, 6]);
        }
        let strike =
            *self.random.pick(&[Strike::Kill, Strike::Kill, Strike::Kill, Strike::Terminate, Strike::Freeze]);
        self.note(&format!("{strike:?} after {moment:?}"));
        match strike {
            Strike::Kill => self.kill(process),
            Strike::Terminate => {
                self.tally.count("SIGTERM");
                process.signal(Signal::TERM);
                // Before it listens it is ended by the signal itself.
                return self.end(process, &[0, 1, 3, 4, 5, 6, 143, -1]);
            }
            Strike::Freeze => {
                self.tally.count("SIGSTOP");
                process.signal(Signal::STOP);
                std::thread::sleep(self.millis(0, 200));
                process.signal(Signal::CONT);
                let moment = self.millis(0, 100);
                process.listen(moment);
                self.kill(process);
            }
        }
        process.end();
    }

    /// Waits for the end of a process, which exits with one of these.
    pub(crate) fn end(&mut self, process: &mut Process, statuses: &[i32]) {
        let status = process.end().map(|status| status.code().unwrap_or(-1));
        self.note(&format!("exits with {status:?}"));
        if !status.is_some_and(|status| statuses.contains(&status)) {
            let said = process.said.join("\n");
            self.fail(&format!("it exits with {status:?}, having said\n{said}"));
        }
    }

    /// Submits one of each.
    pub(crate) fn submit_all(&mut self) {
        let mut names: Vec<&str> = WORKLOADS.iter().map(|(name, _)| *name).collect();
        while !names.is_empty() {
            let at = usize::try_from(self.random.below(names.len() as u64)).unwrap();
            let file = format!("{}.yaml", names.swap_remove(at));
            let mut process = self.start(&["run", &file, "--events", "--grace", "50ms"]);
            self.suffer(&mut process, 1200);
            self.acknowledge(&process);
        }
    }

    /// The runs as they stand.
    pub(crate) fn runs(&mut self, store: Result<Arc<dyn ReadStore>, String>) -> Vec<Digest> {
        let runtime = Runtime::new().unwrap();
        let read = store.and_then(|store| runtime.block_on(digest::all(&*store)));
        read.unwrap_or_else(|error| self.fail(&error))
    }

    /// Everything has ended, as it does undisturbed.
    pub(crate) fn check(&mut self, runs: &[Digest], expected: &Expectations) {
        // Seen with --nocapture only.
        println!("{}", self.done.join("\n"));
        for run in runs {
            let (id, name) = (&run.row.head.run_id, run.row.head.workflow.as_ref());
            if expected.get(name) != Some(&run.text) {
                let wanted = expected.get(name).cloned().unwrap_or_default();
                self.fail(&format!("run {id} of {name}: expected\n{wanted}but came to\n{}", run.text));
            }
        }
        let there: BTreeSet<&str> = runs.iter().map(|run| run.row.head.run_id.as_ref()).collect();
        if let Some(lost) = self.acknowledged.iter().find(|id| !there.contains(id.as_str())).cloned() {
            self.fail(&format!("run {lost} was acknowledged, and is not there"));
        }
    }
}

/// Results of each workload, computed in a file of its own.
pub(crate) fn undisturbed() -> Expectations {
    let mut random = Random::new(0);
    let mut round = Round::new(&mut random, "undisturbed.db", 0);
    for (name, _) in WORKLOADS {
        let answer = format!("ask={ANSWER}");
        let mut process = round.start(&["run", &format!("{name}.yaml"), "--resume", &answer]);
        round.end(&mut process, &[0, 1, 3, 4, 5]);
    }
    let store = phasm::store::SqliteReader::open(round.bench.path("undisturbed.db"));
    let runs = round.runs(store.map(|store| Arc::new(store) as _).map_err(|error| error.to_string()));
    runs.into_iter().map(|run| (run.row.head.workflow.to_string(), run.text)).collect()
}
