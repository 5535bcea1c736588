//! Hosts that are asked over HTTP alone, and struck meanwhile: clients hang up, ask again under the same key and of others, and follow runs
//! over streams that are cut.

use std::{
    collections::BTreeMap,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use phasm::store::{PostgresReader, ReadStore, SqliteReader};
use rustix::process::Signal;

use crate::{
    client::{Cancellation, Client, ClientRun},
    digest::Digest,
    kills,
    process::Process,
    random::Random,
    round::{Expectations, Round, undisturbed},
    server::server,
    tally::{KILLS, Tally},
    workload::WORKLOADS,
};

/// Kills of one store.
const A_ROUND: u32 = 25;
/// Clients at once.
const CLIENTS: usize = 8;

type Working = JoinHandle<Result<ClientRun, String>>;

struct ServedRound<'t> {
    round: Round<'t>,
    hosts: Vec<Process>,
    addresses: Arc<Vec<SocketAddr>>,
    clients: Vec<Working>,
    submitted: u32,
    done: Vec<ClientRun>,
}

/// A free address without a listener, which no client is given meanwhile.
fn free(random: &mut Random) -> SocketAddr {
    loop {
        let port = 20_000 + u16::try_from(random.below(10_000)).unwrap();
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) {
            return listener.local_addr().unwrap();
        }
    }
}

impl<'t> ServedRound<'t> {
    fn new(random: &'t mut Random, store: &str, hosts: usize, kills: u32) -> Self {
        let round = Round::new(random, store, kills);
        round.bench.write("few.toml", "[limits]\nslots = 2\n");
        let addresses: Arc<Vec<_>> = Arc::new((0..hosts).map(|_| free(round.random)).collect());
        let (clients, done) = (Vec::new(), Vec::new());
        let mut served = Self { round, hosts: Vec::new(), addresses, clients, submitted: 0, done };
        for number in 0..hosts {
            let host = served.open(number);
            served.hosts.push(host);
        }
        served
    }

    /// A host at that one of the addresses; some have few slots, and offer attempts to others.
    fn open(&mut self, number: usize) -> Process {
        let address = self.addresses.get(number).unwrap().to_string();
        let mut arguments = vec!["serve", "--listen", &address, "--grace", "50ms", "--json"];
        if self.round.random.chance(30) {
            arguments.extend(["--config", "few.toml"]);
        }
        self.round.start(&arguments)
    }

    /// Some clients begin.
    fn begin(&mut self) {
        self.hear();
        for _ in 0..=self.round.random.below(3) {
            if self.clients.len() < CLIENTS {
                let (name, _) = *self.round.random.pick(&WORKLOADS);
                let document =
                    std::fs::read_to_string(self.round.bench.path(&format!("{name}.yaml"))).unwrap();
                self.submitted += 1;
                let random = self.round.random.another();
                let client = Client::new(&self.addresses, (name, document), self.submitted, random);
                self.round.note(&format!("{} is begun", client.key));
                self.clients.push(client.start());
            }
        }
    }

    /// Takes what those have who are done.
    fn hear(&mut self) {
        let (ended, going) = self.clients.drain(..).partition(JoinHandle::is_finished);
        self.clients = going;
        self.take(ended);
    }

    fn take(&mut self, ended: Vec<Working>) {
        for client in ended {
            match client.join().unwrap() {
                Ok(done) => {
                    self.round.tally.add_some("streams cut", done.cuts);
                    self.round.tally.add_some("clients hung up", done.left);
                    self.done.push(done);
                }
                Err(why) => self.fail(&why),
            }
        }
    }

    /// Something is done to a host.
    fn strike(&mut self) {
        let victim = usize::try_from(self.round.random.below(self.hosts.len() as u64)).unwrap();
        match self.round.random.below(10) {
            0..7 => self.replace(victim, Signal::KILL),
            7..9 => self.replace(victim, Signal::TERM),
            _ => self.freeze(victim),
        }
        let pause = self.round.millis(0, 500);
        thread::sleep(pause);
    }

    /// A host ends, and another begins at its address.
    fn replace(&mut self, victim: usize, signal: Signal) {
        self.round.note(&format!("{signal:?} to host {victim}"));
        let host = self.hosts.get_mut(victim).unwrap();
        if signal == Signal::KILL {
            self.round.kill(host);
        } else {
            self.round.tally.count("SIGTERM");
            host.signal(signal);
        }
        let statuses: &[i32] = if signal == Signal::TERM { &[143, -1] } else { &[-1] };
        self.round.end(self.hosts.get_mut(victim).unwrap(), statuses);
        let pause = self.round.millis(0, 100);
        thread::sleep(pause);
        let next = self.open(victim);
        *self.hosts.get_mut(victim).unwrap() = next;
    }

    fn freeze(&mut self, victim: usize) {
        let length = self.round.millis(100, 2000);
        self.round.note(&format!("host {victim} sleeps for {length:?}"));
        self.round.tally.count("SIGSTOP");
        let host = self.hosts.get_mut(victim).unwrap();
        host.signal(Signal::STOP);
        thread::sleep(length);
        host.signal(Signal::CONT);
    }

    fn play(mut self, expected: &Expectations) -> Tally {
        while self.round.left > 0 {
            self.begin();
            self.strike();
        }
        let left = std::mem::take(&mut self.clients);
        self.take(left);
        let runs = self.runs();
        if runs.len() != self.done.len() {
            self.fail(&format!("{} runs of {} keys", runs.len(), self.done.len()));
        }
        let mut undisturbed = Vec::new();
        let mut by_id: BTreeMap<_, _> =
            runs.into_iter().map(|run| (run.row.head.run_id.to_string(), run)).collect();
        for done in std::mem::take(&mut self.done) {
            let Some(run) = by_id.remove(&done.run) else {
                self.fail(&format!("run {} of {} is not there", done.run, done.name))
            };
            self.compare(&done, &run, expected);
            if done.cancelled == Cancellation::No {
                undisturbed.push(run);
            }
        }
        self.round.tally.add_some("runs", self.submitted);
        self.round.check(&undisturbed, expected);
        self.round.tally
    }

    /// Responses to clients agree with the store.
    fn compare(&mut self, done: &ClientRun, run: &Digest, expected: &Expectations) {
        if run.row.status.open || run.row.status.phase.as_str() != done.phase {
            self.fail(&format!("{} was said to be {}: {:?}", done.run, done.phase, run.row));
        }
        if run.events != done.events {
            let (heard, there) = (done.events.len(), run.events.len());
            self.fail(&format!("the follower of {} heard {heard} events, and there are {there}", done.run));
        }
        let as_ever = expected.get(done.name) == Some(&run.text);
        let is_right = match done.cancelled {
            Cancellation::No => true,
            Cancellation::Yes => done.phase == "Cancelled",
            Cancellation::Perhaps => done.phase == "Cancelled" || as_ever,
        };
        if !is_right {
            self.fail(&format!(
                "{} was cancelled ({:?}), and came to\n{}",
                done.run, done.cancelled, run.text
            ));
        }
    }

    fn runs(&mut self) -> Vec<Digest> {
        let store: Result<Arc<dyn ReadStore>, String> = match self.round.store.starts_with("postgres") {
            true => PostgresReader::open(&self.round.store)
                .map(|store| Arc::new(store) as _)
                .map_err(|error| error.to_string()),
            false => SqliteReader::open(self.round.bench.path(&self.round.store))
                .map(|store| Arc::new(store) as _)
                .map_err(|error| error.to_string()),
        };
        self.round.runs(store)
    }

    fn fail(&mut self, why: &str) -> ! {
        let hosts = self.hosts.iter_mut().map(|host| {
            host.listen(Duration::ZERO);
            host.said.join("\n")
        });
        let hosts: Vec<String> = hosts.collect();
        self.round.fail(&format!("{why}\nhosts said\n{}", hosts.join("\n--\n")))
    }
}

/// A quarter of the kills, half of them of a file and half of a database.
fn share() -> u32 {
    kills().div_ceil(8)
}

fn play(random: &mut Random, expected: &Expectations, hosts: usize, store: impl Fn(u32) -> String) -> Tally {
    let (wanted, mut tally) = (share(), Tally::default());
    for number in 0.. {
        let left = wanted.saturating_sub(tally.of(KILLS));
        if left == 0 {
            break;
        }
        tally.add(ServedRound::new(random, &store(number), hosts, left.min(A_ROUND)).play(expected));
    }
    tally
}

/// R-A102: one host, of a file.
#[test]
fn runs_that_are_asked_for_over_http_survive_their_server() {
    let expected = undisturbed();
    let mut random = Random::new(7);
    let tally = play(&mut random, &expected, 1, |_| "runs.db".to_owned());
    tally.say("runs of a file, over HTTP");
    assert!(tally.of("streams cut") > 0 && tally.of("clients hung up") > 0);
}

/// R-A102: three hosts of a database; who loses one goes to another.
#[test]
fn runs_that_are_asked_for_over_http_survive_their_servers() {
    let Some(server) = server() else { return };
    // A separate server, as the tests restart the shared one.
    let server = server.another(&[]);
    let expected = undisturbed();
    let mut random = Random::new(8);
    let url = |number| format!("{}&lease=1", server.url(&format!("served{number}")));
    let tally = play(&mut random, &expected, 3, url);
    tally.say("runs of a database, over HTTP");
    assert!(tally.of("streams cut") > 0 && tally.of("clients hung up") > 0);
}
