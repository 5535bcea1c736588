//! A store, hosts that compete for its runs, and what befalls them.

use std::{sync::Arc, time::Duration};

use phasm::{
    Host, Map, RunRequest,
    clock::TimeSource as _,
    engine::time::Timestamp,
    store::{HostId, Leases, Mailbox, Memory, ReadStore as _},
};
use phasm_tests::{
    digest::{digest, tasks},
    stepped::Stepped,
};
use serde_json::Value as Json;
use tokio::runtime::{Builder, Runtime};

use super::{
    logs,
    random::Random,
    shaky::{Shaky, told},
    stage::{Play, Stage},
};

/// An event in the life of a run's hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// One host, which keeps the run.
    None,
    /// Its wall clock is set back.
    Clocks,
    /// Runs are given back whenever they wait, and loaded for nothing; the store answers late.
    Naps,
    /// Besides, hosts die, and others are taken for dead.
    Deaths,
}

impl Trouble {
    fn gives_back(self) -> bool {
        matches!(self, Self::Naps | Self::Deaths)
    }
}

/// A host and what it runs on.
struct Room {
    host: Host,
    runtime: Runtime,
    store: Arc<Shaky>,
}

impl Room {
    /// Lets it go on for so many rounds.
    fn go_on(&self, rounds: u64) {
        self.runtime.block_on(async {
            for _ in 0..rounds {
                tokio::task::yield_now().await;
            }
        });
    }
}

pub(crate) struct House {
    random: Random,
    trouble: Trouble,
    time: Arc<Stepped>,
    stage: Arc<Stage>,
    store: Arc<Memory>,
    /// Number for each host.
    slots: u32,
    rooms: Vec<Room>,
    run_id: Arc<str>,
    /// Number of calls to the store after which the first host dies, if it does.
    fuse: Option<u64>,
}

/// Instants after which a run is taken for endless.
const MOST_INSTANTS: u32 = 40_000;
/// In so many rounds without a call to the store or an attempt, nothing will happen any more.
const QUIET: u64 = 24;

impl House {
    pub(crate) fn new(seed: u64, play: Play, slots: u32, trouble: Trouble) -> Self {
        let (time, store) = (Arc::new(Stepped::default()), Arc::new(Memory::default()));
        let stage = Arc::new(Stage::new(play, Arc::clone(&time), Arc::clone(&store)));
        let (random, run_id) = (Random(!seed), Arc::from(""));
        let mut house =
            Self { random, trouble, time, stage, store, slots, rooms: Vec::new(), run_id, fuse: None };
        house.open();
        if trouble == Trouble::Deaths {
            house.open();
        }
        house
    }

    /// The first host dies in the middle of its work: nothing after so many calls reaches the store.
    pub(crate) fn dying_after(mut self, calls: u64) -> Self {
        self.fuse = Some(calls);
        self
    }

    /// Another host.
    fn open(&mut self) {
        let runtime = Builder::new_current_thread().build().unwrap();
        let slowest = if self.trouble.gives_back() { 4 } else { 0 };
        let store = Arc::new(Shaky::new(&self.store, runtime.handle(), self.random.below(u64::MAX), slowest));
        let mut builder = Host::builder()
            .store(Arc::clone(&store) as _)
            .executor(Arc::clone(&self.stage) as _)
            .slots(self.slots)
            .time(Arc::clone(&self.time) as _)
            .runtime(runtime.handle().clone());
        if self.trouble.gives_back() {
            let patience = if self.random.chance(50) { 0 } else { self.random.below(3) };
            builder = builder.auto_claim(Duration::from_millis(patience));
        }
        let host = builder.open().unwrap();
        self.rooms.push(Room { host, runtime, store });
    }

    /// Plays the run and returns its outcome, with the times of its tasks, and the answers to its letters.
    pub(crate) fn play(
        mut self,
        document: &Json,
        parameters: &Map,
        letters: &[(u64, RunRequest)],
    ) -> Result<String, String> {
        self.submit(document, parameters);
        if let Some(calls) = self.fuse {
            self.room(0).store.die_after(calls);
        }
        let mut letters: Vec<_> = letters.iter().map(|(at, body)| (*at, body.bytes())).collect();
        letters.sort();
        letters.reverse();
        let mut posted = Vec::new();
        for _ in 0..MOST_INSTANTS {
            self.settle();
            if self.fuse.is_some() && self.room(0).store.is_dead() {
                self.fuse = None;
                self.check_logs()?;
                self.kill(0);
                self.settle();
            }
            if !self.is_open() {
                return self.outcome(&posted);
            }
            self.befall();
            let Some(at) = [self.stage.next(), self.time.next_sleep(), letters.last().map(|(at, _)| *at)]
                .into_iter()
                .flatten()
                .min()
            else {
                return Err(format!("nothing will happen any more\n{}", self.outcome(&posted)?));
            };
            self.reach(at);
            self.settle();
            // An attempt that a host has begun again and that had ended elsewhere ends as well before anything is asked.
            while self.stage.next().is_some_and(|next| next <= at) {
                self.stage.end_one(at);
                self.settle();
            }
            while letters.last().is_some_and(|(due, _)| *due <= at) {
                let (_, body) = letters.pop().unwrap();
                posted.extend(self.post(body));
            }
        }
        Err(format!("the run does not end\n{}", self.outcome(&posted)?))
    }

    fn submit(&mut self, document: &Json, parameters: &Map) {
        let Room { host, runtime, .. } = self.rooms.first().unwrap();
        let handle = runtime.block_on(async {
            let plan = host.plan("sim.json", &document.to_string()).await.unwrap();
            host.submit(&plan, parameters).await.unwrap()
        });
        self.run_id = Arc::clone(handle.id());
    }

    /// Goes on to an instant. An attempt that ends then is heard of before what is due by the clock.
    fn reach(&mut self, at: u64) {
        let now = self.time.elapsed();
        let ends = self.stage.next().is_some_and(|next| next <= at);
        let both = ends && self.time.next_sleep().is_some_and(|sleep| sleep <= at);
        if ends {
            self.stage.end_one(at);
        }
        self.time.pass(at.saturating_sub(now));
        if self.trouble == Trouble::Deaths && !both && self.random.chance(6) {
            // In the middle of what follows from it.
            let victim = self.any();
            let rounds = self.random.below(14);
            self.room(victim).go_on(rounds);
            self.kill(victim);
        }
    }

    fn say(&self, what: &str) {
        if std::env::var_os("PHASM_SIM_SEED").is_some() {
            println!("{:?} at {}: {what}", self.trouble, self.time.elapsed());
        }
    }

    fn any(&mut self) -> usize {
        usize::try_from(self.random.below(self.rooms.len() as u64)).unwrap()
    }

    fn room(&self, at: usize) -> &Room {
        self.rooms.get(at).unwrap()
    }

    /// Lets every host go on until nothing happens without the clock.
    fn settle(&mut self) {
        loop {
            let before = self.calls();
            // They take turns, in either order.
            let first = self.any();
            for at in 0..self.rooms.len() {
                self.room((first + at) % self.rooms.len()).go_on(QUIET);
            }
            if self.calls() == before {
                return;
            }
        }
    }

    fn calls(&self) -> u64 {
        self.stage.calls() + self.rooms.iter().map(|room| room.store.calls()).sum::<u64>()
    }

    fn befall(&mut self) {
        if self.trouble == Trouble::Clocks && self.random.chance(10) {
            // By up to an hour.
            self.time.set(-self.random.below(3_600_000).cast_signed());
        }
        if self.trouble != Trouble::None && self.random.chance(10) {
            let at = self.any();
            self.wake(at);
        }
        if self.trouble == Trouble::Deaths && self.rooms.len() < 2 && self.random.chance(10) {
            self.open();
        }
        if self.trouble == Trouble::Deaths && self.random.chance(4) {
            let victim = self.any();
            match self.random.below(3) {
                0 => self.kill(victim),
                1 => self.slander(victim, true),
                _ => self.slander(victim, false),
            }
        }
        self.settle();
    }

    /// Has a host look after the run, for nothing or not.
    fn wake(&self, at: usize) {
        let room = self.room(at);
        // One that another host has is left to it.
        room.runtime.block_on(room.host.read_mail(&self.run_id)).unwrap();
    }

    /// A host dies where it is, and it is noticed. Another may take its place.
    fn kill(&mut self, victim: usize) {
        self.say(&format!("kill {victim}"));
        let Room { host, runtime, store } = self.rooms.swap_remove(victim);
        store.die();
        drop(runtime);
        let id = host.id().clone();
        drop(host);
        if self.rooms.is_empty() || self.random.chance(50) {
            self.open();
        }
        self.is_gone(&id);
    }

    /// A host is taken for gone that is not. It may hear that only when it writes, or once it is taken for there again.
    fn slander(&mut self, victim: usize, comes_back: bool) {
        self.say(&format!("{victim} is taken for gone"));
        let id = self.room(victim).host.id().clone();
        self.is_gone(&id);
        if comes_back {
            self.settle();
        }
        self.heartbeat(&id, Timestamp(i64::MAX));
    }

    fn is_gone(&mut self, id: &HostId) {
        self.heartbeat(id, Timestamp(0));
        let first = self.any();
        for at in 0..self.rooms.len() {
            let at = (first + at) % self.rooms.len();
            if self.room(at).host.id() != id {
                self.wake(at);
            }
        }
    }

    fn heartbeat(&self, id: &HostId, until: Timestamp) {
        self.now(self.store.heartbeat(id, until)).unwrap();
    }

    /// The store itself answers at once.
    fn now<T>(&self, asked: phasm::store::Pending<T>) -> Result<T, phasm::store::StoreError> {
        self.room(0).runtime.block_on(asked)
    }

    /// Posts a letter, and has every host hear of it, once or twice; nothing if the run has ended.
    fn post(&mut self, body: Vec<u8>) -> Option<u64> {
        let letter = self.now(self.store.post(&self.run_id, body)).ok()?;
        let twice = self.trouble != Trouble::None && self.random.chance(30);
        let first = self.any();
        for at in 0..self.rooms.len() * if twice { 2 } else { 1 } {
            self.wake((first + at) % self.rooms.len());
        }
        self.settle();
        Some(letter)
    }

    fn is_open(&self) -> bool {
        self.now(self.store.get(&self.run_id)).unwrap().is_some_and(|row| row.status.open)
    }

    fn check_logs(&self) -> Result<(), String> {
        let records = self.now(self.store.load(&self.run_id)).unwrap();
        logs::check(&self.run_id, &records, &self.now(self.store.logs(&self.run_id, None)).unwrap())
    }

    fn outcome(&self, posted: &[u64]) -> Result<String, String> {
        self.check_logs()?;
        let records = self.now(self.store.load(&self.run_id)).unwrap();
        let digest = digest(&self.run_id, &records)?;
        let mut text = digest.text;
        for task in tasks(&digest.view) {
            // A start is recorded with what follows, so that one that is not may be made again, later.
            let (scope, name, created, end) =
                (&task.scope, &task.task_name, &task.created_at, &task.finished_at);
            text += &format!("{scope}/{name} {created} {end:?}\n");
        }
        for letter in posted {
            text += &format!("letter: {}\n", told(self.now(self.store.answer(&self.run_id, *letter))));
        }
        digest.events.iter().for_each(|event| self.say(&event.to_string()));
        // Texts of runs differ in it.
        Ok(text.replace(&*self.run_id, "RUN"))
    }
}
